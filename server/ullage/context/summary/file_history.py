"""What happened to files in the course of a session, as far as the log tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ullage.context.calls import Call, one_line, strings_of
from ullage.context.counting.media import in_words
from ullage.context.quoting import in_a_line
from ullage.context.summary.names import written_and_replaced

PLACE_CHARACTERS = 90
EDITS_LOOKED_AT, DEFINING_CHARACTERS, MOST_BROUGHT = 4, 20_000, 6
"""How much is looked at for the names that edits of a file define: the number of last edits, the characters of each, and the number of
names."""
DEFINING = re.compile(
    r"^(?:(?:export|pub(?:\(\w+\))?|public|private|protected|static|async|default|abstract|final|override|open)\s+)*"
    r"(?:def|defp|defmodule|class|func|fn|fun|function|interface|type|struct|enum|trait|impl|module|sub|proc|test|it|describe|#{1,4})\b"
)
"""A line that tells what comes below it, in most languages; or a heading in Markdown."""
_NUMBER = r"[ \t]*+(?:\d++[→\t:|-][ \t]*+)?"
"""The line number that tools for reading put before a line."""
_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\(\w+\))?|public|private|protected|internal|static|async|abstract|final|override|open)[ \t]++)*"
)
_DEFINED = re.compile(
    rf"^{_NUMBER}{_MODIFIERS}(?:"
    r"(?:def|defp|defmodule|defmacro|class|func|fn|fun|function\*?|interface|type|struct|enum|trait|module|sub|proc|record|object)[ \t]++"
    r"(?:\([^()\n]{0,80}\)[ \t]*+)?([A-Za-z_]\w{3,99}+)\b"
    r"|(?:const|let|var)[ \t]++([A-Za-z_]\w{3,99}+)[ \t]*+(?::[^=\n]{1,80})?=[ \t]*+(?:async\b[ \t]*+)?(?:\(|function\b|\w++[ \t]*+=>))",
    re.MULTILINE,
)
"""A line that begins with a definition, in most languages, and the name that it defines. A bracket before the name is Go's receiver."""
PATCHED_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileFact:
    """One file: what was done to it, how often, and where last."""

    path: str
    reads: int
    edits: int
    created: bool
    deleted: bool
    """Whether it is deleted now: a file that was made again is not."""
    seq: int
    """The seq of the last entry that touched it."""
    changed_seq: int
    """The seq of the last entry that changed it; 0 if it was only read."""
    place: str
    """The most telling line that the last edit put there, else the lines read last; empty if neither is known."""
    brought: tuple[str, ...] = ()
    """Names that the last edits define, the newest first."""
    shows: str = ""
    """What an image or a PDF is, as it was read last: `image, 800 × 600`; empty for any other file."""

    @property
    def changed(self) -> bool:
        """Whether the file was edited, created or deleted."""
        return self.changed_seq > 0


def file_history(calls: Iterable[Call]) -> tuple[FileFact, ...]:
    """One fact for each file: changed ones first, the last changed first, then the others, the last touched first."""
    history = FileHistory()
    for call in calls:
        history.add(call)
    return history.facts()


class FileHistory:
    """The files of a session as it goes on."""

    def __init__(self) -> None:
        self._of: dict[str, _History] = {}
        self._own: set[str] = set()
        """The paths whose histories only this object has; a history that it shares with a copy is copied before it changes."""
        self._fresh: set[str] = set()
        """The paths whose histories still hold calls."""

    def add(self, call: Call) -> None:
        """Takes in the next call of the session."""
        for touch in call.returned.touched:
            history = self._of_path(touch.path)
            history.seq = call.seq
            if touch.kind == "read":
                history.reads += 1
                if history.changed_seq:
                    continue
            else:
                history.changed_seq = call.seq
                history.edits += touch.kind == "edited"
                history.created = history.created or touch.kind == "created"
                history.deleted = touch.kind == "deleted"
                history.changes = (*history.changes[1 - EDITS_LOOKED_AT :], call)
            history.last = call
            self._fresh.add(touch.path)

    def _of_path(self, path: str) -> _History:
        if path not in self._own:
            known = self._of.get(path)
            self._of[path] = _History(path) if known is None else replace(known)
            self._own.add(path)
        return self._of[path]

    def settle(self) -> None:
        """Keeps of the calls only what there is to tell of them, so that they need not stay in memory."""
        for path in self._fresh:
            self._of_path(path).settle()
        self._fresh.clear()

    def copy(self) -> FileHistory:
        """A copy that goes on by itself."""
        other = FileHistory()
        other._of, other._fresh = self._of.copy(), self._fresh.copy()
        self._own.clear()
        return other

    def facts(self) -> tuple[FileFact, ...]:
        """One fact for each file: changed ones first, the last changed first, then the others, the last touched first."""
        facts = [history.fact() for history in self._of.values()]
        return tuple(sorted(facts, key=lambda fact: (-fact.changed_seq, -fact.seq, fact.path)))


@dataclass(slots=True)
class _History:
    path: str
    reads: int = 0
    edits: int = 0
    created: bool = False
    deleted: bool = False
    seq: int = 0
    changed_seq: int = 0
    last: Call | None = None
    """The last call that changed the file, else the last that read it."""
    told: tuple[str, str] = ("", "")
    """What is told of that call, once the call itself is let go of."""
    changes: tuple[Call, ...] = ()
    """The last calls that changed the file."""
    defined: tuple[tuple[str, ...], ...] = ()
    """The names that the edits before those define, once their calls are let go of."""

    def settle(self) -> None:
        """Keeps of the calls only what there is to tell of them."""
        self.told, self.last = (self._place(), self._shows()), None
        self.defined, self.changes = self._defined(), ()

    def fact(self) -> FileFact:
        path, place, brought, shows = in_a_line(self.path), self._place(), self._brought(), self._shows()
        return FileFact(path, self.reads, self.edits, self.created, self.deleted, self.seq, self.changed_seq, place, brought, shows)

    def _brought(self) -> tuple[str, ...]:
        if self.deleted:
            return ()
        return tuple(dict.fromkeys(name for names in reversed(self._defined()) for name in names))[:MOST_BROUGHT]

    def _defined(self) -> tuple[tuple[str, ...], ...]:
        """The names that each of the last edits defines, the last edit last."""
        texts = ("\n".join(new_lines(call, self.path))[:DEFINING_CHARACTERS] for call in self.changes)
        return (*self.defined, *map(definitions_in, texts))[-EDITS_LOOKED_AT:]

    def _shows(self) -> str:
        return ", ".join(map(in_words, self.last.returned.media)) if self.last is not None else self.told[1]

    def _place(self) -> str:
        if self.last is None:
            return self.told[0]
        return _line_written(self.last, self.path) if self.changed_seq else _lines_read(self.last)


def definitions_in(text: str) -> tuple[str, ...]:
    """The names that lines of a text define, each once, in their order; line numbers of tools may stand before the lines."""
    return tuple(dict.fromkeys(match[1] or match[2] for match in _DEFINED.finditer(text)))


def _line_written(call: Call, path: str) -> str:
    """The most telling of the lines that are new in the file: the first that defines something, else the first; empty if there is none."""
    new = [line for line in new_lines(call, path) if len(line) > 2]
    return one_line(next((line for line in new if DEFINING.match(line)), new[0] if new else ""), PLACE_CHARACTERS)


def new_lines(call: Call, path: str) -> Iterator[str]:
    """The lines that a call put into a file and that were not there, without white space at both ends."""
    diff = call.returned.diff
    if diff is not None and diff.path == path:
        new, old = diff.new_text, diff.old_text
    elif diff is not None:
        return
    else:
        new, old = written_and_replaced(call.input)
    before = {line.strip() for line in old.splitlines()}
    written = new.splitlines() if new else _patched(call, path)
    yield from (line for each in written if (line := each.strip()) not in before)


def _patched(call: Call, path: str) -> Iterator[str]:
    """The lines that a patch adds to the file."""
    for text in strings_of(call.input):
        files = list(PATCHED_FILE.finditer(text))
        for place, file in enumerate(files):
            if path.endswith(file[1].strip()) or file[1].strip().endswith(path):
                end = files[place + 1].start() if place + 1 < len(files) else len(text)
                yield from (line[1:] for line in text[file.end() : end].splitlines() if line.startswith("+"))


def _lines_read(call: Call) -> str:
    offset, limit = call.input.get("offset"), call.input.get("limit")
    if not isinstance(offset, int) or not isinstance(limit, int):
        return ""
    return f"lines {offset}–{offset + limit - 1}"
