"""What was read out of the entries of a log, kept from one digest to the next: an entry never changes, so each is read once.

A `Reading` is a memory and nothing else: with the same entries a kept one gives what a new one gives.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter, is_

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.entries import AssistantReply, Compaction, CompactionRedone, CompactionUndone, Logged, ToolReturned, UserPrompt
from ullage.context.record.calls import Call
from ullage.context.record.mentions import Mention, mentions_in
from ullage.context.record.sentences import constraints_in, decisions_in

NO_INPUT: Mapping[str, Json] = {}
"""Of a result whose call is not in the log."""

TASK_LIST = "todo"
"""The tool by which the agent writes its list of tasks."""

SEQ = attrgetter("seq")

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

    def answers(self, use: ToolUse | None) -> bool:
        """Whether that is the call of which this is the result."""
        return self.call is not None and self.call.input is (use.input if use else NO_INPUT)

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


@dataclass(frozen=True, slots=True)
class Kinds:
    """The entries of one log by what they are, so that nobody has to go through all for a few; each kind in log order."""

    prompts: list[ReadEntry] = field(default_factory=list[ReadEntry])
    replies: list[ReadEntry] = field(default_factory=list[ReadEntry])
    task_lists: list[ReadEntry] = field(default_factory=list[ReadEntry])
    """Replies that write the agent's list of tasks."""
    results: list[ReadEntry] = field(default_factory=list[ReadEntry])
    told: list[ReadEntry] = field(default_factory=list[ReadEntry])
    """Where the user said something: prompts, and calls that they refused."""
    compactions: list[ReadEntry] = field(default_factory=list[ReadEntry])
    """Compactions, and what was undone and redone."""

    def add(self, read: ReadEntry) -> None:
        """The log's next entry."""
        match read.logged.entry:
            case UserPrompt():
                self.prompts.append(read)
                self.told.append(read)
            case AssistantReply() as reply:
                self.replies.append(read)
                if any(isinstance(block, ToolUse) and block.name == TASK_LIST for block in reply.blocks):
                    self.task_lists.append(read)
            case ToolReturned() as returned:
                self.results.append(read)
                if returned.refusal is not None:
                    self.told.append(read)
            case Compaction() | CompactionUndone() | CompactionRedone():
                self.compactions.append(read)
            case _:
                pass

    def up_to(self, seq: int) -> Kinds:
        """Those with this seq or a lower one."""
        lists = (self.prompts, self.replies, self.task_lists, self.results, self.told, self.compactions)
        return Kinds(*(each[: bisect_right(each, seq, key=SEQ)] for each in lists))


class Reading:
    """The entries of one log that were read so far."""

    def __init__(self) -> None:
        self._logged: list[Logged] = []
        self._read: list[ReadEntry] = []
        self._kinds = Kinds()
        self._uses: dict[str, ToolUse] = {}
        self._without_mentions = 0
        self._ahead = 0

    def of(self, entries: Sequence[Logged]) -> list[ReadEntry]:
        """`entries`, read. Costs what is new. In another log than before, or one that some entries were left out of, the same entries
        are known by their place."""
        known: Mapping[int, ReadEntry] = {}
        if not all(map(is_, self._logged, entries)):
            known = {read.seq: read for read in self._read}
            self._logged, self._read, self._kinds, self._uses, self._without_mentions, self._ahead = [], [], Kinds(), {}, 0, 0
        for logged in entries[len(self._read) :]:
            self._logged.append(logged)
            read = self._reading_of(logged, known.get(logged.seq))
            self._read.append(read)
            self._kinds.add(read)
        for read in self._read[self._without_mentions : -MENTIONS_KEPT]:
            vars(read).pop("mentions", None)
            self._without_mentions += 1
        return self._read[: len(entries)]

    def kinds(self, entries: Sequence[Logged]) -> Kinds:
        """The same by what they are."""
        self.of(entries)
        return self._kinds.up_to(entries[-1].seq) if entries else Kinds()

    def ahead(self, entries: Sequence[Logged]) -> Sequence[ReadEntry]:
        """The last of `entries`, from the first one that was not given before, for whoever looks ahead."""
        read = self.of(entries)
        new, self._ahead = read[self._ahead :], max(len(read), self._ahead)
        return new

    def _reading_of(self, logged: Logged, known: ReadEntry | None) -> ReadEntry:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            self._uses.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
        elif isinstance(entry, ToolReturned):
            use = self._uses.get(entry.tool_use_id)
            if known is None or known.logged is not logged or not known.answers(use):
                return ReadEntry(logged, Call(logged.seq, use.input if use else NO_INPUT, entry))
        return known if known is not None and known.logged is logged else ReadEntry(logged)
