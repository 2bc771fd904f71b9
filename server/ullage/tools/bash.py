"""The `bash` tool: runs a shell command in the first workspace folder and gives back what it said."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping

from ullage.context.blocks import Json, ToolSpec
from ullage.tools.description import description
from ullage.tools.environment import tool_environment
from ullage.tools.guarded import guarded
from ullage.tools.input_check import check_input, integer, text
from ullage.tools.permission import command_need
from ullage.tools.process import Finished, run_process
from ullage.tools.sandbox import BLOCKED, BLOCKED_NOTE, find_bubblewrap, sandboxed
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome
from ullage.workspace.folders import Folders

LONGEST_TIMEOUT = 3_600
"""Seconds; what takes longer is not waited for in a conversation."""

LIVE_CHARACTERS = 200_000
"""How much of an output is shown while the command runs; the result has the rest."""

TITLE_CHARACTERS = 200


class Bash:
    """Runs commands, in a sandbox where one works and is wanted."""

    kind: ToolKind = "execute"

    def __init__(self, folders: Folders, default_timeout: float, *, sandbox: bool) -> None:
        self._folders = folders
        self._default_timeout = default_timeout
        self._sandbox_wanted = sandbox
        self._bubblewrap: str | None = None
        self._probed = False
        self.spec = ToolSpec(
            "bash",
            description("bash"),
            {
                "type": "object",
                "properties": {
                    "command": {"type": "string", "minLength": 1, "description": "The command line."},
                    "timeout": {
                        "type": "integer",
                        "minimum": 1,
                        "description": f"Seconds after which it is ended; {default_timeout:g} if left out, {LONGEST_TIMEOUT} at most.",
                    },
                },
                "required": ["command"],
            },
        )

    def title(self, input: Mapping[str, Json]) -> str:
        """`$ npm test`."""
        command = " ".join(text(input, "command").split())
        return f"$ {command[:TITLE_CHARACTERS]}".rstrip()

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Running asks."""
        check_input(self.spec.input_schema, input)
        return command_need(text(input, "command"), posix_shell=not _is_command_prompt(_shell()))

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The output and how it ended. A command that fails is an error."""
        check_input(self.spec.input_schema, call.input)
        folder = self._folders.first
        if folder is None:
            return ToolOutcome("No folder is open, so there is no place to run commands in. Ask the user to open one.", is_error=True)
        timeout = min(integer(call.input, "timeout", 0) or self._default_timeout, LONGEST_TIMEOUT)
        command = [*_shell(), text(call.input, "command")]
        bubblewrap = await self._find_sandbox()
        if bubblewrap is not None:
            guard = await asyncio.to_thread(guarded, self._folders.roots)
            command = sandboxed(bubblewrap, command, self._folders.roots, guard)
        try:
            finished = await run_process(command, folder, tool_environment(os.environ), timeout, _bounded(call.output))
        except OSError as error:
            return ToolOutcome(f"The command could not be started: {error.strerror or error}", is_error=True)
        return _outcome(finished, timeout, in_sandbox=bubblewrap is not None)

    async def _find_sandbox(self) -> str | None:
        """Probed once, when the first command runs."""
        if self._sandbox_wanted and not self._probed:
            self._bubblewrap = await find_bubblewrap()
            self._probed = True
        return self._bubblewrap


def _shell() -> list[str]:
    bash = shutil.which("bash")
    if bash is not None:
        return [bash, "-c"]
    return [os.environ.get("COMSPEC", "cmd.exe"), "/c"] if sys.platform == "win32" else ["/bin/sh", "-c"]


def _is_command_prompt(shell: list[str]) -> bool:
    return shell[-1] == "/c"


def _bounded(output: Callable[[str], None]) -> Callable[[str], None]:
    left = LIVE_CHARACTERS

    def forward(text: str) -> None:
        nonlocal left
        if left <= 0:
            return
        output(text[:left])
        left -= len(text)
        if left <= 0:
            output("\n[more when the command has ended]\n")

    return forward


def _outcome(finished: Finished, timeout: float, *, in_sandbox: bool) -> ToolOutcome:
    output = finished.output.rstrip()
    parts = [output] if output else ["(no output)"]
    if finished.had_leftovers:
        parts.append("(Processes that it left in the background were ended: nothing outlives a call.)")
    if in_sandbox and any(said in output.casefold() for said in BLOCKED):
        parts.append(BLOCKED_NOTE)
    if finished.ended == "by timeout":
        parts.append(f"(Ended after {timeout:g} seconds, with everything that it had started.)")
    elif finished.exit_code < 0:
        parts.append(f"(Ended by signal {-finished.exit_code}.)")
    elif finished.exit_code:
        parts.append(f"(exit code {finished.exit_code})")
    failed = finished.ended == "by timeout" or finished.exit_code != 0
    return ToolOutcome("\n".join(parts), is_error=failed)
