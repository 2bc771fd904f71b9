"""What stands before the newest messages: summaries that were made before, and stretches of messages that have none yet.

All of it is read out of the view. A summary is the marker of a snip in force; how deep it is says the log: it lies over the snips
in force that its range holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from ullage.context.blocks import Message, Text
from ullage.context.moves.cuts import legal_cuts
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class Node:
    """A summary in view. `first` and `last` are the seqs of its range, `depth` is 0 for one over messages."""

    first: int
    last: int
    text: str
    depth: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TreePiece:
    """Messages that a summary may stand for: from seq `first` to seq `last`, nothing of it cut apart."""

    first: int
    last: int
    messages: tuple[Message, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages without a summary, in pieces that may be summarised one after the other."""

    pieces: tuple[TreePiece, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """A summary from the session's first entry on, as other policies make it. No summary can lie over it."""


Item: TypeAlias = Node | Stretch | Barrier


def items_before(projection: Projection, tail_start: int, count: Callable[[Sequence[Message]], int]) -> tuple[Item, ...]:
    """What stands before message `tail_start`, the oldest first. `count` gives the tokens of messages."""
    reader = _Reader(projection, count)
    messages = projection.messages
    legal = [cut for cut in legal_cuts(messages) if cut <= tail_start]
    for cut, following in pairwise(legal):
        for index in range(cut, following):
            reader.read(messages[index])
        reader.end_piece(projection.last_seq_before(following))
    return reader.finished()


class _Reader:
    """Reads messages in order; pieces end at legal cuts and at summaries."""

    def __init__(self, projection: Projection, count: Callable[[Sequence[Message]], int]) -> None:
        self._count = count
        self._snips = [each.snipped for each in projection.active if each.snipped is not None]
        self._compactions = projection.active_by_seq
        self._items: list[Item] = []
        self._pieces: list[TreePiece] = []
        self._open: list[Message] = []
        self._covered_to = 0

    def read(self, message: Message) -> None:
        """Takes in one message. Summaries in it become items of their own; what the user pinned under one stays where it is."""
        for block, source in zip(message.blocks, message.sources, strict=True):
            made = self._compactions.get(source)
            text = block.text if isinstance(block, Text) else ""
            if made is not None and made.snipped is not None and text == made.snipped.marker:
                first, last = made.snipped.first_seq, min(made.snipped.last_seq, source - 1)
                self.end_piece(first - 1)
                self._end_stretch()
                one = replace(message, blocks=(block,), sources=(source,))
                self._items.append(Node(first, last, text, self._depth(first, last), self._count([one])))
                self._covered_to = last
            elif made is not None and made.summarised is not None and text in ("", made.summarised.text):
                self._items.append(Barrier())
                self._covered_to = min(made.summarised.last_seq, source - 1)
            elif source > self._covered_to:
                self._put(replace(message, blocks=(block,), sources=(source,)))

    def end_piece(self, last: int) -> None:
        """Makes one piece of what was read since the last end, up to seq `last`."""
        if self._open and last > self._covered_to:
            joined = tuple(self._open)
            self._pieces.append(TreePiece(self._covered_to + 1, last, joined, self._count(joined)))
            self._covered_to = last
        self._open = []

    def finished(self) -> tuple[Item, ...]:
        """Ends the reading; gives all items."""
        self._end_stretch()
        return tuple(self._items)

    def _put(self, one: Message) -> None:
        last = self._open[-1] if self._open else None
        if last is not None and last.role == one.role:
            self._open[-1] = replace(last, blocks=last.blocks + one.blocks, sources=last.sources + one.sources)
        else:
            self._open.append(one)

    def _end_stretch(self) -> None:
        if self._pieces:
            self._items.append(Stretch(tuple(self._pieces)))
        self._pieces = []

    def _depth(self, first: int, last: int) -> int:
        """How many levels of ranges of snips in force lie below this one; the range itself is not counted."""
        ranges = {(snip.first_seq, snip.last_seq) for snip in self._snips}
        return _height(sorted(each for each in ranges if first <= each[0] and each[1] <= last and each != (first, last)))


def _height(ranges: Iterable[tuple[int, int]]) -> int:
    heights: dict[tuple[int, int], int] = {}
    for first, last in sorted(ranges, key=lambda each: each[1] - each[0]):
        within = (height for (start, end), height in heights.items() if first <= start and end <= last)
        heights[first, last] = 1 + max(within, default=0)
    return max(heights.values(), default=0)
