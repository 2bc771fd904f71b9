"""Texts as the model is shown them: with line numbers, within bounds, and as differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.entries import FileDiff

EXCERPT_CHARACTERS = 24_000
"""No more of a file at once: below the 30,000 from which a result would be clipped in the middle, where line numbers
could no longer be followed."""

LINE_CHARACTERS = 2_000
"""A longer line is cut: it is generated code or data, and would push out everything else."""

DIFF_CONTEXT_LINES = 3
DIFF_CHARACTERS = 20_000
"""No more of each side of a difference is kept for the user to see."""
PROPOSED_CHARACTERS = 400_000
"""The same while the user is asked, who has to see all of it: three times what a model writes in one reply."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Numbered lines. `last` is the number of the last one shown; `cut_lines` says that some were too long."""

    text: str
    first: int
    last: int
    cut_lines: bool

    def is_whole(self, lines: Sequence[str]) -> bool:
        """Whether nothing of the lines is missing."""
        return self.first <= 1 and self.last >= len(lines) and not self.cut_lines


def split_lines(text: str) -> list[str]:
    """The lines as an editor counts them, without their ends; what follows the last line end counts only if not empty."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def excerpt(lines: Sequence[str], first: int, limit: int) -> Excerpt:
    """Up to `limit` lines from line `first` (counted from 1), within `EXCERPT_CHARACTERS`."""
    shown: list[str] = []
    characters = 0
    cut_lines = False
    for number, line in enumerate(lines[first - 1 : first - 1 + limit], start=first):
        if len(line) > LINE_CHARACTERS:
            line = f"{line[:LINE_CHARACTERS]} ... [{len(line) - LINE_CHARACTERS:,} more characters]"
            cut_lines = True
        numbered = f"{number:>6}\t{line}"
        characters += len(numbered) + 1
        if shown and characters > EXCERPT_CHARACTERS:
            break
        shown.append(numbered)
    return Excerpt("\n".join(shown), first, first + len(shown) - 1, cut_lines)


def first_difference(old: str, new: str) -> int:
    """The number of the line (counted from 1) where two texts begin to differ."""
    return _common_start(old.split("\n"), new.split("\n")) + 1


def file_diff(path: str, old: str, new: str) -> FileDiff:
    """The whole lines that differ with a few around them, both sides bounded."""
    return _diff(path, old, new, DIFF_CHARACTERS)


def proposed_diff(path: str, old: str, new: str) -> FileDiff:
    """The same of a change that is still to be allowed."""
    return _diff(path, old, new, PROPOSED_CHARACTERS)


def _diff(path: str, old: str, new: str, most: int) -> FileDiff:
    old_lines, new_lines = old.split("\n"), new.split("\n")
    start = _common_start(old_lines, new_lines)
    end = _common_start(old_lines[start:][::-1], new_lines[start:][::-1])
    first = max(0, start - DIFF_CONTEXT_LINES)
    after = max(0, end - DIFF_CONTEXT_LINES)
    last_old, last_new = len(old_lines) - after, len(new_lines) - after
    return FileDiff(path, _bounded(old_lines[first:last_old], most), _bounded(new_lines[first:last_new], most))


def _common_start(first: Sequence[str], second: Sequence[str]) -> int:
    common = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        common += 1
    return common


def _bounded(lines: Sequence[str], most: int) -> str:
    text = "\n".join(lines)
    if len(text) <= most:
        return text
    kept = text[:most].rpartition("\n")[0] or text[:most]
    return f"{kept}\n[{len(text) - len(kept):,} more characters]"
