"""The team's store in PostgreSQL: one connection, one statement a call. `schema.sql` has the tables, and the functions that write.

The connection is made when it is first needed, and made anew after it was lost; whoever holds leases takes them again then. It is for one
thread at a time. There is no pool: a process has one connection that writes, since leases are tied to it, and one that reads.
"""

from __future__ import annotations

import hashlib
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ullage.store.elsewhere import HitElsewhere
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow, PromptRow, SessionRow, ValueRow
from ullage.store.session_rows import Heads
from ullage.store.team.address import MISSING_LIBRARY, Address, BadAddress
from ullage.store.team.faults import LaterSchema, Refused, fault_of
from ullage.store.team.store import Batch, Listed, Said, Spoken

if TYPE_CHECKING:
    import psycopg

SCHEMA_VERSION = 1

LEASE_SECONDS = 30.0
"""How long a session stays with a process that was lost. It is renewed with each write, and three times in that time."""

IDLE_SECONDS = LEASE_SECONDS * 0.7
"""A connection that was not used for so long is made anew. One that holds leases is used more often."""

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30

_SETTINGS = {
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "20s",
    "idle_session_timeout": f"{LEASE_SECONDS:.0f}s",  # a connection that nobody holds any more lets go of its locks
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "search_path": "pg_catalog",
    "default_transaction_isolation": "read committed",
    "synchronous_commit": "on",
}

_EXCERPT = "MaxWords=24, MinWords=12, MaxFragments=1, StartSel='', StopSel=''"
_MOST_WORDS = 24


class PostgresStore:
    """The sessions of `workspace` in that database. `holder` names this machine's copy of the log in leases."""

    def __init__(
        self, address: Address, workspace: str, holder: str, lease_seconds: float = LEASE_SECONDS, *, durable: bool = True
    ) -> None:
        """Not `durable`: for who reads, and writes only what can be made again (words for the search)."""
        self.address = address
        self.workspace = workspace
        self._holder = holder
        self._seconds = lease_seconds
        self._durable = durable
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._used_at = 0.0

    def close(self) -> None:
        """Lets go of the connection, and of all leases that are tied to it."""
        with self._lock:
            self._drop()

    def sessions(self) -> list[Listed]:
        """All of the workspace, last updated first."""
        rows = self._ask(
            "SELECT id, title, created_at, updated_at, last_seq, coalesce(held_by, '') FROM ullage.session "
            "LEFT JOIN ullage.lease ON lease.workspace = session.workspace AND lease.session_id = id "
            "AND valid_until > clock_timestamp() AND holder <> %s WHERE session.workspace = %s ORDER BY updated_at DESC",
            (self._holder, self.workspace),
        )
        shown = self._ask(
            "SELECT session_id, key, value, sum FROM ullage.value WHERE workspace = %s "
            "AND key IN (convert_to('figures:' || session_id, 'UTF8'), convert_to('agent:' || session_id, 'UTF8')) ORDER BY key",
            (self.workspace,),
        )
        values: dict[str, list[ValueRow]] = {}
        for session_id, key, value, check in shown:
            values.setdefault(session_id, []).append(ValueRow(bytes(key), bytes(value), bytes(check)))
        return [
            Listed(_session(session_id, title, made, updated), last, held, values.get(session_id, []))
            for session_id, title, made, updated, last, held in rows
        ]

    def make(self, session: SessionRow) -> int:
        """Makes the session where there is none; gives the seq to which it has come."""
        given = (self.workspace, session.id.decode(), session.title, session.created_at)
        return int(self._ask("SELECT ullage.make_session(%s, %s, %s, %s)", given)[0][0])

    def take(self, session_id: str) -> bool:
        """Takes the lease of a session, or renews it. Whether it is this process's now."""
        given = (self.workspace, session_id, self._holder, self._seconds)
        return bool(self._ask("SELECT ullage.take_lease(%s, %s, %s, %s)", given)[0][0])

    def give_back(self, session_id: str) -> None:
        """Lets another process write the session."""
        self._ask("SELECT ullage.give_back(%s, %s, %s)::text", (self.workspace, session_id, self._holder))

    def append(self, session_id: str, after: int, batch: Batch) -> None:
        """Adds entries behind seq `after`, all or none; durable when it returns. Raises `Taken` where that is not the last one."""
        rows, spoken = batch.rows, batch.spoken
        self._ask(
            "SELECT ullage.append(%s, %s, %s, %s, %s, %s::bigint[], %s::float8[], %s::bytea[], %s::bytea[], %s::text[], %s::text[])",
            (
                *(self.workspace, session_id, self._holder, self._seconds, after),
                *([row.seq for row in rows], [row.at for row in rows], [row.body for row in rows], [row.sum for row in rows]),
                *([each.kind for each in spoken], [each.name for each in spoken]),
            ),
        )

    def said_through(self, session_id: str) -> int:
        """Up to which seq its entries can be found by their words."""
        place = (self.workspace, session_id)
        found = self._ask("SELECT through FROM ullage.said WHERE workspace = %s AND session_id = %s", place)
        return int(found[0][0]) if found else 0

    def say(self, session_id: str, after: int, through: int, said: Sequence[Said]) -> bool:
        """The words of the entries behind seq `after`, up to `through`. False where another one said them meanwhile."""
        given = (
            *(self.workspace, session_id, after, through, [each.seq for each in said], [_text(each.what) for each in said]),
            *([None if each.tool_use_id is None else _text(each.tool_use_id) for each in said], [_text(each.text) for each in said]),
        )
        return bool(
            self._ask("SELECT ullage.say(%s, %s, %s, %s, %s::bigint[], %s::text[], %s::text[], %s::text[])", given)[0][0],
        )

    def put_heads(self, heads: Heads) -> None:
        """What goes along with a session is this now."""
        values, prompts = heads.values, heads.prompts
        self._ask(
            "SELECT ullage.put_heads(%s, %s, %s, %s, %s, "
            "%s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[], %s::bytea[])::text",
            (
                *(self.workspace, heads.session.id.decode(), self._holder, self._seconds, heads.session.title),
                *([row.key for row in values], [row.value for row in values], [row.sum for row in values]),
                *([row.id for row in prompts], [row.body for row in prompts], [row.sum for row in prompts]),
            ),
        )

    def heads(self, session_id: str) -> Heads | None:
        """What goes along with it; None where there is no such session."""
        place = (self.workspace, session_id)
        found = self._ask("SELECT id, title, created_at, updated_at FROM ullage.session WHERE workspace = %s AND id = %s", place)
        if not found:
            return None
        values = self._ask("SELECT key, value, sum FROM ullage.value WHERE workspace = %s AND session_id = %s", place)
        prompts = self._ask("SELECT id, body, sum FROM ullage.prompt WHERE workspace = %s AND session_id = %s ORDER BY position", place)
        name = session_id.encode()
        return Heads(
            _session(*found[0]),
            [ValueRow(bytes(key), bytes(value), bytes(check)) for key, value, check in values],
            [PromptRow(bytes(prompt_id), name, bytes(body), bytes(check)) for prompt_id, body, check in prompts],
        )

    def since(self, session_id: str, seq: int, most: int) -> list[EntryRow]:
        """The entries behind that seq, at most so many."""
        rows = self._ask(
            "SELECT seq, at, body, sum FROM ullage.entry WHERE workspace = %s AND session_id = %s AND seq > %s ORDER BY seq LIMIT %s",
            (self.workspace, session_id, seq, most),
        )
        name = session_id.encode()
        return [EntryRow(name, seq, at, bytes(body), bytes(check)) for seq, at, body, check in rows]

    def digest(self, session_id: str, through: int) -> tuple[int, str]:
        """How many entries there are up to that seq, and a hash over their bytes, as `digest_of` makes it."""
        count, digest = self._ask(
            "SELECT count(*), encode(sha256(coalesce(string_agg(int8send(seq) || float8send(at) || sha256(body), ''::bytea ORDER BY seq), "
            "''::bytea)), 'hex') FROM ullage.entry WHERE workspace = %s AND session_id = %s AND seq <= %s",
            (self.workspace, session_id, through),
        )[0]
        return int(count), str(digest)

    def missing(self, spoken: Sequence[Spoken]) -> list[Spoken]:
        """Those that are not kept there."""
        if not spoken:
            return []
        there = self._ask(
            "SELECT kind, name FROM ullage.attached WHERE workspace = %s "
            "AND (kind, name) IN (SELECT * FROM unnest(%s::text[], %s::text[]))",
            (self.workspace, [each.kind for each in spoken], [each.name for each in spoken]),
        )
        known = {(str(kind), str(name)) for kind, name in there}
        return [each for each in spoken if (each.kind, each.name) not in known]

    def attach(self, spoken: Spoken, data: bytes) -> None:
        """Keeps it."""
        self._ask("SELECT ullage.attach(%s, %s, %s, %s)::text", (self.workspace, spoken.kind, spoken.name, data))

    def spoken_of(self, session_id: str) -> list[Spoken]:
        """All that the entries of a session speak of."""
        rows = self._ask(
            "SELECT kind, name FROM ullage.speaks_of WHERE workspace = %s AND session_id = %s ORDER BY kind, name",
            (self.workspace, session_id),
        )
        return [Spoken(kind, str(name)) for kind, name in rows]

    def attached(self, spoken: Spoken) -> bytes | None:
        """Its bytes; None where they are not there."""
        found = self._ask(
            "SELECT data FROM ullage.attached WHERE workspace = %s AND kind = %s AND name = %s", (self.workspace, spoken.kind, spoken.name)
        )
        return bytes(found[0][0]) if found else None

    def search(self, words: str, limit: int) -> list[HitElsewhere]:
        """The entries that hold all the words (or beginnings of words), best first."""
        wanted = [_text(word).replace("'", " ").replace("\\", " ").strip() for word in words.split()]
        query = " & ".join(f"'{word}':*" for word in wanted[:_MOST_WORDS] if any(map(str.isalnum, word)))
        if not query or limit < 1:
            return []
        rows = self._ask(
            "WITH asked AS (SELECT to_tsquery('simple', %s) AS query), best AS ("
            "SELECT passage.*, query, ts_rank_cd(words, query) AS rank FROM ullage.passage, asked "
            "WHERE workspace = %s AND words @@ query ORDER BY rank DESC, at DESC LIMIT %s) "
            "SELECT session_id, seq, at, what, ts_headline('simple', said, query, %s), tool_use_id FROM best ORDER BY rank DESC, at DESC",
            (query, self.workspace, limit, _EXCERPT),
        )
        return [
            HitElsewhere(str(session), seq, at, str(what), " ".join(str(said).split()), used) for session, seq, at, what, said, used in rows
        ]

    def delete(self, session_id: str) -> bool:
        """Deletes a session for good; this process holds its lease. Whether there was one."""
        return bool(self._ask("SELECT ullage.delete_session(%s, %s, %s)", (self.workspace, session_id, self._holder))[0][0])

    # The connection

    def _ask(self, statement: str, given: Iterable[object]) -> list[tuple[Any, ...]]:
        """One statement, which is a transaction by itself. Raises what `faults.py` has; a lost connection is made anew by the next call."""
        import psycopg

        with self._lock:
            connection = self._connected()
            try:
                return connection.execute(statement, tuple(given), binary=True).fetchall()  # pyright: ignore[reportArgumentType]
            except psycopg.Error as error:
                if connection.closed:
                    self._drop()
                raise fault_of(error, self.address) from None

    def _connected(self) -> psycopg.Connection[Any]:
        if time.monotonic() - self._used_at > IDLE_SECONDS:
            self._drop()  # the server is about to do it, or has done it
        self._used_at = time.monotonic()
        if self._connection is None or self._connection.closed:
            self._connection = connected(self.address, self._enter)
        return self._connection

    def _enter(self, connection: psycopg.Connection[Any]) -> None:
        place, version = self.address.shown, version_of(connection)
        if version > SCHEMA_VERSION:
            raise LaterSchema(f"The tables in {place} are of a later version of Ullage. Update Ullage here.")
        if version < SCHEMA_VERSION:
            raise Refused(f"The tables in {place} are of an earlier version. Whoever runs it updates them: `ullage store setup ADDRESS`.")
        if not self._durable:
            connection.execute("SET synchronous_commit = off")
        connection.execute("SELECT ullage.enter(%s)::text", (self.workspace,))

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
            self._connection = None


def connected(address: Address, ready: Callable[[psycopg.Connection[Any]], None]) -> psycopg.Connection[Any]:
    """A connection on which `ready` was called. Raises what `faults.py` has."""
    try:
        import psycopg
    except ImportError as error:
        raise BadAddress(MISSING_LIBRARY) from error
    try:
        connection = psycopg.connect(
            **{"connect_timeout": CONNECT_SECONDS, "application_name": "ullage", **address.parameters},  # pyright: ignore[reportArgumentType]
            autocommit=True,
        )
    except psycopg.Error as error:
        raise fault_of(error, address, connecting=True) from None
    try:
        for name, value in _SETTINGS.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        ready(connection)
    except psycopg.Error as error:
        connection.close()
        raise fault_of(error, address) from None
    except BaseException:
        connection.close()
        raise
    return connection


def version_of(connection: psycopg.Connection[Any]) -> int:
    """The version of the tables."""
    row = connection.execute("SELECT max(number) FROM ullage.schema_version").fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def set_up(address: Address) -> bool:
    """Makes the tables, or takes them up to this version, as their owner; whether there was anything to do. Raises what `faults.py` has."""
    import psycopg

    def make(connection: psycopg.Connection[Any]) -> None:
        made.append(_set_up(connection, address))

    made: list[bool] = []
    with suppress(psycopg.Error):
        connected(address, make).close()
    return made[0]


def _set_up(connection: psycopg.Connection[Any], address: Address) -> bool:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('ullage.setup', 0))")
        found = connection.execute("SELECT to_regclass('ullage.schema_version')").fetchone()
        if found is not None and found[0] is not None:
            if version_of(connection) > SCHEMA_VERSION:
                raise LaterSchema(f"The tables in {address.shown} are of a later version of Ullage. Update Ullage here.")
            return False
        if connection.execute("SELECT FROM pg_roles WHERE rolname = 'ullage_member'").fetchone() is None:
            connection.execute("CREATE ROLE ullage_member NOLOGIN")
        connection.execute(files("ullage.store.team").joinpath("schema.sql").read_bytes())
    return True


def digest_of(rows: Iterable[EntryRow]) -> tuple[int, str]:
    """How many rows there are, and a hash over their bytes."""
    count, whole = 0, hashlib.sha256()
    for row in rows:
        count += 1
        whole.update(struct.pack(">qd", row.seq, row.at) + hashlib.sha256(row.body).digest())
    return count, whole.hexdigest()


def _session(session_id: str, title: bytes, created_at: float, updated_at: float) -> SessionRow:
    return make_session(session_id.encode(), bytes(title), created_at, updated_at)


def _text(said: str) -> str:
    """A text that PostgreSQL can hold: neither NUL nor half a surrogate pair."""
    return said.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
