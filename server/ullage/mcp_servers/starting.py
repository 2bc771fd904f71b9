"""How a server that is a program is started: which program, in which environment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ullage.mcp_servers.configured import Configured, StdioServer
from ullage.mcp_servers.connection import Ended, ServerFailed
from ullage.mcp_servers.pipes import talk_over
from ullage.mcp_servers.server_log import ServerLog
from ullage.processes.programs import find_program
from ullage.processes.start import Asker, start_talking

if TYPE_CHECKING:  # takes long to import
    from mcp.client._transport import TransportStreams

EXIT_SECONDS = 2.0
"""How long after the end of its output a program may end, so that its exit code can be told."""


class Programs:
    """Starts servers that are programs. `environment` is what each gets beside what its configuration names."""

    def __init__(self, roots: Callable[[], Sequence[Path]], environment: Mapping[str, str]) -> None:
        self._roots = roots
        self._environment = environment

    @asynccontextmanager
    async def reach(self, server: Configured, log: ServerLog, ended: Ended) -> AsyncGenerator[TransportStreams]:
        """Starts a server, and opens its streams. Raises `ServerFailed` or an `OSError` if it cannot be started."""
        reached = server.reached
        if not isinstance(reached, StdioServer):
            raise ServerFailed("it is no program")
        program = await asyncio.to_thread(self._program, reached)
        log.note(f"starts {program}")
        running = await start_talking(
            Asker.MCP_SERVER, [program, *reached.args], folder=reached.folder, environment={**self._environment, **reached.env}
        )

        async def watch() -> None:
            try:
                code = await running.ended()
                ended(f"it ended with exit code {code}: {log.last}" if log.last else f"it ended with exit code {code}")
            except OSError as error:
                ended(f"it could not be started: {error.strerror or error}")

        def silent(why: str) -> None:
            """Tells that the server says nothing more, unless it becomes known in a moment that its program has ended, and why."""
            asyncio.get_running_loop().call_later(0.0 if why else EXIT_SECONDS, ended, why)

        watching = asyncio.create_task(watch())
        try:
            async with talk_over(running, log, silent) as streams:
                yield streams
        finally:
            try:
                await asyncio.shield(running.end())
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    def _program(self, reached: StdioServer) -> str:
        """The path of the program. A bare name is looked for where nobody of the workspace can have put it. A program that a configuration
        names by its path was trusted with it. Raises `ServerFailed` if there is none."""
        command = reached.command
        if not reached.folder.is_dir():
            raise ServerFailed(f"its folder is not there: {reached.folder}")
        if "/" in command or "\\" in command:
            path = (reached.folder / Path(command).expanduser()).absolute()  # links stay: by its own a virtual environment is found
            if not path.is_file():
                raise ServerFailed(f"there is no program {path}")
            return str(path)
        program = find_program(command, self._roots())
        if program is None:
            raise ServerFailed(f"there is no program `{command}` on PATH, outside of the workspace")
        return program
