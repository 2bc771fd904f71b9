"""`ullage replay`: reads recorded sessions, one at a time, and reports what they cost and what their compactions kept, as recorded and
under the policies that were asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from ullage.installed_policies import policies
from ullage.recorded.readers.values import printable
from ullage.replay.file_work import FileWork, Options, file_work, work_through
from ullage.replay.measuring.figures import Report, Row
from ullage.replay.measuring.leaving_out import FITTED, variants
from ullage.replay.pricing.recorded_models import prices_of
from ullage.replay.reporting.html.page import Settings, as_html
from ullage.replay.reporting.report_json import as_json
from ullage.replay.reporting.report_short import as_short
from ullage.replay.reporting.report_table import as_table
from ullage.replay.simulating.optimum import OPTIMUM
from ullage.replay.terminal import complain, files_of, known_policies, show_progress, write
from ullage.store.folder import BadLocation, store_location, workspaces_in

_USAGE_ERROR = 2
_COMMAND = "replay"


def run(names: Sequence[str], options: Options) -> int:
    """Writes the report to stdout, and to stderr what could not be read; gives the exit code.

    0 where at least one session was read, 1 where none was or a file could not be written, 2 where a model has no known prices or no
    policy that was asked for is known.
    """
    if options.as_model is not None and prices_of(options.as_model) is None:
        _complain(f"no prices are known for --model {options.as_model}")
        return _USAGE_ERROR
    wanted = options.policies
    options = replace(options, policies=_known(wanted))
    if wanted and not options.policies:
        return _USAGE_ERROR
    failures: list[str] = []
    try:
        kept = workspaces_in(store_location(options.store))
    except BadLocation as error:
        _complain(str(error))
        return _USAGE_ERROR
    works = list(_works(files_of(names, failures, kept), failures, options))
    for failure in failures:
        _complain(failure)
    rows = tuple(_told_twice(row for work in works for row in work.rows))
    runs = tuple(each for work in works for each in work.runs)
    report = Report(rows, tuple(failures), options.as_model, runs, options.policies, options.at, options.summary)
    if options.format == "json":
        write(sys.stdout, as_json(report) + "\n")
    elif rows:
        write(sys.stdout, as_table(report) if options.full else as_short(report) + "\n")
    if options.report is not None and not _write_page(options.report, report):
        return 1
    return 0 if rows else 1


def _known(wanted: Sequence[str]) -> tuple[str, ...]:
    """The policies of these names, `optimum` and the choices of `fitted` too."""
    if FITTED not in wanted:
        return known_policies(wanted, (*policies(), OPTIMUM), _COMMAND)
    wanted = [name for each in wanted for name in (variants() if each == FITTED else (each,))]
    return known_policies(wanted, (*policies(), OPTIMUM), _COMMAND, beside=tuple(variants()))


def _works(paths: Sequence[Path], failures: list[str], options: Options) -> Iterator[FileWork]:
    with closing(work_through(paths, partial(file_work, options=options), options.jobs, _unfinished)) as done:
        for number, path in enumerate(paths, 1):
            show_progress(f"reading {number} of {len(paths)}: {path.name}")
            work = next(done)
            failures.extend(work.failures)
            yield work
    show_progress("")


def _complain(text: str) -> None:
    complain(_COMMAND, text)


def _unfinished(reason: str) -> FileWork:
    return FileWork(failures=(reason,))


def _told_twice(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows; with a note where another file had a session of that name."""
    seen: dict[str, Path] = {}
    for row in rows:
        other = seen.setdefault(row.session_id, row.path)
        if other == row.path:
            yield row
            continue
        note = f"A session of this name is also in {printable(str(other))}: what both hold is counted twice in all"
        yield replace(row, notes=(*row.notes, note))


def _write_page(path: Path, report: Report) -> bool:
    titles = {name: policy.title for name, policy in policies().items() if name in report.policies}
    try:
        path.write_text(as_html(report, report.runs, Settings(report.places, report.summaries, titles)), encoding="utf-8")
    except OSError as error:
        _complain(f"{path} cannot be written: {error.strerror or error}")
        return False
    return True
