"""What became of each entry: whether the model still sees it as it was, and if not, which compaction took it away and how.

What a user counts as a message is said here, too, and how many of them a compaction took out of view. So is which files' texts the model
still has in view: the ground for "never overwrite what it has not seen".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal, TypeAlias

from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, MessageCounts
from ullage.context.entries import AssistantReply, Clipped, Entry, FileTouch, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.view.edits import edits_of
from ullage.context.view.log_places import clipped_to, entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import all_taken_out, without_texts

FateKind: TypeAlias = Literal["kept", "clipped", "cleared", "snipped", "summarised", "pinned"]
"""What became of an entry: it is as it was; shortened on arrival; a placeholder; cut out with a marker; in a summary; or kept since it is
pinned, while what was around it was not."""

GONE: frozenset[FateKind] = frozenset({"snipped", "summarised"})
"""Fates in which nothing stands in the entry's place, but what a marker or a summary says of all around it."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one entry; `compaction_id` names the compaction that did it, None if none did."""

    kind: FateKind
    compaction_id: str | None = None


KEPT = Fate("kept")


def is_message(entry: Entry) -> bool:
    """Whether a user counts the entry as a message: a prompt, a reply in words, the result of a call.

    A reply that calls tools without a word, thinking or not, is seen in their results; notices are the model's alone.
    """
    match entry:
        case UserPrompt() | ToolReturned():
            return True
        case AssistantReply(blocks=blocks):
            if any(isinstance(block, Text) and block.text.strip() for block in blocks):
                return True
            kinds = {type(block) for block in blocks}
            return Thinking in kinds and ToolUse not in kinds
        case _:
            return False


def fates(projection: Projection, since: int = 0) -> Mapping[int, Fate]:
    """The fate of every prompt, reply, tool result and notice of the log from entry `since` on, by seq."""
    become = Becoming(projection.entries, projection.active_by_seq, since)
    return {
        logged.seq: become.of(logged)
        for logged in islice(projection.entries, place_of(projection.entries, since), None)
        if isinstance(logged.entry, UserPrompt | AssistantReply | ToolReturned | Notice)
    }


def counts(before: Projection, made: Compaction) -> MessageCounts:
    """The number of messages that the compaction, if it is logged next, takes out of the view of `before`. Costs what is in view."""
    entries, seq = before.entries, before.entries[-1].seq + 1
    was, becomes = Becoming((), before.active_by_seq), Becoming((), {**before.active_by_seq, seq: made})
    out = all_taken_out(before.active)
    found: Counter[FateKind] = Counter()
    for logged in left_in(entries, was):
        if logged.seq in out or not is_message(logged.entry):
            continue
        then, now = was.of(logged).kind, becomes.of(logged).kind
        if then != now and then not in GONE:
            found[now] += 1
    return MessageCounts(found["summarised"], found["cleared"], found["snipped"])


def left_in(entries: Sequence[Logged], become: Becoming) -> Iterator[Logged]:
    """The entries that stay in view although a summary in force covers them, then those that it does not cover."""
    hidden_to = become.edits.summary.last if become.edits.summary is not None else 0
    for seq in sorted(become.carried):
        index = place_of(entries, seq)
        if seq <= hidden_to and index < len(entries):
            yield entries[index]
    yield from entries[place_of(entries, hidden_to + 1) :]


class Becoming:
    """Tells what becomes of each entry if just the compactions in `active` (by seq) are in force."""

    def __init__(self, entries: Sequence[Logged], active: Mapping[int, Compaction], since: int = 0) -> None:
        """Looks only at those of `entries`, from `since` on, that tell what was shortened on arrival."""
        self._active = active
        self.edits = edits_of(active)
        self._cleared_by = {cleared.seq: compaction.id for compaction in active.values() for cleared in compaction.cleared}
        later = islice(entries, place_of(entries, since), None)
        self._clipped = {logged.entry.seq for logged in later if isinstance(logged.entry, Clipped)}
        self._summarised_to = self.edits.summary.last if self.edits.summary is not None else 0

    def is_summarised(self, seq: int) -> bool:
        """Whether the entry is in a summary in force and does not stay in view all the same; quicker than `of`."""
        return seq <= self._summarised_to and seq not in self.carried

    @cached_property
    def carried(self) -> frozenset[int]:
        """The seqs of entries that stay in view although a compaction covers them."""
        of_all = [snip.carried for snip in self.edits.snips]
        return frozenset[int]().union(self.edits.summary.carried if self.edits.summary else frozenset[int](), *of_all)

    def of(self, logged: Logged) -> Fate:
        """The fate of one prompt, reply, result or notice."""
        seq, entry, by = logged.seq, logged.entry, self.edits.summary
        snip = next((each for each in self.edits.snips if each.first <= seq <= each.last), None)
        if seq not in self.carried:
            if by is not None and seq <= by.last:
                return Fate("summarised", self._active[by.source].id)
            if snip is not None:
                return Fate("snipped", self._active[snip.source].id)
        if seq in self._cleared_by:  # also where the entry is carried: the user took out what was pinned
            return Fate("cleared", self._cleared_by[seq])
        if snip is not None and seq in snip.carried:
            return Fate("pinned", self._active[snip.source].id)
        if by is not None and seq <= by.last:
            return Fate("pinned", self._active[by.source].id)
        if seq in self._clipped or (isinstance(entry, ToolReturned) and entry.full_output):
            return Fate("clipped")
        return KEPT


def touches_in_view(projection: Projection) -> list[FileTouch]:
    """What the tool results and restored files in the next request tell about files, in the order of the log.

    Costs what is in view, however long the log is.
    """
    entries = projection.entries
    in_view = {source for message in projection.messages if message.role == "user" for source in message.sources}
    cleared = {each.seq for compaction in projection.active for each in compaction.cleared}
    touches: list[FileTouch] = []
    for seq in sorted(in_view - cleared):
        entry = entry_at(entries, seq)
        if entry is not None:
            entry = without_texts(entry, projection.paths_out.get(seq, ()))
        if isinstance(entry, ToolReturned):
            if entry.touched and not entry.media:  # an image or a PDF is not the file's text
                is_clipped = entry.full_output is not None or clipped_to(entries, seq) is not None
                touches.extend(_of_a_part(touch) if is_clipped else touch for touch in entry.touched)
        elif isinstance(entry, Notice):
            touches.extend(entry.touched)
        elif isinstance(entry, Compaction):
            restored = (file for file in entry.restored if file.sha256)
            touches.extend(FileTouch(file.path, "read", file.sha256, not file.whole) for file in restored)
    return touches


def whole_in_view(projection: Projection) -> dict[str, str]:
    """The hashes of the files whose whole text the next request holds, by path: read whole or made in a message that is there, with the
    edits since.

    A file of which only an edit is in view is not among them: the model knows that part alone.
    """
    whole: dict[str, str] = {}
    for touch in touches_in_view(projection):
        if touch.kind == "deleted":
            whole.pop(touch.path, None)
        elif touch.path in whole if touch.kind == "edited" else not touch.partial:
            whole[touch.path] = touch.sha256
    return whole


def _of_a_part(touch: FileTouch) -> FileTouch:
    """What a clipped result tells about a file: a read shows only a part of it, while the model knows what it wrote itself."""
    return replace(touch, partial=True) if touch.kind == "read" else touch
