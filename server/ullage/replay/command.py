"""`ullage replay`: reads recorded sessions, one at a time, and reports what they cost and what their compactions kept, as recorded and
under the policies that were asked for."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from ullage.installed_policies import policies
from ullage.recorded.readers.values import printable
from ullage.replay.cluster.connecting import LOCAL, NoCluster, connected, threads_of, warning
from ullage.replay.cluster.shares import shares_of
from ullage.replay.cluster.work import work_on_cluster
from ullage.replay.file_work import FileWork, ReplayOptions, file_work, work_apart, work_through
from ullage.replay.measuring.figures import MeasuredSession, Report
from ullage.replay.measuring.leaving_out import FITTED, variants
from ullage.replay.object_storage import holds_secrets, is_address, shown
from ullage.replay.parquet import can_be_written
from ullage.replay.places import Place
from ullage.replay.pricing.recorded_models import prices_of
from ullage.replay.reporting.html.page import PageSettings, as_html
from ullage.replay.reporting.report_json import as_json
from ullage.replay.reporting.report_short import as_short
from ullage.replay.reporting.report_table import as_table
from ullage.replay.reporting.tables import write_tables
from ullage.replay.simulating.optimum import OPTIMUM
from ullage.replay.team_places import InTeamStore, names_team_store
from ullage.replay.terminal import complain, known_policies, places_of, show_progress, write
from ullage.store.folder import BadLocation, store_location, workspaces_in

_USAGE_ERROR = 2
_COMMAND = "replay"


def run(names: Sequence[str], options: ReplayOptions) -> int:
    """Writes the report to stdout, and to stderr what could not be read; gives the exit code.

    0 if at least one session was read, 1 where none was or a file could not be written, 2 where a model has no known prices or no
    policy that was asked for is known.
    """
    if options.as_model is not None and prices_of(options.as_model) is None:
        _complain(f"no prices are known for --model {options.as_model}")
        return _USAGE_ERROR
    if refused := _refused(names, options):
        _complain(refused)
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
    try:
        works = _works(places_of(names, failures, kept), failures, options)
    except NoCluster as error:
        _complain(str(error))
        return 1
    for failure in failures:
        _complain(failure)
    rows = tuple(_told_twice(row for work in works for row in work.rows))
    runs = tuple(each for work in works for each in work.runs)
    report = Report(rows, tuple(failures), options.as_model, runs, options.policies, options.at, options.summary)
    if options.format == "json":
        write(sys.stdout, as_json(report) + "\n")
    elif rows:
        write(sys.stdout, as_table(report) if options.full else as_short(report) + "\n")
    written = [
        options.report is None or _write_page(options.report, report),
        options.parquet is None or _write_tables(options.parquet, report),
    ]
    if not all(written):
        return 1
    return 0 if rows else 1


def _refused(names: Sequence[str], options: ReplayOptions) -> str:
    """Why what was asked for cannot be done, as a sentence for the user; empty if it can."""
    if options.views is not None and options.scheduler not in (None, LOCAL):
        return "--views writes where the work is done, so it goes with --scheduler local only"
    told = next((name for name in names if is_address(name) and not names_team_store(name) and holds_secrets(name)), None)
    if told is not None and options.scheduler not in (None, LOCAL):
        return f"{shown(told)} holds a password or a key, and would go to the scheduler: let workers have credentials of their own"
    if options.parquet is not None and not can_be_written():
        return "--parquet needs pyarrow: pip install 'ullage[report]'"
    return ""


def _known(wanted: Sequence[str]) -> tuple[str, ...]:
    """The policies of these names, `optimum` and the choices of `fitted` too."""
    if FITTED not in wanted:
        return known_policies(wanted, (*policies(), OPTIMUM), _COMMAND)
    wanted = [name for each in wanted for name in (variants() if each == FITTED else (each,))]
    return known_policies(wanted, (*policies(), OPTIMUM), _COMMAND, beside=tuple(variants()))


def _works(places: Sequence[Place], failures: list[str], options: ReplayOptions) -> Sequence[FileWork]:
    """The work of each place, in their order; what could not be done is added to `failures`. Raises `NoCluster`."""
    works: list[FileWork] = []
    with closing(_worked(places, options)) as done:
        for work in done:
            failures.extend(work.failures)
            works.append(work)
    show_progress("")
    return works


def _worked(places: Sequence[Place], options: ReplayOptions) -> Generator[FileWork]:
    if options.scheduler is not None:
        yield from _by_scheduler(places, options, options.scheduler)
        return
    with closing(work_through(places, partial(file_work, options=options), options.jobs, _unfinished)) as done:
        for number, place in enumerate(places, 1):
            show_progress(f"reading {number} of {len(places)}: {place.name}")
            yield next(done)


def _by_scheduler(places: Sequence[Place], options: ReplayOptions, address: str) -> Generator[FileWork]:
    if not places:
        return
    if beside := warning(address):
        _complain(beside)
    show_progress(f"looking for workers: {address}")
    # Workers elsewhere have another folder that they run in, and pickle knows what we have imported.
    work = partial(file_work, options=replace(options, start=Path.cwd()))
    sent = places
    if address != LOCAL:
        sent = tuple(place.without_secrets() if isinstance(place, InTeamStore) else place for place in places)

    def here(number: int) -> FileWork:
        show_progress(f"reading what is too large for a worker: {places[number].name}")
        return work_apart(places[number], work, _unfinished)

    with connected(address, options.jobs) as client:
        shares = tuple(shares_of(sent, threads_of(client)))
        with closing(work_on_cluster(client, shares, work, _unfinished, _show_done, here, _complain)) as done:
            yield from done


def _show_done(done: int, total: int) -> None:
    show_progress(f"{done:,} of {total:,} files are read")


def _complain(text: str) -> None:
    complain(_COMMAND, text)


def _unfinished(reason: str) -> FileWork:
    return FileWork(failures=(reason,))


def _told_twice(rows: Iterator[MeasuredSession]) -> Iterator[MeasuredSession]:
    """Gives the rows, and adds a note where another file has a session of the same name."""
    seen: dict[str, Place] = {}
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
        path.write_text(as_html(report, report.runs, PageSettings(report.places, report.summaries, titles)), encoding="utf-8")
    except OSError as error:
        _complain(f"{path} cannot be written: {error.strerror or error}")
        return False
    return True


def _write_tables(name: Path, report: Report) -> bool:
    try:
        write_tables(name, report)
    except OSError as error:
        _complain(f"{error.filename or name} cannot be written: {error.strerror or error}")
        return False
    return True
