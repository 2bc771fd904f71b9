"""The tables of the log and how an older file becomes a newer one.

`PRAGMA user_version` holds the version. Each migration takes a file one version up, in one transaction with its number;
add new ones at the end and never change one that was released.
"""

from __future__ import annotations

import sqlite3

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE session (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL
        )
        """,
        # AUTOINCREMENT: a row number is never given twice, so the search index can go on from the last one it saw.
        """
        CREATE TABLE entry (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            at REAL NOT NULL,
            body TEXT NOT NULL,
            UNIQUE (session_id, seq)
        )
        """,
        """
        CREATE TABLE queued_prompt (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
            body TEXT NOT NULL
        )
        """,
        "CREATE INDEX queued_prompt_session ON queued_prompt (session_id)",
        "CREATE TABLE remembered (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
)

VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The version of this file; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Takes the file up to `VERSION`. Two processes may do it at the same time: the second finds it done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version_of(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
