"""Terminals of an editor, as strict as the protocol: real programs on real pseudo-terminals, known until they are released."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
from asyncio.subprocess import Process
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from acp import RequestError, schema


@dataclass
class ClientTerminal:
    """One of them."""

    asked: dict[str, Any]
    """What `terminal/create` said."""
    process: Process
    output: bytes = b""
    released: bool = False
    killed: bool = False
    """By the agent."""
    drained: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def text(self) -> str:
        return self.output.decode().replace("\r\n", "\n")


class ClientTerminals:
    """Those of one editor."""

    def __init__(self, instead: list[str] | None = None) -> None:
        """`instead` is run in the place of what is asked for."""
        self.made: list[ClientTerminal] = []
        self.refuses = False
        self.on_output: Callable[[], object] = lambda: None
        self._instead = instead

    def _known(self, terminal_id: str) -> ClientTerminal:
        number = int(terminal_id.removeprefix("term-"))
        terminal = self.made[number] if number < len(self.made) else None
        if terminal is None or terminal.released:
            raise RequestError.resource_not_found(terminal_id)
        return terminal

    async def create(
        self,
        command: str,
        session_id: str,
        args: list[str] | None = None,
        env: list[schema.EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> schema.CreateTerminalResponse:
        if self.refuses:
            raise RequestError.internal_error({"details": "no terminals today"})
        assert cwd is None or os.path.isabs(cwd)  # noqa: PTH117
        ours, theirs = pty.openpty()
        run = self._instead or [command, *(args or ())]
        environment = {**os.environ, **{each.name: each.value for each in env or ()}}
        process = await asyncio.create_subprocess_exec(
            *run, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment, start_new_session=True
        )
        os.close(theirs)
        asked = {"session_id": session_id, "command": command, "args": args, "env": env, "limit": output_byte_limit}
        terminal = ClientTerminal(asked, process)
        self.made.append(terminal)
        asyncio.get_running_loop().add_reader(ours, self._read, ours, terminal)
        return schema.CreateTerminalResponse(terminal_id=f"term-{len(self.made) - 1}")

    def _read(self, ours: int, terminal: ClientTerminal) -> None:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # how Linux says that nobody holds the other end any more
            data = b""
        terminal.output += data
        self.on_output()
        if not data:
            asyncio.get_running_loop().remove_reader(ours)
            os.close(ours)
            terminal.drained.set()

    def told(self, terminal_id: str) -> schema.TerminalOutputResponse:
        return schema.TerminalOutputResponse(output=self._known(terminal_id).text, truncated=False)

    async def exit(self, terminal_id: str) -> schema.WaitForTerminalExitResponse:
        terminal = self._known(terminal_id)
        code = await terminal.process.wait()
        await terminal.drained.wait()
        if code < 0:
            return schema.WaitForTerminalExitResponse(signal=signal.Signals(-code).name)
        return schema.WaitForTerminalExitResponse(exit_code=code)

    def kill(self, terminal_id: str) -> None:
        terminal = self._known(terminal_id)
        terminal.killed = True
        terminal.process.kill()

    def release(self, terminal_id: str) -> None:
        terminal = self._known(terminal_id)
        terminal.released = True
        if terminal.process.returncode is None:
            terminal.process.kill()
