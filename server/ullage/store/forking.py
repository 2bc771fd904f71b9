"""How a fork comes into the file: its entries are copied page by page, so that others can write meanwhile, and it is whole or not there.

Statements alone; `session_list.py` makes transactions of them.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

from ullage.store.examine import Damage
from ullage.store.lineage import Lineage
from ullage.store.reading import some
from ullage.store.recovery import LOST, add_entries
from ullage.store.rows import ValueRow, entry_sum

SESSIONS = """
SELECT id, title, created_at, updated_at FROM session
WHERE NOT EXISTS (SELECT 1 FROM remembered WHERE key = 'unfinished:' || session.id)
ORDER BY updated_at DESC, rowid DESC
"""
"""All but forks that are being made, last updated first."""

_REMEMBER = "INSERT INTO remembered (key, value, sum) VALUES (?1, ?2, value_sum(CAST(?1 AS BLOB), CAST(?2 AS BLOB)))"


def begin(connection: sqlite3.Connection, fork_id: str, lineage: Lineage) -> None:
    """Marks a session that was just inserted as a fork that is not whole yet."""
    connection.execute(_REMEMBER, (f"unfinished:{fork_id}", "true"))
    connection.execute(_REMEMBER, (f"lineage:{fork_id}", json.dumps(lineage)))


def copy_page(connection: sqlite3.Connection, session_id: str, fork_id: str, after: int, through: int, rows: int) -> None:
    """Copies at most so many entries beyond seq `after`, as they lie in the file: damaged ones too, which stay damaged."""
    for row in some(connection, session_id, after, through, rows):
        check = entry_sum(fork_id.encode(), row.seq, row.at, row.body) if row.is_whole else row.sum
        add_entries(connection, [replace(row, session_id=fork_id.encode(), sum=check)])


def finish(connection: sqlite3.Connection, fork_id: str) -> None:
    """From now on it is a session like any other."""
    connection.execute("DELETE FROM remembered WHERE key = ?", (f"unfinished:{fork_id}",))


def unfinished(connection: sqlite3.Connection) -> list[str]:
    """The forks that are not whole: being made now, or left by a process that ended meanwhile."""
    rows = connection.execute("SELECT substr(key, length('unfinished:') + 1) FROM remembered WHERE key LIKE 'unfinished:%'")
    return [session_id for (session_id,) in rows]


def forget(connection: sqlite3.Connection, session_id: str) -> None:
    """Forgets what is kept here of a session that is deleted."""
    keys = [f"unfinished:{session_id}", f"lineage:{session_id}", LOST + session_id]
    connection.execute("DELETE FROM remembered WHERE key IN (?, ?, ?)", keys)


def lineages(connection: sqlite3.Connection) -> dict[str, Lineage]:
    """Of all sessions there are; empty for those that are no forks. Raises `Damage`."""
    rows = connection.execute(
        "SELECT session.id, CAST(key AS BLOB), CAST(value AS BLOB), remembered.sum "
        "FROM session LEFT JOIN remembered ON key = 'lineage:' || session.id"
    )
    return {session_id: () if key is None else _read(ValueRow(key, value, check)) for session_id, key, value, check in rows}


def _read(row: ValueRow) -> Lineage:
    if not row.is_whole:
        raise Damage("it does not say any more where a fork comes from")
    return tuple((str(origin), int(through)) for origin, through in json.loads(row.value))
