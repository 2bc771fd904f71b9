"""Searching what was said in all sessions of a workspace, by one index: for the user (`find`), and for the model's `recall` tool.

Searching can take a while after much was logged, so it is done in another thread.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, Media, Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AssistantReply, Entry, Forked, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.quoting import in_a_line, quoted
from ullage.context.view.epoch import EpochState
from ullage.context.view.log_places import entry_at
from ullage.context.view.quotations import to_be_read
from ullage.context.view.taken_out import (
    EXCLUDED_MESSAGE,
    EXCLUDED_RESULT,
    all_taken_out,
    as_they_read,
    gone_by,
    out_of_sight,
    paths_out,
    without_texts,
)
from ullage.session.history.places import items_of_entry
from ullage.session.sessions.agent_reports import last_words
from ullage.store.elsewhere import EntryHit
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.origins import is_foreign
from ullage.store.search import SearchIndex
from ullage.store.session_list import AGENT
from ullage.tools.recall import RecallHit


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One place where the words stand. `item_id` is None if no item shows it; `at` is Unix seconds."""

    session_id: str
    session_title: str
    item_id: str | None
    at: float
    what: str
    excerpt: str


async def find(log: LogStore, index: SearchIndex, words: str, limit: int) -> Sequence[SearchHit]:
    """The places where the words stand, the best first, at most `limit`. Raises `StoreFailed`. Searches in another thread: after much was
    logged it takes a while."""
    return await asyncio.to_thread(_find, log, index, words, limit)


def _find(log: LogStore, index: SearchIndex, words: str, limit: int) -> Sequence[SearchHit]:
    agents = log.recalled_all(AGENT).keys()
    titles = {record.id: f"{record.title} (imported)" if is_foreign(record.id) else record.title for record in log.sessions()}
    hits = index.search(words, limit)
    known = {(hit.session_id, hit.seq) for hit in hits}
    for each in log.elsewhere.search(words, limit) if len(hits) < limit else ():
        if (each.session_id, each.seq) not in known and each.session_id in titles:
            hits.append(each)
    return [
        SearchHit(hit.session_id, titles.get(hit.session_id, ""), _item(log, hit, words), hit.at, hit.what, hit.excerpt)
        for hit in hits[:limit]
        if hit.what != "user" or hit.session_id not in agents  # what a sub-agent was asked stands in the call, and is not the user's
    ]


def _item(log: LogStore, hit: EntryHit, words: str) -> str | None:
    if hit.tool_use_id is not None:
        return hit.tool_use_id
    for logged in log.between(hit.session_id, hit.seq, hit.seq):
        found = block_with(logged.entry, hit.what, words) if isinstance(logged.entry, AssistantReply) else None
        return found or next(iter(items_of_entry(logged.entry)), None)
    return None


def block_with(reply: AssistantReply, what: str, words: str) -> str | None:
    """The item of that reply in which the words stand: thinking, a text or a call. None if none of that kind has any of them."""
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


MOST_BROUGHT = 5
"""Most sessions that one search takes from a team's store to this machine: a second or so each, if they are long."""

MOST_SEARCHED = 500
"""Most hits that are looked through for those of one sub-agent."""

GAVE_THE_TASK = "the agent that gave the task"
"""Who speaks in the log of a sub-agent where the user speaks in others."""


class SessionRecall:
    """Implements `ullage.tools.recall.Recall` for one session. All methods raise `StoreFailed`.

    What a team's store finds in sessions that are not here is taken here first, and then searched and opened as all else is.
    `entries` is the log of the session. What the user took out of the conversation is not given back, nor what records tell of it: of any
    session, as its own log says. A fork that was made before has in force what its original took out later, and gives it back to itself
    alone as long as the original is there.
    """

    def __init__(self, session_id: str, log: LogStore, index: SearchIndex, entries: Callable[[], Sequence[Logged]]) -> None:
        self._session_id = session_id
        self._log = log
        self._index = index
        self._entries = entries

    async def search(self, words: str, limit: int, agent: str | None = None) -> Sequence[RecallHit]:
        """The best matches first, over all sessions of the workspace that the user has had, or in that of a sub-agent; at most `limit`."""
        found = await asyncio.to_thread(self._search, words, limit, self._entries()[:], agent)
        return [self._hit(hit) for hit in found]

    async def result(self, tool_use_id: str) -> str | None:
        """The whole result of a tool call, unclipped; None if there is none of that id."""
        return await asyncio.to_thread(self._result, tool_use_id, self._entries()[:])

    async def media(self, tool_use_id: str) -> Sequence[Media]:
        """The images and documents that the result of that call of this session shows; none if the user took it out."""
        return await asyncio.to_thread(_media, tool_use_id, self._entries()[:])

    async def range(self, first_seq: int, last_seq: int, agent: str | None = None) -> str:
        """The entries of this session, or of that sub-agent, from `first_seq` to `last_seq` (both included) as text."""
        if agent is not None:
            return await asyncio.to_thread(self._range_of_agent, agent, first_seq, last_seq, self._entries()[:])
        logged = await asyncio.to_thread(self._log.between, self._session_id, first_seq, last_seq)
        out = await asyncio.to_thread(_OutOfSight, self._entries()[:], first_seq, last_seq)
        return "\n\n".join(f"[{who}, entry {item.seq}]\n{quoted(said)}" for item in logged for who, said in out.texts(item))

    async def report(self, agent: str) -> str | None:
        """What that sub-agent said last, whole, and which entries it has; None if there is no such sub-agent."""
        return await asyncio.to_thread(self._report, agent, self._entries()[:])

    def _report(self, agent: str, entries: Sequence[Logged]) -> str | None:
        if not self._is_agent(agent):
            return None
        if agent in self._agents_out(entries):
            return EXCLUDED_RESULT
        self._bring(agent, self._log.rows.last_elsewhere(agent))
        logged = list(self._log.entries(agent))
        said = last_words(logged)
        last = logged[-1].seq if logged else 0
        return f"[the sub-agent, entries {_begun(logged) + 1} to {last}]\n{quoted(said or '(It said nothing.)')}"

    def _range_of_agent(self, agent: str, first_seq: int, last_seq: int, entries: Sequence[Logged]) -> str:
        if not self._is_agent(agent):
            return ""
        if agent in self._agents_out(entries):
            return EXCLUDED_RESULT
        self._bring(agent, self._log.rows.last_elsewhere(agent))
        logged = list(self._log.entries(agent))
        first_seq = max(first_seq, _begun(logged) + 1)  # its parent may have taken out since what it said before
        out = _OutOfSight(logged, first_seq, last_seq)
        wanted = [each for each in logged if first_seq <= each.seq <= last_seq]
        return "\n\n".join(
            f"[{GAVE_THE_TASK if who == 'user' else who}, entry {item.seq}]\n{quoted(said)}"
            for item in wanted
            for who, said in out.texts(item)
        )

    def _is_agent(self, session_id: str) -> bool:
        return self._log.recalled(AGENT + session_id) is not None

    def _agents_out(self, entries: Sequence[Logged]) -> AbstractSet[str]:
        """The sub-agents whose reports the user took out of this conversation, whose log is `entries`, or of another one."""
        hidden = [entry_at(entries, seq) for seq in out_of_sight(entries)]
        for session_id, seqs in self._index.out_of_sight().items():
            if session_id != self._session_id:
                hidden += [logged.entry for seq in seqs for logged in self._log.between(session_id, seq, seq)]
        return {entry.agent.session_id for entry in hidden if isinstance(entry, ToolReturned) and entry.agent is not None}

    def _search(self, words: str, limit: int, entries: Sequence[Logged], agent: str | None) -> Sequence[EntryHit]:
        if agent is None:
            self._bring_found(words, limit)
        else:
            self._bring(agent, self._log.rows.last_elsewhere(agent))
        hidden, out = self._hidden(out_of_sight(entries)), self._agents_out(entries)
        most = limit if agent is None and not out else MOST_SEARCHED
        found = self._index.search(words, most, None, self._session_id, hidden, foreign=False)
        return [hit for hit in found if hit.session_id not in out and agent in (None, hit.session_id)][:limit]

    def _bring_found(self, words: str, limit: int) -> None:
        """Brings the sessions of a team's store here in which the words stand, the best first, `MOST_BROUGHT` at most."""
        found: dict[str, int] = {}
        for hit in self._log.elsewhere.search(words, limit):
            found[hit.session_id] = max(hit.seq, found.get(hit.session_id, 0))
        wanted = [(session_id, seq) for session_id, seq in found.items() if self._log.rows.last(session_id) < seq]
        for session_id, seq in wanted[:MOST_BROUGHT]:
            self._bring(session_id, seq)

    def _bring(self, session_id: str, through: int) -> None:
        if self._log.rows.last(session_id) < through:
            with suppress(StoreFailed):  # what is here is found all the same
                self._log.elsewhere.bring(session_id)

    def _result(self, tool_use_id: str, entries: Sequence[Logged]) -> str | None:
        own = out_of_sight(entries)
        hidden = (entry_at(entries, seq) for seq in own)
        if any(isinstance(entry, ToolReturned) and entry.tool_use_id == tool_use_id for entry in hidden):
            return EXCLUDED_RESULT
        found = self._index.result(tool_use_id, self._session_id, self._hidden(own))
        if found is None and self._index.result(tool_use_id, self._session_id) is not None:
            return EXCLUDED_RESULT
        return found

    def _hidden(self, own: AbstractSet[int]) -> Mapping[str, AbstractSet[int]]:
        """The seqs of entries that are not to be found, by session. `own` are those of this session, which may have grown just now."""
        return {**self._index.out_of_sight(), self._session_id: own}

    def _hit(self, hit: EntryHit) -> RecallHit:
        what = hit.what if hit.what != "user" or not self._is_agent(hit.session_id) else GAVE_THE_TASK
        return RecallHit(hit.session_id, hit.seq, hit.at, what, hit.excerpt, hit.tool_use_id, hit.session_id == self._session_id)


def _begun(entries: Sequence[Logged]) -> int:
    """The seq of the last entry that a sub-agent has from its parent; 0 if it has none."""
    return max((each.seq for each in entries if isinstance(each.entry, Forked)), default=0)


def _media(tool_use_id: str, entries: Sequence[Logged]) -> Sequence[Media]:
    out = _OutOfSight(entries)
    for logged in reversed(entries):
        entry = logged.entry
        if isinstance(entry, ToolReturned) and entry.tool_use_id == tool_use_id:
            return () if logged.seq in out.hidden else entry.media
    return ()


class _OutOfSight:
    """What the user took out of a session, and how what stays reads without it."""

    def __init__(self, entries: Sequence[Logged], first: int = 0, last: int = -1) -> None:
        """The texts of the entries from seq `first` to `last`, both included, are asked for."""
        self._wanted = range(first, last + 1)
        self._entries = entries
        epoch = EpochState()
        records: set[int] = set()
        for logged in entries:
            epoch = epoch.after(logged)
            if isinstance(logged.entry, Compaction) and logged.entry.summarised is not None:
                records.add(logged.seq)
        self._active = to_be_read(as_they_read(epoch, self._whole), entries)
        self.seqs = all_taken_out(self._active.values())
        self.hidden = self.seqs | records if any(map(gone_by, self._active.values())) else self.seqs
        """The seqs that are not to be found: of what was taken out, and of records, which may tell of it."""
        self.paths = paths_out(self._active.values())
        """The files whose texts in an entry are not to be seen, by seq."""

    def _whole(self, seq: int, made: Compaction) -> Compaction:
        entry = entry_at(self._entries, seq) if seq in self._wanted else None
        return entry if isinstance(entry, Compaction) else made

    def texts(self, logged: Logged) -> Iterator[tuple[str, str]]:
        """What an entry says, as far as it is to be seen: each text behind the words for who says it."""
        if logged.seq in self.seqs:
            yield ("result", EXCLUDED_RESULT) if isinstance(logged.entry, ToolReturned) else ("message", EXCLUDED_MESSAGE)
        elif logged.seq not in self.hidden:
            yield from _texts(without_texts(logged.entry, self.paths.get(logged.seq, ())))
        elif logged.seq in self._active:
            yield from _texts(self._active[logged.seq])


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    match entry:
        case UserPrompt():
            yield "user", entry.text
            for attachment in entry.attachments:
                yield f"attachment {in_a_line(attachment.name)}", attachment.text
        case AssistantReply():
            for block in entry.blocks:
                yield from _said(block)
        case ToolReturned():
            yield f"result of {in_a_line(entry.tool)} ({entry.tool_use_id})", entry.content
            if entry.answers:
                yield "user answers", "\n".join(answer.words for answer in entry.answers)
        case Notice():
            yield "notice", entry.text
        case Compaction(summarised=summarised) if summarised is not None:
            yield "summary", summarised.words
        case _:
            return


def _said(block: AssistantBlock) -> Iterator[tuple[str, str]]:
    match block:
        case Text():
            yield "assistant", block.text
        case ToolUse():
            yield f"call of {in_a_line(block.name)} ({block.id})", json.dumps(dict(block.input), ensure_ascii=False)
        case _:  # thinking is not repeated
            return
