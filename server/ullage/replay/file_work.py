"""The work of `ullage replay`: the options, what they ask of one file of sessions, and files over the cores of the machine.

One process a core has one file at a time: it reads the sessions, makes their rows, and carries them through the policies.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from ullage.context.compaction.economy import Economy
from ullage.context.policies.ullage import ULLAGE
from ullage.installed_policies import policies
from ullage.processes.start import Asker, process_apart, worker_pool
from ullage.recorded.transcript import Transcript
from ullage.replay.measuring.figures import MeasuredSession, row_of
from ullage.replay.measuring.leaving_out import variants
from ullage.replay.measuring.runs import Places, Run, Summaries
from ullage.replay.places import Place, UnreadablePlace, sessions_of, size_of
from ullage.replay.pricing.cost import as_if
from ullage.replay.simulating.optimum import OPTIMUM, best_schedule
from ullage.replay.simulating.outcome import Outcome
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.simulation import outcome_of
from ullage.replay.simulating.views import Views
from ullage.store.set_aside import EntriesAside

Format: TypeAlias = Literal["table", "json"]
Work = TypeVar("Work")

WORTH_A_PROCESS = 300_000
"""The least bytes on disk of all files together for which processes are started. For less, starting them takes longer than the work."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What `ullage replay` was asked for. `policies` are names in the order of the report; empty if only what was recorded is reported.
    `jobs` of None: one a core."""

    format: Format = "table"
    full: bool = False
    """Whether a table shows every figure."""
    as_model: str | None = None
    policies: tuple[str, ...] = ()
    at: Places = "policy"
    summary: Summaries = "recorded"
    window: int | None = None
    """A window in tokens, instead of the model's own; None: the model's."""
    economy: Economy = "fullest"
    """How much policies that can save are to save."""
    views: Path | None = None
    """The folder that the requests after compactions are written to."""
    report: Path | None = None
    """The file that the report is written to as a page."""
    store: str = ""
    """The folder of what is kept of all workspaces; empty: the system's own place."""
    jobs: int | None = None
    parquet: Path | None = None
    """The path of the tables without their endings; None if none are to be written."""
    scheduler: str | None = None
    """`local`, or the address of a scheduler of Dask; None: this process and its own."""
    start: Path = Path()
    """The folder that relative names of files start from."""


@dataclass(frozen=True, slots=True)
class FileWork:
    """What came of one file of sessions. `failures` say what could not be done, for the user."""

    rows: tuple[MeasuredSession, ...] = ()
    runs: tuple[Run, ...] = ()
    failures: tuple[str, ...] = ()


def file_work(place: Place, options: ReplayOptions) -> FileWork:
    """Does all that is asked of a file, and lets each session go before it reads the next. Raises `WorkTooLarge` at a limit
    (`memory.py`)."""
    rows: list[MeasuredSession] = []
    runs: list[Run] = []
    failures: list[str] = []
    try:
        for transcript in sessions_of(place, options.start):
            row, more = row_of(place, transcript, options.as_model), tuple(_runs(transcript, options, failures))
            rows.append(row)
            runs.extend(more)
    except UnreadablePlace as error:
        failures.append(str(error))
    if not rows and not failures:
        failures.append(f"{place} holds no sessions")
    return FileWork(tuple(rows), tuple(runs), tuple(failures))


def _runs(transcript: Transcript, options: ReplayOptions, failures: list[str]) -> Iterator[Run]:
    if not options.policies:
        return
    told = transcript if options.as_model is None else as_if(transcript, options.as_model)
    session = PreparedSession(told)
    settings = ReplaySettings(options.at, options.summary, options.as_model, options.window, options.economy)
    known = {**variants(), **policies()}
    outcomes: list[Outcome] = []
    for name in options.policies:
        if name == OPTIMUM:
            continue
        views = _views(options, transcript, name)
        outcomes.append(outcome_of(session, known[name], settings, views.write if views is not None else None))
        failures.extend(views.failures if views is not None else ())
        if isinstance(told.entries, EntriesAside):
            gc.collect()  # what carried the session holds itself in a circle, and is as large as memory should bear once
    yield from (outcome.run for outcome in outcomes)
    if options.at == "policy" or OPTIMUM in options.policies:
        yield from best_schedule(session, outcomes, ULLAGE, settings)


def _views(options: ReplayOptions, transcript: Transcript, policy: str) -> Views | None:
    """The writer of a session's views under a policy; None if no views were asked for. Of several policies each has a folder of its own."""
    if options.views is None:
        return None
    return Views(options.views / policy if len(options.policies) > 1 else options.views, transcript, policy)


def work_through(
    paths: Sequence[Place], work: Callable[[Place], Work], jobs: int | None, unfinished: Callable[[str], Work]
) -> Generator[Work]:
    """The work of each file, in the order of `paths`, as soon as it and those before it are done.

    `work` goes to other processes, so it can be pickled. `unfinished` makes the work of a file that was not finished, of the reason.
    """
    at_once = min(jobs or os.cpu_count() or 1, len(paths))
    if at_once < 2 or (jobs is None and sum(size_of(path) for path in paths) < WORTH_A_PROCESS):
        yield from map(work, paths)
        return
    with worker_pool(Asker.REPLAY, at_once, _let_go_at_once) as executor:
        waiting: list[Future[Work]] = []
        try:
            waiting += [executor.submit(work, path) for path in paths]
            waiting.reverse()
            places = list(reversed(paths))
            while waiting:
                yield _done(waiting.pop(), places.pop(), unfinished)
        except BaseException as error:
            # Whoever has the last result and stops here lets the pool end in peace: left to the end of Python, it could complain there.
            if waiting or not isinstance(error, GeneratorExit):
                executor.shutdown(wait=False, cancel_futures=True)
            raise


def work_apart(place: Place, work: Callable[[Place], Work], unfinished: Callable[[str], Work]) -> Work:
    """The work of one file, in a process of its own: what it takes is given back, and if the system ends it, nothing else is lost."""
    with process_apart(Asker.REPLAY, _let_go_at_once) as executor:
        return _done(executor.submit(work, place), place, unfinished)


def _done(future: Future[Work], path: Place, unfinished: Callable[[str], Work]) -> Work:
    try:
        return future.result()
    except BrokenProcessPool:
        return unfinished(f"{path} was not finished: the process that worked on it ended (was there enough memory?)")
    except Exception as error:  # noqa: BLE001 - whatever went wrong with one file, the others go on
        return unfinished(f"{path} was not finished: {type(error).__name__}: {error}")


def _let_go_at_once() -> None:
    """Lets an interrupt end this worker without a word; the first process says what is to be said."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
