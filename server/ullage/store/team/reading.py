"""Reading the sessions of a team's database, all that this user may see, for who reports on them: nothing is written, and no lease taken.

The role of a member is enough. `PostgresStore` would do more: it enters a workspace, which then is this user's where it was nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ullage.store.origins import Lineage
from ullage.store.schema import EntryRow, ValueRow
from ullage.store.session_list import lineage_in
from ullage.store.team.address import Address
from ullage.store.team.faults import LaterSchema, LinkLost, TeamStoreRefused, fault_of
from ullage.store.team.pool import PooledConnections
from ullage.store.team.tables import SCHEMA_VERSION, later, version_of

if TYPE_CHECKING:
    import psycopg

PAGE_ROWS = 500
"""How many entries are asked for at once."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session that the database has. `lineage` as in `origins.py`; `last_seq` is the number of its last entry."""

    workspace: str
    id: str
    last_seq: int
    lineage: Lineage


class TeamReader:
    """Reads sessions by connections that are made when they are needed; for any thread. All calls raise what `faults.py` has."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connections = PooledConnections(address, self._ready, {"default_transaction_read_only": "on"})

    def close(self) -> None:
        """Closes the connections."""
        self._connections.close()

    def sessions(self) -> list[StoredSession]:
        """The sessions of all workspaces that this user is a member of, last updated first in each. Raises `Damage`."""
        rows = self._ask(
            "SELECT session.workspace, id, last_seq, key, value, sum FROM ullage.session LEFT JOIN ullage.value "
            "ON value.workspace = session.workspace AND session_id = id AND key = convert_to('lineage:' || id, 'UTF8') "
            "ORDER BY session.workspace, updated_at DESC, id",
            (),
        )
        return [
            StoredSession(workspace, session_id, last, () if key is None else lineage_in(ValueRow(bytes(key), bytes(value), bytes(check))))
            for workspace, session_id, last, key, value, check in rows
        ]

    def last_seq(self, workspace: str, session_id: str) -> int | None:
        """The number of the session's last entry; None where it is gone, or this user may not see it."""
        found = self._ask("SELECT last_seq FROM ullage.session WHERE workspace = %s AND id = %s", (workspace, session_id))
        return int(found[0][0]) if found else None

    def entries(self, workspace: str, session_id: str, last: int) -> Iterator[EntryRow]:
        """The entries of a session up to that number, in order; some are in memory at a time."""
        after, name = 0, session_id.encode()
        while after < last:
            rows = self._ask(
                "SELECT seq, at, body, sum FROM ullage.entry WHERE workspace = %s AND session_id = %s AND seq > %s AND seq <= %s "
                "ORDER BY seq LIMIT %s",
                (workspace, session_id, after, last, PAGE_ROWS),
            )
            if not rows:
                return
            yield from (EntryRow(name, seq, at, bytes(body), bytes(check)) for seq, at, body, check in rows)
            after = int(rows[-1][0])

    def _ask(self, statement: str, given: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Runs one statement. It only reads, so it is asked once more where the connection was lost."""
        try:
            return self._asked(statement, given)
        except LinkLost:
            return self._asked(statement, given)

    def _asked(self, statement: str, given: tuple[object, ...]) -> list[tuple[Any, ...]]:
        import psycopg

        with self._connections.lent() as connection:
            try:
                return connection.execute(statement.encode(), given, binary=True).fetchall()
            except psycopg.Error as error:
                raise fault_of(error, self._address) from None

    def _ready(self, connection: psycopg.Connection[Any]) -> None:
        version = version_of(connection)
        if version > SCHEMA_VERSION:
            raise LaterSchema(later(self._address.shown))
        if version < SCHEMA_VERSION:
            where = self._address.shown
            raise TeamStoreRefused(
                f"The tables in {where} are of an earlier version. Whoever runs it updates them: `ullage store setup ADDRESS`."
            )
