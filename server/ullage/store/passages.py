"""What of a log entry can be found by its words: pieces of text, each with what it is in words for the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply, Compaction, Entry, Notice, ToolReturned, UserPrompt
from ullage.store.results import ResultFiles

PIECE_CHARACTERS = 20_000
"""Longer text is indexed in pieces of this length, so that an excerpt is found quickly."""

INDEXED_CHARACTERS = 4_000_000
"""Of a longer result only the beginning can be searched (it can still be opened whole); indexing takes about 0.1 s a million."""

RECALL = "recall"
"""The tool that searches."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that was said or returned. `what` names it: `user`, `assistant`, `result of bash` ..."""

    what: str
    text: str
    tool_use_id: str | None = None


def passages(entry: Entry, results: ResultFiles) -> Iterator[Passage]:
    """All that can be found of an entry, in pieces. Clipped results come whole where their file is still there.

    What was recalled is left out: else a search would find itself, and what it repeats, before what it is for.
    """
    for passage in _whole(entry, results):
        text = passage.text[:INDEXED_CHARACTERS]
        for start in range(0, len(text), PIECE_CHARACTERS):
            yield Passage(passage.what, text[start : start + PIECE_CHARACTERS], passage.tool_use_id)


def _whole(entry: Entry, results: ResultFiles) -> Iterator[Passage]:
    match entry:
        case UserPrompt():
            yield Passage("user", entry.text)
            for attachment in entry.attachments:
                yield Passage(f"attachment {attachment.name}", attachment.text)
        case AssistantReply():
            for block in entry.blocks:
                yield from _said(block)
        case ToolReturned() if entry.tool != RECALL:
            whole = results.read(entry.tool_use_id, entry.full_output)
            yield Passage(f"result of {entry.tool}", entry.content if whole is None else whole, entry.tool_use_id)
        case Notice():
            yield Passage("notice", entry.text)
        case Compaction(summarised=summarised) if summarised is not None:
            yield Passage("summary", summarised.words)
        case _:
            return


def _said(block: AssistantBlock) -> Iterator[Passage]:
    match block:
        case Text():
            yield Passage("assistant", block.text)
        case Thinking():
            yield Passage("thinking", block.thinking)
        case ToolUse() if block.name != RECALL:
            yield Passage(f"call of {block.name}", json.dumps(dict(block.input), ensure_ascii=False))
        case ToolUse() | RedactedThinking():
            return
