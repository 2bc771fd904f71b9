"""The server process: how fast it answers, what it refuses, and that it ends with its client."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.patience import PATIENCE
from tests.server import forked
from tests.server.client import COMMAND, UllageClient, environment
from ullage import __version__, cli
from ullage.lsp import protocol
from ullage.lsp.framing import LONGEST

INITIALIZE: dict[str, Any] = {"capabilities": {}, "processId": None, "rootUri": None}
"""What the smallest client sends."""


def frame(message: dict[str, Any] | bytes) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def exchange(sent: bytes, arguments: tuple[str, ...] = ()) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[bytes]]:
    """What the command answers to these bytes, after which its stdin ends."""
    done = subprocess.run([*COMMAND, *arguments], input=sent, capture_output=True, env=environment(), timeout=PATIENCE, check=False)
    return messages_in(done.stdout), done


async def exchange_with_forked(sent: bytes) -> tuple[list[dict[str, Any]], int, bytes]:
    """The same of a server whose start is not what is tested: its messages, its exit code, and what it wrote to stderr."""
    server = await forked.start([], environment())

    async def send() -> None:
        with suppress(ConnectionError):  # it may have ended without reading all of it
            server.stdin.write(sent)
            await server.stdin.drain()
        server.stdin.close()

    async with asyncio.timeout(PATIENCE):
        _, said, log = await asyncio.gather(send(), server.stdout.read(), server.stderr.read())
        return messages_in(said), await server.wait(), log


def messages_in(rest: bytes) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
        messages.append(json.loads(rest[:length]))
        rest = rest[length:]
    return messages


def test_initialize_says_who_answers_and_what_is_spoken() -> None:
    (answer,), done = exchange(frame({"id": 1, "method": "initialize", "params": INITIALIZE}))
    assert answer["result"]["serverInfo"] == {"name": "ullage", "version": __version__}
    assert answer["result"]["capabilities"]["experimental"] == {"ullage": {"protocolVersion": protocol.PROTOCOL_VERSION}}
    assert done.returncode == 0


def test_nothing_heavy_is_imported_before_initialize() -> None:
    code = "import sys, ullage.cli, ullage.lsp.server; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.split()
    heavy = {
        "anthropic",
        "httpx2",
        "pydantic",
        "watchfiles",
        "sqlite3",
        "ullage.session.sessions.sessions",
        "ullage.session.timeline.items",
        "ullage.store.log_store",
        "ullage.context.entries",
        "ullage.models.model",
        "ullage.tools.sandbox.sandbox",
    }
    assert heavy & set(loaded) == set()


async def test_what_sessions_need_is_imported_while_the_client_is_waited_for() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "ullage", "serve"]
    server = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert server.stdin is not None
    assert server.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while b"ullage.lsp.bridge" not in (line := await server.stderr.readline()):
            assert line, "the server ended without them"
        server.stdin.close()
        await server.communicate()
    assert server.returncode == 0


@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        (b"Content-Length: 3\r\n\r\n{,}", [-32700]),
        (frame(b"\xff\xfe"), [-32700]),
        (frame(b"[" * 100_000), [-32700]),
        (frame(b"[]"), [-32600]),
        (frame({"id": 1, "method": protocol.LIST}), [-32002]),
        (frame({"id": 1, "method": "initialize", "params": {"capabilities": 4}}), [-32602]),
        (frame({"method": "textDocument/didOpen", "params": {}}), []),
        (frame({"method": "$/cancelRequest", "params": {"id": "never sent"}}), []),
        (frame({"id": 5, "result": "an answer to nothing"}), []),
        (frame({"method": "never/heard"}) * 2_000, []),
        (b"content-length:2\n\n[]", [-32600]),
        (b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH: 2\r\n\r\n[]", [-32600]),
        (b"Content-Length: %d\r\n\r\n" % (LONGEST + 1) + b" " * (LONGEST + 1), [-32600]),
        (frame(b'{"method": "x", "params": ' + b"[" * 200_000), [-32700]),
    ],
)
async def test_a_bad_message_is_answered_and_the_server_goes_on(sent: bytes, codes: list[int]) -> None:
    answers, code, _ = await exchange_with_forked(sent + frame({"id": 9, "method": "initialize", "params": INITIALIZE}))
    assert [answer["error"]["code"] for answer in answers[:-1]] == codes
    assert answers[-1]["id"] == 9
    assert "result" in answers[-1]
    assert code == 0


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nOrigin: http://evil.example\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 100\r\n\r\n{",
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Type: text/plain\r\n\r\n{}",
        b"\r\n\r\n",
        b"x" * 200_000,
    ],
)
async def test_what_is_no_message_at_all_ends_in_good_order(sent: bytes) -> None:
    answers, code, log = await exchange_with_forked(sent)
    assert answers == []
    assert code == 0
    assert b"Traceback" not in log


@pytest.mark.parametrize(("shutdown", "code"), [(True, 0), (False, 1)])
async def test_exit_after_shutdown_is_a_good_end(shutdown: bool, code: int) -> None:
    sent = frame({"id": 1, "method": "initialize", "params": INITIALIZE}) + frame({"method": "initialized", "params": {}})
    if shutdown:
        sent += frame({"id": 2, "method": "shutdown"})
    _, ended, log = await exchange_with_forked(sent + frame({"method": "exit"}))
    assert ended == code
    assert b"Traceback" not in log


def test_only_messages_reach_stdout_and_nobody_else_reads_stdin() -> None:
    code = (
        "import asyncio, os, subprocess, sys\n"
        "from ullage.lsp.transport import open_stdio\n"
        "async def main():\n"
        "    connection = open_stdio()\n"
        "    print('a stray print')\n"
        "    os.write(1, b'a stray write')\n"
        "    subprocess.run(['cat'], check=True)\n"
        "    connection.writer.write(b'got ' + await connection.reader.read(100))\n"
        "    connection.writer.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"the message", capture_output=True, timeout=PATIENCE, check=True)
    assert done.stdout == b"got the message"
    assert b"a stray print" in done.stderr
    assert b"a stray write" in done.stderr


async def test_another_editor_connects_over_tcp(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(*COMMAND, "--tcp", "0", stderr=asyncio.subprocess.PIPE, env=environment())
    assert process.stderr is not None
    listening = (await process.stderr.readline()).decode()
    token = (await process.stderr.readline()).decode().removeprefix("token: ").strip()
    client = UllageClient()
    await client.start_tcp("127.0.0.1", int(listening.rpartition(":")[2]))
    options = {"token": token, "stateFolder": str(tmp_path / "state")}
    params = types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=tmp_path.as_uri(), initialization_options=options)
    await client.initialize_session(params)
    opened = await client.open()
    await client.prompt(opened.session_id, "hello there")
    await client.until_idle()
    await client.shutdown_session()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    await client.stop()


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "--tcp", str(port)], capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False
        )
    assert done.returncode == 1
    assert f"Cannot listen on port {port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_is_told_what_is_wanted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert cli.main(["serve"]) == 1
    assert "needs Python 3.11 or later; this is 3.9.2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["serve", "--tcp", "http"], ["serve", "--tcp", "70000"], ["serve", "--log-level", "loud"]]
)
def test_a_wrong_command_line_is_explained(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: ullage" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"ullage {__version__}\n"


def test_the_environment_of_the_server_holds_no_key() -> None:
    name = "ANTHROPIC_API_KEY"
    code = (
        "import os, subprocess; from ullage.starting import take_secret\n"
        f"assert take_secret('{name}') == 'a-secret' and take_secret('{name}') is None\n"
        "print(subprocess.run('env; cat /proc/$PPID/environ', shell=True, capture_output=True, text=True).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, name: "a-secret"}, timeout=PATIENCE, check=True
    )
    assert "PATH=" in done.stdout
    assert "a-secret" not in done.stdout
