"""What a command serves on `localhost` is reached by the other commands of its session, and by the user's browser where they want that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.unit.tools.workplace import Workplace
from ullage.context.blocks import Json
from ullage.tools import running
from ullage.tools.running import StartedCommand
from ullage.tools.sandbox.bubblewrap import Bubblewrap
from ullage.tools.sandbox.network import local_ports
from ullage.tools.sandbox.network.doorway import listening
from ullage.tools.sandbox.network.local_ports import NoPort

SERVES = """python3 -c '
import socket, sys
address, port, name = sys.argv[1:]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
with socket.create_server((address, int(port)), family=family) as listener:
    print("up", flush=True)
    while True:
        asking, _ = listener.accept()
        with asking:
            asking.sendall(b"<" + asking.recv(100).strip() + b"> " + name.encode() + b"\\n")
' {address} {port} {name}"""


def ask(port: int, address: str = "127.0.0.1") -> str:
    """A command that asks whoever listens there, and says what comes back."""
    family = "AF_INET6" if ":" in address else "AF_INET"
    return (
        f'python3 -c \'import socket; s = socket.socket(socket.{family}); s.connect(("{address}", {port})); '
        's.sendall(b"hello\\n"); print(s.recv(100).decode(), end="")\''
    )


@pytest.fixture
async def place(bubblewrap: Bubblewrap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Workplace]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(running, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(local_ports, "INTERVAL_SECONDS", 0.05)
    root = tmp_path / "work"
    root.mkdir()
    made = Workplace(root, sandbox="required")
    yield made
    await made.running.close()


async def serve(place: Workplace, port: int, name: str = "one", address: str = "127.0.0.1") -> StartedCommand:
    """A command that goes on and listens there."""
    line = SERVES.format(address=address, port=port, name=name)
    left = await place.call("bash", command=line, run_in_background=True)
    await place.call("running_command", id=left.goes_on, action="wait", pattern="up")
    command = place.running.get(left.goes_on)
    assert command is not None
    return command


async def said(place: Workplace, command: str, **more: Json) -> str:
    return (await place.call("bash", command=command, **more)).content


async def until_seen(command: StartedCommand, *ports: int) -> None:
    assert command.place is not None
    async with asyncio.timeout(PATIENCE):
        while command.place.ports != ports:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("address", ["0.0.0.0", "::1"])
async def test_a_later_command_reaches_it_from_its_first_moment(place: Workplace, address: str) -> None:
    await serve(place, 5173, address=address)
    assert await said(place, ask(5173)) == "<hello> one"
    assert await said(place, ask(5173, "::1")) == "<hello> one"


async def test_one_that_runs_already_reaches_what_comes_later(place: Workplace) -> None:
    one = await serve(place, 5173)
    asks = f"until {ask(5174)} 2>/dev/null; do sleep 0.05; done"
    left = await place.call("bash", command=asks, run_in_background=True)
    await serve(place, 5174, "two")
    ended = await place.call("running_command", id=left.goes_on, action="wait")
    assert "<hello> two" in ended.content
    await until_seen(one, 5173)


async def test_nothing_else_of_the_machine_is_reached(place: Workplace) -> None:
    outside = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = outside.sockets[0].getsockname()[1]
    await serve(place, 5173)
    assert "ConnectionRefusedError" in await said(place, ask(port))
    outside.close()


async def test_another_session_does_not_reach_it(place: Workplace, tmp_path: Path) -> None:
    await serve(place, 5173)
    other = Workplace(place.root, sandbox="required")
    assert "ConnectionRefusedError" in await said(other, ask(5173))


async def test_what_reads_only_reaches_nothing(place: Workplace) -> None:
    await serve(place, 5173)
    need = place.tools["bash"].permission({"command": "cat /proc/net/tcp"})
    assert need is not None
    if need.harmless:
        assert ":1435 " not in await said(place, "cat /proc/net/tcp")  # 5173


async def test_its_port_is_taken_for_the_others_and_free_again_when_it_has_ended(place: Workplace) -> None:
    one = await serve(place, 5173)
    assert "Address already in use" in await said(place, SERVES.format(address="127.0.0.1", port=5173, name="two"))
    await place.running.stop(one)
    assert "ConnectionRefusedError" in await said(place, ask(5173))


async def test_a_server_that_is_gone_leads_nowhere(place: Workplace) -> None:
    one = await serve(place, 5173)
    assert one.place is not None
    await until_seen(one, 5173)
    waits = await place.call("bash", command=f"until ! {ask(5173)} 2>/dev/null; do sleep 0.05; done; echo gone", run_in_background=True)
    await place.running.stop(one)
    assert "gone" in (await place.call("running_command", id=waits.goes_on, action="wait")).content
    with pytest.raises(NoPort):
        await one.place.open_here(5173)


async def test_the_users_browser_is_let_in_where_the_user_wants_it(place: Workplace) -> None:
    one = await serve(place, 5173)
    assert one.place is not None
    await until_seen(one, 5173)
    taken = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = await one.place.open_here(5173)
    assert await one.place.open_here(5173) == port
    for name in ("127.0.0.1", "localhost"):
        reader, writer = await asyncio.open_connection(name, port)
        writer.write(b"browser\n")
        assert await reader.read(100) == b"<browser> one\n"
        writer.close()
    with pytest.raises(NoPort):
        await one.place.open_here(taken.sockets[0].getsockname()[1])
    await place.running.stop(one)
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", port)
    taken.close()


async def test_many_connections_at_once(place: Workplace) -> None:
    await serve(place, 5173)
    asks = (
        "import socket\nall = [socket.create_connection(('localhost', 5173)) for _ in range(40)]\nfor each in all: each.sendall(b'hello')"
    )
    counts = f"{asks}\nprint(sum(each.recv(100) == b'<hello> one\\n' for each in all))"
    (place.root / "asks.py").write_text(counts)
    assert await said(place, "python3 asks.py") == "40"


def test_a_process_that_is_gone_listens_nowhere() -> None:
    assert listening(2**22 + 1) == {}
