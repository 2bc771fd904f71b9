"""The protocol's own reference servers, as real programs: two from PyPI, two from npm (`scripts/tools/mcp-servers`)."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.patience import PATIENCE

_FROM_NPM = Path(__file__).parents[3] / ".dev/tools/mcp-servers/node_modules/@modelcontextprotocol"


def filesystem(folder: Path) -> dict[str, object]:
    """Reads and writes files below that folder."""
    return {"command": _node(), "args": [_script("filesystem"), str(folder)]}


def everything() -> dict[str, object]:
    """Has one of each kind that the protocol knows."""
    return {"command": _node(), "args": [_script("everything"), "stdio"]}


def git() -> dict[str, object]:
    """Works with Git repositories."""
    return {"command": sys.executable, "args": ["-m", "mcp_server_git"]}


def fetch(*, private: bool = False) -> dict[str, object]:
    """Fetches pages; also of this machine, with `private`. It sees no Node: with one, it would install packages from npm for itself."""
    options = ["--allow-private-ips"] if private else []
    return {"command": sys.executable, "args": ["-m", "mcp_server_fetch", *options], "env": {"PATH": str(Path(sys.executable).parent)}}


@asynccontextmanager
async def everything_over_http() -> AsyncGenerator[str]:
    """The address of such a server that is a service (streamable HTTP)."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    service = await asyncio.create_subprocess_exec(
        _node(),
        _script("everything"),
        "streamableHttp",
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert service.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            while b"listening" not in (line := await service.stderr.readline()):
                assert line, "the server ended"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        service.kill()
        await service.communicate()


def repository(folder: Path) -> None:
    """Makes a Git repository with one commit and a change that is not in it."""
    (folder / "pump.txt").write_text("closed\n")
    own = {"user.name": "Someone", "user.email": "someone@example.org", "commit.gpgsign": "false"}
    configured = [["config", name, value] for name, value in own.items()]
    for command in (["init", "-q", "-b", "main"], *configured, ["add", "pump.txt"], ["commit", "-q", "-m", "Close the pump"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "pump.txt").write_text("open\n")


def _node() -> str:
    found = shutil.which("node")
    assert found is not None, "these tests need Node, as `npm test` does"
    return found


def _script(name: str) -> str:
    script = _FROM_NPM / f"server-{name}" / "dist" / "index.js"
    assert script.is_file(), "the reference servers are not there: `npm test` fetches them, or `node scripts/lib/mcpServers.mjs` alone"
    return str(script)
