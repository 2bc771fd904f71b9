"""The requests that a recorded session must have made, as the prompt cache saw them: rebuilt from entries and true totals.

A transcript says how many tokens each request had and what came between two of them; it does not hold what precedes the messages
(system prompt, tools), nor where the requests were marked. So the size of a request is the recorded one; how it spreads over blocks
is estimated, scaled to the recorded growth; and the marks are those that the program is known to set. What the record says of
reads and writes is not looked at, but for two things that no entry shows: which time to live was bought, and what the first request
found, since other sessions had written it (that is then taken for the size of the system prompt and tools).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from sys import intern
from typing import TypeAlias

from ullage.context.blocks import RedactedThinking, Text, Thinking, Usage
from ullage.context.counting.media import media_tokens as tokens_of_media
from ullage.context.counting.prompt_cache import START, CacheMark, Prefix, RequestShape, Ttl
from ullage.context.counting.tokens import HIGHEST_RATIO, LOWEST_RATIO, TOOL_BLOCK_TOKENS, estimate_block, estimate_text
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, Prelude, ToolReturned, UserPrompt, media_in
from ullage.recorded.transcript import Source, Transcript

SYSTEM_SHARE = 0.65
"""How much of what precedes the first prompt is system prompt and tools, which a compaction leaves in place; the rest (rules,
reminders, lists of skills) is said anew with the summary. The median over recorded sessions of what was read after a compaction."""

SMALL_FALL = 2_000
"""Tokens. Where a request has fewer than the one before and no compaction is recorded, something was taken out of the prefix: up to
this many, the thinking of the last turn (at its end); more, old tool results (anywhere)."""

REPLIES_TO_LEARN_FROM = 10
"""How many replies the ratio of recorded to estimated tokens is taken from, before the size of the prelude is inferred with it."""

Piece: TypeAlias = tuple[str, int]
"""A block that the next request adds: identity, and tokens as estimated."""

SYSTEM, OPENING, CHANGED, SYSTEM_ANEW, UNSEEN = "system", "opening", "changed by ", "system of ", "unseen before "
"""Identities of what no entry tells: system prompt and tools; what else precedes the first prompt; and, each with the seq of the reply
that a request got, what was changed in the prefix, a new system prompt, and what was sent without being recorded."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How a program's requests go with the cache."""

    ttl: Ttl | None
    """The time to live of its marks; None if it is bought, and the record of what was written tells which."""
    writes_cost: bool
    """False if caching is automatic and a token written costs what any other does."""
    forgets_reasoning: bool
    """Whether a user's prompt takes the reasoning of the turn before out of the prefix."""


# Claude Code: more than twenty new blocks at once lose nothing in recorded sessions, so the end of the message before is marked too.
# Codex: OpenAI's models before GPT-5.6 cache by themselves, for an hour at most; recorded reads after 6 to 12 minutes bear that out.
HABITS: dict[Source, Habits] = {
    "claude-code": Habits(ttl=None, writes_cost=True, forgets_reasoning=False),
    "codex": Habits(ttl="1h", writes_cost=False, forgets_reasoning=True),
    "ullage": Habits(ttl=None, writes_cost=True, forgets_reasoning=False),
}
_BUYS = Habits(ttl="5m", writes_cost=True, forgets_reasoning=False)
_AUTOMATIC = Habits(ttl="1h", writes_cost=False, forgets_reasoning=False)


def habits_of(transcript: Transcript) -> Habits:
    """How the program of a transcript goes with the cache. Of programs for the models of many providers: where nothing was ever written to
    the cache, it is automatic. Not measured."""
    of_program = HABITS.get(transcript.source)
    if of_program is not None:
        return of_program
    writes = any(reply.usage is not None and reply.usage.cache_write_5m_tokens for reply in transcript.replies)
    return _BUYS if writes else _AUTOMATIC


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request: its shape, what was recorded for it, and the entry (`seq`) of its reply."""

    seq: int
    shape: RequestShape
    recorded: Usage


def requests_of(transcript: Transcript) -> Iterator[RecordedRequest]:
    """The requests that were answered with a count, in order. A reply without one becomes part of the next request."""
    builder = _Builder(habits_of(transcript), _first(transcript), transcript.media_tokens)
    compacted_after = {compaction.after_seq for compaction in transcript.compactions}
    for logged in transcript.entries:
        if logged.seq - 1 in compacted_after:
            builder.compact()
        usage = _counted(logged.entry)
        if isinstance(logged.entry, AssistantReply) and usage is not None:
            yield RecordedRequest(logged.seq, builder.request(logged, logged.entry.model, usage), usage)
        builder.add(logged)


class _Builder:
    """The prefix as it grows. A request shares with the one before it all that has not changed."""

    def __init__(self, habits: Habits, first: _First, media_tokens: Mapping[int, int]) -> None:
        self._habits = habits
        self._media_tokens = media_tokens
        self._ttl: Ttl = habits.ttl or first.ttl
        self._system: Prefix = START.then(SYSTEM, first.system)
        self._head: Prefix = self._system
        self._last_end: Prefix = self._system
        """The end of the last message of the user in the last request: marked there, and marked again by the next."""
        self._turn = _Turn()
        self._pieces: list[Piece] = [(OPENING, first.opening)]
        self._started = 0.0
        self._kept: Prefix | None = None
        """Where the log says that all after it was changed since the last request."""

    def add(self, logged: Logged) -> None:
        """An entry that the next request sends for the first time."""
        entry = logged.entry
        self._pieces.extend(pieces_of(logged, self._media_tokens))
        if isinstance(entry, AssistantReply):
            self._turn.reasoned |= any(isinstance(block, Thinking | RedactedThinking) for block in entry.blocks)
            return
        self._started = max(self._started, logged.at)
        if isinstance(entry, UserPrompt):
            self._turn.ended = True
        elif isinstance(entry, Prelude) and self._head is not self._system:
            self._kept = START

    def compact(self) -> None:
        """Drops the messages: from here on they are others. What precedes them stays."""
        self._kept = self._kept or self._system
        self._pieces = []

    def request(self, logged: Logged, model: str, usage: Usage) -> RequestShape:
        """The request that `logged` answers. It has the recorded number of tokens."""
        self._ttl = self._habits.ttl or _ttl_of(usage) or self._ttl
        self._started = self._started or logged.at
        self._reach(usage.total_input_tokens, logged.seq)
        ends = [self._system, self._last_end, self._head]
        if self._habits.forgets_reasoning and self._turn.start is not None:
            ends.append(self._turn.start)
        self._last_end = self._head
        return RequestShape(
            model=model,
            at=self._started,
            end=self._head,
            marks=tuple(CacheMark(end, self._ttl) for end in ends),
            output_tokens=usage.output_tokens,
        )

    def _reach(self, total: int, seq: int) -> None:
        shared = self._shared(total)
        if shared is START:
            self._system = shared = START.then(f"{SYSTEM_ANEW}{seq}", min(self._system.tokens, total))
        if shared is not self._head:
            self._head = self._last_end = shared
            changed = max(total - shared.tokens - sum(tokens for _, tokens in self._pieces), 0)
            self._pieces.insert(0, (f"{CHANGED}{seq}", changed))
            if not any(prefix is self._turn.start for prefix in shared.backwards()):
                self._turn.start = None
        self._append(total - self._head.tokens, self._pieces or [(f"{UNSEEN}{seq}", 1)])
        self._pieces = []
        if self._turn.ended or self._turn.start is None:
            self._turn = _Turn(self._head)

    def _shared(self, total: int) -> Prefix:
        """The longest prefix that a request of `total` tokens has in common with the one before."""
        fall = self._head.tokens - total
        shared = self._head
        if self._kept is not None:
            shared = self._kept
        elif fall > SMALL_FALL:
            shared = self._system
        elif self._habits.forgets_reasoning and self._turn.ended and self._turn.reasoned and self._turn.start is not None:
            shared = self._turn.start
        self._kept = None
        return next((prefix for prefix in shared.backwards() if prefix.tokens <= total), START)

    def _append(self, growth: int, pieces: list[Piece]) -> None:
        """The pieces, scaled so that they take `growth` tokens together."""
        estimated = sum(tokens for _, tokens in pieces)
        base, so_far = self._head.tokens, 0
        for identity, tokens in pieces:
            so_far += tokens
            upto = base + (growth * so_far // estimated if estimated else growth)
            self._head = self._head.then(identity, upto - self._head.tokens)


@dataclass(slots=True)
class _Turn:
    """What is known of the turn that runs. `start` is the end of its first request; None before any."""

    start: Prefix | None = None
    reasoned: bool = False
    ended: bool = False
    """Whether the user has spoken since its first request."""


def pieces_of(logged: Logged, media_tokens: Mapping[int, int]) -> Iterator[Piece]:
    """The blocks that an entry brings into a request, as far as the cache tells them apart. Their identities are unique in a session.

    `media_tokens`: see `Transcript`.
    """
    entry = logged.entry
    media = media_tokens.get(logged.seq, 0) + sum(map(tokens_of_media, media_in(entry)))
    if isinstance(entry, AssistantReply):
        for index, block in enumerate(entry.blocks):
            if not isinstance(block, Text) or block.text.strip():
                yield intern(f"{logged.seq}.{index}"), estimate_block(block)
    elif isinstance(entry, ToolReturned):
        yield intern(str(logged.seq)), TOOL_BLOCK_TOKENS + estimate_text(entry.content) + media
    elif isinstance(entry, Notice):
        yield intern(str(logged.seq)), estimate_text(entry.text) + media
    elif isinstance(entry, UserPrompt):
        yield intern(str(logged.seq)), estimate_text(entry.text) + media + sum(estimate_text(each.text) for each in entry.attachments)


def _counted(entry: Entry) -> Usage | None:
    """The usage that a reply was counted with; None for other entries and where nothing was counted (or a placeholder stands)."""
    usage = entry.usage if isinstance(entry, AssistantReply) else None
    return usage if usage is not None and usage.total_input_tokens else None


def _ttl_of(usage: Usage) -> Ttl | None:
    if usage.cache_write_1h_tokens:
        return "1h"
    return "5m" if usage.cache_write_5m_tokens else None


@dataclass(frozen=True, slots=True)
class _First:
    """What precedes the messages (tokens), and the time to live that was bought first."""

    system: int
    opening: int
    ttl: Ttl


def _first(transcript: Transcript) -> _First:
    counted = [usage for logged in transcript.entries if (usage := _counted(logged.entry))]
    bought: list[Ttl] = [ttl for usage in counted if (ttl := _ttl_of(usage))]
    prelude = _prelude_tokens(transcript)
    found = counted[0].cache_read_tokens if counted else 0
    if any(isinstance(logged.entry, Prelude) for logged in transcript.entries):
        system = prelude  # nothing else precedes the messages where the log tells what does
    else:
        system = found if 0 < found <= prelude else round(prelude * SYSTEM_SHARE)
    return _First(system, prelude - system, bought[0] if bought else "5m")


def _prelude_tokens(transcript: Transcript) -> int:
    """The tokens that precede the first prompt: the first request less its entries, as the first replies teach to estimate them."""
    first_total: int | None = None
    first_estimate = 0
    total, estimate = 0, 0
    ratios: list[float] = []
    compacted_after = {compaction.after_seq for compaction in transcript.compactions}
    is_compacted = False
    for logged in transcript.entries:
        usage = _counted(logged.entry)
        is_compacted |= logged.seq - 1 in compacted_after
        if usage is not None:
            if first_total is None:
                first_total, first_estimate = usage.total_input_tokens, estimate
            elif estimate > 0 and usage.total_input_tokens > total and not is_compacted:
                ratios.append((usage.total_input_tokens - total) / estimate)
            total, estimate, is_compacted = usage.total_input_tokens, 0, False
        if len(ratios) == REPLIES_TO_LEARN_FROM:
            break
        estimate += sum(tokens for _, tokens in pieces_of(logged, transcript.media_tokens))
    ratio = median(ratios) if ratios else 1.0
    ratio = min(max(ratio, LOWEST_RATIO), HIGHEST_RATIO)
    return max((first_total or 0) - round(first_estimate * ratio), 0)
