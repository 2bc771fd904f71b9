"""`ullage report`: what recorded sessions cost, as a page for whoever pays, with the tables beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ullage.installed_policies import policies
from ullage.replay.file_work import work_through
from ullage.replay.parquet import can_be_written
from ullage.replay.places import Place
from ullage.replay.reporting.wording import ABSENT, columns, money, number, percent
from ullage.replay.spending.page import NO_TIME, About, as_page
from ullage.replay.spending.sums import Once, Sum, Sums, sums_of, together
from ullage.replay.spending.tables import Tables, paths_beside
from ullage.replay.spending.work import FileSpending, SpendingOptions, file_spending, unfinished
from ullage.replay.terminal import complain, known_policies, places_of, show_progress, shown_name, write
from ullage.store.folder import BadLocation, database, store_location, workspaces_in

_USAGE_ERROR = 2
_COMMAND = "report"
NO_PYARROW = "no Parquet is written, since that needs pyarrow: pip install 'ullage[report]'"
WEEKS_SHOWN = 12
"""How many weeks, the newest, are on the screen; the page has all."""


@dataclass(frozen=True, slots=True)
class SpendingArguments:
    """The arguments of the command line. Without `names`, all sessions that Ullage keeps are read."""

    names: tuple[str, ...]
    page: Path
    options: SpendingOptions
    store: str = ""
    """The folder of what is kept of all workspaces; empty: the system's own place."""


def run(asked: SpendingArguments) -> int:
    """Writes the page and the tables, and a short form of it to stdout; gives the exit code.

    0 if at least one session was read, 1 where none was or a file could not be written, 2 where nothing could be asked.
    """
    options = replace(asked.options, policies=known_policies(asked.options.policies, tuple(policies()), _COMMAND))
    if asked.options.policies and not options.policies:
        return _USAGE_ERROR
    try:
        kept = workspaces_in(store_location(asked.store))
    except BadLocation as error:
        complain(_COMMAND, str(error))
        return _USAGE_ERROR
    failures: list[str] = []
    paths = places_of(asked.names, failures, kept) if asked.names else _own(kept)
    if not paths and not failures:
        failures.append("Ullage keeps no sessions here. Name transcripts, or a folder of them")
    try:
        sums = _written(paths, failures, options, asked)
    except OSError as error:
        complain(_COMMAND, f"{error.filename or asked.page} cannot be written: {error.strerror or error}")
        return 1
    for failure in failures:
        complain(_COMMAND, failure)
    if not can_be_written():
        complain(_COMMAND, NO_PYARROW)
    if sums.by_whose:
        write(sys.stdout, f"{as_text(sums)}\n\n{asked.page}\n")
    return 0 if sums.sessions else 1


def _own(kept: Mapping[Path, Path]) -> tuple[Path, ...]:
    """The paths of the logs of all workspaces of this user."""
    return tuple(path for folder in kept.values() if (path := database(folder)).is_file())


def _written(paths: Sequence[Place], failures: list[str], options: SpendingOptions, asked: SpendingArguments) -> Sums:
    """The sums of what was read, after they were written to the page and the tables. Raises `OSError`."""
    with Tables(asked.page) if can_be_written() else nullcontext() as tables:
        sums = together(_sums(paths, failures, options, tables))
        beside = paths_beside(asked.page) if tables is not None else ()
        sources = tuple(map(shown_name, asked.names)) or ("all sessions that Ullage keeps here",)
        about = About(sources, options.since, beside, tuple(failures))
        asked.page.write_text(as_page(sums, about), encoding="utf-8")
    return sums


def _sums(paths: Sequence[Place], failures: list[str], options: SpendingOptions, tables: Tables | None) -> Iterator[Sums]:
    once = Once()
    for spending in _works(paths, options):
        failures.extend(spending.failures)
        for each in spending.conversations:
            spent = once.new_in(each.name, each.spent)
            if spent is None:
                continue
            if tables is not None:
                tables.add(spent.calls, spent.compactions)
            yield sums_of(each.name, spent)
            if spent is each.spent:
                yield each.carried


def _works(paths: Sequence[Place], options: SpendingOptions) -> Iterator[FileSpending]:
    with closing(work_through(paths, partial(file_spending, options=options), options.jobs, unfinished)) as done:
        for index, path in enumerate(paths, 1):
            show_progress(f"reading {index} of {len(paths)}: {path.name}")
            yield next(done)
    show_progress("")


def as_text(sums: Sums) -> str:
    """The sums of the newest weeks and of all, as a table for a screen."""
    weeks = list(sums.by(lambda whose: whose.week).items())[-WEEKS_SHOWN:]
    rows = [_row(week or NO_TIME, each) for week, each in weeks]
    head = ["week", "cost", "requests", "from cache", "cache missed", "compactions", "got again"]
    return "\n".join(columns(head, [*rows, _row("all", sums.whole)], left=1))


def _row(name: str, each: Sum) -> list[str]:
    made = each.compactions
    return [
        name,
        money(each.total),
        number(each.calls),
        percent(each.share_from_cache),
        money(each.missed.dollars),
        number(made.made),
        money(made.again_dollars) if made.told else ABSENT,
    ]
