"""What the model is told of commands that go on although their call is done: that one has ended, and after a compaction what runs.

Each word is a notice at the end of a request, logged before the next call. So the prefix stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Entry, Logged, Notice, ToolReturned
from ullage.context.running_commands import ended_text, lost_notice, running_text
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings
from ullage.store.errors import StoreFailed
from ullage.tools.running import RunningCommands
from ullage.tools.started_command import StartedCommand


class CommandNotices:
    """The notices of one session about commands that go on."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, running: RunningCommands) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._running = running
        self._tell_again = False

    def mend(self) -> None:
        """Says in the log that what ran in the background has ended with the server that ran it. Raises `StoreFailed`."""
        notice = lost_notice(self._conversation.entries)
        if notice is not None and not self._running.any_runs:
            self._conversation.append(notice)

    def see(self, entry: Entry) -> None:
        """Takes in an entry that was logged: a compaction that does not tell what runs has it told again."""
        if isinstance(entry, Compaction) and entry.trigger != "upkeep":
            told = self.resume()
            self._tell_again = bool(told) and told.partition("\n")[0] not in entry.resume

    def resume(self) -> str:
        """What the model is told of the commands that run, for a compaction; empty if none do."""
        return running_text(self._running.now(), self._conversation.clock())

    async def take(self) -> tuple[Notice, ...]:
        """The notices of what the model has to be told now; they count as told."""
        notices = [await self._ended(each) for each in self._running.ended()]
        again, self._tell_again = self._tell_again and self.resume(), False
        if again:
            notices.append(Notice("command", again))
        return tuple(notices)

    async def closed(self) -> None:
        """Logs, once the session has ended its commands, what the sandbox took back then, since it may not have been theirs. Raises
        `StoreFailed`."""
        for each in self._running.ended():
            if each.outcome is not None and each.outcome.notes:
                self._conversation.append(await self._ended(each))

    async def _ended(self, command: StartedCommand) -> Notice:
        self._running.know(command)
        whole = command.outcome.content if command.outcome is not None else ""
        kept = ""
        if len(whole) > len(command.peek()):
            try:
                kept = await asyncio.to_thread(self._surroundings.outputs.keep, f"{command.tool_use_id}-whole", whole)
            except StoreFailed:  # what it said last is told all the same
                kept = ""
        kept = "" if kept.startswith("recall") else kept
        notes = () if command.outcome is None else command.outcome.notes
        text = "\n".join((ended_text(command.now(), command.read().text, kept), *notes))
        return Notice("command", text, ended=(command.id,), full_output=kept or None)


def last_number(entries: Iterable[Logged]) -> int:
    """The highest number of a command in this session that went on; 0 if none did. A new one is never called as an earlier one was."""
    named = (each.entry.goes_on.removeprefix("run") for each in entries if isinstance(each.entry, ToolReturned) and each.entry.goes_on)
    return max((int(number) for number in named if number.isdecimal()), default=0)
