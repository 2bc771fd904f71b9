"""What happened to files in the course of a session, as far as the log tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.calls import Call, one_line
from ullage.context.counting.media import in_words
from ullage.context.entries import FileDiff
from ullage.context.quoting import in_a_line

PLACE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class FileFact:
    """One file: what was done to it, how often, and where last."""

    path: str
    reads: int
    edits: int
    created: bool
    deleted: bool
    """As it is now: a file that was made again is not deleted."""
    seq: int
    """The last entry that touched it."""
    changed_seq: int
    """The last entry that changed it; 0 where it was only read."""
    place: str
    """The first line that the last edit put there, else the lines last read; may be empty."""
    shows: str = ""
    """What an image or a PDF is, as it was last read: `image, 800 × 600`; empty for any other file."""

    @property
    def changed(self) -> bool:
        """Whether it was edited, created or deleted."""
        return self.changed_seq > 0


def file_history(calls: Sequence[Call]) -> tuple[FileFact, ...]:
    """One fact a file; changed ones first, then the last touched first."""
    histories: dict[str, _History] = {}
    for call in calls:
        for touch in call.returned.touched:
            history = histories.setdefault(touch.path, _History(touch.path))
            history.seq = call.seq
            if touch.kind == "read":
                history.reads += 1
                history.last = history.last if history.changed_seq else call
                continue
            history.changed_seq = call.seq
            history.edits += touch.kind == "edited"
            history.created = history.created or touch.kind == "created"
            history.deleted = touch.kind == "deleted"
            history.last = call
    facts = [history.fact() for history in histories.values()]
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
    """The last that changed it, else the last that read it."""

    def fact(self) -> FileFact:
        path = in_a_line(self.path)
        return FileFact(path, self.reads, self.edits, self.created, self.deleted, self.seq, self.changed_seq, self._place(), self._shows())

    def _shows(self) -> str:
        return ", ".join(map(in_words, self.last.returned.media)) if self.last is not None else ""

    def _place(self) -> str:
        if self.last is None:
            return ""
        return _line_written(self.last.returned.diff, self.path) if self.changed_seq else _lines_read(self.last)


def _line_written(diff: FileDiff | None, path: str) -> str:
    if diff is None or diff.path != path:
        return ""
    before = {line.strip() for line in diff.old_text.splitlines()}
    written = (line.strip() for line in diff.new_text.splitlines())
    return next((one_line(line, PLACE_CHARACTERS) for line in written if len(line) > 2 and line not in before), "")


def _lines_read(call: Call) -> str:
    offset, limit = call.input.get("offset"), call.input.get("limit")
    if not isinstance(offset, int) or not isinstance(limit, int):
        return ""
    return f"lines {offset}–{offset + limit - 1}"
