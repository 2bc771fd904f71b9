"""Appending to a log that a team's PostgreSQL keeps, too, beside the log alone: in one run, turn by turn about, on one machine.

Three figures for each entry: until `append` returns without a database, until it returns with one, and until it is in the database (which
is what a request waits for). Then many sessions write at once, each over connections of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.results import machine, table
from tests.postgres import Postgres
from ullage.context.entries import Entry, ToolReturned, UserPrompt
from ullage.store.folder import prepare_for
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.team.address import Address, read_address
from ullage.store.team.following import Following
from ullage.store.team.passing import Here
from ullage.store.team.postgres import PostgresStore
from ullage.store.team.tables import set_up
from ullage.store.versions import Versions

APPENDS = 2_000
AT_ONCE = 200
EACH = 20
SIZES = (200, 2_000, 20_000)
"""Characters of the entries, by turns."""

LIMIT_MS = 3.0
"""How much later than in SQLite alone an entry may be in the database, at the 99th percentile."""


class Unsaid(PostgresStore):
    """One whose words are all there, so none is sent: on a slow machine that begins while entries are measured, after ten seconds."""

    def said_through(self, session_id: str) -> int:
        """As after the last."""
        return 1 << 62


@dataclass(frozen=True, slots=True)
class Log:
    """A log on this machine, and what follows it."""

    store: LogStore
    versions: Versions
    following: Following | None

    @classmethod
    def open(cls, folder: Path, place: Path, address: Address | None, to_read: type[PostgresStore]) -> Log:
        """In a place of its own; over the database where an address is given."""
        folder.mkdir(exist_ok=True)
        kept = prepare_for(folder, place, (folder,))
        store, versions = LogStore.open(kept), Versions.open(kept)
        if address is None:
            return cls(store, versions, None)
        here = Here(store.rows, ResultFiles(kept), MediaFiles(kept), versions, kept)
        writes = PostgresStore(address, "bench", store.identity())
        reads = to_read(address, "bench", store.identity(), durable=False)
        following = Following(here, writes, reads, store.claim, store.release)
        store.keep_elsewhere(following)
        following.start()
        return cls(store, versions, following)

    def begin(self) -> str:
        """A session that is written here."""
        session = self.store.create_session("measured", 1.0).id
        self.store.elsewhere.open(session)
        return session

    def append(self, session: str, entry: Entry) -> tuple[float, float]:
        """Seconds until it returned, and until the entry is where a request may depend on it."""
        began = time.perf_counter()
        self.store.append(session, entry, 2.0)
        returned = time.perf_counter()
        settled = self.store.settled(session)
        if settled is not None:
            settled.result()
        return returned - began, time.perf_counter() - began

    def close(self) -> None:
        """Lets go of all."""
        self.store.elsewhere.close()
        self.versions.close()
        self.store.close()


def entry(number: int) -> Entry:
    """One of three sizes, of words that differ."""
    text = " ".join(f"word{(number * 7 + each) % 5_000}" for each in range(SIZES[number % len(SIZES)] // 8))
    if number % 2:
        return UserPrompt(f"p{number}", text)
    return ToolReturned(f"t{number}", "bash", text, is_error=False, characters=len(text))


def section(day: str, appends: int = APPENDS, at_once: int = AT_ONCE) -> str:
    """Measures, and gives the section of RESULTS.md."""
    postgres = Postgres()
    try:
        postgres.start()
        address = read_address(postgres.url(), "bench")
        set_up(address)
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            alone, returned, there = _one_by_one(place, address, appends)
            seconds, entries = _at_once(place, postgres, address, at_once)
    finally:
        postgres.end()
    sizes = f"{SIZES[0]:,}, {SIZES[1]:,} and {SIZES[2]:,} characters"
    later = _percentile(there, 99) - _percentile(alone, 99)
    rows = [
        _row("SQLite alone: durable", alone, alone),
        _row("with PostgreSQL: `append` returns, durable here", returned, alone),
        _row("with PostgreSQL: in the database", there, alone),
    ]
    verdict = "within" if later <= LIMIT_MS else "beyond"
    return f"""## Sessions in PostgreSQL, {day}

{machine()}. PostgreSQL on a socket of the same machine, `fsync` and `synchronous_commit` on. {appends:,} entries of
{sizes}, by turns to a log with a database and to one without. Ratios are to SQLite alone.

{table(("until the entry is", "p50 (ms)", "p99 (ms)", "p50 (ratio)", "p99 (ratio)"), rows)}

At the 99th percentile an entry is in the database {later:.1f} ms later than in SQLite alone: {verdict} the
{LIMIT_MS:.0f} ms that were to be reached. Words for the search follow when a
session is quiet for half a second, after ten seconds at most, and nothing waits for them: the figures are without them.

{at_once} sessions that wrote at once, each with a log, threads and connections of its own in one process, had
{entries:,} entries in the database after {seconds:.1f} s ({entries / seconds:,.0f} a second), none lost, doubled or out of order.
"""


def _one_by_one(place: Path, address: Address, appends: int) -> tuple[list[float], list[float], list[float]]:
    alone: list[float] = []
    returned: list[float] = []
    there: list[float] = []
    with _opened(place, {"alone": None, "team": address}, Unsaid) as logs:
        sessions = [log.begin() for log in logs]
        for number in range(appends):
            alone.append(logs[0].append(sessions[0], entry(number))[0])
            first, second = logs[1].append(sessions[1], entry(number))
            returned.append(first)
            there.append(second)
    return alone, returned, there


def _at_once(place: Path, postgres: Postgres, address: Address, at_once: int) -> tuple[float, int]:
    def write(log: Log, session: str) -> None:
        for number in range(EACH):
            log.append(session, entry(number))

    wanted = {f"log{number}": address for number in range(at_once)}
    with _opened(place, wanted, PostgresStore) as logs, ThreadPoolExecutor(at_once) as threads:
        sessions = [log.begin() for log in logs]
        began = time.perf_counter()
        for done in [threads.submit(write, *each) for each in zip(logs, sessions, strict=True)]:
            done.result()
        seconds = time.perf_counter() - began
        for session in sessions:
            found = postgres.sql("SELECT seq FROM ullage.entry WHERE session_id = %s ORDER BY seq", session)
            if [seq for (seq,) in found] != list(range(1, EACH + 1)):
                raise RuntimeError(f"session {session} has other entries than were written")
    return seconds, at_once * EACH


@contextmanager
def _opened(place: Path, wanted: Mapping[str, Address | None], to_read: type[PostgresStore]) -> Generator[list[Log]]:
    """Logs by their names, closed whatever happens: one that is open when its folder is removed makes it again, to save what is in it."""
    with ExitStack() as opened:
        logs: list[Log] = []
        for name, address in wanted.items():
            logs.append(Log.open(place / "project", place / name, address, to_read))
            opened.callback(logs[-1].close)
        yield logs


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return 1_000 * sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)]


def _row(what: str, seconds: Sequence[float], beside: Sequence[float]) -> tuple[str, ...]:
    values = [_percentile(seconds, percent) for percent in (50, 99)]
    ratios = [value / _percentile(beside, percent) for value, percent in zip(values, (50, 99), strict=True)]
    return what, *(f"{value:.2f}" for value in values), *(f"{ratio:.2f}" for ratio in ratios)
