"""Searching all sessions of a workspace, for the user: the same index that the model's `recall` searches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply
from ullage.session.history.places import items_of_entry
from ullage.store.ids import is_foreign
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
    titles = {record.id: f"{record.title} (imported)" if is_foreign(record.id) else record.title for record in log.sessions()}
    return [
        Found(hit.session_id, titles.get(hit.session_id, ""), _item(log, hit, words), hit.at, hit.what, hit.excerpt)
        for hit in index.search(words, limit)
    ]


def _item(log: LogStore, hit: SearchHit, words: str) -> str | None:
    if hit.tool_use_id is not None:
        return hit.tool_use_id
    for logged in log.between(hit.session_id, hit.seq, hit.seq):
        found = block_with(logged.entry, hit.what, words) if isinstance(logged.entry, AssistantReply) else None
        return found or next(iter(items_of_entry(logged.entry)), None)
    return None


def block_with(reply: AssistantReply, what: str, words: str) -> str | None:
    """The item of that reply in which the words stand: thinking, a text or a call. None where none of that kind has any of them."""
    wanted = words.casefold().split()
    best, most = None, 0
    for index, block in enumerate(reply.blocks):
        match block:
            case Text() if what == "assistant":
                item_id, text = f"{reply.id}.{index}", block.text
            case Thinking() if what == "thinking":
                item_id, text = f"{reply.id}.{index}", block.thinking
            case ToolUse() if what == f"call of {block.name}":
                item_id, text = block.id, json.dumps(dict(block.input), ensure_ascii=False)
            case _:
                continue
        count = sum(word in text.casefold() for word in wanted)
        if best is None or count > most:
            best, most = item_id, count
    return best
