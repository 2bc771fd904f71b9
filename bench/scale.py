"""What 10, 1,000 and 100,000 developers write and keep: inputs that are measured here, and a day that is simulated from a seed.

    .venv/bin/python -m bench scale            the tables of docs/scale.md, from the inputs below
    .venv/bin/python -m bench scale measure    the inputs again, from generated sessions; of PostgreSQL where there is one

`docs/scale.md` says what follows from it, and a test holds its tables against this.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, LiteralString

from bench.cluster import lines
from bench.results import table
from bench.sessions import generated
from bench.workspaces import lay_down
from ullage.replay.file_work import ReplayOptions, file_work
from ullage.store.folder import database
from ullage.store.log_store import LogStore
from ullage.store.plain_files import ResultFiles
from ullage.store.search import SearchIndex

MESSAGES = 200
SESSIONS = 20
DEVELOPERS = (10, 1_000, 100_000)


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one session of `MESSAGES` generated messages, on average of `SESSIONS` seeds; bytes on disk."""

    entries: int
    hours: float
    """From its first entry to its last."""
    log: int
    """In `ullage.db`, with its index."""
    search: int
    """In the search index beside it."""
    dollars: float
    """Of the model, at the list prices in the repository."""


@dataclass(frozen=True, slots=True)
class MeasuredPostgres:
    """The same entries in PostgreSQL 15, in plain tables of the shape of `store/team/tables_1.sql`."""

    entries: int
    """Bytes of a session in the table of entries, compressed by PostgreSQL itself."""
    keys: int
    """In the index of its key."""
    passages: int
    """What search needs: the texts again, and their words."""
    words: int
    """In the index over the words (GIN)."""
    wal: int
    """Written to the log of the database for it."""
    appends: int
    """A second, one connection, each durable before the next."""


MEASURED = Measured(entries=220, hours=1.5, log=304128, search=274230, dollars=2.71)
POSTGRES = MeasuredPostgres(entries=194560, keys=13926, passages=428851, words=265421, wal=1132919, appends=3734)

SESSIONS_A_DAY = 6
"""Of one developer. Assumed."""
DAYS_A_YEAR = 220
"""Assumed."""
AT_WORK = (0.05, 0.2, 0.3, 0.25, 0.1, 0.25, 0.3, 0.25, 0.15, 0.05)
"""The share of developers with a session that works, by hour of a day in one time zone. Assumed."""
GIGABYTE_MONTH = 0.12
"""Dollars. Assumed: what clouds ask for disks of managed databases, without copies."""


def measure() -> Measured:
    """From stores and transcripts that are made for it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lay_down(folder, [MESSAGES] * SESSIONS)
        with closing(LogStore.open(folder)) as store:
            entries = sum(len(store.load(each.id)) for each in store.sessions())
            with closing(SearchIndex(folder, store, ResultFiles(folder))) as search:
                search.catch_up()
        log = database(folder).stat().st_size
        every = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        transcript = folder / "one.jsonl"
        dollars = 0.0
        hours = 0.0
        for seed in range(1, SESSIONS + 1):
            messages = generated(MESSAGES, seed)
            transcript.write_text("".join(lines(messages, "one")), encoding="utf-8")
            dollars += file_work(transcript, ReplayOptions()).rows[0].figures.dollars.total
            hours += messages[-1]["at"] / 3_600
    return Measured(
        round(entries / SESSIONS),
        round(hours / SESSIONS, 1),
        round(log / SESSIONS),
        round((every - log) / SESSIONS),
        round(dollars / SESSIONS, 2),
    )


def measure_postgres() -> MeasuredPostgres:
    """By a server that is started for it. Raises what that raises where there is none."""
    import psycopg  # an extra

    from tests.postgres import Postgres

    server = Postgres()
    try:
        server.start()
        with psycopg.connect(host=str(server.folder), user="postgres", dbname="postgres", autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE entry (workspace text, session_id text, seq bigint, at double precision, body bytea, sum bytea, "
                "written_by name DEFAULT session_user, PRIMARY KEY (workspace, session_id, seq))"
            )
            connection.execute(
                "CREATE TABLE passage (workspace text, session_id text, seq bigint, what text, said text, "
                "words tsvector GENERATED ALWAYS AS (to_tsvector('simple', said)) STORED)"
            )
            connection.execute("CREATE INDEX passage_words ON passage USING gin (words)")
            rows = list(_rows())

            def one(asked: LiteralString) -> int:
                found: Any = connection.execute(asked).fetchone()
                return int(found[0])

            before = one("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
            began = time.perf_counter()
            for session, seq, body in rows:
                connection.execute("INSERT INTO entry VALUES ('/work/app', %s, %s, 1.0, %s, %s)", (session, seq, body, b"12345678"))
            seconds = time.perf_counter() - began
            for session, seq, body in rows:
                text = body.decode("utf-8", "replace").replace("\\u0000", "")
                connection.execute("INSERT INTO passage VALUES ('/work/app', %s, %s, 'said', %s)", (session, seq, text))
            connection.execute("VACUUM ANALYZE")
            wal = one("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn") - before
            found = {
                "entries": one("SELECT pg_table_size('entry')"),
                "keys": one("SELECT pg_indexes_size('entry')"),
                "passages": one("SELECT pg_table_size('passage')"),
                "words": one("SELECT pg_indexes_size('passage')"),
                "wal": wal,
            }
    finally:
        server.end()
    return MeasuredPostgres(**{name: round(value / SESSIONS) for name, value in found.items()}, appends=round(len(rows) / seconds))


def _rows() -> Iterator[tuple[str, int, bytes]]:
    """Session, number and bytes of each entry in a store that is made for it."""
    import sqlite3

    with tempfile.TemporaryDirectory() as temporary:
        lay_down(Path(temporary), [MESSAGES] * SESSIONS)
        with closing(sqlite3.connect(database(Path(temporary)))) as connection:
            for session, seq, body in connection.execute("SELECT session_id, seq, body FROM entry ORDER BY session_id, seq"):
                yield str(session), seq, body if isinstance(body, bytes) else str(body).encode()


# The day


@dataclass(frozen=True, slots=True)
class Day:
    """Entries written in a second of a simulated day: on average, in the busiest of a thousand, and the most."""

    mean: float
    busiest: int
    most: int
    working: int
    """Sessions at work in the busiest hour."""


def simulated(developers: int, seed: int = 1) -> Day:
    """Each second of a working day draws its entries (Poisson) from the sessions that are at work in that hour."""
    random = Random(seed)  # noqa: S311 - nothing secret comes of it
    each = MEASURED.entries / (MEASURED.hours * 3_600)
    seconds = sorted(_poisson(random, developers * share * each) for share in AT_WORK for _ in range(3_600))
    return Day(
        round(sum(seconds) / len(seconds), 2), seconds[-max(1, len(seconds) // 1_000)], seconds[-1], round(developers * max(AT_WORK))
    )


def _poisson(random: Random, expected: float) -> int:
    if expected > 200:  # as good as normal
        return max(0, round(random.gauss(expected, math.sqrt(expected))))
    limit, product, count = math.exp(-expected), random.random(), 0
    while product > limit:
        product *= random.random()
        count += 1
    return count


# The tables of docs/scale.md


def inputs() -> str:
    """What one session is."""
    one, other = MEASURED, POSTGRES
    return table(
        ["of one session", "SQLite", "PostgreSQL 15"],
        [
            ["entries", f"{one.entries:,}", f"{one.entries:,}"],
            ["the log", f"{one.log / 1e3:,.0f} kB", f"{(other.entries + other.keys) / 1e3:,.0f} kB"],
            ["of it the index of its key", "in it", f"{other.keys / 1e3:,.0f} kB"],
            ["for search", f"{one.search / 1e3:,.0f} kB", f"{(other.passages + other.words) / 1e3:,.0f} kB"],
            ["of it the index over words", "in it", f"{other.words / 1e3:,.0f} kB"],
            ["written ahead (WAL)", "not kept", f"{other.wal / 1e3:,.0f} kB"],
        ],
    )


def outcome() -> str:
    """What so many developers come to."""
    days = [simulated(each) for each in DEVELOPERS]
    yearly = [each * SESSIONS_A_DAY * DAYS_A_YEAR for each in DEVELOPERS]
    log, search = POSTGRES.entries + POSTGRES.keys, POSTGRES.passages + POSTGRES.words
    rows = [
        ["sessions a year", *(f"{each:,}" for each in yearly)],
        ["entries a year", *(_short(each * MEASURED.entries) for each in yearly)],
        ["entries a second, mean of a working day", *(f"{each.mean:,.2f}" for each in days)],
        ["in the busiest of a thousand seconds", *(f"{each.busiest:,}" for each in days)],
        ["sessions at work in the busiest hour", *(f"{each.working:,}" for each in days)],
        ["log in PostgreSQL, a year", *(_bytes(each * log) for each in yearly)],
        ["search in PostgreSQL, a year", *(_bytes(each * search) for each in yearly)],
        ["of both, indexes", *(_bytes(each * (POSTGRES.keys + POSTGRES.words)) for each in yearly)],
        ["WAL a year, if it is archived", *(_bytes(each * POSTGRES.wal) for each in yearly)],
        ["disk after a year, a month", *(f"${each * (log + search) / 1e9 * GIGABYTE_MONTH:,.0f}" for each in yearly)],
        ["the model, a year", *(f"${each * MEASURED.dollars:,.0f}" for each in yearly)],
    ]
    return table(["developers", *(f"{each:,}" for each in DEVELOPERS)], rows)


def _short(number: int) -> str:
    for unit, size in (("billion", 1e9), ("million", 1e6)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number:,}"


def _bytes(number: float) -> str:
    unit, size = ("TB", 1e12) if number >= 1e12 else ("GB", 1e9)
    return f"{number / size:,.1f} {unit}"


def main(words: Sequence[str]) -> None:
    """Prints."""
    if words:
        sys.stdout.write(f"MEASURED = {measure()}\nPOSTGRES = {measure_postgres()}\n")
    else:
        sys.stdout.write(f"{inputs()}\n\n{outcome()}\n")
