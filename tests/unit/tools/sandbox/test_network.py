"""Commands of the `bash` tool in the real sandbox, with hosts that are allowed and hosts that are not, and what they make that steers."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.context.blocks import Json
from ullage.tools.sandbox.bubblewrap import Bubblewrap
from ullage.tools.tool import BadToolInput


@pytest.fixture
def workplace(bubblewrap: Bubblewrap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    root = tmp_path / "work"
    root.mkdir()
    return Workplace(root, sandbox="required")


@pytest.fixture
async def server() -> AsyncGenerator[tuple[int, list[str]]]:
    """A web server outside: its port, and what it was asked."""
    asked: list[str] = []

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    serving = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield serving.sockets[0].getsockname()[1], asked
    serving.close()


def get(port: int, host: str = "127.0.0.1", first: str = "") -> str:
    """A command that asks the proxy for a page, as programs do that heed `HTTP_PROXY`."""
    line = first or f"GET http://{host}:{port}/page?x=1 HTTP/1.1\\r\\nProxy-Authorization: a\\r\\nHost: other"
    return f"exec 3<>/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}}; printf '{line}\\r\\n\\r\\n' >&3; cat <&3"


async def test_an_allowed_host_is_reached(workplace: Workplace, server: tuple[int, list[str]]) -> None:
    port, asked = server
    outcome = await workplace.call("bash", command=get(port), network=[f"127.0.0.1:{port}"])
    assert outcome.content.endswith("hello")
    assert asked == [f"GET /page?x=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"]


async def test_a_tunnel_leads_to_an_allowed_host(workplace: Workplace, server: tuple[int, list[str]]) -> None:
    port, asked = server
    command = f"""exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n' >&3
        read -r said <&3; read -r empty <&3; echo "$said"; printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"""
    outcome = await workplace.call("bash", command=command, network=[f"localhost:{port}"])
    assert outcome.content.startswith("HTTP/1.1 200")
    assert outcome.content.endswith("hello")
    assert asked == ["GET / HTTP/1.1\r\n\r\n"]


async def test_another_host_is_refused_and_the_result_says_which(workplace: Workplace, server: tuple[int, list[str]]) -> None:
    port, asked = server
    outcome = await workplace.call("bash", command=get(port), network=["example.org"])
    assert "403 Forbidden" in outcome.content
    assert f"The sandbox blocked connections to 127.0.0.1:{port}" in outcome.content
    assert asked == []


@pytest.mark.parametrize(
    "first", ["nonsense", "GET / HTTP/1.1", "CONNECT 127.1:80 HTTP/1.1", "GET ftp://a/ HTTP/1.1", "CONNECT a HTTP/1.1"]
)
async def test_what_is_no_request_for_a_host_gets_an_answer(workplace: Workplace, first: str) -> None:
    assert "400 Bad Request" in (await workplace.call("bash", command=get(80, first=first))).content


async def test_a_name_that_leads_to_this_machine_is_refused(
    workplace: Workplace, server: tuple[int, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, asked = server

    async def found(*arguments: object, **more: object) -> list[object]:
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found)
    outcome = await workplace.call("bash", command=get(port, "public.example"), network=[f"public.example:{port}"])
    assert f"public.example:{port} (it leads to 127.0.0.1, which has to be named itself)" in outcome.content
    assert asked == []


async def test_what_only_reads_has_no_proxy(workplace: Workplace) -> None:
    need = workplace.tools["bash"].permission({"command": "ls"})
    assert need is not None
    assert need.harmless
    with_network = workplace.tools["bash"].permission({"command": "ls", "network": ["example.org:8443", "a.example.org"]})
    assert with_network is not None
    assert (with_network.harmless, with_network.pattern) == (False, "exactly `ls`")
    assert with_network.description == "Run `ls`, with access to `example.org:8443`, `a.example.org` (ports 80 and 443)"


@pytest.mark.parametrize(
    "input", [{"network": ["http://a"]}, {"network": ["*"]}, {"steering_files": ["../x"]}, {"steering_files": ["/etc"]}]
)
def test_what_is_asked_for_is_checked(workplace: Workplace, input: dict[str, Json]) -> None:
    with pytest.raises(BadToolInput):
        workplace.tools["bash"].permission({"command": "ls", **input})


STEERING = [
    ".vscode/tasks.json",
    ".envrc",
    ".husky/pre-commit",
    ".claude/settings.json",
    ".idea/x.xml",
    ".devcontainer/devcontainer.json",
    "AGENTS.md",
]
MORE = [
    ".github/workflows/ci.yml",
    "sub/.git/config",
    ".git/config",
    ".mcp.json",
    "deep/er/.envrc",
    ".gitlab-ci.yml",
    "x.code-workspace",
]


async def test_what_starts_by_itself_is_taken_back_and_told(workplace: Workplace) -> None:
    names = " ".join([*STEERING, *MORE])
    command = f"for f in {names} plain.txt .eslintrc; do mkdir -p $(dirname $f); echo new > $f; done; ln -s plain.txt .bashrc"
    outcome = await workplace.call("bash", command=command)
    left = sorted(path.relative_to(workplace.root).as_posix() for path in workplace.root.rglob("*") if not path.is_dir())
    assert left == [".eslintrc", "plain.txt"]
    for name in [*STEERING, *MORE]:
        shown = name if name.count("/") == 0 or not name.startswith(".") else name.split("/")[0]
        assert f"It made {shown.removesuffix('/config')}, which was taken back" in outcome.content
    place = Path(outcome.content.partition("It lies in ")[2].partition(". If the user")[0])
    assert place.is_symlink() or place.exists()


async def test_what_is_allowed_stays(workplace: Workplace) -> None:
    workplace.put({".github/workflows/a.yml": "old", ".vscode/settings.json": "{}"})
    command = "echo new > .github/workflows/a.yml; git init -q . && git config user.name a; echo x > .vscode/settings.json"
    outcome = await workplace.call("bash", command=command, steering_files=[".git", ".github/workflows"])
    assert workplace.text(".github/workflows/a.yml") == "new\n"
    assert workplace.text(".vscode/settings.json") == "{}"
    assert (workplace.root / ".git" / "config").is_file()
    assert "taken back" not in outcome.content


async def test_what_was_only_moved_is_not_taken(workplace: Workplace) -> None:
    workplace.put({"sub/.envrc": "mine", "sub/a.txt": "a"})
    outcome = await workplace.call("bash", command="mv sub other")
    assert workplace.text("other/.envrc") == "mine"
    assert "taken back" not in outcome.content
