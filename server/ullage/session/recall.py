"""What the `recall` tool of one session may look at: the search index and the log of the workspace.

Searching can take a while after much was logged, so it is done in another thread.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence

from ullage.context.blocks import AssistantBlock, Text, ToolUse
from ullage.context.entries import AssistantReply, Compaction, Entry, Notice, ToolReturned, UserPrompt
from ullage.store.log_store import LogStore
from ullage.store.search import SearchHit, SearchIndex
from ullage.tools.recall import RecallHit


class SessionRecall:
    """Implements `ullage.tools.recall.Recall` for one session. All methods raise `StoreFailed`."""

    def __init__(self, session_id: str, log: LogStore, index: SearchIndex) -> None:
        self._session_id = session_id
        self._log = log
        self._index = index

    async def search(self, words: str, limit: int) -> Sequence[RecallHit]:
        """Best matches first, over all sessions of the workspace; at most `limit`."""
        found = await asyncio.to_thread(self._index.search, words, limit)
        return [self._hit(hit) for hit in found]

    async def result(self, tool_use_id: str) -> str | None:
        """The whole result of a tool call, unclipped; None where there is none of that id."""
        return await asyncio.to_thread(self._index.result, tool_use_id, self._session_id)

    async def range(self, first_seq: int, last_seq: int) -> str:
        """The entries of this session from `first_seq` to `last_seq` (both included) as text."""
        logged = await asyncio.to_thread(self._log.between, self._session_id, first_seq, last_seq)
        return "\n\n".join(f"[{item.seq}] {text}" for item in logged for text in _texts(item.entry))

    def _hit(self, hit: SearchHit) -> RecallHit:
        return RecallHit(hit.session_id, hit.seq, hit.at, hit.what, hit.excerpt, hit.tool_use_id, hit.session_id == self._session_id)


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case UserPrompt():
            yield f"user: {entry.text}"
            for attachment in entry.attachments:
                yield f"attachment {attachment.name}:\n{attachment.text}"
        case AssistantReply():
            for block in entry.blocks:
                yield from _said(block)
        case ToolReturned():
            yield f"result of {entry.tool} ({entry.tool_use_id}):\n{entry.content}"
        case Notice():
            yield f"notice: {entry.text}"
        case Compaction(summarised=summarised) if summarised is not None:
            yield f"summary:\n{summarised.words}"
        case _:
            return


def _said(block: AssistantBlock) -> Iterator[str]:
    match block:
        case Text():
            yield f"assistant: {block.text}"
        case ToolUse():
            yield f"call of {block.name} ({block.id}): {json.dumps(dict(block.input), ensure_ascii=False)}"
        case _:  # thinking is not repeated
            return
