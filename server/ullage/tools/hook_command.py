"""Runs the command of a hook, as the user allowed it, in the workspace folder: in the sandbox, or with their own rights."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ullage.platforms.shells import shell_for
from ullage.platforms.system import HERE
from ullage.processes.programs import find_program
from ullage.tools.limit import Limit
from ullage.tools.process import Finished, run_alone, run_process, sandbox_environment, tool_environment
from ullage.tools.sandbox.confinement import NoSandbox
from ullage.tools.sandbox.sandbox import Sandbox
from ullage.workspace.folders import Folders


class CannotRun(Exception):
    """A hook could not be started; `str()` says why, in words for the user."""


@dataclass(frozen=True, slots=True)
class HookCommand:
    """The command of a hook, and how it is to be run. `seconds` is how long it may take."""

    line: str
    given: bytes
    """The bytes that it reads on standard input."""
    folder: Path
    seconds: float
    variables: Mapping[str, str]
    confined: bool
    """Whether it runs in the sandbox."""
    writes: bool
    """Whether it may write to the workspace, if it is confined."""


class RunHook(Protocol):
    """A function that runs the command of a hook to its end."""

    async def __call__(self, command: HookCommand) -> Finished:
        """Runs the command; gives how it ended. Cancelling ends it with all that it started. Raises `CannotRun`."""
        ...


async def no_runner(command: HookCommand) -> Finished:
    """Stands for a `RunHook` where nothing runs hooks. Always raises `CannotRun`."""
    raise CannotRun("nothing runs hooks here")


def hook_runner(folders: Folders, sandbox: Callable[[], Sandbox]) -> RunHook:
    """A function that runs the hooks of these folders; `sandbox` gives the one that the settings name now."""

    async def run(command: HookCommand) -> Finished:
        with tempfile.TemporaryFile() as given:
            given.write(command.given)
            given.seek(0)
            shell = shell_for(HERE, lambda name: find_program(name, folders.roots), os.environ)
            words = shell.command(command.line)
            environment = {**tool_environment(os.environ), **shell.variables(command.line), **command.variables}
            try:
                if not command.confined:
                    return await run_alone(words, command.folder, environment, Limit(command.seconds), _nobody_looks, given)
                here = sandbox()
                confiner = await here.find()
                if isinstance(confiner, NoSandbox):
                    raise CannotRun(f"it is to run in the sandbox, and {confiner}")
                environment = sandbox_environment(environment)
                prepare = here.prepare if command.writes else here.prepare_reading
                async with prepare(confiner, words, environment) as ready:
                    return await run_process(
                        ready.command, command.folder, ready.environment, Limit(command.seconds), _nobody_looks, ready.pass_fds, given
                    )
            except OSError as error:
                raise CannotRun(f"it could not be started: {error.strerror or error}") from error

    return run


def _nobody_looks(text: str) -> None:
    """Takes output and drops it: it is looked at once the command has ended."""
