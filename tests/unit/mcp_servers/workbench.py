"""MCP servers as the sessions have them: the fake one as a real process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import tests.fake_mcp
from tests.patience import PATIENCE
from ullage.mcp_servers.servers import ChoicesForNow, Servers
from ullage.mcp_servers.services import Services
from ullage.mcp_servers.sign_in import SecretsForNow
from ullage.mcp_servers.starting import Programs
from ullage.tools.process import tool_environment

SERVER = str(Path(tests.fake_mcp.__file__).with_name("server.py"))


def fake(*options: str, **more: object) -> dict[str, object]:
    """The configuration of a fake server."""
    return {"command": sys.executable, "args": ["-I", SERVER, *options], **more}


class Bench:
    """Servers in a folder, and a way to wait for what they do."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self._changed = asyncio.Event()
        self.choices = ChoicesForNow()
        programs = Programs(lambda: [folder], tool_environment(os.environ))
        self.secrets = SecretsForNow()
        self.opened: list[str] = []
        self.browse: Callable[[str], Awaitable[bool]] | None = None
        services = Services(self.secrets, self._open)
        self.servers = Servers(lambda: [folder], self.choices, programs, services, os.environ, folder, self._changed.set)

    async def _open(self, address: str) -> bool:
        self.opened.append(address)
        return False if self.browse is None else await self.browse(address)

    async def look(self) -> None:
        self.servers.configure(self._settings, trusted=True)
        await self.servers.look()

    def state(self, name: str) -> tuple[str, str]:
        return next((each.state, each.why) for each in self.servers.standings() if each.server.name == name)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def call(self, tool: str, server: str = "pumps", **arguments: object) -> str:
        answered = await self.servers.call(server, tool, dict(arguments), lambda text: None)  # type: ignore[arg-type]
        return answered.text


@asynccontextmanager
async def bench(folder: Path, **servers: object) -> AsyncGenerator[Bench]:
    """With those servers, as the settings have them, running."""
    made = Bench(folder, servers)
    try:
        await made.look()
        await made.servers.settled(PATIENCE)
        yield made
    finally:
        await made.servers.close()
