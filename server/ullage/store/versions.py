"""The bytes of files as they were before and after the agent changed them, named by their SHA-256, in one SQLite file beside the log.

Beside the content it has what the newest scan of the workspace found (`workspace/scan.py`), and the calls that run.

All of it is on disk before a call runs and before an entry of the log names it. There is a limit of size. Over it the oldest content goes
first, and its hash stays, so that it can be said why it is no longer there. What the newest scan found is never let go for that: the call
that runs next needs it.

For any thread but that of the event loop: another window may be writing. Where nothing is kept on disk it lies in memory.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.change_entries import FileVersion
from ullage.store import folder as ullage_folder
from ullage.store.database import failing_clearly, is_damage
from ullage.store.errors import StoreFailed
from ullage.store.versions_file import open_versions, put_aside

MEGABYTE = 1 << 20

LIMIT_BYTES = 1_024 * MEGABYTE
"""The most bytes of packed content of one workspace, where the user chose nothing else. What git packs of a large repository is of that
order."""

UNNAMED_SECONDS = 24 * 3600.0
"""How long content is kept that no entry names: a call of another window may still need it, and none takes a day."""

_UNNEEDED = """
SELECT sha256 FROM content WHERE NOT named AND kept_at < ? AND sha256 NOT IN
(SELECT sha256 FROM seen WHERE sha256 IS NOT NULL UNION SELECT sha256 FROM begun WHERE sha256 IS NOT NULL)
"""
_NO_LONGER_NAMED = """
SELECT sha256 FROM content WHERE named AND sha256 NOT IN (SELECT sha256 FROM still_named) AND sha256 NOT IN
(SELECT sha256 FROM seen WHERE sha256 IS NOT NULL UNION SELECT sha256 FROM begun WHERE sha256 IS NOT NULL)
"""
_NOT_NEEDED_NEXT = """
SELECT sha256, length(packed) FROM content WHERE packed IS NOT NULL AND sha256 NOT IN
(SELECT sha256 FROM seen WHERE sha256 IS NOT NULL UNION SELECT sha256 FROM begun WHERE sha256 IS NOT NULL) ORDER BY kept_at
"""

_TAKEN_TOGETHER = 100
"""How many contents are taken over in one go."""

GOING_BACK = "back to "
"""Stands, in the place of a call's id, before the id of a checkpoint that the user goes back to."""

UNDOING = "undo of changes"
"""Stands in the place of a call's id where the user takes changes back."""

Standing: TypeAlias = Literal["kept", "let go", "damaged", "unknown"]


class NoRoom(StoreFailed):
    """The limit of size is reached by what is needed next."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the copies of this workspace's files have reached their limit of {limit // MEGABYTE:,} MB "
            "(the setting “Ullage › Store: Versions Limit”)"
        )


@dataclass(frozen=True, slots=True)
class Packed:
    """Content that is packed and about to be kept."""

    sha256: str
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file as the newest scan found it. `stamp` is the scan's own; `sha256` is None if the content is not kept, and `why` says why."""

    stamp: str
    sha256: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that runs. `path` is the file that it edits, `before` its version; without a path it may change any file."""

    session_id: str
    tool_use_id: str
    path: str | None = None
    before: FileVersion | None = None


def pack(data: bytes) -> Packed:
    """Packs content. Takes about 15 ms a megabyte. Any thread; others run meanwhile."""
    return Packed(hashlib.sha256(data).hexdigest(), len(data), zlib.compress(data, 1))


_COUNT_COMMANDS = "UPDATE begun SET executable = executable + ? WHERE session_id = ''"
"""The row of no session counts the commands that ever began. Earlier versions pass it over."""


class Versions:
    """The versions of files of one workspace. All methods raise `StoreFailed`, and have changed nothing then."""

    def __init__(self, path: Path | None, limit: int = LIMIT_BYTES, clock: Callable[[], float] = time.time) -> None:
        self.limit = limit
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._commands_here = 0
        """How many commands this process noted."""
        self.set_aside: Path | None = None
        """The path where a damaged file lies now; None if none was found."""

    @classmethod
    def open(cls, folder: Path | None) -> Versions:
        """The versions in the folder that is kept for a workspace. The file is made when it is first needed."""
        return cls(None if folder is None else ullage_folder.versions(folder))

    def close(self) -> None:
        """Lets go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # Content

    def keep(self, data: bytes, *, executable: bool = False) -> FileVersion:
        """Keeps the bytes as content that an entry is about to name; durable when it returns."""
        packed = pack(data)
        self.keep_packed((packed,), named=True)
        return FileVersion(packed.sha256, packed.size, executable)

    def keep_packed(
        self,
        packed: Sequence[Packed],
        *,
        named: bool,
        seen: Iterable[tuple[str, ScannedFile | None]] = (),
        at_once: bool = True,
    ) -> None:
        """Keeps all of it, or nothing if it raises. With it goes what a scan found of some paths (None: nothing any more).

        What is not kept `at_once` is durable with the next write that is: many of these in a row do not wait for the disk each time.
        """
        now = self._clock()
        with self._changing("keep a version of a file", at_once=at_once) as connection:
            self._add(connection, {each.sha256: each for each in packed}, now, named=named)
            rows = [(os.fsencode(path), found) for path, found in seen]
            connection.executemany("DELETE FROM seen WHERE path = ?", [(path,) for path, found in rows if found is None])
            connection.executemany(
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
                [(path, found.stamp, _bytes_of(found.sha256), found.why) for path, found in rows if found is not None],
            )
            self._stay_within(connection, {each.sha256 for each in packed})

    def take_from(self, path: Path) -> bool:
        """Keeps what entries name of another workspace's file, if there is one; gives whether all of it found room. Raises
        `StoreFailed`."""
        if not path.exists():
            return True
        with failing_clearly("take over versions of files"), closing(open_versions(path)) as other:
            rows = other.execute("SELECT sha256, size, packed FROM content WHERE named AND packed IS NOT NULL ORDER BY kept_at DESC")
            while several := rows.fetchmany(_TAKEN_TOGETHER):
                packed = [Packed(sha256.hex(), size, data) for sha256, size, data in several]
                if self.size + sum(len(each.data) for each in packed) > self.limit:
                    return False  # the newest are here, and nothing of this workspace goes for the others
                self.keep_packed(packed, named=True)
        return True

    def name(self, versions: Iterable[FileVersion | None]) -> None:
        """Notes that an entry of the log is about to name these versions."""
        with self._changing("keep versions of files") as connection:
            named = [(_bytes_of(each.sha256),) for each in versions if each is not None]
            connection.executemany("UPDATE content SET named = 1 WHERE sha256 = ?", named)

    def read(self, sha256: str) -> bytes | None:
        """The very bytes of that content; None if they are not there, or are no longer what was kept."""
        with self._reading("read a version of a file") as connection:
            row = connection.execute("SELECT packed FROM content WHERE sha256 = ?", (_bytes_of(sha256),)).fetchone()
        if row is None or row[0] is None:
            return None
        data = _unpacked(row[0])
        if data is not None and hashlib.sha256(data).hexdigest() == sha256:
            return data
        with suppress(StoreFailed), self._changing("note a damaged version") as connection:
            self._drop(connection, [_bytes_of(sha256)], is_damaged=True)
        return None

    def standing(self, sha256: str) -> Standing:
        """What became of that content, without a look at its bytes."""
        with self._reading("look for a version of a file") as connection:
            found = connection.execute(
                "SELECT packed IS NOT NULL, is_damaged FROM content WHERE sha256 = ?", (_bytes_of(sha256),)
            ).fetchone()
        if found is None:
            return "unknown"
        return "kept" if found[0] else "damaged" if found[1] else "let go"

    def forget_all_but(self, named: Iterable[str], *, keep_scans: bool = True) -> None:
        """Forgets content after sessions were deleted. These hashes remain, which others name, and what the newest scan found where that is
        wanted."""
        with self._changing("delete versions of files") as connection:
            if not keep_scans:
                connection.execute("DELETE FROM seen")
            connection.execute("CREATE TEMP TABLE IF NOT EXISTS still_named (sha256 BLOB PRIMARY KEY)")
            connection.execute("DELETE FROM still_named")
            connection.executemany("INSERT OR IGNORE INTO still_named VALUES (?)", ((_bytes_of(each),) for each in named))
            gone = connection.execute(_NO_LONGER_NAMED).fetchall()
            self._drop(connection, [sha256 for (sha256,) in gone], is_damaged=False)
            connection.executemany("DELETE FROM content WHERE sha256 = ?", gone)
            connection.execute("UPDATE content SET named = 0 WHERE sha256 NOT IN (SELECT sha256 FROM still_named)")
            self._forget_unneeded(connection, before=self._clock() + (-UNNAMED_SECONDS if keep_scans else 1.0))
        self._shrink()

    @property
    def size(self) -> int:
        """The size of all packed content, in bytes."""
        with self._reading("look at the versions of files") as connection:
            return int(connection.execute("SELECT bytes FROM total").fetchone()[0])

    # What scans found

    def seen(self) -> dict[str, ScannedFile]:
        """What the newest scan found, by absolute path."""
        with self._reading("read what the newest scan found") as connection:
            rows = connection.execute("SELECT path, stamp, sha256, why FROM seen").fetchall()
        return {os.fsdecode(path): ScannedFile(stamp, None if sha256 is None else sha256.hex(), why) for path, stamp, sha256, why in rows}

    # Calls that run

    def begin(self, *begun: Begun) -> None:
        """Notes that the call is about to run, or that these files are about to be changed; durable when it returns."""
        commands = sum(each.path is None for each in begun)
        with self._lock:
            self._note(begun, commands)
            self._commands_here += commands

    def _note(self, begun: Sequence[Begun], commands: int) -> None:
        with self._changing("note a call that begins") as connection:
            if commands and not connection.execute(_COUNT_COMMANDS, (commands,)).rowcount:
                connection.execute("INSERT INTO begun VALUES ('', 'commands', x'', NULL, ?)", (commands,))
            for each in begun:
                before = each.before
                row = (
                    *(each.session_id, each.tool_use_id, None if each.path is None else os.fsencode(each.path)),
                    *(None if before is None else _bytes_of(before.sha256), before is not None and before.executable),
                )
                connection.execute("INSERT INTO begun VALUES (?, ?, ?, ?, ?)", row)

    def begun(self, session_id: str) -> list[Begun]:
        """The calls of a session that were noted and not `ended`."""
        with self._reading("look for calls that were cut off") as connection:
            rows = connection.execute(
                "SELECT begun.tool_use_id, begun.path, begun.sha256, begun.executable, content.size FROM begun "
                "LEFT JOIN content ON content.sha256 = begun.sha256 WHERE begun.session_id = ?",
                (session_id,),
            ).fetchall()
        return [
            Begun(
                session_id,
                tool_use_id,
                None if path is None else os.fsdecode(path),
                None if sha256 is None else FileVersion(sha256.hex(), size or 0, bool(executable)),
            )
            for tool_use_id, path, sha256, executable, size in rows
        ]

    def commands_begun(self) -> tuple[set[str], int]:
        """The commands of all sessions that were noted and not `ended`: they run, in this window or another, or were cut off. And a number
        that grows with each command that another process notes, also with one that has ended by now."""
        with self._reading("look for commands that run") as connection:
            running = {id for (id,) in connection.execute("SELECT tool_use_id FROM begun WHERE path IS NULL")}
            ever = connection.execute("SELECT executable FROM begun WHERE session_id = ''").fetchone()
            return running, (ever[0] if ever else 0) - self._commands_here

    def ended(self, session_id: str, tool_use_ids: Iterable[str] | None = None) -> None:
        """Notes that what these calls of a session changed is in its log; without ids, what all of them did."""
        with self._changing("note that a call has ended") as connection:
            if tool_use_ids is None:
                connection.execute("DELETE FROM begun WHERE session_id = ?", (session_id,))
            else:
                ids = ((session_id, each) for each in tool_use_ids)
                connection.executemany("DELETE FROM begun WHERE session_id = ? AND tool_use_id = ?", ids)

    # The limit

    def _add(self, connection: sqlite3.Connection, packed: Mapping[str, Packed], now: float, *, named: bool) -> None:
        there = {
            sha256
            for sha256 in packed
            if connection.execute("SELECT 1 FROM content WHERE sha256 = ? AND packed IS NOT NULL", (_bytes_of(sha256),)).fetchone()
        }
        connection.executemany(
            "UPDATE content SET kept_at = ?, named = named OR ? WHERE sha256 = ?", [(now, named, _bytes_of(sha256)) for sha256 in there]
        )
        new = [each for sha256, each in packed.items() if sha256 not in there]
        connection.executemany(
            "INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?, ?, 0)",
            [(_bytes_of(each.sha256), each.size, each.data, now, named) for each in new],
        )
        connection.execute("UPDATE total SET bytes = bytes + ?", (sum(len(each.data) for each in new),))

    def _stay_within(self, connection: sqlite3.Connection, new: set[str]) -> None:
        """Lets content go until the limit is kept. Raises `NoRoom`, and the transaction is taken back, where all that is left is needed
        next."""
        if self._over(connection) <= 0:
            return
        self._forget_unneeded(connection, before=self._clock() - UNNAMED_SECONDS)
        keep = {_bytes_of(each) for each in new}
        oldest = connection.execute(_NOT_NEEDED_NEXT).fetchall()
        over, going = self._over(connection), list[bytes]()
        for sha256, length in oldest:
            if over <= 0:
                break
            if sha256 not in keep:
                going.append(sha256)
                over -= length
        if over > 0:
            raise NoRoom(self.limit)
        self._drop(connection, going, is_damaged=False)

    def _over(self, connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT bytes FROM total").fetchone()[0]) - self.limit

    def _forget_unneeded(self, connection: sqlite3.Connection, before: float) -> None:
        """Forgets what no entry and no scan names and was kept before that time: no hash of it stays."""
        unneeded = connection.execute(_UNNEEDED, (before,)).fetchall()
        self._drop(connection, [sha256 for (sha256,) in unneeded], is_damaged=False)
        connection.executemany("DELETE FROM content WHERE sha256 = ?", unneeded)

    def _drop(self, connection: sqlite3.Connection, sha256s: Iterable[bytes | None], *, is_damaged: bool) -> None:
        for each in sha256s:
            connection.execute(
                "UPDATE total SET bytes = bytes - (SELECT coalesce(length(packed), 0) FROM content WHERE sha256 = ?)", (each,)
            )
            connection.execute("UPDATE content SET packed = NULL, is_damaged = ? WHERE sha256 = ?", (is_damaged, each))

    def _shrink(self) -> None:
        with suppress(StoreFailed), self._reading("give room back") as connection:
            connection.executescript("PRAGMA incremental_vacuum")  # one step is one page, and `execute` makes only one

    # The file

    @contextmanager
    def _reading(self, action: str) -> Generator[sqlite3.Connection]:
        with self._lock, failing_clearly(action):
            yield self._opened()

    @contextmanager
    def _changing(self, action: str, *, at_once: bool = True) -> Generator[sqlite3.Connection]:
        with self._reading(action) as connection:
            connection.execute(f"PRAGMA synchronous = {'FULL' if at_once else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.rollback()
                raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = open_versions(self._path)
            except (sqlite3.Error, OSError) as error:
                if self._path is None or (isinstance(error, sqlite3.Error) and not is_damage(error)):
                    raise
                if isinstance(error, OSError):
                    raise StoreFailed(f"Cannot open {self._path}: {error.strerror or error}") from error
                self.set_aside = put_aside(self._path)
                self._connection = open_versions(self._path)
        return self._connection


def _bytes_of(sha256: str | None) -> bytes | None:
    return None if sha256 is None else bytes.fromhex(sha256)


def _unpacked(packed: bytes) -> bytes | None:
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return None
