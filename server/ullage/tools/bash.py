"""The `bash` tool: runs a shell command in the first workspace folder, and tells the model what it said, how it ended, and what the
sandbox kept from it.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from ullage.context.blocks import Json, ToolSpec
from ullage.platforms.shells import Shell, shell_for
from ullage.platforms.system import HERE
from ullage.processes.programs import find_program
from ullage.tools.command_lines.judge import Site
from ullage.tools.limit import Limit
from ullage.tools.permission import EXTRA_PROPERTIES, Extras, command_need, extras_of, with_extras
from ullage.tools.process import Finished, reading_environment, run_alone, run_process, sandbox_environment, tool_environment
from ullage.tools.running import RunningCommands, TooMany
from ullage.tools.sandbox.confinement import Confiner, NoSandbox
from ullage.tools.sandbox.guarded import MovedAway
from ullage.tools.sandbox.sandbox import Sandbox
from ullage.tools.started_command import StartedCommand
from ullage.tools.tool import PermissionNeed, ToolCall, ToolKind, ToolOutcome, boolean, check_input, description, integer, text
from ullage.workspace.folders import Folders

LONGEST_TIMEOUT = 3_600
"""The longest timeout, in seconds; a command that takes longer is not waited for in a conversation."""

LIVE_CHARACTERS = 200_000
"""How many characters of an output are shown while the command runs; the result has the rest."""

TITLE_CHARACTERS = 200

CHANGED_MEANWHILE = (
    "What the words of this command lead to has changed since it was allowed (a link, a file or a program was exchanged), so it was not "
    "run. Call again; the user is asked where that is needed."
)

BLOCKED_NOTE = (
    "(The sandbox blocked a write. Commands can write to the workspace folders, /tmp and ~/.cache only, and not to what runs programs "
    "or steers tools later (the config and hooks of git, .vscode, CI files). If it has to be, name those files in `steering_files`: "
    "the user is asked.)"
)


class Bash:
    """Runs commands, in a sandbox where one works and is wanted."""

    kind: ToolKind = "execute"

    def __init__(
        self,
        folders: Folders,
        default_timeout: float,
        sandbox: Sandbox,
        find_shell: FindShell | None = None,
        running: RunningCommands | None = None,
    ) -> None:
        """`running` are the commands of the session that run in the background."""
        self._folders = folders
        self._default_timeout = default_timeout
        self._sandbox = sandbox
        self._running = running or RunningCommands(time.time)
        self._find_shell = find_shell or _shell
        self._told = self._find_shell(folders.roots)
        self.spec = ToolSpec(
            "bash",
            _description(self._told),
            {
                "type": "object",
                "properties": {
                    "command": {"type": "string", "minLength": 1, "description": "The command line."},
                    "timeout": {
                        "type": "integer",
                        "minimum": 1,
                        "description": f"Seconds after which it is ended; {default_timeout:g} if left out, {LONGEST_TIMEOUT} at most.",
                    },
                    "run_in_background": {
                        "type": "boolean",
                        "description": "Leave it running, for `timeout` if given; see running_command.",
                    },
                    **EXTRA_PROPERTIES,
                },
                "required": ["command"],
            },
        )

    @staticmethod
    def title(input: Mapping[str, Json]) -> str:
        """The title of a call: `$ npm test`."""
        command = text(input, "command").strip()
        cut = f"{command[:TITLE_CHARACTERS]} …" if len(command) > TITLE_CHARACTERS else command
        return f"$ {cut}".rstrip()

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What running the command needs: it is always asked about, unless it is known to be harmless or a rule allows it. Raises
        `BadToolInput`."""
        check_input(self.spec.input_schema, input)
        command = text(input, "command")
        need = with_extras(command_need(command, self._site()), command, extras_of(input, self._folders.first))
        if boolean(input, "run_in_background"):
            need = replace(need, goes_on=True, description=f"{need.description}, and leave it running in the background")
        missing = self._sandbox.missing
        return need if missing is None else replace(need, description=f"{need.description}, not sandboxed: {missing}")

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Runs the command; gives its output and how it ended. A command that fails is an error."""
        check_input(self.spec.input_schema, call.input)
        folder = self._folders.first
        if folder is None:
            return ToolOutcome("No folder is open, so there is no place to run commands in. Ask the user to open one.", is_error=True)
        shell, told = self._find_shell(self._folders.roots), self._told
        if shell.language is not told.language:
            self._told = shell
            changed = f"Commands run in {shell.title} from now on, and no longer in {told.title}, so it was not run. {shell.advice}"
            return ToolOutcome(f"{changed} Write it for that shell.", is_error=True)
        harmless = call.allowed is not None and call.allowed.harmless
        if harmless and not await asyncio.to_thread(self._is_harmless, text(call.input, "command")):
            return ToolOutcome(CHANGED_MEANWHILE, is_error=True)
        sandbox = await self._sandbox.find()
        if isinstance(sandbox, NoSandbox) and call.allowed is not None and call.allowed.confined:
            return ToolOutcome(f"It was to run in the sandbox, unasked, and {sandbox}. Call again; the user is asked.", is_error=True)
        if isinstance(sandbox, NoSandbox) and self._sandbox.wanted == "required":
            return ToolOutcome(f'Commands run in a sandbox only (setting "Ullage › Bash: Sandbox"), and {sandbox}', is_error=True)
        background, named = boolean(call.input, "run_in_background"), integer(call.input, "timeout", 0)
        limit = Limit(None if background and not named else min(named or self._default_timeout, LONGEST_TIMEOUT))

        async def run(running: StartedCommand) -> ToolOutcome:
            try:
                return await self._run(shell, sandbox, call, folder, running, harmless=harmless)
            except OSError as error:
                return ToolOutcome(f"The command could not be started: {error.strerror or error}", is_error=True)

        try:
            live = replace(call, output=_bounded(call.output))
            return await self._running.carry_out(live, text(call.input, "command"), limit, run, background=background)
        except TooMany as error:
            return ToolOutcome(str(error), is_error=True)

    async def _run(
        self,
        shell: Shell,
        sandbox: Confiner | NoSandbox,
        call: ToolCall,
        folder: Path,
        running: StartedCommand,
        *,
        harmless: bool,
    ) -> ToolOutcome:
        """Runs the command, in the sandbox if there is one. A harmless command has nothing there that it could write to."""
        limit, on_output = running.limit, running.take
        timeout = limit.seconds or 0.0
        line = text(call.input, "command")
        command = shell.command(line)
        environment = (reading_environment(os.environ) if harmless else tool_environment(os.environ)) | shell.variables(line)
        if isinstance(sandbox, NoSandbox):
            finished, kept = await run_alone(command, folder, environment, limit, on_output), SandboxRefusals()
        else:
            environment = sandbox_environment(environment)
            extras = Extras() if harmless else extras_of(call.input, folder)
            running.place = None if harmless else self._running.ports.place()
            prepared = (
                self._sandbox.prepare_reading(sandbox, command, environment)
                if harmless
                else self._sandbox.prepare(sandbox, command, environment, extras.hosts, extras.may_steer, running.place)
            )
            async with prepared as ready:
                finished = await run_process(ready.command, folder, ready.environment, limit, on_output, ready.pass_fds)
            kept = SandboxRefusals(
                tuple(ready.blocked), tuple(ready.refused), tuple(ready.taken_back), tuple(ready.over_limit), tuple(ready.not_compared)
            )
        return outcome(finished, timeout, kept, self._folders.show)

    def _is_harmless(self, command: str) -> bool:
        """Whether a command is harmless, by what its words lead to now."""
        return command_need(command, self._site()).harmless

    def _site(self) -> Site | None:
        """The place where a command would run; None if no folder is open."""
        folder = self._folders.first
        if folder is None:
            return None
        search_path = tool_environment(os.environ).get("PATH", os.defpath)
        is_followed = self._find_shell(self._folders.roots).can_be_judged
        return Site(folder, search_path, self._folders.roots, caged=self._sandbox.works, is_followed=is_followed)


FindShell: TypeAlias = Callable[[Sequence[Path]], Shell]
"""A function that gives the shell of this machine that is in none of these folders."""


def _shell(not_in: Sequence[Path]) -> Shell:
    return shell_for(HERE, lambda name: find_program(name, not_in), os.environ)


def _description(shell: Shell) -> str:
    """The description of the tool for the model, which has to know which shell reads its lines."""
    first, rest = description("bash").split("\n", 1)
    return "\n".join([f"{first} The shell is {shell.title}.{f' {shell.advice}' if shell.advice else ''}", rest])


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


@dataclass(frozen=True, slots=True)
class SandboxRefusals:
    """All that the sandbox kept a command from. Everything is empty if there is no sandbox."""

    blocked: Sequence[str] = ()
    """The messages of programs that the sandbox does not let write."""
    refused_hosts: Sequence[str] = ()
    taken_back: Sequence[MovedAway] = ()
    over_limit: Sequence[str] = ()
    not_compared: Sequence[str] = ()
    """The places where nobody looked whether the command made files there that start by themselves."""


def outcome(finished: Finished, timeout: float, kept: SandboxRefusals, show: Callable[[Path], str]) -> ToolOutcome:
    """The result of a command; an error if it failed. `show` gives a path as the model sees it."""
    output = finished.output.rstrip()
    parts = [output] if output else ["(no output)"]
    if finished.had_leftovers:
        parts.append("(Processes that it left in the background were ended: nothing outlives a call.)")
    notes = [BLOCKED_NOTE] if any(said in output.casefold() for said in kept.blocked) else []
    if kept.refused_hosts:
        notes.append(
            f"(The sandbox blocked connections to {', '.join(kept.refused_hosts)}. If they are needed, run it again with these hosts in "
            "`network`: the user is asked.)"
        )
    notes += [
        f"(It made {show(taken.path)}, which was taken back, because {taken.reason}. It lies in {taken.to}. If the user wants it, "
        "run it again and name it in `steering_files`: the user is asked.)"
        for taken in kept.taken_back
    ]
    notes += [f"({reason}.)" for reason in kept.not_compared]
    notes += [f"(The sandbox ended it, because {reason}.)" for reason in kept.over_limit]
    parts += notes
    if finished.ended == "by timeout":
        parts.append(f"(Ended after {timeout:g} seconds, with everything that it had started.)")
    elif finished.ended == "stopped":
        parts.append("(Stopped, with everything that it had started.)")
    elif finished.exit_code < 0:
        parts.append(f"(Ended by signal {-finished.exit_code}.)")
    elif finished.exit_code:
        parts.append(f"(exit code {finished.exit_code})")
    failed = finished.ended != "by itself" or finished.exit_code != 0
    return ToolOutcome("\n".join(parts), is_error=failed, complete=not finished.dropped, notes=tuple(notes))


_HOW_IT_ENDED = re.compile(r"\((?:exit code (?P<code>\d+)|Ended by signal (?P<signal>\d+)\.|(?P<late>Ended after \S+ seconds, .*))\)")


def exit_code_in(result: str) -> int | None:
    """The exit code of a command that failed, by the last line of its result, which `outcome` wrote.

    For a signal it is 128 and more, as shells have it, and 124 where it took too long, as `timeout(1)` has it. None if none is named.
    """
    found = _HOW_IT_ENDED.fullmatch(result.rpartition("\n")[2])
    if found is None:
        return None
    if found["late"]:
        return 124
    return int(found["code"]) if found["code"] else 128 + int(found["signal"])
