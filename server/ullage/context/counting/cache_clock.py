"""The prompt cache as a live session sees it: what the next request reads and writes, warm and cold, and why earlier ones missed the cache.

What a request found is what its usage reports. What it should have found is what the request before had read and written. Where it found
less, something between the two is the reason: the log tells which. Where the log tells of nothing, the API had let go of it.

Times are given, nothing here reads a clock. How the cache charges a request is known in `prompt_cache.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import BY_THE_USER, Compaction
from ullage.context.counting.prompt_cache import START, TTL_SECONDS, Mark, Prefix, PromptCache, RequestShape, Ttl
from ullage.context.entries import AssistantReply, Forked, Logged, Prelude, UserPrompt
from ullage.context.view.epoch import EpochKey

LEAST_MISSED = 256
"""Tokens. Less is no miss: caches that need no marks keep prefixes in steps of 128 (OpenAI)."""

Reason: TypeAlias = Literal[
    "model", "effort", "system", "rules", "tools", "compaction", "undone", "redone", "excluded", "expired", "evicted"
]
"""What changed since the request before. `expired`: that was longer ago than the cache lives; `evicted`: nothing that the log tells of."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was answered. `seq` is the entry of its reply, `started` when it was sent (Unix seconds)."""

    seq: int
    started: float
    model: str
    effort: str
    """What was asked for; empty where that is not known."""
    key: EpochKey
    usage: Usage

    @property
    def cached(self) -> int:
        """Tokens up to where it left its prefix in the cache: what it read and what it wrote."""
        usage = self.usage
        return usage.cache_read_tokens + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens

    @property
    def ttl(self) -> Ttl:
        """How long that lives."""
        return "1h" if self.usage.cache_write_1h_tokens else "5m"


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A request that found less in the cache than the one before had left there. `tokens` it sent anew for that."""

    request: SentRequest
    before: SentRequest
    tokens: int
    reasons: tuple[Reason, ...]

    @property
    def idle(self) -> float:
        """Seconds between the two."""
        return self.request.started - self.before.started


class SentRequests:
    """The requests of one session, as the log tells them: the newest, and those that missed the cache. Keeps what it read."""

    def __init__(self, entries: Iterable[Logged], key_of: Callable[[int], EpochKey]) -> None:
        """`key_of` gives the key under which the reply of that entry was made."""
        self._key_of = key_of
        self._logged_at = 0.0
        self._by_user: set[int] = set()
        """The compactions by which the user took something out, by seq."""
        self._prelude: Prelude | None = None
        self._changed: set[Reason] = set()
        """Of what precedes the messages, since the newest request."""
        self._turns: list[int] = []
        self.newest: SentRequest | None = None
        self.misses: list[CacheMiss] = []
        """Oldest first."""
        self.count = 0
        """Requests whose usage was reported."""
        for logged in entries:
            self.add(logged)

    def add(self, logged: Logged) -> None:
        """The next entry of the log."""
        entry = logged.entry
        match entry:
            case Prelude():
                self._changed |= _changes(self._prelude, entry)
                self._prelude = entry
            case Compaction() if entry.policy == BY_THE_USER:
                self._by_user.add(logged.seq)
            case UserPrompt() if not entry.steering:
                self._turns.append(logged.seq)
            case Forked():  # what was before it the other session has paid
                self.misses, self.count = [], 0
                if self.newest is not None and entry.used_at:
                    self.newest = replace(self.newest, started=max(self.newest.started, entry.used_at))
            case AssistantReply(usage=Usage() as usage) if usage.can_be and usage.total_input_tokens:
                self._sent(logged.seq, entry, usage, self._logged_at or logged.at)
            case _:
                pass
        self._logged_at = logged.at

    def turns_since(self, seq: int) -> int:
        """How many turns began after that entry."""
        return len(self._turns) - bisect_right(self._turns, seq)

    def _sent(self, seq: int, reply: AssistantReply, usage: Usage, started: float) -> None:
        sent = SentRequest(seq, started, reply.model, reply.effort, self._key_of(seq), usage)
        before, self.newest = self.newest, sent
        self.count += 1
        if before is not None:
            missed = min(before.cached, usage.total_input_tokens) - usage.cache_read_tokens
            if missed >= LEAST_MISSED:
                self.misses.append(CacheMiss(sent, before, missed, tuple(self._reasons(before, sent)) or ("evicted",)))
        self._changed = set()

    def _reasons(self, before: SentRequest, sent: SentRequest) -> Iterator[Reason]:
        if not is_same_model(before.model, sent.model):
            yield "model"
        if before.effort and sent.effort and before.effort != sent.effort:
            yield "effort"
        if before.key.prelude != sent.key.prelude:
            yield from sorted(self._changed)
        if before.key.compactions != sent.key.compactions:
            yield from self._compacted(before, sent)
        if sent.started - before.started >= TTL_SECONDS[before.ttl]:
            yield "expired"

    def _compacted(self, before: SentRequest, sent: SentRequest) -> Iterator[Reason]:
        then, now = set(before.key.seqs[1:]), set(sent.key.seqs[1:])
        made = now - then
        if any(seq > before.seq and seq not in self._by_user for seq in made):
            yield "compaction"
        if any(seq > before.seq and seq in self._by_user for seq in made):
            yield "excluded"
        if any(seq < before.seq for seq in made):
            yield "redone"
        if then - now:
            yield "undone"


_CATEGORIES: tuple[Literal["system", "rules"], ...] = ("system", "rules")


def _changes(before: Prelude | None, after: Prelude) -> set[Reason]:
    """What of it is another one."""
    if before is None:
        return set()
    changed: set[Reason] = set()
    for category in _CATEGORIES:
        then, now = ([part.text for part in each.system if part.category == category] for each in (before, after))
        if then != now:
            changed.add(category)
    if before.tools != after.tools:
        changed.add("tools")
    return changed


def is_same_model(one: str, other: str) -> bool:
    """Whether both name one model: an endpoint answers with a date behind the name that it was asked by."""
    return one.startswith(other) or other.startswith(one)


# The next request


@dataclass(frozen=True, slots=True)
class NextRequest:
    """What the next request will take of the cache. Tokens of its input: what comes back is not known."""

    warm: Usage
    cold: Usage
    started: float | None
    """When the newest request was sent, from which on the cache has lived (Unix seconds); None where nothing is in it."""
    lives: float
    """Seconds from then on."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What will be asked: of which model, with which effort, under which key."""

    model: str
    effort: str
    key: EpochKey
    minimum: int
    """Tokens below which the model caches nothing."""


def next_request(newest: SentRequest | None, asking: Asking, used: int, fixed: int) -> NextRequest:
    """What a request of `used` tokens in all reads and writes, of which `fixed` precede the messages.

    It finds what the newest request left, if nothing before its end has changed since: the model, what precedes the messages, the
    compactions in force. After another effort or other compactions it finds what precedes the messages.
    """
    left = _left_by(newest, asking, used, fixed)
    ttl = newest.ttl if newest is not None else "5m"
    started = newest.started if newest is not None and left else None
    cold = _charged(asking, used, fixed, 0, ttl, warm=False)
    warm = cold if not left else _charged(asking, used, fixed, left, ttl, warm=True)
    return NextRequest(warm, cold, started, TTL_SECONDS[ttl])


def _left_by(newest: SentRequest | None, asking: Asking, used: int, fixed: int) -> int:
    """Tokens of the next request up to which the newest one left it in the cache."""
    if newest is None or not is_same_model(newest.model, asking.model) or newest.key.prelude != asking.key.prelude:
        return 0
    is_same = newest.key == asking.key and (not newest.effort or newest.effort == asking.effort)
    return min(newest.cached if is_same else min(fixed, newest.cached), used)


def _charged(asking: Asking, used: int, fixed: int, left: int, ttl: Ttl, *, warm: bool) -> Usage:
    cache = PromptCache(lambda _: asking.minimum)
    ends = {end for end in (min(fixed, used), left, used) if end}
    row: list[Prefix] = []
    before = START
    for end in sorted(ends):
        before = before.then(str(end), end - before.tokens)
        row.append(before)
    if warm:
        marks = tuple(Mark(prefix, ttl) for prefix in row if prefix.tokens <= left)
        cache.charge(RequestShape(asking.model, 0.0, marks[-1].prefix, marks))
    return cache.charge(RequestShape(asking.model, 1.0, before, tuple(Mark(prefix, ttl) for prefix in row)))
