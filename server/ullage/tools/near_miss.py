"""Why a piece of text was not found in a file, and what stands there instead."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from ullage.tools.excerpt import excerpt, split_lines

SEARCHED_LINES = 10_000
"""In longer files only these first lines are looked through for something similar."""

SIMILAR = 0.6
"""Lines that are less alike than this (0 to 1) are no help."""

COMPARED_CHARACTERS = 300
"""Of each line; comparing takes time that grows with the square of it."""

CONTEXT_LINES = 2

LINE_END = re.compile(r"\r\n?")


def line_numbers_of(piece: str, text: str) -> list[int]:
    """The lines (counted from 1) where `piece` begins, occurrences not overlapping."""
    numbers: list[int] = []
    line, counted, found = 1, 0, text.find(piece)
    while found >= 0:
        line += text.count("\n", counted, found)
        numbers.append(line)
        counted, found = found, text.find(piece, found + len(piece))
    return numbers


def explain_no_match(piece: str, text: str) -> str:
    """What the model should know to do better: a slip that explains the miss, or the lines that come closest."""
    if re.fullmatch(r"(?:\s*\d+\t[^\n]*\n?)+", piece):
        return "It has line numbers in it, which are not part of the file. Leave them out."
    lines = _lines(text)[:SEARCHED_LINES]
    wanted = _lines(piece)
    same_words = _where_same_words(wanted, lines)
    if same_words is not None:
        return f"The same words are there with other spaces, indentation or line ends:\n{_around(lines, same_words, len(wanted))}"
    closest = _closest(wanted, lines)
    if closest is not None:
        return f"The closest lines are:\n{_around(lines, closest, len(wanted))}"
    return "Nothing similar is in it. Read the file again, or search for the place."


def _lines(text: str) -> list[str]:
    """The lines, wherever a file that mixes its line ends has them."""
    return split_lines(LINE_END.sub("\n", text))


def _where_same_words(wanted: list[str], lines: list[str]) -> int | None:
    words = [line.split() for line in wanted]
    of_file = [line.split() for line in lines]
    return next((at for at in range(len(lines) - len(words) + 1) if of_file[at : at + len(words)] == words), None)


def _closest(wanted: list[str], lines: list[str]) -> int | None:
    """Where the longest wanted line has its closest counterpart, as the number of lines before the whole piece."""
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[anchor].strip()[:COMPARED_CHARACTERS])
    best, best_at = SIMILAR, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:COMPARED_CHARACTERS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, best_at = matcher.ratio(), at
    return None if best_at is None else max(0, best_at - anchor)


def _around(lines: list[str], at: int, count: int) -> str:
    first = max(0, at - CONTEXT_LINES)
    return excerpt(lines, first + 1, at - first + count + CONTEXT_LINES).text
