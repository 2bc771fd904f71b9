"""Reads recorded sessions where they lie: those of Claude Code, Codex, OpenCode, Gemini CLI, Cline, pi, and Ullage's own log.

Each format has a file of its own. Which program wrote a file is told by its content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias, TypeVar

from ullage.recorded.readers import claude_code, cline, codex, gemini_cli, opencode, own_log, pi
from ullage.recorded.readers.files import json_objects
from ullage.recorded.readers.flaws import FlawTally, NotATranscript
from ullage.recorded.readers.values import JsonObject
from ullage.recorded.transcript import Transcript

__all__ = ["NotATranscript", "read", "sessions_in"]

LINES_TO_KNOW_IT_BY = 1_000
"""After so many objects that no reader knows, a file is taken for something else."""

_NOT_UNPACKED = {
    b"\x28\xb5\x2f\xfd": "by zstd",
    b"PK\x03\x04": "as a zip archive",
    b"7z\xbc\xaf": "by 7-Zip",
    b"\x04\x22\x4d\x18": "by lz4",
}
"""The first bytes of files that are compressed in a way that is not read here, and the words for that way."""

_Value = TypeVar("_Value")
_Read: TypeAlias = Callable[[Iterable[JsonObject], FlawTally, Path], tuple[Transcript, ...]]

_READERS: tuple[tuple[Callable[[JsonObject], bool], _Read], ...] = (
    (claude_code.is_line, lambda lines, tally, path: claude_code.read(lines, tally, _name(path))),
    (codex.is_line, lambda lines, tally, path: codex.read(lines, tally, _name(path))),
    (pi.is_line, lambda lines, tally, path: pi.read(lines, tally, _name(path))),
    (gemini_cli.is_line, gemini_cli.read),
    (cline.is_line, cline.read),
    (opencode.is_line, opencode.read),
)
"""Readers that take one JSON object after the other. The first reader that knows an object of the file reads the file."""

_ENDINGS = (".gz", ".xz", ".bz2", ".jsonl", ".json")


def read(path: Path) -> tuple[Transcript, ...]:
    """The sessions in a file as `sessions_in` gives them, all at once."""
    return tuple(sessions_in(path))


def _as_it_is(value: JsonObject) -> JsonObject:
    return value


def _wherever(position: int) -> None:
    """Does nothing: it stands for an `at` that nobody gave."""


def sessions_in(
    path: Path, each: Callable[[JsonObject], JsonObject] = _as_it_is, at: Callable[[int], None] = _wherever
) -> Iterator[Transcript]:
    """The sessions in a file, plain or compressed by gzip, xz or bzip2: a main one, then its side chains. Those of a workspace of Ullage
    are read one by one, as they are asked for.

    `each` may put something else in the place of an object, a line say, before it is read; not of a row of a database. `at` is told how
    many bytes were read so far, and may raise to end it; of a database it is told nothing.

    Which program wrote it is told by its content. Whatever is wrong inside is mended and counted in the transcript.
    Raises `NotATranscript` if it is something else, `OSError` where it cannot be read.
    """
    if path.is_dir():
        raise NotATranscript(f"{path} is a folder: name the transcripts in it")
    if own_log.is_database(path):
        of_opencode = opencode.read_database(path)
        yield from own_log.read(path) if of_opencode is None else of_opencode
        return
    tally = FlawTally()
    objects = map(each, json_objects(path, tally, at))
    first: list[JsonObject] = []
    read_all: _Read | None = None
    for value in islice(objects, LINES_TO_KNOW_IT_BY):
        first.append(value)
        read_all = next((read for is_line, read in _READERS if is_line(value)), None)
        if read_all is not None:
            break
    every: Iterator[JsonObject] = chain(_one_by_one(first), objects)
    if read_all is None:
        raise NotATranscript(f"{path} is no transcript: {_why_not(path, first, tally)}")
    yield from _one_by_one(list(read_all(every, tally, path)))


def _one_by_one(values: list[_Value]) -> Iterator[_Value]:
    """Gives the values in their order. None of them is held any longer once the next one is asked for."""
    values.reverse()
    while values:
        yield values.pop()


def _name(path: Path) -> str:
    """The file's name without its endings, which names a session that does not say its id."""
    name = path.name
    while name.endswith(_ENDINGS):
        name = name[: name.rindex(".")]
    return name or path.name


def _why_not(path: Path, first: list[JsonObject], tally: FlawTally) -> str:
    if path.stat().st_size == 0:
        return "it is empty"
    with path.open("rb") as file:
        start = file.read(4)
    if start in _NOT_UNPACKED:
        return f"it is compressed {_NOT_UNPACKED[start]}, and only gzip, xz and bzip2 are unpacked here"
    if first:
        return "its lines are those of no program whose sessions are read"
    if tally.repairs:
        return f"it holds no JSON lines ({tally.repairs[0].count} {tally.repairs[0].what})"
    return "it holds no JSON lines"
