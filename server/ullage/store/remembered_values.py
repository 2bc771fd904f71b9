"""Small things that a log remembers for its workspace: a JSON value under a key."""

from __future__ import annotations

import json
import secrets
import sqlite3

from ullage.context.blocks import Json
from ullage.store.examine import Damage
from ullage.store.log_file import LogFile
from ullage.store.recovery import IDENTITY
from ullage.store.rows import ValueRow, value_sum


class RememberedValues:
    """The values of one log."""

    def __init__(self, file: LogFile) -> None:
        self._file = file

    def identity(self) -> str:
        """What tells this file from any other log: rows have other numbers there. It is new where the rows went into another file."""
        kept = self.recalled(IDENTITY)
        if isinstance(kept, str):
            return kept
        self.remember(IDENTITY, secrets.token_hex(8))
        return self.identity()

    def remember(self, key: str, value: Json) -> None:
        """Keeps a small JSON value under a key, in place of what was there."""
        text = json.dumps(value)
        row = (key, text, value_sum(key.encode(), text.encode()))
        self._file.change(
            f"remember {key}", lambda connection: connection.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?, ?)", row)
        )

    def recalled(self, key: str) -> Json:
        """What was kept under the key; None where nothing was."""

        def read(connection: sqlite3.Connection) -> Json:
            found = connection.execute(
                "SELECT CAST(key AS BLOB), CAST(value AS BLOB), sum FROM remembered WHERE key = ?", (key,)
            ).fetchone()
            if found is None:
                return None
            row = ValueRow(*found)
            if not row.is_whole:
                raise Damage("something that it was to remember is not what was written")
            return json.loads(row.value)

        return self._file.read(f"recall {key}", read)
