"""A recorded session's entries as a policy would have had them in a log of its own: results as it lets them arrive, its compactions
between them.

Seqs are the log's own; `origin_of` tells which entry of the transcript each stands for. Where the transcript's entries are in a file, what
is no longer in view of this log is in one, too, as in a live session.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ullage.context.blocks import SystemPart, Thinking, ToolResult
from ullage.context.compaction.seen import texts_in
from ullage.context.engines.engine import Engine
from ullage.context.entries import (
    AssistantReply,
    Clipped,
    Entry,
    EntryPinned,
    FilePinned,
    Logged,
    Notice,
    Prelude,
    ToolReturned,
    TurnEnded,
    UserPrompt,
)
from ullage.context.moves.cheap import Arrival, Clip, Earlier
from ullage.context.moves.repeats import InView
from ullage.context.summary.words import names_left_out
from ullage.context.view.projection import Projection
from ullage.store.set_aside import EntriesAside, LogAside

UNSEEN_PRELUDE = (
    "[The system prompt, rules and tools of the recorded program are not in its transcript; they take about {tokens:,} tokens.]"
)
"""Stands for what precedes the messages where that is not recorded."""

CLIPPED_SHARE = 0.9
"""The least share of a result clipped already that the same policy leaves if it clips it again: a little less, for the words about it."""

_SEALED = "not recorded"
"""Stands as the signature of thinking whose own is not recorded, so that it is carried as it was."""


def _output_path(tool_use_id: str) -> str:
    """The path at which the whole of a clipped output would be."""
    return f".ullage/tool-results/{tool_use_id}.txt"


class CarriedSession:
    """One session's log under one policy. `prelude` stands for what precedes the messages, unless the transcript holds one."""

    def __init__(self, engine: Engine, prelude: str, recorded: Sequence[Logged]) -> None:
        """`recorded` are the entries of the transcript, which are taken one by one."""
        self.projection = Projection(log=LogAside() if isinstance(recorded, EntriesAside) else None)
        self._recorded = recorded
        self._origins = array("Q")
        """The transcript's seq for each of the log's; 0 for compactions, which have none."""
        self._seqs = array("Q", bytes(8 * (len(recorded) + 1)))
        """The log's seq for each of the transcript's; 0 if there is none."""
        self._engine = engine
        self._in_view = InView()
        self._arriving: list[tuple[Logged, ToolReturned]] = []
        if prelude:
            self._append(0.0, Prelude((SystemPart("system", prelude),), ()))

    @property
    def next_seq(self) -> int:
        """The seq of the next entry."""
        return len(self.projection.entries) + 1

    def take(self, recorded: Logged) -> None:
        """Takes the next entry of the transcript. Results wait for the others of their message (`settle`)."""
        entry = recorded.entry
        if isinstance(entry, ToolReturned):
            self._arriving.append((recorded, entry))
            return
        if isinstance(entry, Clipped):
            self._clip(entry)
            return
        self.settle()
        if isinstance(entry, AssistantReply):
            self._follow(recorded, _signed(entry))
        elif isinstance(entry, UserPrompt | Notice | Prelude | TurnEnded | FilePinned):
            self._follow(recorded, entry)
        elif isinstance(entry, EntryPinned) and self.seq_of(entry.seq):
            self._follow(recorded, replace(entry, seq=self._seqs[entry.seq]))

    def settle(self) -> None:
        """Lets the results that are there arrive, all at once, as the policy lets them."""
        if not self._arriving:
            return
        arrived, self._arriving = self._arriving, []
        arrivals = [Arrival(each.tool_use_id, each.content, earlier=self._earlier(each)) for _, each in arrived]
        clips = self._engine.arrive(arrivals, _output_path)
        for (recorded, returned), clip in zip(arrived, clips, strict=True):
            entry = returned
            if clip.content != returned.content and not _was_clipped_so(returned, clip):
                whole = returned.full_output or _output_path(returned.tool_use_id)
                left_out = names_left_out(returned.content, clip.content)
                entry = replace(returned, content=clip.content, full_output=whole, names_left_out=left_out)
            self._follow(recorded, entry)

    def seen(self) -> Iterator[tuple[int, str]]:
        """The texts that the model sees, with their seqs. Of what the policy shortened also the whole: that is what the recorded agent
        had."""
        yield from texts_in(self.projection)
        for message in self.projection.messages:
            for block, source in zip(message.blocks, message.sources, strict=True):
                recorded = self.origin_of(source)
                if isinstance(block, ToolResult) and recorded is not None and isinstance(recorded.entry, ToolReturned):
                    arrived = self.projection.entries[source - 1].entry
                    if isinstance(arrived, ToolReturned) and block.content == arrived.content:  # else it was cleared since
                        yield source, recorded.entry.content

    def _earlier(self, returned: ToolReturned) -> tuple[Earlier, ...]:
        return () if returned.is_error else self._in_view.earlier(self.projection, returned.tool_use_id, returned.touched)

    def seq_of(self, recorded: int) -> int:
        """The log's seq for a seq of the transcript; 0 if the log has no such entry."""
        return self._seqs[recorded] if 0 <= recorded < len(self._seqs) else 0

    def origin_of(self, seq: int) -> Logged | None:
        """The transcript's entry for a seq of the log; None if it has none."""
        recorded = self._origins[seq - 1] if 0 < seq <= len(self._origins) else 0
        return self._recorded[recorded - 1] if recorded else None

    def with_entry(self, entry: Entry, at: float) -> Projection:
        """The view that the log would show with one more entry; nothing changes."""
        return self.projection.with_appended(Logged(self.next_seq, at, entry))

    def compact(self, after: Projection) -> None:
        """Goes on from the view that `with_entry` gave for a compaction."""
        self.projection.learn(after)
        self._origins.append(0)
        self.projection.append(after.entries[-1])

    def log(self, entry: Entry, at: float) -> None:
        """Appends an entry that stands for none of the transcript: what the user did by hand, and what was spent in vain."""
        self._append(at, entry)

    def _clip(self, clipped: Clipped) -> None:
        """Shortens a result as the transcript clipped it further before it was first sent: so it arrives."""
        for index, (recorded, returned) in enumerate(self._arriving):
            if recorded.seq == clipped.seq:
                self._arriving[index] = (recorded, replace(returned, content=clipped.content, full_output=clipped.full_output))

    def _follow(self, recorded: Logged, entry: Entry) -> None:
        self._seqs[recorded.seq] = self.next_seq
        self._append(recorded.at, entry, recorded.seq)

    def _append(self, at: float, entry: Entry, recorded: int = 0) -> None:
        self._origins.append(recorded)
        self.projection.append(Logged(self.next_seq, at, entry))


def _was_clipped_so(returned: ToolReturned, clip: Clip) -> bool:
    """Whether the transcript has a result already clipped to about this size: another clip would take out hardly more than the words that
    tell of the first."""
    return bool(returned.full_output) and len(clip.content) >= CLIPPED_SHARE * len(returned.content)


def _signed(reply: AssistantReply) -> AssistantReply:
    if all(block.signature for block in reply.blocks if isinstance(block, Thinking)):
        return reply
    blocks = tuple(
        replace(block, signature=_SEALED) if isinstance(block, Thinking) and not block.signature else block for block in reply.blocks
    )
    return replace(reply, blocks=blocks)


def tells_prelude(entries: Sequence[Logged]) -> bool:
    """Whether the transcript holds what precedes the messages."""
    return any(isinstance(logged.entry, Prelude) for logged in entries)
