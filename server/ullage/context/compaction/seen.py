"""Which lines of a text the model has seen, and where last.

Lines are found again by what they say, a few at a time, not by their numbers. So it makes no difference which tool showed them, whether
edits have moved them since, or whether a command printed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ullage.context.blocks import Block, Text, ToolResult, ToolUse
from ullage.context.calls import strings_of
from ullage.context.view.projection import Projection

FEWEST_CHARACTERS = 12
"""Characters of lines that are compared together. With fewer (braces, blank lines) they are alike by chance."""

_NUMBER = re.compile(r"\s*\d+[→\t:|-]")
"""What tools for reading and searching put before a line: its number."""


def bare_lines(text: str) -> list[str]:
    """The lines of a text without the numbers that tools put before them, and without white space at both ends."""
    lines = text.split("\n")
    return [line[found.end() :].strip() if (found := _NUMBER.match(line)) else line.strip() for line in lines]


def texts_in(view: Projection) -> Iterator[tuple[int, str]]:
    """The texts that the model sees, each with the seq of the entry that it comes from."""
    for message in view.messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            yield from ((source, text) for text in _texts(block))


def in_view(view: Projection) -> str:
    """All text that the model sees, as one text."""
    return "\n".join(text for _, text in texts_in(view))


class SeenText:
    """Texts in runs of `run` lines, each run with the newest entry that shows it."""

    def __init__(self, texts: Iterable[tuple[int, str]], run: int) -> None:
        self._run = run
        self._newest: dict[tuple[str, ...], int] = {}
        for seq, text in texts:
            lines = bare_lines(text)
            for start in range(len(lines) - run + 1):
                key = tuple(lines[start : start + run])
                self._newest[key] = max(seq, self._newest.get(key, 0))

    def last(self, lines: Sequence[str]) -> list[int]:
        """For each of these bare lines the seq of the newest entry that shows it together with the lines around it; 0 if none does."""
        found = [0] * len(lines)
        for start in range(len(lines) - self._run + 1):
            key = tuple(lines[start : start + self._run])
            seq = self._newest.get(key, 0)
            if seq and sum(map(len, key)) >= FEWEST_CHARACTERS:
                for line in range(start, start + self._run):
                    found[line] = max(seq, found[line])
        return found


def runs(marked: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The stretches of marked lines, each as the index of its first line and that of the first line behind it (from 0)."""
    start: int | None = None
    for index, mark in enumerate((*marked, False)):
        if mark and start is None:
            start = index
        elif not mark and start is not None:
            yield start, index
            start = None


def _texts(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield block.text
    elif isinstance(block, ToolResult):
        yield block.content
    elif isinstance(block, ToolUse):
        yield from strings_of(block.input)
