"""Texts compared line by line, and two sets of changes to one text joined (a three-way merge).

What the lines are of is not known here. Hunks and their review stand in `hunks.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

MOST_COMPARED = 100_000
"""Pairs of lines that difflib compares at once; a stretch with more, in which no line stands just once, counts as replaced.

In the worst case difflib takes the third power of the lines: here a second or two.
"""

By: TypeAlias = Literal["ours", "theirs", "same", "conflict"]
"""Who changed a stretch: one side, both in the same way, or both in different ways."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of lines: indices from 0, `end` not included."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change of one text into another: the lines `new` stand in the place of the lines `old`."""

    old: Span
    new: Span


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the base that one side or both changed, and where it is in each text."""

    base: Span
    ours: Span
    theirs: Span
    by: By


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text, each with its line end, as an editor counts them. Together they are the whole text; the last may have no line
    end."""
    return tuple(_LINE.findall(text))


def joined(pieces: Iterable[Sequence[str]]) -> str:
    """The text that these lines make. A line without an end gets one unless it is the last, so that no two lines become one."""
    lines = [line for piece in pieces for line in piece]
    for index, line in enumerate(lines[:-1]):
        if not line.endswith(("\n", "\r")):
            lines[index] = line + "\n"
    return "".join(lines)


def differences(old: Sequence[str], new: Sequence[str]) -> tuple[TextChange, ...]:
    """The changes that make `new` of `old`, in order. Between two changes stands at least one common line.

    Lines that stand once in both texts hold these together (as in patience diff), difflib compares what is between them. So two large texts
    take little longer than to read them.
    """
    changes: list[TextChange] = []
    for change in _changes(old, new):
        last = changes[-1] if changes else None
        if last is not None and last.old.end == change.old.start and last.new.end == change.new.start:
            changes[-1] = TextChange(Span(last.old.start, change.old.end), Span(last.new.start, change.new.end))
        else:
            changes.append(change)
    return tuple(changes)


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[TextChange]:
    waiting = [TextChange(Span(0, len(old)), Span(0, len(new)))]
    while waiting:
        gap = _trimmed(old, new, waiting.pop())
        if not len(gap.old) or not len(gap.new):
            if len(gap.old) or len(gap.new):
                yield gap
            continue
        anchors = _anchors(old, new, gap)
        if anchors:
            waiting.extend(reversed(_between(gap, anchors)))
        else:
            yield from _compared(old, new, gap)


def _trimmed(old: Sequence[str], new: Sequence[str], gap: TextChange) -> TextChange:
    """The gap without the lines at its beginning and at its end that both texts have."""
    start, new_start, end, new_end = gap.old.start, gap.new.start, gap.old.end, gap.new.end
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    return TextChange(Span(start, end), Span(new_start, new_end))


def _anchors(old: Sequence[str], new: Sequence[str], gap: TextChange) -> list[tuple[int, int]]:
    """The longest run of lines that stand once in both texts of the gap, and in the same order: for each line its indices in `old` and in
    `new`."""
    counts = Counter(old[gap.old.start : gap.old.end])
    new_counts = Counter(new[gap.new.start : gap.new.end])
    places = {new[index]: index for index in range(gap.new.start, gap.new.end)}
    pairs = [
        (index, places[old[index]])
        for index in range(gap.old.start, gap.old.end)
        if counts[old[index]] == 1 and new_counts[old[index]] == 1
    ]
    ends: list[int] = []
    """For each length of run, the smallest place in the new text at which such a run ends."""
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            last.append(index)
        else:
            ends[length], last[length] = place, index
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _between(gap: TextChange, anchors: Sequence[tuple[int, int]]) -> list[TextChange]:
    gaps: list[TextChange] = []
    start, new_start = gap.old.start, gap.new.start
    for index, place in (*anchors, (gap.old.end, gap.new.end)):
        if index > start or place > new_start:
            gaps.append(TextChange(Span(start, index), Span(new_start, place)))
        start, new_start = index + 1, place + 1
    return gaps


def _compared(old: Sequence[str], new: Sequence[str], gap: TextChange) -> Iterator[TextChange]:
    if len(gap.old) * len(gap.new) > MOST_COMPARED:
        yield gap
        return
    matcher = SequenceMatcher(None, old[gap.old.start : gap.old.end], new[gap.new.start : gap.new.end], autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            at, new_at = gap.old.start, gap.new.start
            yield TextChange(Span(at + start, at + end), Span(new_at + new_start, new_at + new_end))


def regions(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[Region, ...]:
    """The stretches in which the two sides differ from the base, in order. Changes that only touch each other stay apart.

    Two insertions at one place are in conflict, since nothing tells which comes first.
    """
    sides = (differences(base, ours), differences(base, theirs))
    changes = sorted(((change, side) for side in (0, 1) for change in sides[side]), key=lambda each: (each[0].old.start, each[0].old.end))
    shifts = [0, 0]
    """The number of lines by which each side is ahead of the base before the region."""
    found: list[Region] = []
    index = 0
    while index < len(changes):
        group = [changes[index]]
        span = changes[index][0].old
        index += 1
        while index < len(changes) and _meets(span, changes[index][0].old):
            group.append(changes[index])
            span = Span(span.start, max(span.end, changes[index][0].old.end))
            index += 1
        spans: list[Span] = []
        for side in (0, 1):
            grown = sum(len(change.new) - len(change.old) for change, of in group if of == side)
            spans.append(Span(span.start + shifts[side], span.end + shifts[side] + grown))
            shifts[side] += grown
        found.append(Region(span, spans[0], spans[1], _by({of for _, of in group}, ours, spans[0], theirs, spans[1])))
    return tuple(found)


def _meets(span: Span, later: Span) -> bool:
    """Whether `later`, which does not begin before `span`, overlaps it, or both are insertions at one place."""
    return later.start < span.end or (span == later and not len(span))


def _by(who: set[int], ours: Sequence[str], our_span: Span, theirs: Sequence[str], their_span: Span) -> By:
    if len(who) == 1:
        return "theirs" if 1 in who else "ours"
    is_same = ours[our_span.start : our_span.end] == theirs[their_span.start : their_span.end]
    return "same" if is_same else "conflict"


def merged(
    base: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
    found: Iterable[Region],
    take_ours: Callable[[Region], bool],
) -> str:
    """The base with the changes of both sides. For each region `take_ours` says whether our side is taken there; else it is the other."""
    pieces: list[Sequence[str]] = []
    at = 0
    for region in found:
        pieces.append(base[at : region.base.start])
        pieces.append(ours[region.ours.start : region.ours.end] if take_ours(region) else theirs[region.theirs.start : region.theirs.end])
        at = region.base.end
    pieces.append(base[at:])
    return joined(pieces)
