"""Sessions of OpenCode: a database, `~/.local/share/opencode/opencode.db`; before version 1.2 files below `storage/` there, one for a
session, a message, a part of a message.

The format was taken from github.com/anomalyco/opencode (once sst/opencode), of which single files are at hand and no one commit: the tables
from `packages/opencode/src/session/session.sql.ts` (063e8306) and `packages/core/src/session/sql.ts` (02ce4a33), the files from
`packages/opencode/src/storage/storage.ts` (00d1fee8) and `json-migration.ts` (062aa8c0). `opencode_messages.py` knows what messages hold.

A database is opened read-only and as one that does not change, so that nothing is made beside it, and nothing in it is believed: not that
its tables are tables, nor that its columns hold text.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ullage.context.blocks import Json
from ullage.recorded.readers.conversation import TranscriptBuilder
from ullage.recorded.readers.files import json_objects
from ullage.recorded.readers.flaws import DAMAGED_ENTRY, NOT_A_FILE, NOT_WRITTEN_BACK, FlawTally, NotATranscript
from ullage.recorded.readers.opencode_messages import Messages
from ullage.recorded.readers.values import JsonObject, RecordNotJson, as_object, as_text, parse, printable
from ullage.recorded.transcript import Transcript
from ullage.store.database import connect

LONGEST_ROW = 64 * 1024 * 1024
"""Characters. A longer row is not read, so that memory is bounded."""

_OLD = {"session": ("id", "directory"), "message": ("id", "session_id", "time_created", "data"), "part": ("id", "message_id", "data")}
_NEW = {"session": ("id", "directory"), "session_message": ("id", "session_id", "time_created", "type", "data")}
_NAMED = 3
"""Files that cannot be read of which the user is told the names; the rest is counted."""


def is_line(value: JsonObject) -> bool:
    """Whether the object is what OpenCode notes of a session. Its messages are in files of their own."""
    return as_text(value.get("id")).startswith("ses") and isinstance(value.get("title"), str) and isinstance(value.get("time"), dict)


def read(lines: Iterable[JsonObject], tally: FlawTally, path: Path) -> tuple[Transcript, ...]:
    """The session of a file, with its messages from the files beside it. Folders go by the file's own name, never by what is in it."""
    nothing: JsonObject = {}
    about = next(iter(lines), nothing)
    stem, folder = path.stem, path.resolve().parent
    if folder.name == "info":  # before version 0.6
        messages, parts = folder.parent / "message" / stem, folder.parent / "part" / stem
    else:
        messages, parts = folder.parent.parent / "message" / stem, folder.parent.parent / "part"
    session = _Session(stem, as_text(about.get("parentID")), as_text(about.get("directory")), as_object(about.get("revert")))
    built = Messages(TranscriptBuilder(tally, session.folder), tally, session.taken_back_from)
    files = _Files(tally)
    for name, message in files.objects(messages):
        built.take({**message, "id": name}, [part for _, part in files.objects(parts / name)])
    return (session.transcript(built, tally),)


def read_database(path: Path) -> Iterator[Transcript] | None:
    """The sessions of a database, each read when it is asked for; None if it is no database of OpenCode. Raises `NotATranscript` if it
    cannot be read."""
    try:
        connection = opened(path)
    except sqlite3.Error as error:
        raise NotATranscript(f"{path} is a database that cannot be opened: {error}") from error
    try:
        tables = _tables(connection)
    except sqlite3.Error:
        connection.close()
        return None  # the reader of our own log says what is wrong with it
    if not (_has(tables, _OLD) or _has(tables, _NEW)):
        connection.close()
        return None
    return _sessions(path, connection, tables)


def opened(path: Path) -> sqlite3.Connection:
    """A connection to the database that writes nothing, not even beside the file. Raises `sqlite3.Error`."""
    return connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def columns_of_sessions(connection: sqlite3.Connection) -> frozenset[str]:
    """The columns of the table that holds the sessions; empty if there is no such table. Raises `sqlite3.Error`."""
    return _tables(connection).get("session", frozenset())


def read_one(path: Path, id: str) -> Transcript | None:
    """The session of a database with that id, with what OpenCode has not written back into it yet; None if it is not there.

    The files are copied first: to read what lies beside a database, SQLite would write there. Raises `NotATranscript` and `OSError`.
    """
    beside = path.with_name(path.name + "-wal")
    if not beside.exists() or not beside.stat().st_size:
        return _one(path, id)
    with tempfile.TemporaryDirectory(prefix="ullage-") as folder:
        copy = Path(shutil.copyfile(path, Path(folder, path.name)))
        shutil.copyfile(beside, copy.with_name(beside.name))
        try:
            with closing(connect(str(copy))) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise NotATranscript(f"{path} is being written just now: try again in a moment ({error})") from error
        return _one(copy, id)


def _one(path: Path, id: str) -> Transcript | None:
    connection = opened(path)
    try:
        tables = _tables(connection)
    except sqlite3.Error as error:
        connection.close()
        raise NotATranscript(f"{path} cannot be read: {error}") from error
    if not (_has(tables, _OLD) or _has(tables, _NEW)):
        connection.close()
        return None
    return next(_sessions(path, connection, tables, id), None)


@dataclass(frozen=True, slots=True)
class _Session:
    """What is noted of a session. `parent` is the id of the session that it works for; empty if there is none."""

    id: str
    parent: str
    folder: str
    revert: JsonObject

    @property
    def taken_back_from(self) -> str:
        """The id of the first message that the user took back; empty if they took none back."""
        return as_text(self.revert.get("messageID"))

    def transcript(self, built: Messages, tally: FlawTally) -> Transcript:
        """Ends the reading of the session's messages; gives its transcript."""
        built.settle()
        tally.note("System prompt and tools are not in OpenCode's sessions: the first request is larger than its messages by them")
        name = f"{self.parent}/{self.id}" if self.parent else self.id
        return built.conversation.transcript(printable(name), "opencode")


class _Files:
    """Reads the JSON files of folders. Files that cannot be read are counted, and the first of them are named."""

    def __init__(self, tally: FlawTally) -> None:
        self._tally = tally
        self._failed = 0

    def objects(self, folder: Path) -> Iterator[tuple[str, JsonObject]]:
        """The object of each file in the folder, with the file's name, in the order of the names, which begin with the time. Empty without
        the folder."""
        try:
            files = sorted(file for file in folder.iterdir() if file.suffix == ".json" and file.is_file())
        except FileNotFoundError:
            return
        except OSError as error:
            self._fail(folder, error.strerror or str(error))
            return
        for file in files:
            own = FlawTally()
            try:
                found = next(json_objects(file, own), None)
            except OSError as error:
                self._fail(file, error.strerror or str(error))
                continue
            if found is None or own.repairs:
                self._fail(file, "it is no JSON object, or is cut off")
            if found is not None:
                yield file.stem, found

    def _fail(self, path: Path, why: str) -> None:
        self._tally.count(NOT_A_FILE)
        self._failed += 1
        if self._failed <= _NAMED:
            self._tally.note(f"{printable(str(path))}: {printable(why)}")


_Tables = Mapping[str, frozenset[str]]


def _tables(connection: sqlite3.Connection) -> _Tables:
    """The columns of each real table, by its name. Views and virtual tables are left out: they run what somebody else wrote."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    plain = [name for name, sql in rows if isinstance(name, str) and isinstance(sql, str) and sql.upper().startswith("CREATE TABLE")]
    return {name: _columns(connection, name) for name in plain if name in {*_OLD, *_NEW}}


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return frozenset(str(name) for (name,) in rows)


def _has(tables: _Tables, wanted: Mapping[str, tuple[str, ...]]) -> bool:
    return all(tables.get(table, frozenset()).issuperset(columns) for table, columns in wanted.items())


def _sessions(path: Path, connection: sqlite3.Connection, tables: _Tables, only: str | None = None) -> Iterator[Transcript]:
    """The sessions in the order in which they were begun, as far as the database can be read; with `only`, just the one with that id."""
    beside = path.with_name(path.name + "-wal")
    unwritten = beside.exists() and beside.stat().st_size > 0
    optional = [name if name in tables["session"] else f"NULL AS {name}" for name in ("parent_id", "revert")]
    query = f"SELECT id, directory, {', '.join(optional)} FROM session ORDER BY id"  # noqa: S608 - names from above
    try:
        for id, directory, parent, revert in connection.execute(query).fetchall():
            if not isinstance(id, str) or only not in (None, id):
                continue
            tally = FlawTally()
            tally.count(NOT_WRITTEN_BACK, int(unwritten))
            session = _Session(id, _text(parent), _text(directory), _object(revert))
            built = Messages(TranscriptBuilder(tally, session.folder), tally, session.taken_back_from)
            try:
                _take_rows(connection, tables, id, built, tally)
            except sqlite3.Error as error:
                tally.count(DAMAGED_ENTRY)
                tally.note(f"{printable(str(path))}: {printable(str(error))}")
            yield session.transcript(built, tally)
    except sqlite3.Error as error:
        raise NotATranscript(f"{path} is a database of OpenCode that cannot be read: {error}") from error
    finally:
        connection.close()


def _take_rows(connection: sqlite3.Connection, tables: _Tables, session: str, built: Messages, tally: FlawTally) -> None:
    """Gives the session's messages to `built`, from the tables into which the session was written last."""
    if _is_new(connection, tables, session):
        order = "seq" if "seq" in tables["session_message"] else "time_created, id"
        query = f"SELECT id, type, {_DATA} FROM session_message WHERE session_id = ? ORDER BY {order}"  # noqa: S608 - names from above
        for id, kind, data in connection.execute(query, (LONGEST_ROW, session)):
            built.take_new({**_object(data, tally), "id": _text(id), "type": _text(kind)})
        return
    messages = f"SELECT id, {_DATA} FROM message WHERE session_id = ? ORDER BY time_created, id"  # noqa: S608 - names from above
    parts = f"SELECT id, {_DATA} FROM part WHERE message_id = ? ORDER BY id"  # noqa: S608 - names from above
    for id, data in connection.execute(messages, (LONGEST_ROW, session)):
        told = connection.execute(parts, (LONGEST_ROW, _text(id)))
        built.take({**_object(data, tally), "id": _text(id)}, [_object(part, tally) for _, part in told])


_DATA = "CASE WHEN typeof(data) = 'text' AND length(data) <= ? THEN data END"


def _is_new(connection: sqlite3.Connection, tables: _Tables, session: str) -> bool:
    """Whether the session was last written to the table of newer versions, which hold messages with all of their parts."""
    newest = [0, 0]
    for index, (table, wanted) in enumerate((("message", _OLD), ("session_message", _NEW))):
        if _has(tables, wanted):
            query = f"SELECT max(time_created) FROM {table} WHERE session_id = ?"  # noqa: S608 - one of two names
            (found,) = connection.execute(query, (session,)).fetchone()
            newest[index] = found + 1 if isinstance(found, int) else 0
    return newest[1] > newest[0]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object, tally: FlawTally | None = None) -> JsonObject:
    """The JSON object in a column. Empty where the column holds something else, which is counted in `tally`."""
    found: Json = None
    if isinstance(value, str):
        try:
            found = parse(value)
        except RecordNotJson:
            found = None
    if tally is not None:
        tally.count(DAMAGED_ENTRY, int(not isinstance(found, dict)))
    return as_object(found)
