"""How a fork comes into the file: its entries are copied page by page, so that others can write meanwhile, and it is whole or not there.

Statements alone; `log_store.py` makes transactions of them.
"""

from __future__ import annotations

import json
import sqlite3

from ullage.store.lineage import Lineage

SESSIONS = """
SELECT id, title, created_at, updated_at FROM session
WHERE NOT EXISTS (SELECT 1 FROM remembered WHERE key = 'unfinished:' || session.id)
ORDER BY updated_at DESC, rowid DESC
"""
"""All but forks that are being made, last updated first."""


def begin(connection: sqlite3.Connection, fork_id: str, lineage: Lineage) -> None:
    """Marks a session that was just inserted as a fork that is not whole yet."""
    connection.execute("INSERT INTO remembered VALUES (?, 'true')", (f"unfinished:{fork_id}",))
    connection.execute("INSERT INTO remembered VALUES (?, ?)", (f"lineage:{fork_id}", json.dumps(lineage)))


def copy_page(connection: sqlite3.Connection, session_id: str, fork_id: str, after: int, through: int, rows: int) -> None:
    """Copies at most so many entries beyond seq `after`, as they lie in the file: damaged ones too."""
    connection.execute(
        "INSERT INTO entry (session_id, seq, at, body) "
        "SELECT ?, seq, at, body FROM entry WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
        (fork_id, session_id, after, through, rows),
    )


def finish(connection: sqlite3.Connection, fork_id: str) -> None:
    """From now on it is a session like any other."""
    connection.execute("DELETE FROM remembered WHERE key = ?", (f"unfinished:{fork_id}",))


def unfinished(connection: sqlite3.Connection) -> list[str]:
    """The forks that are not whole: being made now, or left by a process that ended meanwhile."""
    rows = connection.execute("SELECT substr(key, length('unfinished:') + 1) FROM remembered WHERE key LIKE 'unfinished:%'")
    return [session_id for (session_id,) in rows]


def forget(connection: sqlite3.Connection, session_id: str) -> None:
    """Forgets what is kept here of a session that is deleted."""
    connection.execute("DELETE FROM remembered WHERE key IN (?, ?)", (f"unfinished:{session_id}", f"lineage:{session_id}"))


def lineages(connection: sqlite3.Connection) -> dict[str, Lineage]:
    """Of all sessions there are; empty for those that are no forks."""
    rows = connection.execute("SELECT session.id, value FROM session LEFT JOIN remembered ON key = 'lineage:' || session.id")
    return {session_id: () if value is None else _read(value) for session_id, value in rows}


def _read(value: str) -> Lineage:
    return tuple((str(origin), int(through)) for origin, through in json.loads(value))
