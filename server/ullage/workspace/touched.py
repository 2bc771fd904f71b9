"""What the agent has seen of each file, and which files were edited lately.

What was seen is known by the hash of its text. It decides whether an edit may go ahead and whether a change is worth a notice. It is
computed from the log: the session feeds it the `FileTouch` values of results that are in view. What was edited lately, by whom and where,
is what is read again first after a compaction.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.entries import FileTouch

Standing: TypeAlias = Literal["current", "stale", "unseen"]
"""Whether the agent knows a text as it is now, as it was, or not at all."""

EditedBy: TypeAlias = Literal["agent", "user", "disk"]
"""Who edited: the agent's tools, the user in the editor, or anything else that changed the file on disk (git, a formatter)."""

REMEMBERED = 200
"""How many edited files are remembered; five are restored after a compaction."""


@dataclass(slots=True)
class _Seen:
    sha256: str
    whole: bool
    told_sha256: str


class FileReads:
    """The texts that one session's agent has in view. Paths are as `Folders.show` gives them."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def saw(self, touch: FileTouch) -> None:
        """Notes that the agent saw a file's text (read it, or wrote it itself). A text without a hash was not seen here: another
        program's record tells of it."""
        if touch.kind == "deleted" or not touch.sha256:
            self._seen.pop(touch.path, None)
            return
        before = self._seen.get(touch.path)
        whole_before = before is not None and before.sha256 == touch.sha256 and before.whole
        self._seen[touch.path] = _Seen(touch.sha256, not touch.partial or whole_before, touch.sha256)

    def standing(self, path: str, sha256_now: str) -> Standing:
        """Whether the agent knows a file whose text now has that hash."""
        seen = self._seen.get(path)
        if seen is None:
            return "unseen"
        return "current" if seen.sha256 == sha256_now else "stale"

    def saw_whole(self, path: str) -> bool:
        """Whether the agent saw all of the text that it last saw."""
        seen = self._seen.get(path)
        return seen is not None and seen.whole

    def paths(self) -> tuple[str, ...]:
        """The files of which the agent saw any text."""
        return tuple(self._seen)

    def news_of(self, path: str, sha256_now: str) -> Literal["changed", "back"] | None:
        """Whether a file has another text than the agent was told of last: one that it did not see, or again the one that it saw. None
        if there is no news of it.

        Pass an empty hash for a file that is gone.
        """
        seen = self._seen.get(path)
        if seen is None or seen.told_sha256 == sha256_now:
            return None
        return "changed" if seen.sha256 != sha256_now else "back"

    def tell(self, path: str, sha256_now: str) -> None:
        """Notes that the agent was told that the file has that text. A text that is the one that it saw again needs no telling."""
        seen = self._seen.get(path)
        if seen is not None:
            seen.told_sha256 = sha256_now

    def keep_only(self, in_view: Iterable[FileTouch]) -> None:
        """Forgets everything except for these touches, which are still in view after a compaction. They come in the order of the log."""
        self._seen.clear()
        for touch in in_view:
            self.saw(touch)


@dataclass(frozen=True, slots=True)
class RecentEdit:
    """The latest edit of one file. `at` is Unix seconds; `line` counts from 1, None if it is not known."""

    path: str
    at: float
    by: EditedBy
    line: int | None = None


class RecentEdits:
    """The latest edit of each file. Paths are as `Folders.show` gives them."""

    def __init__(self) -> None:
        self._edits: dict[str, RecentEdit] = {}

    def record(self, path: str, at: float, by: EditedBy, line: int | None = None) -> None:
        """Notes an edit. A change on disk of a file that the agent or the user edited stays theirs (their formatter)."""
        before = self._edits.pop(path, None)
        if before is not None and by == "disk":
            by = before.by
        if before is not None and line is None:
            line = before.line
        self._edits[path] = RecentEdit(path, at, by, line)
        if len(self._edits) > REMEMBERED:
            del self._edits[self.latest()[-1].path]

    def latest(self) -> tuple[RecentEdit, ...]:
        """The latest edits, newest first. Files that the agent or the user edited stand before those that only changed on disk.

        Otherwise a switch of branches, which touches hundreds of files, would push out the work at hand.
        """
        return tuple(sorted(self._edits.values(), key=lambda edit: (edit.by == "disk", -edit.at)))


class WrittenMeanwhile:
    """Knows which files were written while a command ran by somebody else than the command: the user saved them, or an edit of another
    session went to them."""

    def __init__(self) -> None:
        self._watching: list[set[str]] = []

    @contextmanager
    def watch(self) -> Generator[set[str]]:
        """Collects the absolute paths of files that are written until the block ends."""
        written = set[str]()
        self._watching.append(written)
        try:
            yield written
        finally:
            self._watching = [each for each in self._watching if each is not written]

    def note(self, path: Path) -> None:
        """Notes for all that watch that somebody wrote this file."""
        for written in self._watching:
            written.add(str(path))
