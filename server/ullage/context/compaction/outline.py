"""A file too long to be shown whole: an outline of what it defines, the parts that were seen last, or those around given lines.

If there is a grammar for the language, that says where definitions are (`symbols/`). Else it goes by the words that most languages
begin a definition with, and by indentation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ullage.context.calls import one_line
from ullage.context.compaction.seen import runs
from ullage.context.counting.tokens import estimate_text
from ullage.context.symbols.symbols import symbols

LINE_CHARACTERS = 160
LONGEST_DEFINITION = 400
"""Characters. A longer line is generated or packed code."""
FEWEST_DEFINITIONS = 3
"""With fewer found than that, the lines that are not indented serve as the outline."""

DEFINITION = re.compile(
    r"^\s{0,12}(?:@\w[\w.]*\s+)?(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|"
    r"unsafe|extern|override|virtual|inline|open|sealed|data|suspend|partial|readonly)\s+)*"
    r"(?:def|class|function\*?|func|fun|fn|interface|type|enum|struct|union|impl|trait|mod|module|namespace|package|object|record|protocol|"
    r"extension|macro_rules!|template|CREATE\s+(?:TABLE|VIEW|INDEX|FUNCTION))\b"
)
VALUE_FUNCTION = re.compile(r"^\s{0,4}(?:export\s+)?(?:const|let|var)\s+\w+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)")
METHOD = re.compile(
    r"^\s{2,8}(?:(?:public|private|protected|static|async|get|set|override|readonly|virtual)\s+)*[A-Za-z_$][\w$]*\([^;]*\)[^;]*\{\s*$"
)
CONTROL = re.compile(r"^\s*(?:if|for|while|switch|catch|return|else|do|try|with|match)\b")
HEADING = re.compile(r"^#{1,6}\s+\S|^\[[^\]]+\]\s*$")
PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".toml", ".ini", ".cfg")


MARGIN = 3
"""Lines shown on each side of those that are wanted. Two parts become one where no more than so many lie between them: to tell where a part
begins takes as much."""


def outline(path: str, text: str, tokens: int, without: Collection[int] = ()) -> str:
    """The lines of a file that define something, with their numbers, in at most `tokens` tokens. Lines in `without` are left out. Empty if
    there is no room."""
    lines = text.split("\n")  # as read_file counts them, and no other line ends
    numbers = _parsed(path, text, lines) or [number for number, line in enumerate(lines, 1) if _defines(path, line)]
    if len(numbers) < FEWEST_DEFINITIONS:
        numbers = [number for number, line in enumerate(lines, 1) if line[:1].strip() and any(character.isalnum() for character in line)]
    numbers = [number for number in numbers if number not in without]
    while numbers:
        shown = "\n".join(f"{number}: {one_line(lines[number - 1], LINE_CHARACTERS)}" for number in numbers)
        size = estimate_text(shown)
        if size <= tokens:
            return shown
        numbers = _thinned(numbers, lines, tokens / size)
    return ""


def parts(text: str, near_lines: Sequence[int], tokens: int) -> str:
    """The text around each of `near_lines` (counted from 1), as much as fits into `tokens` tokens; the beginning of the text where there
    are none."""
    lines = text.split("\n")  # as read_file counts them, and no other line ends
    centres = sorted({min(max(line, 1), len(lines)) for line in near_lines}) or [1]
    smallest, largest = -1, len(lines)
    while smallest < largest:
        radius = (smallest + largest + 1) // 2
        if estimate_text(_around(lines, centres, radius)) <= tokens:
            smallest = radius
        else:
            largest = radius - 1
    return _around(lines, centres, smallest) if smallest >= 0 else ""


def newest_parts(text: str, seen: Sequence[int], tokens: int) -> tuple[str, frozenset[int]]:
    """The lines that were seen last, with a few around them, as many as fit into `tokens` tokens, and the numbers of these lines (from 1).

    `seen` tells for each line when it was seen, the larger the later; 0 if never, or if it is not wanted.
    """
    lines = text.split("\n")  # as read_file counts them, and no other line ends
    newest = sorted((number for number, when in enumerate(seen, 1) if when), key=lambda number: (-seen[number - 1], number))
    fewest, most = 0, len(newest)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if estimate_text(_ranges(lines, _with_margin(newest[:middle], len(lines)))) <= tokens:
            fewest = middle
        else:
            most = middle - 1
    shown = _with_margin(newest[:fewest], len(lines))
    return _ranges(lines, shown), frozenset(number for first, last in shown for number in range(first, last + 1))


def in_parts(text: str, without: Sequence[bool]) -> str:
    """All lines but those that are marked in `without`, each stretch under its line numbers."""
    kept = [(start + 1, end) for start, end in runs([not out for out in without])]
    return _ranges(text.split("\n"), kept)


def _parsed(path: str, text: str, lines: Sequence[str]) -> list[int]:
    """The numbers of the lines with definitions, found by the grammar; empty if there is none for this file, or it found hardly
    anything."""
    found = symbols(path, text)
    numbers = sorted({symbol.line for symbol in found.definitions}) if found is not None else []
    shown = [number for number in numbers if len(lines[number - 1]) <= LONGEST_DEFINITION]
    return shown if len(shown) >= FEWEST_DEFINITIONS else []


def _defines(path: str, line: str) -> bool:
    if len(line) > LONGEST_DEFINITION:
        return False
    if path.lower().endswith(PROSE):
        return bool(HEADING.match(line))
    if DEFINITION.match(line) or VALUE_FUNCTION.match(line):
        return True
    return bool(METHOD.match(line)) and not CONTROL.match(line)


def _thinned(numbers: Sequence[int], lines: Sequence[str], share: float) -> list[int]:
    """About that share of the lines: the deepest indented are left out first, then the last ones."""
    depths = sorted({_depth(lines[number - 1]) for number in numbers})
    if len(depths) > 1:
        return [number for number in numbers if _depth(lines[number - 1]) < depths[-1]]
    return list(numbers[: min(int(len(numbers) * share), len(numbers) - 1)])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _around(lines: Sequence[str], centres: Sequence[int], radius: int) -> str:
    return _ranges(lines, _joined(centres, radius, 1, len(lines)))


def _with_margin(numbers: Collection[int], last_line: int) -> list[tuple[int, int]]:
    return _joined(sorted(numbers), MARGIN, MARGIN, last_line)


def _joined(centres: Sequence[int], radius: int, gap: int, last_line: int) -> list[tuple[int, int]]:
    """The ranges of lines around `centres`, which ascend. Two ranges become one where no more than `gap` lines lie between."""
    ranges: list[tuple[int, int]] = []
    for centre in centres:
        first, last = max(centre - radius, 1), min(centre + radius, last_line)
        if ranges and first <= ranges[-1][1] + gap:
            ranges[-1] = (ranges[-1][0], last)
        else:
            ranges.append((first, last))
    return ranges


def _ranges(lines: Sequence[str], ranges: Sequence[tuple[int, int]]) -> str:
    return "\n".join(f"lines {first}–{last}:\n" + "\n".join(lines[first - 1 : last]) for first, last in ranges)
