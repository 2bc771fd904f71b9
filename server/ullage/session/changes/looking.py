"""Looking at a file with open changes: its versions and its text now, compared. `reviewing.py` has what is decided about them."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path

from ullage.context.change_entries import ChangedFile, FileVersion
from ullage.context.changes.hunks import OpenHunk, OpenText, open_text
from ullage.context.changes.merging import differences, lines_of
from ullage.context.changes.review import CarriedText, OpenChange, SettledChange, settled
from ullage.session.changes.shown import ShownFile, ShownHunk, Status
from ullage.session.surroundings import Surroundings
from ullage.workspace.files import Content
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import MAXIMUM_BYTES, FileTooLarge, NotEncodable, NotText, TextFile, text_of

MOVED = "This file was deleted or moved since"
MADE_AGAIN = "There is a file of this name again since the agent deleted it"
BINARY_CHANGED = "This file was changed since, and it is no text"
NOT_LINES = "The lines are the same: their ends, the encoding or the permissions changed"
NO_VERSION = "What was in this file before is no longer kept, or is damaged"
SHARED = "Another command ran at the same time, so this may be its change"
OUTSIDE = "This file lies outside of the workspace by now, or a link leads there"
TOO_LARGE = "This file is too large by now to be compared"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the three sides of a comparison: the bytes of a file, and its text, which is None if they are no text. Both are None if there
    is no file."""

    data: bytes | None
    """None if there is no file."""
    text: TextFile | None

    @property
    def words(self) -> str | None:
        """The text, which is empty if there is no file; None if it is no text."""
        if self.data is None:
            return ""
        return None if self.text is None else self.text.text


@dataclass(frozen=True, slots=True)
class FileUnderReview:
    """A file with open changes, as it is now: its three sides, and what the user can do with it."""

    change: OpenChange
    settled: SettledChange
    where: Path
    now: Content | None
    baseline: Side
    agents: Side
    now_text: TextFile | None
    texts: OpenText | None
    """The open hunks; None if the file can only be kept or undone as a whole."""
    status: Status
    note: str
    can_undo: bool
    """Whether the file can be undone as a whole; where there are hunks, each says for itself whether it can."""
    binary: bool = False

    @property
    def is_as_agent_left_it(self) -> bool:
        """Whether nobody changed the file since."""
        return (self.now.data if self.now is not None else None) == self.agents.data

    @property
    def shown(self) -> ShownFile:
        """The file as the user sees it."""
        added, removed = (self.texts.added, self.texts.removed) if self.texts is not None else _counts(self.baseline, self.agents)
        hunks = () if self.texts is None else tuple(map(_hunk, self.texts.hunks))
        return ShownFile(self.change.path, self.where, self.status, added, removed, self.binary, self.note, hunks)


def _hunk(hunk: OpenHunk) -> ShownHunk:
    return ShownHunk(hunk.id, hunk.old.start + 1, len(hunk.old), hunk.new.start + 1, len(hunk.new), hunk.edited)


class Looking:
    """Looks at files for one session."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    async def look(self, change: OpenChange, before: FileUnderReview | None = None) -> FileUnderReview | None:
        """The file as it is now; None if nothing of the change is open any more. `before` is what was found last, and is given again if
        nothing is new.

        Raises `StoreFailed`.
        """
        try:
            where = self._surroundings.folders.resolve_for_writing(change.path)
            now = await self._surroundings.files.content(where, MAXIMUM_BYTES)
        except OutsideWorkspace:
            return await asyncio.to_thread(self._unreachable, change, OUTSIDE)
        except FileTooLarge:
            return await asyncio.to_thread(self._unreachable, change, TOO_LARGE)
        except (OSError, NotEncodable) as error:
            return await asyncio.to_thread(self._unreachable, change, f"This file cannot be read: {getattr(error, 'strerror', error)}")
        if before is not None and before.change == change and before.now == now:
            return before
        return await asyncio.to_thread(self._compare, change, where, now)

    def _unreachable(self, change: OpenChange, note: str) -> FileUnderReview:
        found = settled(change, self.text)
        sides = self._side(found.baseline, found.agents), self._side(found.agents)
        where = Path(change.path) if self._surroundings.folders.first is None else self._surroundings.folders.first / change.path
        return FileUnderReview(
            change, found, where, None, *sides, now_text=None, texts=None, status=_status(found), note=note, can_undo=False
        )

    def _compare(self, change: OpenChange, where: Path, now: Content | None) -> FileUnderReview | None:
        found = settled(change, self.text)
        agents = self._side(found.agents)
        baseline = self._side(found.baseline, found.agents)
        status, now_side = _status(found), _side_of(None if now is None else now.data)

        shared = SHARED if change.shared else ""

        def looked(texts: OpenText | None = None, note: str = "", *, can_undo: bool = False, binary: bool = False) -> FileUnderReview:
            return FileUnderReview(
                change, found, where, now, baseline, agents, now_side.text, texts, status, note or shared, can_undo, binary
            )

        if found.is_closed or _is(now, found.baseline):
            return None
        if now is None and found.agents is None:
            return looked(can_undo=baseline.data is not None, note="" if baseline.data is not None else NO_VERSION)
        if now is None:
            return None if found.baseline is None else looked(note=MOVED)
        if found.agents is None:
            return looked(note=MADE_AGAIN)
        if (found.baseline is not None and baseline.data is None) or agents.data is None:
            return looked(note=NO_VERSION)
        old, made, new = baseline.words, agents.words, now_side.words
        if old is None or made is None or new is None:
            is_same = now.data == agents.data
            return looked(note="" if is_same else BINARY_CHANGED, can_undo=is_same, binary=True)
        texts = open_text(old, made, new)
        if texts.hunks:
            return looked(texts)
        if old == made == new:  # an empty file that was made, or nothing that shows in lines
            return looked(note=NOT_LINES if found.baseline is not None else "", can_undo=_is(now, found.agents))
        return None

    def text(self, version: FileVersion) -> str | None:
        """The text of a version; None if it is no text, or is no longer kept. Any thread. Raises `StoreFailed`."""
        side = self._side(version)
        return None if side.text is None else side.text.text

    def _side(self, version: FileVersion | CarriedText | None, like: FileVersion | None = None) -> Side:
        if isinstance(version, CarriedText):
            found = self._side(like).text
            data = version.text.encode("utf-8", errors="surrogatepass")
            made = TextFile(version.text, "", found.encoding if found else "utf-8", found.newline if found else "\n")
            return Side(data, made)
        return _side_of(None if version is None else self._surroundings.versions.read(version.sha256))

    # What a turn changed

    def turn_file(self, file: ChangedFile) -> ShownFile | None:
        """What a turn made of a file at that time, for the user; None if the file is as it was before. Any thread. Raises `StoreFailed`."""
        if file.before == file.after:
            return None
        before, after = self._side(file.before), self._side(file.after)
        added, removed = _counts(before, after)
        status: Status = "created" if file.before is None else "deleted" if file.after is None else "modified"
        is_binary = before.words is None or after.words is None
        note = SHARED if file.shared else ""
        is_there = (file.before is None or before.data is not None) and (file.after is None or after.data is not None)
        if not is_there:
            note = NO_VERSION
        return ShownFile(file.path, self.place(file.path), status, added, removed, is_binary, note)

    def place(self, path: str) -> Path:
        """The place of a file that a log names, whether or not it can be reached."""
        first = self._surroundings.folders.first
        return Path(path) if first is None else first / path


def _status(found: SettledChange) -> Status:
    return "created" if found.baseline is None else "deleted" if found.agents is None else "modified"


def _is(now: Content | None, version: FileVersion | CarriedText | None) -> bool:
    if now is None or version is None or isinstance(version, CarriedText):
        return now is None and version is None
    return hashlib.sha256(now.data).hexdigest() == version.sha256 and now.executable == version.executable


def _side_of(data: bytes | None) -> Side:
    if data is None:
        return Side(None, None)
    try:
        return Side(data, text_of(data))
    except NotText:
        return Side(data, None)


def _counts(before: Side, after: Side) -> tuple[int, int]:
    """How many lines were added and removed; 0 and 0 if one of the sides is no text."""
    old, new = before.words, after.words
    if old is None or new is None:
        return 0, 0
    found = differences(lines_of(old), lines_of(new))
    return sum(len(change.new) for change in found), sum(len(change.old) for change in found)
