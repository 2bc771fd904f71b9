"""The files that recorded sessions are in.

A name on the command line stands for a file or for all transcripts below a folder. A file may be plain or compressed. It is read
line by line, and only one line is in memory at a time.

Of JSON that is one document and not lines (a list, or an object that holds a long list) only one part is in memory at a time, however large
the file is. A part that is cut off or damaged ends the reading: where the next one begins cannot be told.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from ullage.context.blocks import Json
from ullage.recorded.readers.flaws import BREAKS_OFF, CUT_LINE, DAMAGED_ARCHIVE, LONG_LINE, NO_JSON, NO_OBJECT, NOT_UTF8, FlawTally
from ullage.recorded.readers.values import JsonObject, RecordNotJson, parse
from ullage.store.folder import database

_DATABASE = "ullage.db"
_OF_EARLIER_VERSIONS = Path(".ullage", _DATABASE)
_PACKED = r"(?:\.gz|\.xz|\.bz2)?"
_NAMES = re.compile(
    # Claude Code, Codex, pi, Gemini CLI; Gemini CLI before 0.39; Cline; Cline since version 4; OpenCode before 1.2, and since.
    rf"(?:.*\.jsonl|session-.*\.json|api_conversation_history\.json|.*\.messages\.json|ses_.*\.json){_PACKED}|opencode[\w.-]*\.db"
)
"""The names of files that are transcripts."""


_NO_FILE = "neither a file nor a folder: pipes and devices are not read, copy what they hold to a file"


def is_called_like_one(name: str) -> bool:
    """Whether a file of that name counts as a transcript where a whole folder is read."""
    return _NAMES.fullmatch(name) is not None


class NothingFound(Exception):
    """The name that was given stands for no file; `str()` says which name and why."""


def transcripts_in(name: Path, failures: list[str], kept: Mapping[Path, Path]) -> Sequence[Path]:
    """The file itself, or the transcripts in a folder and the folders below it, in the order of their names.

    Of a workspace of Ullage it is the log alone: other JSON lines in it are the user's own. `kept` has the folder that holds the log of
    each workspace, by its path with links resolved. Folders below it that cannot be listed,
    and what is called like a transcript and is no file (a pipe would be waited for), are added to `failures`. Raises `NothingFound`.
    """
    if not name.exists():
        asked = "; standard input is not read: name a file" if str(name) == "-" else ""
        raise NothingFound(f"{name} does not exist{asked}")
    if name.is_file():
        return (name,)
    if not name.is_dir():
        raise NothingFound(f"{name} is {_NO_FILE}")
    told = len(failures)
    found = tuple(_below(name, failures, kept))
    if not found and len(failures) == told:
        raise NothingFound(f"{name} holds no transcripts: neither *.jsonl (plain or as .gz, .xz, .bz2) nor other files that are read")
    return found


def _below(top: Path, failures: list[str], kept: Mapping[Path, Path]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        failures.append(f"{error.filename} cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(top, onerror=unreadable):
        here = Path(folder)
        log = _log_of(here, kept)
        if log is not None:
            folders.clear()
            yield log
            continue
        folders[:] = sorted(_without_copies(here, folders, names))
        for path in (here / name for name in sorted(names) if _NAMES.fullmatch(name)):
            if path.exists() and not path.is_file():
                failures.append(f"{path} is {_NO_FILE}")
            else:
                yield path


def _without_copies(here: Path, folders: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """The folders to go on with, without those that hold older copies of OpenCode's sessions, or none of its sessions."""
    if here.name == "storage" and "session" in folders:
        return ["session"]
    if any(name.startswith("opencode") and name.endswith(".db") for name in names):
        return [each for each in folders if each not in ("storage", "project")]
    if "storage" in folders and "project" in folders and (here / "storage" / "session").is_dir():
        return [each for each in folders if each != "project"]
    return folders


def _log_of(folder: Path, kept: Mapping[Path, Path]) -> Path | None:
    own = kept.get(folder.resolve())
    candidates = [] if own is None else [database(own)]
    return next((each for each in (*candidates, folder / _OF_EARLIER_VERSIONS, folder / _DATABASE) if each.is_file()), None)


LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. A longer line is passed over, so that memory is bounded."""

_GZIP, _XZ, _BZ2 = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


_DOCUMENT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*(?:\{|\Z)|\[\s*\]\s*\Z|\{\s*\n)")
"""The beginning of JSON that is one document and not lines: a list of objects, or an object whose members have lines of their own."""
_HEAD = 4_096
"""Bytes from the beginning of a file that tell whether it is one document."""


def json_objects(path: Path, tally: FlawTally, at: Callable[[int], None] = lambda position: None) -> Iterator[JsonObject]:
    """The objects of a file, in the order of its lines, or of the list in its document. Anything else is counted in `tally`. Raises
    `OSError`.

    `at` is told how many bytes were read so far; of a compressed file, unpacked ones.
    """
    with _opened(path) as file:
        if _is_document(path, file):

            def read(size: int) -> bytes:
                at(file.tell())
                return _unharmed(lambda: file.read(size), tally)

            yield from objects_of(read, tally)
            return
        for number, line in _lines(file, tally):
            at(file.tell())
            value = _value(line, number, tally)
            if isinstance(value, dict):
                yield value


def _is_document(path: Path, file: BinaryIO) -> bool:
    """Whether the file is one JSON document. A `.json` file whose first line is only a part of an object is one: an object on one line may
    be longer than any line."""
    head = _unharmed(lambda: file.read(_HEAD), FlawTally())
    file.seek(0)
    if _DOCUMENT.match(head):
        return True
    line, _, more = head.strip().partition(b"\n")
    return ".json" in path.suffixes and line.startswith(b"{") and not (more and _is_whole(line))


def _is_whole(line: bytes) -> bool:
    try:
        parse(line.decode("utf-8", "replace"))
    except RecordNotJson:
        return False
    return True


def _value(line: bytes, number: int, tally: FlawTally) -> Json:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        tally.count(NOT_UTF8, line=number)
        text = line.decode("utf-8", "replace")
    try:
        value = parse(text)
    except RecordNotJson:
        tally.count(NO_JSON if line.endswith(b"\n") else CUT_LINE, line=number)
        return None
    if not isinstance(value, dict):
        tally.count(NO_JSON, line=number)
    return value


def _lines(file: BinaryIO, tally: FlawTally) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its line end, and with its number from 1."""
    number = 0
    while line := _next_line(file, tally):
        number += 1
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if len(line) > LONGEST_LINE:
            tally.count(LONG_LINE, line=number)
            while line and not line.endswith(b"\n"):
                line = _next_line(file, tally)
        elif not line.isspace():
            yield number, line


def _next_line(file: BinaryIO, tally: FlawTally) -> bytes:
    return _unharmed(lambda: file.readline(LONGEST_LINE + 1), tally)


def _unharmed(read: Callable[[], bytes], tally: FlawTally) -> bytes:
    """The bytes that `read` gives; empty where a compressed file is damaged, which is counted in `tally`. Raises `OSError`."""
    try:
        return read()
    except (EOFError, lzma.LZMAError, zlib.error):
        tally.count(DAMAGED_ARCHIVE)
    except OSError as error:
        if error.errno is not None:
            raise
        tally.count(DAMAGED_ARCHIVE)  # gzip and bz2 report damage as an OSError without a number
    return b""


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        start = file.read(len(_XZ))
    if start.startswith(_GZIP):
        return cast("BinaryIO", gzip.open(path, "rb"))
    if start.startswith(_XZ):
        return cast("BinaryIO", lzma.open(path, "rb"))
    if start.startswith(_BZ2):
        return cast("BinaryIO", bz2.open(path, "rb"))
    return path.open("rb")


# JSON that is one document

LONGEST_PART = 64 * 1024 * 1024
"""Characters. A longer part is not read, so that memory is bounded."""

LISTS = frozenset({"messages", "history", "clientHistory"})
"""Names under which a document holds the conversation: its elements are given one by one."""

_STEP = 1024 * 1024
"""Bytes that are read at once."""
_NEAR_THE_END = 16
"""Characters. An error this close to the end of what was read may be no error: more of the text is needed to know."""
_SPACE = " \t\r\n\ufeff"
_DECODER = json.JSONDecoder()


class _Broken(Exception):
    """The document cannot be read any further."""


def objects_of(read: Callable[[int], bytes], tally: FlawTally) -> Iterator[JsonObject]:
    """The objects of a list. Of an object: first what stands before its list, then the list's objects, then what stands after it.

    `read` gives as many of the next bytes as it is asked for, none at the end. Elements that are no objects, and the place where the
    document breaks off, are counted in `tally`. Raises what `read` raises.
    """
    text = _Text(read)
    try:
        if text.next() == "[":
            yield from _elements(text, tally)
        elif text.next() == "{":
            yield from _members(text, tally)
        else:
            raise _Broken
    except _Broken:
        tally.count(BREAKS_OFF, line=text.line)


def _elements(text: _Text, tally: FlawTally) -> Iterator[JsonObject]:
    text.expect("[")
    while text.next() != "]":
        line = text.line
        value = text.value()
        if isinstance(value, dict):
            yield value
        else:
            tally.count(NO_OBJECT, line=line)
        if text.next() != "]":
            text.expect(",")
    text.expect("]")


def _members(text: _Text, tally: FlawTally) -> Iterator[JsonObject]:
    about: dict[str, Json] = {}
    try:
        text.expect("{")
        while text.next() != "}":
            name = text.value()
            text.expect(":")
            if name in LISTS and text.next() == "[":
                yield about
                about = {}
                yield from _elements(text, tally)
            else:
                about[str(name)] = text.value()
            if text.next() != "}":
                text.expect(",")
        text.expect("}")
    except _Broken:
        if about:
            yield about
        raise
    if about:
        yield about


class _Text:
    """The text of a file, of which only the part that is needed next is in memory."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._at = 0
        self._ended = False
        self._lines_before = 0

    @property
    def line(self) -> int:
        """The number of the line that is read next, from 1."""
        return self._lines_before + self._text.count("\n", 0, self._at) + 1

    def next(self) -> str:
        """The next character that is no white space, which is not passed over; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def expect(self, character: str) -> None:
        """Passes over that character, which must come next. Raises `_Broken` if another one does."""
        if self.next() != character:
            raise _Broken
        self._at += 1

    def value(self) -> Json:
        """Reads the JSON value that comes next. Raises `_Broken` if there is none, or it is too long."""
        self.next()
        while True:
            try:
                value, end = cast("tuple[Json, int]", _DECODER.raw_decode(self._text, self._at))
            except json.JSONDecodeError as error:
                may_go_on = error.pos >= len(self._text) - _NEAR_THE_END or error.msg.startswith("Unterminated string")
                if self._ended or not may_go_on or len(self._text) - self._at > LONGEST_PART:
                    raise _Broken from error
            except (ValueError, RecursionError) as error:
                raise _Broken from error
            else:
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            self._read_on()

    def _read_on(self) -> None:
        """Drops what was read, and reads as much again as is still needed, so that long parts are not tried too often."""
        self._lines_before += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        read = self._read(max(_STEP, len(rest)))
        self._ended = not read
        self._text = rest + self._decoder.decode(read, final=not read)
        self._at = 0
