"""Whose a session is, and where its entries were first logged.

The id of a session says whether somebody else may have written it. Ids become names of files, so each is checked where it becomes one and
where it comes in.

A fork begins with entries of another session, under the same seqs. So two sessions may have entries in common: what is kept by entry (the
search index, files, sums) asks here whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")

_FOREIGN = "foreign-"


def is_id(text: str) -> bool:
    """Whether the text can be an id of a session: letters, digits, `_` and `-`, at most 100 of them. So it can name a file in its folder on
    every system."""
    return _ID.fullmatch(text) is not None


def foreign_id(digest: str) -> str:
    """The id for a session that somebody else may have written, by the hash of what it holds. Only an import gives such ids, and no other
    ones."""
    return f"{_FOREIGN}{digest[:16]}"


def is_foreign(session_id: str) -> bool:
    """Whether somebody else may have written the session: it is read and never continued. The id says it, which every row of it has, so it
    cannot be lost, and nothing that came along can take it back."""
    return session_id.startswith(_FOREIGN)


Lineage: TypeAlias = tuple[tuple[str, int], ...]
"""The sessions in which the entries of a fork were first logged, oldest first, each with the last seq that is of it; empty if it is
no fork. `(("a", 50), ("b", 70))`: up to 50 they are of a, up to 70 of b, and from 71 on its own."""


def origin_of(session_id: str, lineage: Lineage, seq: int) -> str:
    """The session in which entry `seq` of that session was first logged."""
    return next((origin for origin, through in lineage if seq <= through), session_id)


def fork_of(session_id: str, lineage: Lineage, through: int) -> Lineage:
    """The lineage of a fork of that session that has its entries up to `through`."""
    parts: list[tuple[str, int]] = []
    for origin, last in (*lineage, (session_id, through)):
        if not parts or parts[-1][1] < through:
            parts.append((origin, min(last, through)))
    return tuple(parts) if through > 0 else ()


class Holders:
    """Knows which of the living sessions has an entry. `lineages` are those of all of them; `preferred` comes before any other."""

    def __init__(self, lineages: Mapping[str, Lineage], preferred: str | None = None) -> None:
        self._lineages = lineages
        self._preferred = preferred
        self._forks: dict[str, list[tuple[str, int]]] = {}
        for session_id, lineage in lineages.items():
            for origin, through in lineage:
                self._forks.setdefault(origin, []).append((session_id, through))

    def of(self, origin: str, seq: int) -> str | None:
        """The session that shows the entry: the preferred one, the one in which it was first logged, or a fork; None if it is gone."""
        holders = [session_id for session_id, through in self._forks.get(origin, ()) if seq <= through]
        if origin in self._lineages:
            holders.insert(0, origin)
        return self._preferred if self._preferred in holders else next(iter(holders), None)

    def needed(self, origin: str) -> int | None:
        """The last seq of that session that a living one has; None if it lives itself and has all."""
        if origin in self._lineages:
            return None
        return max((through for _, through in self._forks.get(origin, ())), default=0)
