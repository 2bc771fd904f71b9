"""Patterns for files as rules of a project have them: `*.ts`, `src/**`, `*.{ts,tsx}`. A workspace writes them, so no pattern takes long.

They are read as in a `.gitignore`: one without a slash fits in every folder, others start from the folder of the rules, and what fits a
folder fits all in it. Braces are known in addition. What is no pattern stands for itself, so every text is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

MOST_PATTERNS = 64
"""Most patterns that one pattern with braces may stand for; what is beyond is passed over."""

LONGEST_PATTERN = 500
"""Characters; what is longer fits nothing."""

_ANY_FOLDERS = "**"

_Step: TypeAlias = Callable[[str], bool] | None
"""The check of one character; None for any number of any characters."""


def fits(patterns: Iterable[str], path: str) -> bool:
    """Whether a path (with `/`, from the folder of the rules) fits one of the patterns."""
    parts = path.split("/")
    return any(_fits(segments, parts) for pattern in patterns for segments in _read(pattern))


def without_braces(pattern: str) -> Sequence[str]:
    """The patterns that one with braces stands for, `MOST_PATTERNS` at most: `*.{ts,tsx}` is `*.ts` and `*.tsx`."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) < MOST_PATTERNS:
        each = waiting.pop(0)
        end = each.find("}")
        begin = each.rfind("{", 0, end) if end >= 0 else -1
        if begin < 0:
            done.append(each)
        else:
            waiting[:0] = [each[:begin] + choice + each[end + 1 :] for choice in each[begin + 1 : end].split(",")]
    return done


@lru_cache(1_000)
def _read(pattern: str) -> tuple[tuple[str, ...], ...]:
    """The patterns that one stands for, each as its segments."""
    if len(pattern) > LONGEST_PATTERN:
        return ()
    return tuple(segments for each in without_braces(pattern) if (segments := _segments(each)))


def _segments(pattern: str) -> tuple[str, ...]:
    plain = pattern.strip().removeprefix("./")
    segments = tuple(each for each in plain.split("/") if each)
    return (_ANY_FOLDERS, *segments) if segments and "/" not in plain.rstrip("/") else segments


def _fits(segments: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the segments of a pattern fit the path, or a folder above it."""
    places = _passing({0}, segments)
    for part in parts:
        met = {
            place if segments[place] == _ANY_FOLDERS else place + 1
            for place in places
            if place < len(segments) and (segments[place] == _ANY_FOLDERS or fits_name(segments[place], part))
        }
        places = _passing(met, segments)
        if len(segments) in places:
            return True
    return False


def _passing(places: set[int], segments: Sequence[str]) -> set[int]:
    """The places, and with them those behind a `**`, which may stand for no folder."""
    for place in range(len(segments)):
        if place in places and segments[place] == _ANY_FOLDERS:
            places.add(place + 1)
    return places


def fits_name(segment: str, name: str) -> bool:
    """Whether one name fits one pattern. Goes back to the newest `*` alone, so it takes no longer than both lengths multiplied."""
    steps = _steps(segment)
    at = taken = 0
    star: tuple[int, int] | None = None
    """Where to go on behind the newest `*`, and what it has not taken yet."""
    while taken < len(name):
        step = steps[at] if at < len(steps) else _nothing
        if step is None:
            star = at, taken = at + 1, taken
        elif step(name[taken]):
            at, taken = at + 1, taken + 1
        elif star is not None:
            star = at, taken = star[0], star[1] + 1
        else:
            return False
    return all(step is None for step in steps[at:])


def _nothing(_: str) -> bool:
    return False


@lru_cache(1_000)
def _steps(segment: str) -> tuple[_Step, ...]:
    steps: list[_Step] = []
    at = 0
    while at < len(segment):
        character = segment[at]
        end = segment.find("]", at + 2) if character == "[" else -1
        if character == "*":
            if not steps or steps[-1] is not None:
                steps.append(None)
        elif character == "?":
            steps.append(lambda _: True)
        elif end > 0:
            steps.append(_one_of(segment[at + 1 : end]))
            at = end
        else:
            at += character == "\\" and at + 1 < len(segment)
            steps.append(segment[at].__eq__)
        at += 1
    return tuple(steps)


def _one_of(inside: str) -> Callable[[str], bool]:
    """The check of a character by what stands in brackets: `[abc]`, `[a-z]`, `[!a-z]`."""
    negated = inside[0] in "!^"
    listed = inside[1:] if negated else inside
    ranges = [(listed[at], listed[at + 2]) for at in range(len(listed) - 2) if listed[at + 1] == "-"]
    return lambda character: negated != (character in listed or any(low <= character <= high for low, high in ranges))
