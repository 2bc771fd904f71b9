"""What lies in `.ullage` of a workspace, where earlier versions kept sessions: taken over where it is the user's, else imported if asked.

A repository can bring such a folder along, with whatever in it. So nothing of it is opened by itself, unless something outside of the
workspace shows that it is this user's: the editor's own memory names a session by its random id, and the log holds that session. A folder
that git tracks came with the repository, whatever it holds. What is imported without such proof is *foreign*: it can be read, and is never
continued, and no word of it goes to a model. The user can give the proof themselves, after they were shown what is taken.

Nothing in the workspace is changed. The log is read as a copy in our own folder. Whole sessions are taken in, each in one transaction, and
those that are there are passed over: so it can be done again after it was killed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ullage.context.blocks import Json
from ullage.context.entries import Clipped, Logged, ToolReturned, media_in
from ullage.store import folder as kept_folder
from ullage.store.brought import BroughtLog, NotBrought, SessionInFile, opened
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.origins import foreign_id
from ullage.store.plain_files import MediaFiles, file_name, sha256_of
from ullage.store.shared_files import HeldElsewhere, SystemLock, write_whole
from ullage.store.statements import SessionRecord
from ullage.workspace.folders import OWN_FOLDER
from ullage.workspace.git_status import may_name
from ullage.workspace.regular_files import open_regular

MOST_BYTES = 2_000_000_000
"""Most bytes of the log, and of what lies beside it. A larger one is not taken in."""

MOST_FILE_BYTES = 100_000_000
"""Most bytes of one output, image or transcript."""

MOST_FILES = 100_000

_LOG = "ullage.db"
_BESIDE = f"{_LOG}-wal"
_LOOKED_AT = "looked at: .ullage"
_CHUNK = 1 << 20
_TRIES = 3
_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}\.(txt|jsonl|png|jpeg|gif|webp|pdf)")


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of taking sessions in: those that came, those that could not (with why), and entries of them that could not be read."""

    sessions: int
    failures: tuple[str, ...]
    unreadable: int


@dataclass(frozen=True, slots=True)
class BroughtTitle:
    """A session that lies there, as the user is asked about it. `updated_at` is Unix seconds, `waiting` are prompts that were not sent."""

    title: str
    updated_at: float
    entries: int
    waiting: int


@dataclass(frozen=True, slots=True)
class EarlierSessions:
    """The sessions in `.ullage`. `is_tracked`: git tracks them, so they came with the repository."""

    sessions: tuple[BroughtTitle, ...]
    is_tracked: bool


OFFERED = (
    "This folder brings sessions of Ullage along (.ullage), and nothing outside of it shows that they are yours. They were not opened. "
    "“Ullage: Import sessions of this folder…” (or `ullage import`) lets you read and search them as somebody else's"
)
"""What the user is told of a log that was not opened."""


def taken_over(taken: TakenIn, kept: Path | None) -> str:
    """What the user is told of sessions that were taken over."""
    said = f"{taken.sessions} sessions of this folder are now kept in {kept}, outside of it. What is left in .ullage can be deleted"
    problems = [*taken.failures, *([f"{taken.unreadable} entries could not be read"] if taken.unreadable else [])]
    return f"{said}, but keep it if you miss something: {'; '.join(problems)}" if problems else said


class EarlierStore:
    """The folder `.ullage` of a workspace (its path without links), and the log that takes its sessions in, which is kept in `kept`.

    Its calls read the disk, and take as long as there is to copy: do them in another thread.
    """

    def __init__(self, workspace: Path, kept: Path, log: LogStore) -> None:
        self._folder = workspace / OWN_FOLDER
        self._workspace = workspace
        self._kept = kept
        self._log = log

    def state(self) -> Literal["none", "new", "offered", "taken"]:
        """Whether a log lies there, and what became of it as it is now. Raises `StoreFailed`."""
        mark = self._mark()
        if mark is None:
            return "none"
        match self._log.recalled(_LOOKED_AT):
            case {"files": dict(files), "taken": bool(taken)} if files == mark:
                return "taken" if taken else "offered"
            case _:
                return "new"

    def offered(self) -> None:
        """Notes that the user was told of the log as it is now. Raises `StoreFailed`."""
        self._remember(taken=False)

    def _remember(self, *, taken: bool) -> None:
        self._log.remember(_LOOKED_AT, {"files": self._mark(), "taken": taken})

    def take_over(self, remembered: str) -> TakenIn | None:
        """Takes all sessions over, if the session that the editor remembers is among them and git does not track the folder; else None.

        Raises `NotBrought` and `StoreFailed`.
        """
        if _is_tracked(self._workspace):
            return None
        with self._copied() as log:
            if remembered not in log.session_ids():
                return None
            copy_files(self._folder, self._kept)
            taken = self._take(log, self._take_over_one)
        self._remember(taken=True)
        return taken

    def listed(self) -> EarlierSessions:
        """The sessions that `take_as_mine` would take. Raises `NotBrought` and `StoreFailed`."""
        with self._copied() as log:
            sessions = [_told(log, session_id) for session_id in log.session_ids()]
        return EarlierSessions(tuple(each for each in sessions if each is not None), _is_tracked(self._workspace))

    def take_as_mine(self) -> TakenIn:
        """Takes all sessions over on the user's word that they are theirs. Raises `NotBrought` and `StoreFailed`."""
        with self._copied() as log:
            copy_files(self._folder, self._kept)
            taken = self._take(log, self._take_over_one)
        self._remember(taken=True)
        return taken

    def import_foreign(self) -> TakenIn:
        """Imports all sessions as somebody else's. Raises `NotBrought` and `StoreFailed`."""
        with self._copied() as log:
            taken = self._take(log, self._import_one)
        self._remember(taken=True)
        return taken

    def _take(self, log: BroughtLog, one: Callable[[BroughtLog, SessionInFile], bool]) -> TakenIn:
        taken = unreadable = 0
        failures: list[str] = []
        for session_id in log.session_ids():
            try:
                session = log.session(session_id)
                if one(log, session):
                    taken += 1
                    unreadable += session.unreadable
            except NotBrought as error:
                failures.append(str(error))
        return TakenIn(taken, tuple(failures), unreadable)

    def _take_over_one(self, log: BroughtLog, session: SessionInFile) -> bool:
        for key in ("lineage", "model", "effort"):
            value = _json(log.remembered(f"{key}:{session.id}"))
            if value is not None:
                self._log.remember(f"{key}:{session.id}", value)
        return self._log.take_in(_record(session, session.id), session.logged, session.queued)

    def _import_one(self, _: BroughtLog, session: SessionInFile) -> bool:
        logged = tuple(map(_without_files, session.logged))
        self._copy_media(logged)
        return self._log.take_in(_record(session, foreign_id(session.digest)), logged)

    @contextmanager
    def _copied(self) -> Generator[BroughtLog]:
        """Opens the log, as a copy that nobody changes. Raises `NotBrought` and `StoreFailed`."""
        try:
            lock = SystemLock(self._kept / "import.lock", wait=5.0)
        except HeldElsewhere as error:
            raise StoreFailed("Another window is importing the sessions of this folder") from error
        try:
            for left in self._kept.glob("importing-*"):  # by a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            into = Path(tempfile.mkdtemp(prefix="importing-", dir=self._kept))
            try:
                self._copy(into)
                with opened(into / _LOG) as log:
                    yield log
            finally:
                shutil.rmtree(into, ignore_errors=True)
        except OSError as error:
            raise NotBrought(f"{self._folder / _LOG} cannot be read: {error.strerror or error}") from error
        finally:
            lock.release()

    def _copy(self, into: Path) -> None:
        for _ in range(_TRIES):
            before = self._mark()
            if before is None:
                raise NotBrought(f"{self._folder} has no log of Ullage that is a plain file in a plain folder")
            for name in (_LOG, _BESIDE):
                (into / name).unlink(missing_ok=True)
                if before[name] is not None:
                    _copy_file(self._folder / name, into / name, MOST_BYTES)
            if self._mark() == before:
                return
        raise NotBrought(f"{self._folder / _LOG} is being written by another program: close the other windows on the folder first")

    def _copy_media(self, logged: Sequence[Logged]) -> None:
        """Copies the images and documents that these entries show, named by the hash of what they must hold. What is not there is left
        out."""
        place, kept = kept_folder.media(self._folder), MediaFiles(self._kept)
        if place.is_symlink():
            return
        for media in dict.fromkeys(media for each in logged for media in media_in(each.entry)):
            with suppress(OSError), open_regular(place / file_name(media)) as file:
                data = file.read(MOST_FILE_BYTES)
                if sha256_of(data) == media.sha256:
                    kept.keep(data, media)

    def _mark(self) -> dict[str, Json] | None:
        """What tells the log's files from later ones: size, time and inode of each, None for one that is missing. None if no log lies
        there, or if it is reached by a link or is no plain file."""
        if self._folder.is_symlink():
            return None
        mark: dict[str, Json] = {}
        for name in (_LOG, _BESIDE):
            try:
                status = (self._folder / name).lstat()
            except OSError:
                mark[name] = None
                continue
            if not stat.S_ISREG(status.st_mode):
                return None
            mark[name] = [status.st_size, status.st_mtime_ns, status.st_ino]
        return None if mark[_LOG] is None else mark


def copy_files(source: Path, kept: Path) -> None:
    """Copies outputs, images and transcripts by their names, of which none can be a path. What is there already stays as it is."""
    for name in (*sorted(kept_folder.READABLE), "unfinished"):
        for path in _plain_files(source / name):
            target = kept / name / path.name
            if not target.exists():
                with open_regular(path) as file:
                    write_whole(target, file.read(MOST_FILE_BYTES))


def _told(log: BroughtLog, session_id: str) -> BroughtTitle | None:
    try:
        session = log.session(session_id)
    except NotBrought:
        return None
    record = _record(session, session_id)
    return BroughtTitle(session.title, record.updated_at, len(session.logged), len(session.queued))


def _record(session: SessionInFile, session_id: str) -> SessionRecord:
    updated = session.logged[-1].at if session.logged else session.created_at
    return SessionRecord(session_id, session.title, session.created_at, updated)


def _without_files(logged: Logged) -> Logged:
    """The entry without names of files that were kept beside it: they would be taken for ours."""
    match logged.entry:
        case ToolReturned():
            return replace(logged, entry=replace(logged.entry, full_output=None))
        case Clipped():
            return replace(logged, entry=replace(logged.entry, full_output=""))
        case _:
            return logged


def _json(text: str | None) -> Json:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _copy_file(source: Path, target: Path, most: int) -> None:
    too_large = NotBrought(f"{source} is too large to be taken in")
    with open_regular(source) as file, target.open("xb") as copy:
        if os.fstat(file.fileno()).st_size > most:
            raise too_large
        while chunk := file.read(_CHUNK):
            most -= len(chunk)
            if most < 0:
                raise too_large
            copy.write(chunk)


def _plain_files(folder: Path) -> Iterator[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return
    for number, path in enumerate(sorted(folder.iterdir())):
        status = path.lstat()
        if number >= MOST_FILES:
            return
        if _NAME.fullmatch(path.name) and stat.S_ISREG(status.st_mode) and status.st_size <= MOST_FILE_BYTES:
            yield path


def _is_tracked(workspace: Path) -> bool:
    """Whether git may track `.ullage`: then it came with the repository. True also if the list of tracked files cannot be read here."""
    for folder in (workspace, *workspace.parents):
        git = folder / ".git"
        if git.is_symlink():
            return True
        if git.exists():
            return may_name(git / "index", OWN_FOLDER) if git.is_dir() else True
    return False
