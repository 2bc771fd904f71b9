"""The head of a Markdown file: settings between two lines of `---` at its beginning.

The files of this kind that people have are not all YAML: `globs: *.ts` is an alias there. So their lines are read as their authors mean
them: a name, then words, a list, or a text over several lines. It says what cannot be read, and the rest of the file counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_KEY = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_FOLDED = re.compile(r"[>|][+-]?")
LONGEST_HEAD = 20_000
"""Characters. Where a head of that length has no end, the file has none: it begins with a line."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a head says, and what follows it."""

    body: str
    """The file without its head."""
    values: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict[str, str | tuple[str, ...]])
    trouble: str = ""
    """What cannot be read in it, in words for the user; empty if all can."""
    lines: Mapping[str, str] = field(default_factory=dict[str, str])
    """The words behind each name on its line, as they were written."""

    def text(self, name: str) -> str:
        """The value of a name as a text; empty if there is none. A list is joined by commas."""
        value = self.values.get(name, "")
        return value if isinstance(value, str) else ", ".join(value)

    def as_written(self, name: str) -> str:
        """The words behind a name on its line, brackets included: `argument-hint: [page]` is no list to those who write it."""
        return _unquoted(self.lines.get(name, ""))

    def items(self, name: str) -> tuple[str, ...]:
        """The value of a name as a list, or the parts of a text between its commas; none of them is empty."""
        value = self.values.get(name, "")
        return tuple(_parted(value)) if isinstance(value, str) else value

    def flag(self, name: str) -> bool:
        """Whether the value of a name is `true`, `yes` or `on`."""
        return self.text(name).casefold() in ("true", "yes", "on")


def read_head(text: str) -> Head:
    """The head of a file and its body. A file without one is all body."""
    text = text.replace("\r\n", "\n")  # in a file that mixes them they stand as they are
    begin = re.match(r"\ufeff?---[ \t]*\n", text)
    if begin is None:
        return Head(text.removeprefix("\ufeff"))
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE).search(text, begin.end(), begin.end() + LONGEST_HEAD)
    if end is None:
        return Head(text, trouble="its head has no second line of ---")
    values, trouble, written = _values(text[begin.end() : end.start()].splitlines())
    return Head(text[end.end() :].lstrip("\n"), values, trouble, written)


def _values(lines: list[str]) -> tuple[dict[str, str | tuple[str, ...]], str, dict[str, str]]:
    values: dict[str, str | tuple[str, ...]] = {}
    written: dict[str, str] = {}
    trouble, at = "", 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key = _KEY.fullmatch(line.rstrip())
        if key is None:
            trouble = trouble or f"line {at + 1} of its head cannot be read"
            continue
        below: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t" or (not key[2] and _ITEM.fullmatch(lines[at]))):
            below.append(lines[at])
            at += 1
        written[key[1]] = (key[2] or "").strip()
        values[key[1]] = _value(written[key[1]], below)
    return values, trouble, written


def _value(first: str, below: list[str]) -> str | tuple[str, ...]:
    """The value of one setting: `first` stands behind its name, `below` are the lines that belong to it."""
    if _FOLDED.fullmatch(first):
        kept = "\n" if first[0] == "|" else " "
        return kept.join(line.strip() for line in below).strip()
    items = [match[1] for line in below if (match := _ITEM.fullmatch(line.rstrip()))]
    if not first and items:
        return tuple(item for each in items if (item := _unquoted(each)))
    if first.startswith("["):
        whole = " ".join([first, *(line.strip() for line in below)])
        return tuple(_parted(whole.strip().removeprefix("[").removesuffix("]")))
    return _unquoted(" ".join([first, *(line.strip() for line in below if line.strip())]).strip())


def _parted(text: str) -> list[str]:
    """The parts between commas, without their quotes. A comma inside of braces or quotes belongs to its part."""
    parts: list[str] = []
    begin, deep, quote = 0, 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and not text[begin:at].strip():
            quote = character
        elif character in "{}":
            deep = max(0, deep + (1 if character == "{" else -1))
        elif character == "," and not deep:
            parts.append(text[begin:at])
            begin = at + 1
    return [item for each in (*parts, text[begin:]) if (item := _unquoted(each.strip()))]


def _unquoted(value: str) -> str:
    """The value without the quotes around it. From a value without quotes, a note behind `#` is left out."""
    for quote in ('"', "'"):
        if value.startswith(quote):
            end = value.find(quote, 1)
            return value[1:end] if end > 0 else value[1:]
    return re.split(r"\s#", value, maxsplit=1)[0].strip()
