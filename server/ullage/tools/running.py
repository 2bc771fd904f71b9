"""The commands of one session: those that a call waits for, and those that go on after it.

A command runs as a task of its own from its start, whoever waits for it. So one that is waited for can be left running at any moment, and
it keeps its sandbox until it ends. Of its output the newest is kept that the model has not read. A session ends its commands when it is
closed; that nothing outlives a server that is killed is the business of `processes/reaper.py` and of the sandbox.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from ullage.context.running_commands import RunsNow
from ullage.tools.limit import Limit
from ullage.tools.sandbox.network.local_ports import LocalPorts
from ullage.tools.started_command import StartedCommand
from ullage.tools.tool import ToolCall, ToolOutcome

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 8
"""How many commands may be left running in one session: enough for the servers and watchers of a project."""

MOST_ENDED = 8
"""How many commands that have ended can still be read."""

FIRST_SECONDS = 2.0
"""How long a command that is to be left running is waited for, so that one that fails at once says so at once."""

TOLD_EVERY_SECONDS = 1.0
"""How much time passes at least before the list of what runs is told again, however much is said."""

Started: TypeAlias = Callable[[StartedCommand], Coroutine[None, None, ToolOutcome]]
"""A function that runs a command to its end, and gives the command's `take` all that it says."""


class TooMany(Exception):
    """So many commands run in the background that no more may; the message is for the model."""


class RunningCommands:
    """The commands of one session. `told` is called with those that run when that has changed."""

    def __init__(
        self, clock: Callable[[], float], told: Callable[[tuple[RunsNow, ...]], None] = lambda commands: None, last: int = 0
    ) -> None:
        """`last` is the highest number that a command of this session had before."""
        self.ports = LocalPorts(self._show_later)
        self._shown: tuple[RunsNow, ...] = ()
        self._clock = clock
        self._told = told
        self._number = last
        self._waited_for: dict[str, StartedCommand] = {}
        """The commands that a call waits for, by the id of the call."""
        self._left: dict[str, StartedCommand] = {}
        """The commands that were left running, ended ones too, by their own id."""
        self._later: asyncio.TimerHandle | None = None
        self._interrupted = asyncio.Event()
        self._finishing = set[asyncio.Task[None]]()

    # For tools

    async def carry_out(self, call: ToolCall, line: str, limit: Limit, run: Started, *, background: bool) -> ToolOutcome:
        """Runs a command, and gives its outcome, or, if it is left running, what it said by then.

        Cancelling ends it, as long as it is waited for. Raises `TooMany`, and what `run` raises.
        """
        if background:
            self._check_room()
        command = StartedCommand(call, line, limit, self._clock(), self._show_later)
        task = command.task = asyncio.create_task(run(command))
        left = asyncio.create_task(command.left.wait())
        self._waited_for[call.id] = command
        try:
            await asyncio.wait({task, left}, timeout=FIRST_SECONDS if background else None, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                return self._leave(command)
            return task.result()
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            left.cancel()
            self._waited_for.pop(call.id, None)

    def _check_room(self) -> None:
        running = [each.id for each in self._left.values() if each.outcome is None]
        if len(running) >= MOST_AT_ONCE:
            raise TooMany(f"{MOST_AT_ONCE} commands run in the background, and no more may: {', '.join(running)}. Stop one first.")

    def _leave(self, command: StartedCommand) -> ToolOutcome:
        self._number += 1
        command.id = f"run{self._number}"
        command.leave()
        self._left[command.id] = command
        task = asyncio.create_task(self._until_ended(command))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)
        said = command.read()
        self._show()
        said_so_far = said.text.rstrip() or "(no output yet)"
        told = (LEFT_BY_USER if command.left.is_set() else LEFT).format(command.id)
        return ToolOutcome(f"{said_so_far}\n{told}", complete=not said.dropped, goes_on=command.id)

    async def _until_ended(self, command: StartedCommand) -> None:
        task = command.task
        if task is None:
            return
        await asyncio.wait({task})
        if task.cancelled():
            outcome = ToolOutcome("(Ended with the session.)", is_error=True)
        elif (error := task.exception()) is not None:
            logger.error("a command that was left running failed", exc_info=error)
            outcome = ToolOutcome(f"(Ended, since it failed: {error})", is_error=True)
        else:
            outcome = task.result()
        at, command.outcome = self._clock(), outcome
        command.news.set()
        try:
            if command.when_recorded is not None:
                await command.when_recorded
        except Exception:
            logger.exception("what a command changed that went on could not be recorded")
        command.ended_at = at
        for old in [each for each in self._left.values() if each.outcome is not None][:-MOST_ENDED]:
            del self._left[old.id]
        self._show()

    def get(self, id: str) -> StartedCommand | None:
        """The command with that id that was left running, ended or not; None if there is none."""
        return self._left.get(id)

    def seconds(self, command: StartedCommand) -> float:
        """How long a command has run."""
        return (command.ended_at or self._clock()) - command.began

    async def stop(self, command: StartedCommand) -> None:
        """Ends a command with all that it started, and waits for that."""
        command.limit.stop()
        if command.task is not None:
            await asyncio.wait({command.task})
        while command.outcome is None:
            command.news.clear()
            await command.news.wait()

    @property
    def interrupted(self) -> asyncio.Event:
        """Set when a wait is to end early: the user has something to say."""
        return self._interrupted

    # For the session

    def interrupt(self) -> None:
        """Ends the waits for a line of output, because the user wrote a prompt that joins the turn."""
        self._interrupted.set()
        self._interrupted = asyncio.Event()

    def let_go_on(self, tool_use_id: str) -> bool:
        """Leaves the command of that call running, as the user wants. False if no command of that call is waited for. Raises `TooMany`."""
        command = self._waited_for.get(tool_use_id)
        if command is not None:
            self._check_room()
            command.left.set()
        return command is not None

    def end(self, command: StartedCommand) -> None:
        """Ends a command with all that it started, as the user wants, without waiting for it."""
        command.is_stopped_by_user = command.outcome is None
        command.limit.stop()

    def when_ended(self, id: str, record: Callable[[StartedCommand], Coroutine[None, None, None]]) -> None:
        """Has `record` awaited once that command has ended, before anybody is told."""
        command = self._left[id]
        command.when_recorded = record(command)

    def now(self) -> tuple[RunsNow, ...]:
        """The commands that run, and those that have ended without the model knowing it yet."""
        return tuple(each.now() for each in self._left.values() if not each.is_told)

    def shown(self) -> tuple[RunsNow, ...]:
        """The commands that `now` gives, as the user sees them: without those that the user stopped, once they have ended, and without
        counting what the model has not read."""
        told = (each for each in self._left.values() if not each.is_told and not (each.is_stopped_by_user and each.outcome is not None))
        return tuple(replace(each.now(), unread=0) for each in told)

    def ended(self) -> list[StartedCommand]:
        """The commands that have ended without the model knowing it yet."""
        return [each for each in self._left.values() if each.ended_at is not None and not each.is_told]

    def know(self, command: StartedCommand) -> None:
        """Notes that the model knows that a command has ended."""
        if not command.is_told:
            command.is_told = True
            self._show()

    @property
    def any_runs(self) -> bool:
        """Whether any command goes on in the background."""
        return any(each.outcome is None for each in self._left.values())

    async def close(self) -> None:
        """Ends all commands, and waits for that."""
        for each in self._left.values():
            each.limit.stop()
        if self._finishing:
            await asyncio.wait(set(self._finishing))
        if self._later is not None:
            self._later.cancel()

    def _show_later(self) -> None:
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(TOLD_EVERY_SECONDS, self._show)

    def _show(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        shown = self.shown()
        if shown != self._shown:
            self._shown = shown
            self._told(shown)


LEFT_BY_USER = "(The user lets it go on in the background, as {}. `running_command` reads, waits and stops.)"

LEFT = "(It goes on in the background as {}. `running_command` reads what it says, waits for a line or its end, and stops it.)"


async def until(command: StartedCommand, interrupted: asyncio.Event, seconds: float, holds: Callable[[], Awaitable[bool]]) -> bool:
    """Waits until `holds` gives true, or the command ends, or the time is over, or the user interrupts. Gives whether it held."""
    stopped = asyncio.ensure_future(interrupted.wait())
    command.waiting += 1
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    command.news.clear()
                    if await holds():
                        return True
                    if command.outcome is not None or interrupted.is_set():
                        return False
                    news = asyncio.ensure_future(command.news.wait())
                    try:
                        await asyncio.wait({news, stopped}, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        news.cancel()
        return False
    finally:
        command.waiting -= 1
        stopped.cancel()
