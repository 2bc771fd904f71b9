"""Who is let in over a port or a socket, and how a connection ends: real server processes, real sockets."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE
from tests.server import forked
from tests.server.client import COMMAND, environment
from tests.server.test_lifecycle import INITIALIZE, exchange_with_forked, frame


@dataclass
class Server:
    """One that listens."""

    process: forked.ForkedServer
    port: int
    token: str

    async def ask(self, sent: bytes) -> list[dict[str, Any]]:
        """What it answers to a connection of its own before it closes that."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        try:
            async with asyncio.timeout(PATIENCE):
                return messages_in(await reader.read())
        except ConnectionResetError:  # it closed without reading all of it
            return []
        finally:
            writer.close()


@asynccontextmanager
async def listening() -> AsyncGenerator[Server]:
    process = await forked.start(["--tcp", "0"], environment())
    try:
        port = (await process.stderr.readline()).decode().rpartition(":")[2]
        token = (await process.stderr.readline()).decode().removeprefix("token: ").strip()
        yield Server(process, int(port), token)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


def messages_in(data: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        length = int(re.findall(rb"Content-Length: (\d+)", head)[0])
        found.append(json.loads(data[:length]))
        data = data[length:]
    return found


def initialize(options: object) -> dict[str, Any]:
    return {"id": 1, "method": "initialize", "params": {**INITIALIZE, "initializationOptions": options}}


def posted(message: dict[str, Any]) -> bytes:
    """As a web page sends it: `fetch(address, {method: "POST", body})`."""
    body = frame(message)
    return b"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://example.org\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def test_strangers_are_turned_away_and_the_user_is_served(tmp_path: Path) -> None:
    async with listening() as server:
        assert len(server.token) >= 43  # 256 bits in base64
        for options in (
            None,
            {},
            {"token": ""},
            {"token": server.token[:-1]},
            {"token": server.token + "x"},
            {"token": [server.token]},
            {"token": "\u00fc"},
            [server.token],
        ):
            (answer,) = await server.ask(frame(initialize(options)))
            assert answer["error"]["code"] == -32600, options
            assert "token" in answer["error"]["message"]
            assert server.token not in json.dumps(answer)
        for sent in (
            posted(initialize({"token": server.token})),
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"OPTIONS * HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01\x02\x00" + bytes(300) + b"\n",
            b"Content-Length: 99999999999\r\n\r\n",
            frame(b"{no json"),
            frame(b"[]"),
        ):
            assert await server.ask(sent) == []
        for message in ({"id": 7, "method": "ullage/session/list"}, {"id": 8, "method": "shutdown"}, {"method": "exit"}):
            (answer,) = await server.ask(frame(message))
            assert answer["error"]["code"] == -32600
            assert answer["id"] == message.get("id")
        waiting, still_open = await asyncio.open_connection("127.0.0.1", server.port)  # says nothing
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(frame(initialize({"token": server.token, "stateFolder": str(tmp_path)})))
        head = await reader.readuntil(b"\r\n\r\n")
        answer = json.loads(await reader.readexactly(int(re.findall(rb"\d+", head)[0])))
        assert answer["result"]["serverInfo"]["name"] == "ullage"
        with pytest.raises(OSError, match=r"Connect|refused"):
            await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(frame({"id": 2, "method": "shutdown"}) + frame({"method": "exit"}))
        assert await asyncio.wait_for(server.process.wait(), PATIENCE) == 0
        still_open.close()
        writer.close()
        assert await waiting.read() == b""


async def test_the_server_ends_with_its_client() -> None:
    async with listening() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(frame(initialize({"token": server.token})))
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        assert await asyncio.wait_for(server.process.wait(), PATIENCE) == 0


# Unix sockets


@asynccontextmanager
async def on_socket(path: Path) -> AsyncGenerator[forked.ForkedServer]:
    process = await forked.start(["--socket", str(path)], environment())
    try:
        await process.stderr.readline()
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In a folder that is the user's alone; its name is short, as those of sockets have to be."""
    folder = tmp_path_factory.mktemp("s")
    folder.chmod(0o700)
    return folder / "ullage.sock"


async def test_a_socket_is_the_owners_alone_and_goes_when_its_client_came(place: Path) -> None:
    async with on_socket(place) as process:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        reader, writer = await asyncio.open_unix_connection(place)
        writer.write(frame(initialize(None)))
        await reader.readuntil(b"\r\n\r\n")
        assert not place.exists()
        writer.write(frame({"id": 2, "method": "shutdown"}) + frame({"method": "exit"}))
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        writer.close()


async def test_a_missing_folder_is_made_for_its_owner_alone(place: Path) -> None:
    async with on_socket(place.parent / "inner" / "u.sock"):
        assert stat.S_IMODE((place.parent / "inner").stat().st_mode) == 0o700


async def refused(path: Path) -> str:
    process = await forked.start(["--socket", str(path)], environment())
    async with asyncio.timeout(PATIENCE):
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 1
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o711, 0o777, 0o701])
async def test_a_folder_that_others_can_reach_is_refused(mode: int, place: Path) -> None:
    place.parent.chmod(mode)
    assert "Others can reach" in await refused(place)
    assert not place.exists()


async def test_a_folder_that_is_a_link_is_refused(place: Path) -> None:
    (place.parent / "real").mkdir(mode=0o700)
    (place.parent / "link").symlink_to(place.parent / "real")
    assert "is a link" in await refused(place.parent / "link" / "u.sock")


async def test_what_is_there_is_not_replaced(place: Path) -> None:
    place.write_text("mine")
    assert "is no socket" in await refused(place)
    assert place.read_text() == "mine"


async def test_a_server_in_use_is_left_alone_and_what_it_left_over_is_replaced(place: Path) -> None:
    async with on_socket(place):
        assert "A server listens" in await refused(place)
    assert place.exists()  # it was killed
    async with on_socket(place):
        _, writer = await asyncio.open_unix_connection(place)
        writer.close()


def test_both_at_once_are_refused() -> None:
    done = subprocess.run(
        [*COMMAND, "--tcp", "0", "--socket", "/tmp/x"], capture_output=True, env=environment(), timeout=PATIENCE, check=False
    )
    assert done.returncode == 2


# How it ends


async def test_after_shutdown_requests_are_refused_and_notifications_passed_over() -> None:
    sent: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"id": 3, "method": "ullage/session/new"},
        {"id": 4, "method": "ullage/session/list"},
        {"method": "textDocument/didSave", "params": {"textDocument": {"uri": "file:///a"}}},
        {"id": 5, "method": "shutdown"},
        {"id": 6, "method": "no/such/method"},
        {"id": 7, "method": "initialize", "params": INITIALIZE},
        {"method": "exit"},
    ]
    answers, code, _ = await exchange_with_forked(b"".join(map(frame, sent)))
    by_id = {answer["id"]: answer for answer in answers if "id" in answer and "method" not in answer}
    assert "result" in by_id[1]
    assert {by_id[each]["error"]["code"] for each in (3, 4, 5, 6, 7)} == {-32600}
    assert code == 0


async def test_a_second_initialize_is_refused() -> None:
    message = {"method": "initialize", "params": INITIALIZE}
    answers, *_ = await exchange_with_forked(frame({"id": 1, **message}) + frame({"id": 2, **message}))
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id[2]["error"]["code"] == -32600


@pytest.mark.parametrize("over", ["pipe", "socket"])
def test_a_client_that_reads_no_more_ends_the_server_in_good_order(over: str, place: Path) -> None:
    """Nobody would see what is done for it, what it costs, or what is to be approved."""
    if over == "pipe":
        process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        assert process.stdin is not None and process.stdout is not None
        process.stdout.close()
        process.stdin.write(frame({"id": 1, "method": "initialize", "params": INITIALIZE}))
        process.stdin.flush()  # and stays open
        send = None
    else:
        process = subprocess.Popen([*COMMAND, "--socket", str(place)], stderr=subprocess.PIPE, env=environment())
        assert process.stderr is not None
        process.stderr.readline()
        send = socket.socket(socket.AF_UNIX)
        send.connect(os.fspath(place))
        send.shutdown(socket.SHUT_RD)
        send.sendall(frame({"id": 1, "method": "initialize", "params": INITIALIZE}))
    assert process.stderr is not None
    said = process.stderr.read()
    assert process.wait(PATIENCE) == 0
    assert b"Traceback" not in said
    if process.stdin is not None:
        process.stdin.close()
    process.stderr.close()
    if send is not None:
        send.close()


async def test_a_client_that_writes_no_more_still_gets_its_answers() -> None:
    """`printf … | ullage serve`: the end of what it sends ends the server, after it has answered."""
    answers, code, _ = await exchange_with_forked(frame({"id": 1, "method": "initialize", "params": INITIALIZE}))
    assert [answer["id"] for answer in answers] == [1]
    assert code == 0
