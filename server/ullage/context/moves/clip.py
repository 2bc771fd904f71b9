"""Clip: a tool result that is too long gives way to its head and its tail, before it is first sent.

The whole is in a file by then or right after; writing it is not done here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ullage.context.policy import ClipNumbers

LINE_END_WITHIN = 0.5
"""A part is cut at a line's end where that keeps at least this share of it."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A result as the tool gave it."""

    tool_use_id: str
    content: str
    complete: bool = True
    """False where the tool itself kept only parts of what there was."""

    @property
    def in_words(self) -> str:
        """What the file holds that keeps `content`."""
        return "The whole output" if self.complete else "What was kept of the output"


@dataclass(frozen=True, slots=True)
class Clip:
    """A result as the model gets it. `characters` is the length before."""

    content: str
    clipped: bool
    characters: int


def clip(arrivals: Sequence[Arrival], numbers: ClipNumbers, path_of: Callable[[str], str]) -> tuple[Clip, ...]:
    """What the model gets of each result of one message, in the same order.

    Clipped are those over the limit of a result, then the largest ones while all together are over the limit of a message.
    `path_of` gives, for a tool use id, the path of the file that holds the whole. A clip is never longer than what it
    stands for; where it would be, the result stays whole.
    """
    clips = [_whole(arrival) for arrival in arrivals]
    largest_first = sorted(range(len(arrivals)), key=lambda index: -clips[index].characters)
    total = sum(clip.characters for clip in clips)
    for index in largest_first:
        if not _is_too_long(clips[index].characters, total, numbers):
            break
        clips[index] = _clipped(arrivals[index], numbers, path_of)
        total += len(clips[index].content) - clips[index].characters
    return tuple(clips)


def _whole(arrival: Arrival) -> Clip:
    return Clip(arrival.content, clipped=False, characters=len(arrival.content))


def _is_too_long(characters: int, total: int, numbers: ClipNumbers) -> bool:
    if numbers.result_characters is not None and characters > numbers.result_characters:
        return True
    is_over = numbers.message_characters is not None and total > numbers.message_characters
    return is_over and characters > numbers.smallest_characters


def _clipped(arrival: Arrival, numbers: ClipNumbers, path_of: Callable[[str], str]) -> Clip:
    content = arrival.content
    tail_length = int(numbers.preview_characters * numbers.tail_share)
    head = _head(content, numbers.preview_characters - tail_length)
    tail = _tail(content, tail_length)
    left_out = len(content) - len(head) - len(tail)
    lines = len(content.splitlines())
    line = (
        f"[{left_out:,} characters are left out here. {arrival.in_words}, {len(content):,} characters in {lines:,} lines, "
        f"is in {path_of(arrival.tool_use_id)}]"
    )
    shorter = "\n".join(part for part in (head.rstrip("\r\n"), line, tail.rstrip("\r\n")) if part)
    if left_out <= 0 or len(shorter) >= len(content):
        return _whole(arrival)
    return Clip(shorter, clipped=True, characters=len(content))


def _head(content: str, length: int) -> str:
    """At most `length` characters from the start, whole lines where that keeps enough."""
    part = content[:length]
    line_end = part.rfind("\n") + 1
    return part[:line_end] if line_end >= length * LINE_END_WITHIN else part


def _tail(content: str, length: int) -> str:
    """At most `length` characters from the end, whole lines where that keeps enough."""
    part = content[max(len(content) - length, 0) :]
    line_start = part.find("\n") + 1
    return part[line_start:] if 0 < line_start <= len(part) - length * LINE_END_WITHIN else part
