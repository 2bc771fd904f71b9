"""MCP servers below the server process: what stays of them when it goes, whatever way it goes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.server.client import UllageClient, editor_window
from tests.unit.mcp_servers import reference
from tests.unit.mcp_servers.workbench import fake
from ullage.lsp import protocol
from ullage.lsp.protocol import mcp


class Changes:
    """Waits until the servers are as a test wants them."""

    def __init__(self) -> None:
        self._came = asyncio.Event()

    def follow(self, client: UllageClient) -> None:
        def changed(ls: UllageClient, _: object) -> None:
            self._came.set()

        client.feature(protocol.MCP_CHANGED)(changed)

    async def until_running(self, client: UllageClient, *names: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                self._came.clear()
                listed: mcp.McpListResult = await client.ask(protocol.MCP_LIST)
                states = {each.name: each.state for each in listed.servers}
                assert "failed" not in states.values(), listed
                if all(states.get(name) == "running" for name in names):
                    return
                await self._came.wait()


def below(process: int) -> dict[int, str]:
    """All processes that came of that one, with their commands."""
    parents: dict[int, list[int]] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                after_name = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            parents.setdefault(int(after_name[1]), []).append(int(each.name))
    found: dict[int, str] = {}
    waiting = [process]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            found[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            waiting.append(child)
    return found


async def gone(watched: int) -> None:
    """Waits for the end of a process."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(watched, ended.set)
    try:
        async with asyncio.timeout(PATIENCE):
            await ended.wait()
    finally:
        loop.remove_reader(watched)
        os.close(watched)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a process of ours, and shows who is whose")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None], ids=["kill -9", "kill", "end of stdin"])
async def test_nothing_is_left_of_its_servers(folder: Path, state: Path, how: signal.Signals | None) -> None:
    named = {"clings": fake("clings=YES"), "pumps": fake(), "git": reference.git(), "files": reference.filesystem(folder)}
    changes = Changes()
    async with editor_window(folder, state, settings={"mcp": {"servers": named}}, prepare=changes.follow) as client:
        await changes.until_running(client, *named)
        server = client.process
        processes = below(server.pid)
        commands = list(processes.values())
        watched = [os.pidfd_open(each) for each in processes]
        for part in ("clings=YES", "mcp_server_git", "server-filesystem", "3_601"):
            assert [command for command in commands if part in command], part
        if how is None:
            assert server.stdin is not None
            server.stdin.close()
        else:
            server.send_signal(how)
        await asyncio.gather(*map(gone, watched))
        async with asyncio.timeout(PATIENCE):
            await server.wait()
