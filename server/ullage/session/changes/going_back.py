"""Going back to a checkpoint, and forward again: the files of the workspace get what they held then.

A file that is no longer what the log last says of it was changed by somebody else, and that is a conflict. It is named, and left alone
unless the user chooses otherwise for just this file. Even then what it holds now is kept first. What is written goes through the editor if
the file is open there, and only while it holds what was looked at.

Before anything is written every file is noted (`Versions.begin`): of a crash in the midst of it the log tells at the next start.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.change_entries import ChangedFile, FilesChanged, FileVersion, Uncovered
from ullage.context.changes.checkpoints import Checkpoint, WantedFile, checkpoints, way_back
from ullage.session.changes.progress import STOPPED, ManyFiles, nowhere
from ullage.session.changes.scanning import LARGEST_BYTES, TOO_LARGE
from ullage.session.changes.shown import DecidedFile
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError
from ullage.session.long_work import to_its_end
from ullage.session.surroundings import Surroundings
from ullage.store.versions import GOING_BACK, Begun, pack
from ullage.workspace.files import ChangedMeanwhile, Content, EditorChanged, EditorRefused, Put
from ullage.workspace.folders import OutsideWorkspace
from ullage.workspace.text_file import FileTooLarge, NotEncodable, NotText, text_of, text_sha256

Action: TypeAlias = Literal["write", "create", "delete"]

CHANGED_SINCE = "You or another program changed this file since. It stays as it is, unless you choose to overwrite it"
CHANGED_MEANWHILE = "The file was changed at this very moment. It was left as it is"
EDITOR_REFUSED = "The editor did not take the change, so nothing was written"
LEADS_ELSEWHERE = "A link stands there by now, or on the way to it. Nothing is written through links"
GOES_BACK = "Going back"
LOOKED_AT = 0.4
"""The share of the work that it is to look at the files."""

NO_SUCH_CHECKPOINT = "There is no checkpoint {} in this session"


@dataclass(frozen=True, slots=True)
class FileBack:
    """What would become of one file. With a `conflict`, in words for the user, it stays as it is; if it `can_overwrite`, the user may
    choose otherwise."""

    path: str
    where: Path
    action: Action
    conflict: str = ""
    can_overwrite: bool = True


@dataclass(frozen=True, slots=True)
class GoingBackPreview:
    """What going back to a checkpoint would do. Files that are now as they were then are left out."""

    checkpoint: Checkpoint
    files: tuple[FileBack, ...]
    uncovered: tuple[Uncovered, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A file as it is `now`, and as it is `wanted`; None where there is no file."""

    back: FileBack
    wanted: Content | None
    now: Content | None


class GoingBack:
    """Takes the files of one session back to a checkpoint, and forward again. `notice` is told which files were changed."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, notice: Callable[[str], None]) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._notice = notice

    async def checkpoints(self) -> list[Checkpoint]:
        """All checkpoints of the session, the oldest first. The whole log is read for that, also a long one."""
        return await asyncio.to_thread(checkpoints, self._conversation.entries[:])

    async def preview(self, checkpoint_id: str) -> GoingBackPreview:
        """What going back to that checkpoint would do; nothing is changed. Raises `SessionError`, `StoreFailed`."""
        checkpoint, uncovered, found = await self._look(checkpoint_id, ManyFiles(nowhere, ""))
        return GoingBackPreview(checkpoint, tuple(each.back for each in found), uncovered)

    async def restore(self, checkpoint_id: str, overwrite: Collection[str] = ()) -> list[DecidedFile]:
        """Goes back to that checkpoint, and gives what came of each file. Files in conflict stay as they are, but for the paths in
        `overwrite`. Raises `SessionError`, `StoreFailed`."""
        decided: list[DecidedFile] = []
        with suppress(asyncio.CancelledError):  # a cancel comes too late: what was begun is done
            await to_its_end(self._restore(checkpoint_id, overwrite, decided))
        return sorted(decided, key=lambda each: each.path)

    async def _restore(self, checkpoint_id: str, overwrite: Collection[str], decided: list[DecidedFile]) -> None:
        with ManyFiles(self._surroundings.show_progress, GOES_BACK) as many:
            _, _, found = await self._look(checkpoint_id, many)
            decided += [DecidedFile(each.back.path, "conflict", each.back.conflict) for each in found if not _may(each.back, overwrite)]
            chosen = [each for each in found if _may(each.back, overwrite)]
            changed: list[ChangedFile] = []
            try:
                for batch in many.batches(chosen, LOOKED_AT, 1.0):
                    before = await asyncio.to_thread(self._note, checkpoint_id, batch)
                    for each, why in zip(batch, await self._write(batch), strict=True):
                        decided.append(DecidedFile(each.back.path, "conflict" if why else "done", why))
                        if not why:
                            changed.append(ChangedFile(each.back.path, before[each.back.path], _version_of(each.wanted)))
            finally:
                if changed:
                    self._conversation.append(FilesChanged(tuple(changed), None, gone_back_to=checkpoint_id))
                for each in changed:
                    self._notice(each.path)
            done = {each.path for each in decided}
            decided += [DecidedFile(each.back.path, "conflict", STOPPED) for each in chosen if each.back.path not in done]
        await asyncio.to_thread(self._surroundings.versions.ended, self._conversation.session_id, [GOING_BACK + checkpoint_id])

    # How the files stand

    async def _look(self, checkpoint_id: str, many: ManyFiles) -> tuple[Checkpoint, tuple[Uncovered, ...], list[_Found]]:
        way = await asyncio.to_thread(way_back, self._conversation.entries[:], checkpoint_id)
        if way is None:
            raise SessionError("no_such_item", NO_SUCH_CHECKPOINT.format(checkpoint_id))
        found: list[_Found | None] = []
        for batch in many.batches(way.files, 0.0, LOOKED_AT):
            places = await asyncio.to_thread(self._places, batch)
            paths = [place for place in places if isinstance(place, Path)]
            now = dict(zip(paths, await self._surroundings.files.contents(paths, LARGEST_BYTES), strict=True))
            found += await asyncio.to_thread(self._compare, batch, places, now)
        return way.checkpoint, way.uncovered, [each for each in found if each is not None]

    def _places(self, files: Sequence[WantedFile]) -> list[Path | _Found]:
        return [self._place(each) for each in files]

    def _place(self, file: WantedFile) -> Path | _Found:
        """Where the file lies; if it cannot be reached there, what is found instead: a conflict."""
        try:
            where = self._surroundings.folders.resolve_for_writing(file.path)
        except OutsideWorkspace:
            return self._stays(file, LEADS_ELSEWHERE)
        return where if where == self._named(file) else self._stays(file, LEADS_ELSEWHERE)

    def _named(self, file: WantedFile) -> Path:
        first = self._surroundings.folders.first
        return Path(file.path) if first is None else first / file.path

    def _stays(self, file: WantedFile, why: str) -> _Found:
        action: Action = "delete" if file.then is None else "write"
        return _Found(FileBack(file.path, self._named(file), action, why, can_overwrite=False), None, None)

    def _compare(
        self, files: Sequence[WantedFile], places: Sequence[Path | _Found], now: Mapping[Path, Content | Exception | None]
    ) -> list[_Found | None]:
        return [
            place if isinstance(place, _Found) else self._look_at(file, place, now[place])
            for file, place in zip(files, places, strict=True)
        ]

    def _look_at(self, file: WantedFile, where: Path, now: Content | Exception | None) -> _Found | None:
        """What is to become of a file, or what stands against it; None if the file is as it was then."""
        if isinstance(now, FileTooLarge):
            return self._stays(file, f"It is {TOO_LARGE} by now, so what it holds could not be kept")
        if isinstance(now, Exception):
            return self._stays(file, f"It cannot be read: {getattr(now, 'strerror', None) or now}")
        version = _version_of(now)
        if version == file.then:
            return None
        wanted: Content | None = None
        if file.then is not None:
            data = self._surroundings.versions.read(file.then.sha256)
            if data is None:
                return self._stays(file, self._why_gone(file.then))
            wanted = Content(data, file.then.executable)
        action: Action = "delete" if wanted is None else "create" if now is None else "write"
        conflict = "" if version == file.known else CHANGED_SINCE
        return _Found(FileBack(file.path, where, action, conflict), wanted, now)

    def _why_gone(self, version: FileVersion) -> str:
        name = version.sha256[:12]
        limit = self._surroundings.versions.limit >> 20
        match self._surroundings.versions.standing(version.sha256):
            case "let go":
                return f"What it held then ({name}) is no longer kept: of copies over {limit:,} MB the oldest are deleted"
            case "damaged":
                return f"What it held then ({name}) is damaged"
            case _:
                return f"What it held then ({name}) is no longer kept"

    # What is written

    def _note(self, checkpoint_id: str, chosen: Collection[_Found]) -> dict[str, FileVersion | None]:
        """Keeps what the files hold now, and notes that they are about to be changed. Gives the versions by path; None where there is no
        file."""
        versions, session_id = self._surroundings.versions, self._conversation.session_id
        versions.keep_packed([pack(each.now.data) for each in chosen if each.now is not None], named=True)
        before = {each.back.path: _version_of(each.now) for each in chosen}
        id = GOING_BACK + checkpoint_id
        versions.begin(*(Begun(session_id, id, str(each.back.where), before[each.back.path]) for each in chosen))
        return before

    async def _write(self, found: Sequence[_Found]) -> list[str]:
        """Writes the files. Gives for each why it could not be written, for the user; empty if it was. Files that no editor has open are
        written in one go."""
        files, editor = self._surroundings.files, self._surroundings.editor
        closed = [each for each in found if editor.open_text(each.back.where) is None]
        raised = await files.put_all([Put(each.back.where, each.wanted, each.now) for each in closed])
        whys = {each.back.where: _in_words(error) for each, error in zip(closed, raised, strict=True)}
        for each in found:
            if each.back.where not in whys:
                whys[each.back.where] = _in_words(await self._write_shown(each))
            if not whys[each.back.where]:
                self._surroundings.written.note(each.back.where)
        return [whys[each.back.where] for each in found]

    async def _write_shown(self, file: _Found) -> Exception | None:
        """Writes a file that an editor has open; gives why it could not be written, None if it was."""
        files, where, now = self._surroundings.files, file.back.where, file.now
        try:
            if file.wanted is not None and now is not None:
                now = await self._write_open(where, file.wanted, now)
            if now != file.wanted:
                await files.put(where, file.wanted, now)
        except (ChangedMeanwhile, EditorRefused, EditorChanged, OSError, NotEncodable, FileTooLarge) as error:
            return error
        return None

    async def _write_open(self, where: Path, wanted: Content, now: Content) -> Content | None:
        """Lets the editor change the text, so that the user can undo it there; gives what the file holds then."""
        try:
            text, old = text_of(wanted.data).text, text_of(now.data)
        except NotText:
            return now
        if text != old.text:
            await self._surroundings.files.write(where, text, text_sha256(old.text))
        return await self._surroundings.files.content(where, LARGEST_BYTES)


def _in_words(error: Exception | None) -> str:
    match error:
        case None:
            return ""
        case ChangedMeanwhile():
            return CHANGED_MEANWHILE
        case EditorRefused() | EditorChanged():
            return EDITOR_REFUSED
        case _:
            return f"It cannot be written: {getattr(error, 'strerror', None) or error}"


def _may(file: FileBack, overwrite: Collection[str]) -> bool:
    return not file.conflict or (file.can_overwrite and file.path in overwrite)


def _version_of(content: Content | None) -> FileVersion | None:
    if content is None:
        return None
    return FileVersion(hashlib.sha256(content.data).hexdigest(), len(content.data), content.executable)
