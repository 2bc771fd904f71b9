"""What was changed in a worktree, brought into the workspace folder.

Each file is compared in three: the commit that the worktree began from, the worktree, the workspace folder. What changed on one side alone
is taken; texts that changed on both sides are joined line by line. What cannot be joined stays as it is and is named: nothing of the user's
is replaced that is not in git.

What each file held before and after is kept of the last time, beside the log, and before any file is written. So a kill in between loses
nothing, and all of it can be taken back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.blocks import Json
from ullage.context.changes.merging import lines_of, merged, regions
from ullage.session.changes.scanning import LARGEST_BYTES
from ullage.session.changes.shown import DecidedFile
from ullage.session.errors import SessionError
from ullage.session.surroundings import Surroundings
from ullage.store.errors import StoreFailed
from ullage.store.versions import Versions
from ullage.workspace.files import ChangedMeanwhile, Content, EditorChanged, EditorRefused, content_on_disk
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import FileTooLarge, NotEncodable, NotText, bytes_of, text_of
from ullage.workspace.worktrees import NoWorktree, Worktree, WorktreeChange, compare_worktree

logger = logging.getLogger(__name__)

Action: TypeAlias = Literal["write", "create", "delete", "join", "same"]

BOTH_CHANGED = "You and the agent changed the same lines"
BOTH_CHANGED_BYTES = "It was changed on both sides, and cannot be joined line by line"
DELETED_THERE = "It was deleted in the worktree, and changed here"
DELETED_HERE = "It was changed in the worktree, and deleted here"
BOTH_CREATED = "Both sides have a file of this name"


@dataclass(frozen=True, slots=True)
class Joined:
    """What becomes of a file: its bytes afterwards (`wanted`; None if it is gone), or why it stays as it is."""

    action: Action
    wanted: Content | None
    conflict: str = ""


def joining(base: bytes | None, here: Content | None, there: Content | None, *, changed_here: bool) -> Joined:
    """What becomes of one file. `base` is what the commit has, if both sides changed it; `changed_here` says whether the workspace folder
    did."""
    if here == there:
        return Joined("same", here)
    if not changed_here:
        return Joined("delete" if there is None else "create" if here is None else "write", there)
    if there is None or here is None:
        return Joined("same", here, DELETED_THERE if there is None else DELETED_HERE)
    if base is None:
        return Joined("same", here, BOTH_CREATED)
    try:
        before, ours, theirs = text_of(base), text_of(here.data), text_of(there.data)
    except NotText:
        return Joined("same", here, BOTH_CHANGED_BYTES)
    lines = lines_of(before.text), lines_of(ours.text), lines_of(theirs.text)
    found = regions(*lines)
    if any(region.by == "conflict" for region in found):
        return Joined("same", here, BOTH_CHANGED)
    text = merged(*lines, found, lambda region: region.by == "ours")
    return Joined("join", Content(bytes_of(text, ours), here.executable))


@dataclass(frozen=True, slots=True)
class FileBrought:
    """A file that is different in the worktree. `path` is relative to the repository."""

    path: str
    there: Path
    here: Path
    action: Action
    conflict: str = ""


@dataclass(frozen=True, slots=True)
class WorktreeStanding:
    """How a worktree differs from the workspace folder. `more`: it does in more files than these. `commits` are those of its branch."""

    files: tuple[FileBrought, ...]
    more: bool
    commits: int
    brought: int
    """How many files were brought last, and can be taken back."""


@dataclass(frozen=True, slots=True)
class _Looked:
    file: FileBrought
    wanted: Content | None
    now: Content | None


class BringingBack:
    """Brings the changes of one worktree into the workspace folder, which `home` surrounds. `changed` gets the path of each file there that
    was written. What was brought last is kept under `key`."""

    def __init__(self, worktree: Worktree, home: Surroundings, changed: Callable[[str], None], key: str) -> None:
        self._worktree = worktree
        self._home = home
        self._changed = changed
        self._key = key

    async def standing(self) -> WorktreeStanding:
        """What bringing the changes back would do; nothing is done. Raises `SessionError`."""
        looked, more, commits = await self._look()
        return WorktreeStanding(tuple(each.file for each in looked), more, commits, len(self._brought()))

    async def bring(self, paths: Collection[str] | None = None) -> list[DecidedFile]:
        """Brings back all changes, or those of these `paths`, and gives what came of each file. Raises `SessionError`, `StoreFailed`."""
        looked = [each for each in (await self._look())[0] if paths is None or each.file.path in paths]
        await self._note([each for each in looked if not each.file.conflict and each.file.action != "same"])
        decided: list[DecidedFile] = []
        for each in looked:
            if each.file.conflict:
                decided.append(DecidedFile(each.file.path, "conflict", each.file.conflict))
            elif each.file.action != "same":
                why = await self._write(each)
                decided.append(DecidedFile(each.file.path, "conflict" if why else "done", why))
                if not why:
                    self._changed(self._home.folders.show(each.file.here))
        return decided

    async def take_back(self) -> list[DecidedFile]:
        """Gives the files that were brought last what they held before, and says what came of each. What was changed since is joined with
        that, or stays. Raises `SessionError`, `StoreFailed`."""
        brought = self._brought()
        if not brought:
            raise SessionError("nothing_to_undo", "Nothing that was brought back is left to take back")
        decided: list[DecidedFile] = []
        left: list[Brought] = []
        for each in brought:
            why = await self._take_back(each)
            decided.append(DecidedFile(each.path, "conflict" if why else "done", why))
            if why:
                left.append(each)
        self._home.store.remember(self._key, to_json(left) if left else None)
        return decided

    def _brought(self) -> list[Brought]:
        return from_json(self._home.store.recalled(self._key))

    async def _note(self, looked: Sequence[_Looked]) -> None:
        """Keeps what these files hold, before any of them is written."""
        if not looked:
            return
        versions, noted = self._home.versions, list[Brought]()
        try:
            for each in looked:
                before = await asyncio.to_thread(keep, versions, each.now)
                noted.append(Brought(each.file.path, each.file.here, before, await asyncio.to_thread(keep, versions, each.wanted)))
        except StoreFailed as error:  # no reason not to bring them: what is replaced is in git
            logger.warning("what is brought back cannot be taken back: %s", error)
            noted.clear()
        self._home.store.remember(self._key, to_json(noted) if noted else None)

    async def _take_back(self, brought: Brought) -> str:
        """Takes one file back; gives why it stays, for the user; empty if it is as it was before."""
        versions, here = self._home.versions, brought.here
        try:
            before = await asyncio.to_thread(kept, versions, brought.before)
            after = await asyncio.to_thread(kept, versions, brought.after)
            if self._home.folders.resolve_for_writing(str(here)) != here:
                return "A link stands in its way"
            now = await self._home.files.content(here, LARGEST_BYTES)
        except NotKept:
            return NOT_KEPT
        except OutsideWorkspace:
            return "It is outside of the workspace folder"
        except (OSError, NotEncodable, FileTooLarge) as error:
            return f"It cannot be read: {getattr(error, 'strerror', None) or error}"
        joined = joining(None if after is None else after.data, now, before, changed_here=now != after)
        if joined.conflict:
            return CHANGED_SINCE
        if joined.action == "same":
            return ""
        why = await self._write(_Looked(FileBrought(brought.path, here, here, joined.action), joined.wanted, now))
        if not why:
            self._changed(self._home.folders.show(here))
        return why

    async def _look(self) -> tuple[list[_Looked], bool, int]:
        try:
            found = await compare_worktree(self._worktree)
        except (NoWorktree, OSError) as error:
            raise SessionError("invalid", str(error)) from error
        return [await self._look_at(each) for each in found.files], found.more, found.commits

    async def _look_at(self, change: WorktreeChange) -> _Looked:
        there, here = self._worktree.folder / change.path, self._worktree.top / change.path

        def stays(why: str) -> _Looked:
            return _Looked(FileBrought(change.path, there, here, "same", why), None, None)

        try:
            if self._home.folders.resolve_for_writing(str(here)) != here:
                return stays("A link stands in its way")
            theirs = await asyncio.to_thread(content_on_disk, there, LARGEST_BYTES)
            ours = await self._home.files.content(here, LARGEST_BYTES)
        except OutsideWorkspace:
            return stays("It is outside of the workspace folder")
        except FileTooLarge:
            return stays(f"It is over {LARGEST_BYTES // 1_000_000} MB")
        except (OSError, NotEncodable) as error:
            return stays(f"It cannot be read: {getattr(error, 'strerror', None) or error}")
        unsaved = self._home.editor.open_text(here) is not None and ours != await asyncio.to_thread(content_on_disk, here, LARGEST_BYTES)
        joined = joining(change.base, ours, theirs, changed_here=change.changed_at_home or unsaved)
        return _Looked(FileBrought(change.path, there, here, joined.action, joined.conflict), joined.wanted, ours)

    async def _write(self, each: _Looked) -> str:
        """Writes one file; gives why it could not be written, for the user; empty if it was."""
        files, where = self._home.files, each.file.here
        now = each.now
        try:
            if each.wanted is not None and now is not None and self._home.editor.open_text(where) is not None:
                text, old = text_of(each.wanted.data).text, text_of(now.data)
                await files.write(where, text, old.sha256)
                now = await files.content(where, LARGEST_BYTES)
            if now != each.wanted:
                await files.put(where, each.wanted, now)
        except (ChangedMeanwhile, NotText):
            return "It was changed just now. Look again"
        except (EditorRefused, EditorChanged):
            return "The editor would not take the change"
        except (OSError, NotEncodable, FileTooLarge) as error:
            return f"It cannot be written: {getattr(error, 'strerror', None) or error}"
        self._home.written.note(where)
        return ""


CHANGED_SINCE = "It was changed since, in the same lines. It stays as it is"
NOT_KEPT = "What it held before is no longer kept. It stays as it is"

Held: TypeAlias = tuple[str, bool] | None
"""The SHA-256 of what a file held, and whether it could be run; None if there was none."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A file that was brought. `path` is relative to the repository."""

    path: str
    here: Path
    before: Held
    after: Held


def keep(versions: Versions, content: Content | None) -> Held:
    """Keeps what a file holds, and gives by what it is found again. Raises `StoreFailed`. For another thread."""
    if content is None:
        return None
    return versions.keep(content.data, executable=content.executable).sha256, content.executable


class NotKept(Exception):
    """What a file held before is not kept any more."""


def kept(versions: Versions, held: Held) -> Content | None:
    """What a file held. Raises `NotKept`. For another thread."""
    if held is None:
        return None
    try:
        data = versions.read(held[0])
    except StoreFailed as error:
        raise NotKept from error
    if data is None:
        raise NotKept
    return Content(data, held[1])


def to_json(files: Sequence[Brought]) -> Json:
    """The files that were brought, as they are kept."""
    return [{"path": each.path, "here": str(each.here), "before": _written(each.before), "after": _written(each.after)} for each in files]


def from_json(value: Json) -> list[Brought]:
    """The files that were brought, from what was kept of them. What cannot be read is left out."""
    rows = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return [brought for brought in map(_read, rows) if brought is not None]


def _written(held: Held) -> Json:
    return None if held is None else list(held)


def _read(row: Mapping[str, Json]) -> Brought | None:
    path, here = row.get("path"), row.get("here")
    before, after = _held(row.get("before")), _held(row.get("after"))
    if not isinstance(path, str) or not isinstance(here, str) or before == "damaged" or after == "damaged":
        return None
    return Brought(path, Path(here), before, after)


def _held(value: Json) -> Held | Literal["damaged"]:
    match value:
        case None:
            return None
        case [str() as sha256, bool() as executable]:
            return sha256, executable
        case _:
            return "damaged"
