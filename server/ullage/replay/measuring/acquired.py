"""Text that the agent gets from its tools again after a compaction, and how much of it the compaction had left in view.

Texts are compared as in `context/compaction/forgotten.py`, which counts while a session goes on. Here all counts that stood anywhere
before, not only what the newest compaction took out of view. A line of a result is known where a block that covers it stood somewhere
before the compaction. It counts once: what has come up since is not acquired again a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ullage.context.compaction.forgotten import blocks, covered, texts_of
from ullage.context.compaction.seen import bare_lines
from ullage.context.entries import AssistantReply, Logged, ToolReturned
from ullage.replay.measuring.retention import Share, entries_after


@dataclass(frozen=True, slots=True)
class Acquired:
    """What results held after compactions, in characters; a line has one more for its end."""

    places: int = 0
    """Compactions after which the session went on."""
    results: int = 0
    """All of the results in the windows after them."""
    again: Share = field(default_factory=Share)
    """Of what was known before, what stood in view right after the compaction."""
    beside_summary: int = 0
    """What stood in view then without the summary: messages that were kept, files that were put back."""

    @property
    def mean_beside_summary(self) -> float | None:
        """Characters a compaction; None where there was none."""
        return self.beside_summary / self.places if self.places else None

    def __add__(self, other: Acquired) -> Acquired:
        return Acquired(
            self.places + other.places,
            self.results + other.results,
            self.again + other.again,
            self.beside_summary + other.beside_summary,
        )


@dataclass(frozen=True, slots=True)
class View:
    """What the model saw right after a compaction: `text` is all of it, `beside_summary` the characters of what is not the summary."""

    after_seq: int
    text: str
    beside_summary: int


class Seen:
    """The blocks of a session, to be asked for any compactions in it."""

    def __init__(self, entries: Sequence[Logged]) -> None:
        self._entries = entries
        self._first: dict[int, int] = {}
        for logged in entries:
            for text in texts_of(logged.entry):
                for block in blocks(bare_lines(text)):
                    if block is not None:
                        self._first.setdefault(block, logged.seq)

    def acquired(self, views: Sequence[View]) -> Acquired:
        """`views` are those after a session's compactions, in their order."""
        found = Acquired()
        for index, view in enumerate(views):
            until = views[index + 1].after_seq if index + 1 < len(views) else None
            window = [logged for logged in entries_after(self._entries, view.after_seq) if until is None or logged.seq <= until]
            if window:
                found += self._after(window, view)
        return found

    def _after(self, window: Sequence[Logged], view: View) -> Acquired:
        in_view = {block for block in blocks(bare_lines(view.text)) if block is not None}
        come_up: set[int] = set()
        results = known = held = 0
        for logged in window:
            entry = logged.entry
            for text in texts_of(entry) if isinstance(entry, AssistantReply | ToolReturned) else ():
                lines = bare_lines(text)
                marks = [*blocks(lines)]
                if isinstance(entry, ToolReturned):
                    sizes = [len(line) + 1 for line in lines]
                    of_before = [block is not None and block not in come_up and self._stood(block, view.after_seq) for block in marks]
                    is_known = covered(of_before, len(lines))
                    is_held = covered([block in in_view for block in marks], len(lines))
                    results += sum(sizes)
                    known += sum(size for size, knew in zip(sizes, is_known, strict=True) if knew)
                    held += sum(size for size, knew, holds in zip(sizes, is_known, is_held, strict=True) if knew and holds)
                come_up.update(block for block in marks if block is not None)
        return Acquired(1, results, Share(held, known), view.beside_summary)

    def _stood(self, block: int, after_seq: int) -> bool:
        first = self._first.get(block)
        return first is not None and first <= after_seq
