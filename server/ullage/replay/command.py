"""`ullage replay`: reads recorded sessions, one at a time, and reports what they cost and what their compactions kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from ullage.replay.found import NothingFound, transcripts_in
from ullage.replay.prices import prices_of
from ullage.replay.readers import NotATranscript, read
from ullage.replay.readers.values import printable
from ullage.replay.report_json import as_json
from ullage.replay.report_table import as_table
from ullage.replay.rows import Report, Row, row_of

Format: TypeAlias = Literal["table", "json"]

_USAGE_ERROR = 2


def run(names: Sequence[str], format: Format = "table", as_model: str | None = None) -> int:
    """Writes the report to stdout, and to stderr what could not be read; gives the exit code.

    0 where at least one session was read, 1 where none was, 2 where `as_model` has no known prices.
    """
    if as_model is not None and prices_of(as_model) is None:
        _complain(f"no prices are known for --model {as_model}")
        return _USAGE_ERROR
    failures: list[str] = []
    rows = tuple(_rows(_files(names, failures), failures, as_model))
    for failure in failures:
        _complain(failure)
    report = Report(rows, tuple(failures), as_model)
    if format == "json":
        _write(sys.stdout, as_json(report) + "\n")
    elif rows:
        _write(sys.stdout, as_table(report))
    return 0 if rows else 1


def _files(names: Sequence[str], failures: list[str]) -> Sequence[Path]:
    """The files behind the names, each once."""
    found: dict[Path, Path] = {}
    for name in names:
        try:
            for path in transcripts_in(Path(name), failures):
                found.setdefault(path.resolve(), path)
        except (NothingFound, OSError) as error:
            failures.append(str(error))
    return tuple(found.values())


def _rows(paths: Sequence[Path], failures: list[str], as_model: str | None) -> Iterator[Row]:
    seen: dict[str, Path] = {}
    for number, path in enumerate(paths, 1):
        _show_progress(f"reading {number} of {len(paths)}: {path.name}")
        try:
            transcripts = list(read(path))
        except NotATranscript as error:
            failures.append(str(error))
            continue
        except OSError as error:
            failures.append(f"{path} cannot be read: {error.strerror or error}")
            continue
        if not transcripts:
            failures.append(f"{path} holds no sessions")
        while transcripts:
            yield _first_seen(row_of(path, transcripts.pop(0), as_model), seen)
    _show_progress("")


def _first_seen(row: Row, seen: dict[str, Path]) -> Row:
    """The row; with a note where another file had a session of that name."""
    other = seen.setdefault(row.session_id, row.path)
    if other == row.path:
        return row
    note = f"A session of this name is also in {printable(str(other))}: what both hold is counted twice in all"
    return replace(row, notes=(*row.notes, note))


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        _write(sys.stderr, f"\r\x1b[K{printable(text)}")
        sys.stderr.flush()


def _complain(text: str) -> None:
    _write(sys.stderr, f"ullage replay: {printable(text)}\n")


def _write(stream: TextIO, text: str) -> None:
    """Also where the terminal cannot show every character."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
