"""What was read out of the entries of a log, kept from one digest to the next: an entry never changes, so each is read once.

A `Reading` is a memory and nothing else: with the same entries a kept one gives what a new one gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned, UserPrompt
from ullage.context.record.calls import Call
from ullage.context.record.mentions import Mention, mentions_in
from ullage.context.record.sentences import constraints_in, decisions_in

MENTIONS_KEPT = 1_000
"""Of so many entries at the end; older ones are read again where somebody asks, and hardly anybody does."""


@dataclass(frozen=True)
class ReadEntry:
    """An entry. What stands in it is read when it is first asked for."""

    logged: Logged
    call: Call | None = None
    """The call with its result, where the entry is one."""

    @property
    def seq(self) -> int:
        """Its place in the log."""
        return self.logged.seq

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """What the user said must or must not be."""
        entry = self.logged.entry
        return tuple(constraints_in(entry.text)) if isinstance(entry, UserPrompt) else ()

    @cached_property
    def decisions(self) -> tuple[str, ...]:
        """What the assistant said it decided, or why."""
        entry = self.logged.entry
        texts = [block.text for block in entry.blocks if isinstance(block, Text)] if isinstance(entry, AssistantReply) else []
        return tuple(sentence for text in texts for sentence in decisions_in(text))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The names and paths in it."""
        return mentions_in(self.logged.entry, self.call.input if self.call else {})


class Reading:
    """The entries of one log that were read so far."""

    def __init__(self) -> None:
        self._read: list[ReadEntry] = []
        self._uses: dict[str, ToolUse] = {}
        self._without_mentions = 0

    def of(self, entries: Sequence[Logged]) -> list[ReadEntry]:
        """`entries`, read. Costs what is new; of a log that does not go on from what was read before, everything is new."""
        if any(read.logged is not logged for read, logged in zip(self._read, entries, strict=False)):
            self._read, self._uses, self._without_mentions = [], {}, 0
        for logged in entries[len(self._read) :]:
            entry = logged.entry
            if isinstance(entry, AssistantReply):
                self._uses.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
            self._read.append(ReadEntry(logged, self._call(logged.seq, entry) if isinstance(entry, ToolReturned) else None))
        for read in self._read[self._without_mentions : -MENTIONS_KEPT]:
            vars(read).pop("mentions", None)
            self._without_mentions += 1
        return self._read[: len(entries)]

    def _call(self, seq: int, returned: ToolReturned) -> Call:
        use = self._uses.get(returned.tool_use_id)
        return Call(seq, use.input if use else {}, returned)
