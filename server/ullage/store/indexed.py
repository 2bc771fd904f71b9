"""What the search index takes in of a log entry.

- Passages, which are found by their words: pieces of text, each with what it is in words for the model.
- Which entries tell what the user took out of which session: so a search need not read whole logs for it. The index keeps the places of
  those entries alone; what they say is read from the log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.entries import AssistantReply, Entry, Notice, ToolReturned, UserPrompt
from ullage.context.view.taken_out import gone_by, out_of_sight
from ullage.store.log_store import LogStore
from ullage.store.origins import Lineage
from ullage.store.plain_files import ResultFiles

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


TELLING_TABLE = """
CREATE TABLE telling (
    session_id TEXT NOT NULL, seq INTEGER NOT NULL, takes_out INTEGER NOT NULL, PRIMARY KEY (session_id, seq)
)
"""
"""By where an entry was first logged, as everything in the index."""

_Places = tuple[int, ...]


def note_telling(connection: sqlite3.Connection, origin: str, seq: int, entry: Entry) -> None:
    """Notes an entry that tells of it: what takes something out, records, which may speak of it, and what undoes and redoes."""
    match entry:
        case Compaction():
            takes_out = bool(gone_by(entry))
            tells = takes_out or entry.summarised is not None
        case CompactionUndone() | CompactionRedone():
            takes_out, tells = False, True
        case _:
            return
    if tells:
        connection.execute("INSERT OR REPLACE INTO telling VALUES (?, ?, ?)", (origin, seq, takes_out))


def telling_places(connection: sqlite3.Connection, lineages: Mapping[str, Lineage]) -> dict[str, _Places]:
    """The seqs of those entries by session; of sessions from which nothing was ever taken out, none."""
    told: dict[str, list[tuple[int, bool]]] = {}
    for origin, seq, takes_out in connection.execute("SELECT session_id, seq, takes_out FROM telling ORDER BY seq"):
        told.setdefault(origin, []).append((seq, bool(takes_out)))
    found: dict[str, _Places] = {}
    for session_id, lineage in lineages.items() if told else ():
        rows = list(told.get(session_id, ()))
        after = 0
        for origin, through in lineage:
            rows += [row for row in told.get(origin, ()) if after < row[0] <= through]
            after = through
        if any(takes_out for _, takes_out in rows):
            found[session_id] = tuple(sorted(seq for seq, _ in rows))
    return found


class OutOfSight:
    """What is not to be found of each session, kept while nothing more tells of it there."""

    def __init__(self, log: LogStore) -> None:
        self._log = log
        self._known: dict[str, tuple[_Places, AbstractSet[int]]] = {}

    def of_all(self, telling: Mapping[str, _Places]) -> Mapping[str, AbstractSet[int]]:
        """By session, from what `telling_places` gave. Raises `StoreFailed`."""
        known = self._known
        self._known = {
            session_id: known[session_id] if known.get(session_id, ((),))[0] == seqs else (seqs, self._read(session_id, seqs))
            for session_id, seqs in telling.items()
        }
        return {session_id: hidden for session_id, (_, hidden) in self._known.items() if hidden}

    def _read(self, session_id: str, seqs: _Places) -> AbstractSet[int]:
        return out_of_sight(logged for seq in seqs for logged in self._log.between(session_id, seq, seq))
