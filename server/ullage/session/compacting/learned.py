"""What the compactions of a workspace have taught: what they brought about, and in which files the agent missed something.

Each session keeps that of its own compactions, under a key of its own, and reads that of the others once, when it is opened. So what is
decided in it does not depend on what goes on in another window meanwhile.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from ullage.context.blocks import Json
from ullage.context.compaction.economy import NONE_YET, Refetched
from ullage.context.compaction_entries import FetchedAgain
from ullage.store.errors import StoreFailed
from ullage.store.session_list import REFETCHED

logger = logging.getLogger(__name__)

MOST_FILES = 50
"""Of one session that are kept: those that were missed most often."""


class Values(Protocol):
    """What is remembered for the workspace. Raises `StoreFailed`."""

    def remember(self, key: str, value: Json) -> None:
        """In place of what was there."""
        ...

    def recalled_all(self, prefix: str) -> dict[str, Json]:
        """By the rest of the key."""
        ...


class Learned:
    """As one session knows it."""

    def __init__(self, values: Values, session_id: str) -> None:
        self._values = values
        self._key = REFETCHED + session_id
        try:
            known = values.recalled_all(REFETCHED)
        except StoreFailed as error:
            logger.warning("what compactions brought about before is not known: %s", error)
            known = {}
        self._kept = known.pop(session_id, None)
        rows = [_row(value) for value in known.values()]
        self.elsewhere: Refetched = sum((refetched for refetched, _ in rows), NONE_YET)
        """Of the other sessions, when this one was opened."""
        self.missed: frozenset[str] = frozenset(path for _, files in rows for path in files)
        """The files that were read again there, though they had been read before the compaction."""

    def keep(self, refetched: Refetched, all_fetched_again: Iterable[FetchedAgain]) -> None:
        """What those of this session have brought about by now. What cannot be written now is with the next change."""
        files = Counter(path for each in all_fetched_again for path in each.files)
        value: Json = {
            "compactions": refetched.compactions,
            "tokens": refetched.tokens,
            "calls": refetched.calls,
            "files": dict(files.most_common(MOST_FILES)),
        }
        if value == self._kept or not refetched.compactions:
            return
        try:
            self._values.remember(self._key, value)
            self._kept = value
        except StoreFailed as error:
            logger.warning("what compactions brought about could not be kept: %s", error)


def _row(value: Json) -> tuple[Refetched, Iterable[str]]:
    """What another version wrote, or something is wrong with, tells nothing."""
    if not isinstance(value, Mapping):
        return NONE_YET, ()
    figures = [value.get(name) for name in ("compactions", "tokens", "calls")]
    files = value.get("files")
    counts = [each for each in figures if isinstance(each, int) and each >= 0]
    return Refetched(*counts) if len(counts) == len(figures) else NONE_YET, files if isinstance(files, Mapping) else ()
