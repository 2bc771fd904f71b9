"""The team's store in PostgreSQL: one statement a call. `tables_1.sql` and its like have the tables, and the functions that write.

What holds leases has a connection of its own, since they are tied to it: it is made when it is first needed, and made anew after it was
lost, and whoever holds leases takes them again then. What only reads takes its connections from a pool.
"""

from __future__ import annotations

import copy
import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ullage.store.elsewhere import EntryHit
from ullage.store.recovery import make_session
from ullage.store.schema import EntryRow, PromptRow, SessionRow, ValueRow
from ullage.store.search import wanted_words
from ullage.store.session_rows import Heads
from ullage.store.team.address import Address
from ullage.store.team.connecting import LEASE_SECONDS, Connections, OwnConnection
from ullage.store.team.faults import LaterSchema, TeamStoreRefused, fault_of
from ullage.store.team.pool import InTurn, PooledConnections
from ullage.store.team.store import Batch, Gone, IndexedWords, Spoken, TeamSession
from ullage.store.team.tables import SCHEMA_VERSION, later, version_of

if TYPE_CHECKING:
    import psycopg

_APPEND = "ullage.append(%s, %s, %s, %s, %s, %s::bigint[], %s::float8[], %b::bytea[], %b::bytea[], %b::text[], %b::text[])"
_PUT_HEADS = "ullage.put_heads(%s, %s, %s, %s, %s, %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[])::text"

# `%b` sends an array as its bytes. As `%s` it goes as text: 22,000 bytes took 1.2 ms instead of 0.2, half of it with Python's lock held.

_SEVERAL = 3
"""How many passages are looked at for each hit that is wanted: an entry may have several."""

_LOOKED_THROUGH = 20_000
"""How many of the newest passages are looked through for words inside other words: at most some tenths of a second."""


class PostgresStore:
    """The sessions of `workspace` in the team's database. `holder` names this machine's copy of the log in leases."""

    def __init__(
        self, address: Address, workspace: str, holder: str, lease_seconds: float = LEASE_SECONDS, *, durable: bool = True
    ) -> None:
        """With `durable` False the store is for who takes no leases, but reads, and writes only what can be made again (words for the
        search)."""
        self.address = address
        self.workspace = workspace
        self._holder = holder
        self._seconds = lease_seconds
        self._connections: Connections = (
            OwnConnection(address, self._enter) if durable else PooledConnections(address, self._enter, {"synchronous_commit": "off"})
        )

    def in_turn(self) -> PostgresStore:
        """This store for what runs in the background: of all its calls one is made at a time, so they have one connection at most."""
        other = copy.copy(self)
        other._connections = InTurn(self._connections)  # noqa: SLF001 (it is one of these)
        return other

    def close(self) -> None:
        """Closes its connections, and so lets go of all leases that are tied to them."""
        self._connections.close()

    def sessions(self) -> list[TeamSession]:
        """All sessions of the workspace, last updated first."""
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
            TeamSession(session_id, bytes(title), made, updated, last, held, values.get(session_id, []))
            for session_id, title, made, updated, last, held in rows
        ]

    def make(self, session: SessionRow) -> int:
        """Makes the session where there is none; gives the seq to which it has come. Raises `Deleted` where there was one."""
        given = (self.workspace, session.id.decode(), session.title, session.created_at)
        return int(self._ask("SELECT ullage.make_session(%s, %s, %s, %s)", given)[0][0])

    def take(self, session_id: str) -> bool:
        """Takes the lease of a session, or renews it; gives whether it is this process's now."""
        given = (self.workspace, session_id, self._holder, self._seconds)
        return bool(self._ask("SELECT ullage.take_lease(%s, %s, %s, %s)", given)[0][0])

    def give_back(self, session_id: str) -> None:
        """Lets another process write the session."""
        self._ask("SELECT ullage.give_back(%s, %s, %s)::text", (self.workspace, session_id, self._holder))

    def append(self, session_id: str, after: int, batch: Batch, heads: Heads | None = None) -> None:
        """Adds entries behind seq `after`, all or none; durable when it returns. Raises `SessionTaken` if that is not the last one.

        `heads`, where they are given, are then what goes along with the session: in the same statement, so that the next entry waits for
        no other.
        """
        rows, spoken = batch.rows, batch.spoken
        given = (
            *(self.workspace, session_id, self._holder, self._seconds, after),
            *([row.seq for row in rows], [row.at for row in rows], [row.body for row in rows], [row.sum for row in rows]),
            *([each.kind for each in spoken], [each.name for each in spoken]),
        )
        if heads is None:
            self._ask(f"SELECT {_APPEND}", given)
        else:
            self._ask(f"SELECT {_APPEND}, {_PUT_HEADS}", (*given, *self._given(heads)))

    def said_through(self, session_id: str) -> int:
        """The seq up to which the session's entries can be found by their words; 0 if none can."""
        place = (self.workspace, session_id)
        found = self._ask("SELECT through FROM ullage.said WHERE workspace = %s AND session_id = %s", place)
        return int(found[0][0]) if found else 0

    def say(self, session_id: str, after: int, through: int, said: Sequence[IndexedWords]) -> bool:
        """Lets the entries behind seq `after`, up to `through`, be found by these words. Gives False if another one said them meanwhile."""
        given = (
            *(self.workspace, session_id, after, through, [each.seq for each in said], [_text(each.what) for each in said]),
            *([None if each.tool_use_id is None else _text(each.tool_use_id) for each in said], [_text(each.text) for each in said]),
        )
        return bool(
            self._ask("SELECT ullage.say(%s, %s, %s, %s, %s::bigint[], %b::text[], %b::text[], %b::text[])", given)[0][0],
        )

    def put_heads(self, heads: Heads) -> None:
        """Puts what goes along with a session in the place of what did before."""
        self._ask(f"SELECT {_PUT_HEADS}", self._given(heads))

    def _given(self, heads: Heads) -> tuple[object, ...]:
        values, prompts = heads.values, heads.prompts
        return (
            *(self.workspace, heads.session.id.decode(), self._holder, self._seconds, heads.session.title),
            *([row.key for row in values], [row.value for row in values], [row.sum for row in values]),
            *([row.id for row in prompts], [row.body for row in prompts], [row.sum for row in prompts]),
        )

    def heads(self, session_id: str) -> Heads | None:
        """What goes along with the session; None if there is no such session. One statement, since each takes its time in a slow
        database."""
        found = self._ask(
            "SELECT id, title, created_at, updated_at, keys, vals, val_sums, prompt_ids, prompt_bodies, prompt_sums FROM ullage.session, "
            "LATERAL (SELECT array_agg(key ORDER BY key), array_agg(value ORDER BY key), array_agg(sum ORDER BY key) FROM ullage.value "
            "WHERE value.workspace = session.workspace AND session_id = id) AS all_values (keys, vals, val_sums), LATERAL ("
            "SELECT array_agg(prompt.id ORDER BY position), array_agg(body ORDER BY position), array_agg(sum ORDER BY position) "
            "FROM ullage.prompt WHERE prompt.workspace = session.workspace AND session_id = session.id"
            ") AS all_prompts (prompt_ids, prompt_bodies, prompt_sums) WHERE session.workspace = %s AND id = %s",
            (self.workspace, session_id),
        )
        if not found:
            return None
        values, prompts = (
            [tuple(map(bytes, row)) for row in zip(*(each or () for each in part), strict=True)] for part in (found[0][4:7], found[0][7:])
        )
        name = session_id.encode()
        return Heads(
            _session(*found[0][:4]),
            [ValueRow(*row) for row in values],
            [PromptRow(prompt_id, name, body, check) for prompt_id, body, check in prompts],
        )

    def since(self, session_id: str, seq: int, most: int) -> list[EntryRow]:
        """The session's entries behind that seq, at most that many."""
        rows = self._ask(
            "SELECT seq, at, body, sum FROM ullage.entry WHERE workspace = %s AND session_id = %s AND seq > %s ORDER BY seq LIMIT %s",
            (self.workspace, session_id, seq, most),
        )
        name = session_id.encode()
        return [EntryRow(name, seq, at, bytes(body), bytes(check)) for seq, at, body, check in rows]

    def digest(self, session_id: str, through: int) -> tuple[int, str]:
        """How many entries of the session there are up to that seq, and a hash over their bytes, as `digest_of` makes it."""
        count, digest = self._ask(
            "SELECT count(*), encode(sha256(coalesce(string_agg(int8send(seq) || float8send(at) || sha256(body), ''::bytea ORDER BY seq), "
            "''::bytea)), 'hex') FROM ullage.entry WHERE workspace = %s AND session_id = %s AND seq <= %s",
            (self.workspace, session_id, through),
        )[0]
        return int(count), str(digest)

    def missing(self, spoken: Sequence[Spoken]) -> list[Spoken]:
        """Those of the images, outputs and versions that are not kept in the store."""
        if not spoken:
            return []
        there = self._ask(
            "SELECT kind, name FROM ullage.attached WHERE workspace = %s "
            "AND (kind, name) IN (SELECT * FROM unnest(%b::text[], %b::text[]))",
            (self.workspace, [each.kind for each in spoken], [each.name for each in spoken]),
        )
        known = {(str(kind), str(name)) for kind, name in there}
        return [each for each in spoken if (each.kind, each.name) not in known]

    def attach(self, spoken: Spoken, data: bytes) -> None:
        """Keeps the bytes of an image, an output or a version."""
        self._ask("SELECT ullage.attach(%s, %s, %s, %s)::text", (self.workspace, spoken.kind, spoken.name, data))

    def spoken_of(self, session_id: str) -> list[Spoken]:
        """All images, outputs and versions that the entries of a session speak of."""
        rows = self._ask(
            "SELECT kind, name FROM ullage.speaks_of WHERE workspace = %s AND session_id = %s ORDER BY kind, name",
            (self.workspace, session_id),
        )
        return [Spoken(kind, str(name)) for kind, name in rows]

    def attached(self, spoken: Spoken) -> bytes | None:
        """The bytes of an image, an output or a version; None if they are not in the store."""
        found = self._ask(
            "SELECT data FROM ullage.attached WHERE workspace = %s AND kind = %s AND name = %s", (self.workspace, spoken.kind, spoken.name)
        )
        return bytes(found[0][0]) if found else None

    def search(self, words: str, limit: int) -> list[EntryHit]:
        """The entries that hold all the words (or beginnings of words), best first; those that hold any where none holds all; those of the
        newest that hold them inside other words where none does either. As the log of one machine is searched."""
        wanted = [_text(word) for word in wanted_words(words)]
        if not wanted or limit < 1:
            return []
        for joint in "&|" if any(letter.isalnum() for letter in words) else "":
            hits = self._ask(
                "WITH asked AS MATERIALIZED (SELECT ullage.asked(%b::text[], %s) AS query) "
                "SELECT session_id, seq, at, what, ullage.excerpt(said, %b::text[]), tool_use_id "
                "FROM ullage.passage, asked WHERE workspace = %s AND words @@ query "
                "ORDER BY ts_rank_cd(words, query) DESC, at DESC LIMIT %s",
                (wanted, joint, wanted, self.workspace, limit * _SEVERAL),
            )
            if hits:
                return _first_of_each(hits)[:limit]
        signs = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})
        hits = self._ask(
            "SELECT session_id, seq, at, what, ullage.excerpt(said, %b::text[]), tool_use_id FROM ("
            "SELECT * FROM ullage.passage WHERE workspace = %s ORDER BY at DESC LIMIT %s) AS newest "
            "WHERE lower(said) LIKE ALL (%b::text[]) ORDER BY at DESC LIMIT %s",
            (wanted, self.workspace, _LOOKED_THROUGH, [f"%{word.lower().translate(signs)}%" for word in wanted], limit * _SEVERAL),
        )
        return _first_of_each(hits)[:limit]

    def delete(self, session_id: str) -> bool:
        """Deletes a session for good; this process holds its lease. Gives whether there was one."""
        return bool(self._ask("SELECT ullage.delete_session(%s, %s, %s)", (self.workspace, session_id, self._holder))[0][0])

    def gone(self, after: int) -> list[Gone]:
        """The sessions that were deleted after the one with that number, in order."""
        rows = self._ask(
            "SELECT number, session_id FROM ullage.deleted WHERE workspace = %s AND number > %s ORDER BY number",
            (self.workspace, after),
        )
        return [Gone(number, str(session_id)) for number, session_id in rows]

    def sums_of_gone(self, session_id: str) -> frozenset[bytes]:
        """The sums of the entries that a session had when it was deleted."""
        given = (self.workspace, session_id)
        rows = self._ask("SELECT unnest(sums) FROM ullage.deleted WHERE workspace = %s AND session_id = %s", given)
        return frozenset(bytes(each) for (each,) in rows)

    # Connections

    def _ask(self, statement: str, given: Iterable[object]) -> list[tuple[Any, ...]]:
        """Runs one statement, which is a transaction by itself. Raises what `faults.py` has; a lost connection is made anew by the next
        call."""
        import psycopg

        with self._connections.lent() as connection:
            try:
                return connection.execute(statement, tuple(given), binary=True).fetchall()  # pyright: ignore[reportArgumentType]
            except psycopg.Error as error:
                raise fault_of(error, self.address) from None

    def _enter(self, connection: psycopg.Connection[Any]) -> None:
        place, version = self.address.shown, version_of(connection)
        if version > SCHEMA_VERSION:
            raise LaterSchema(later(place))
        if version < SCHEMA_VERSION:
            raise TeamStoreRefused(
                f"The tables in {place} are of an earlier version. Whoever runs it updates them: `ullage store setup ADDRESS`."
            )
        connection.execute("SELECT ullage.enter(%s)::text", (self.workspace,))


def digest_of(rows: Iterable[EntryRow]) -> tuple[int, str]:
    """How many rows there are, and a hash over their bytes."""
    count, whole = 0, hashlib.sha256()
    for row in rows:
        count += 1
        whole.update(struct.pack(">qd", row.seq, row.at) + hashlib.sha256(row.body).digest())
    return count, whole.hexdigest()


def _first_of_each(rows: Iterable[tuple[Any, ...]]) -> list[EntryHit]:
    hits: dict[tuple[str, int], EntryHit] = {}
    for session, seq, at, what, said, used in rows:
        hits.setdefault((session, seq), EntryHit(str(session), seq, at, str(what), " ".join(str(said).split()), used))
    return list(hits.values())


def _session(session_id: str, title: bytes, created_at: float, updated_at: float) -> SessionRow:
    return make_session(session_id.encode(), bytes(title), created_at, updated_at)


def _text(said: str) -> str:
    """The text as PostgreSQL can hold it: with neither NUL nor half a surrogate pair."""
    return said.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
