"""Searching all sessions of a workspace, for the user: the same index that the model's `recall` searches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.session.history.places import items_of_entry
from ullage.store.log_store import LogStore
from ullage.store.search import SearchHit, SearchIndex


@dataclass(frozen=True, slots=True)
class Found:
    """One place where the words stand. `item_id` is None where no item shows it; `at` is Unix seconds."""

    session_id: str
    session_title: str
    item_id: str | None
    at: float
    what: str
    excerpt: str


async def find(log: LogStore, index: SearchIndex, words: str, limit: int) -> Sequence[Found]:
    """Best first, at most `limit`. Raises `StoreFailed`. In another thread: after much was logged it takes a while."""
    return await asyncio.to_thread(_find, log, index, words, limit)


def _find(log: LogStore, index: SearchIndex, words: str, limit: int) -> Sequence[Found]:
    titles = {record.id: record.title for record in log.sessions()}
    return [
        Found(hit.session_id, titles.get(hit.session_id, ""), _item(log, hit), hit.at, hit.what, hit.excerpt)
        for hit in index.search(words, limit)
    ]


def _item(log: LogStore, hit: SearchHit) -> str | None:
    if hit.tool_use_id is not None:
        return hit.tool_use_id
    logged = log.between(hit.session_id, hit.seq, hit.seq)
    return next((item_id for each in logged for item_id in items_of_entry(each.entry)), None)
