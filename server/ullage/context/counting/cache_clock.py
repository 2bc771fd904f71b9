"""The requests of a session as the prompt cache saw them: what each left there, and why some missed it.

What a request found is what its usage reports. What it should have found is what the request before had read and written. Where it found
less, something between the two is the reason: the log tells which. Where the log tells of nothing, the API had let go of it.

Times are given, nothing here reads a clock. What the next request will find: `next_request.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.compaction_entries import BY_THE_USER, Compaction
from ullage.context.counting.prompt_cache import TTL_SECONDS, Ttl
from ullage.context.entries import AssistantReply, Forked, Logged, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.epoch import EpochKey

LEAST_MISSED = 256
"""Tokens. Fewer are no miss: caches that need no marks keep prefixes in steps of 128 (OpenAI)."""

KEYS_KEPT = 4
"""Epoch keys of which the newest request is remembered: the cache forgets the others soon."""
PRELUDES_KEPT = 8
"""Preludes that are remembered of a workspace: the cache forgets the others soon."""
LATELY = 64
"""Requests before the newest that the cache may still have something of."""

Reason: TypeAlias = Literal[
    "model", "effort", "system", "rules", "tools", "compaction", "undone", "redone", "excluded", "expired", "evicted"
]
"""Why a request missed the cache: what changed since the request before. `expired`: that was longer ago than the cache lives; `evicted`:
nothing that the log tells of."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was answered. `seq` is the entry of its reply, `started` when it was sent (Unix seconds)."""

    seq: int
    started: float
    model: str
    effort: str
    """The effort that was asked for; empty if it is not known."""
    key: EpochKey
    usage: Usage
    through: int = 0
    """The newest entry that the request held; 0 if that is not known."""

    @property
    def cached(self) -> int:
        """Tokens of the prefix that the request left in the cache: what it read and what it wrote."""
        usage = self.usage
        return usage.cache_read_tokens + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens

    @property
    def ttl(self) -> Ttl:
        """How long that prefix lives in the cache."""
        return "1h" if self.usage.cache_write_1h_tokens else "5m"


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A request that found less in the cache than the one before had left there, and so sent `tokens` anew."""

    request: SentRequest
    before: SentRequest
    tokens: int
    reasons: tuple[Reason, ...]

    @property
    def idle(self) -> float:
        """Seconds between the two requests."""
        return self.request.started - self.before.started


class SentPrelude(NamedTuple):
    """A prelude that was sent. `started` is when the newest request with it was sent (Unix seconds)."""

    prelude: Prelude
    model: str
    started: float
    ttl: Ttl


class SentPreludes:
    """The preludes that a workspace's requests sent lately. Sessions share this object, since one finds in the cache what another has
    left."""

    def __init__(self) -> None:
        self._sent: list[SentPrelude] = []

    def add(self, prelude: Prelude, request: SentRequest) -> None:
        """Notes that a request was sent with this prelude."""
        before = next((each for each in self._sent if each.prelude == prelude and is_same_model(each.model, request.model)), None)
        started = request.started if before is None else max(before.started, request.started)
        others = [each for each in self._sent if each is not before]
        self._sent = [*others, SentPrelude(prelude, request.model, started, request.ttl)][-PRELUDES_KEPT:]

    def sent(self, model: str) -> Iterator[SentPrelude]:
        """The preludes that were sent to that model."""
        return (each for each in self._sent if is_same_model(each.model, model))


class SentRequests:
    """The requests of one session, as the log tells them: the newest, and those that missed the cache. It keeps what it read."""

    def __init__(self, entries: Iterable[Logged], key_of: Callable[[int], EpochKey], preludes: SentPreludes | None = None) -> None:
        """`key_of` gives the key under which the reply of that entry was made; `preludes` are those of the workspace."""
        self._key_of = key_of
        self.preludes = SentPreludes() if preludes is None else preludes
        self._logged_at = 0.0
        self._read = 0
        """The newest entry that the model has read or will read."""
        self._by_user: set[int] = set()
        """The seqs of the compactions by which the user took something out."""
        self._prelude: Prelude | None = None
        self._changed: set[Reason] = set()
        """The parts of the prelude that have changed since the newest request."""
        self._turns: list[int] = []
        self.newest: SentRequest | None = None
        self._newest_under: dict[EpochKey, SentRequest] = {}
        self._lately: deque[SentRequest] = deque(maxlen=LATELY)
        self.misses: list[CacheMiss] = []
        """The requests that missed the cache, the oldest first."""
        self.count = 0
        """The number of requests whose usage was reported."""
        for logged in entries:
            self.add(logged)

    def add(self, logged: Logged) -> None:
        """Takes in the next entry of the log."""
        entry = logged.entry
        match entry:
            case Prelude():
                self._changed |= _changes(self._prelude, entry)
                self._prelude = entry
            case Compaction() if entry.policy == BY_THE_USER:
                self._by_user.add(logged.seq)
            case UserPrompt() if not entry.steering:
                self._turns.append(logged.seq)
            case Forked():  # the other session has paid for what was before it
                self.misses, self.count = [], 0
                if self.newest is not None and entry.used_at:
                    self.newest = replace(self.newest, started=max(self.newest.started, entry.used_at))
            case AssistantReply(usage=Usage() as usage) if usage.can_be and usage.total_input_tokens:
                self._sent(logged.seq, entry, usage, self._logged_at or logged.at)
            case _:
                pass
        if isinstance(entry, UserPrompt | ToolReturned | Notice) or (isinstance(entry, Compaction) and entry.summarised is not None):
            self._read = logged.seq
        self._logged_at = logged.at

    def turns_since(self, seq: int) -> int:
        """The number of turns that began after that entry."""
        return len(self._turns) - bisect_right(self._turns, seq)

    def newest_under(self, key: EpochKey) -> SentRequest | None:
        """The newest request under that key, to which an undo leads back; None if none is remembered."""
        return self._newest_under.get(key)

    def lately(self) -> Iterator[tuple[SentRequest, float]]:
        """The newest requests, the newest first. With each comes the time (Unix seconds) at which what it had left at its end was last
        read: by the request after it, else when it was sent itself."""
        after: SentRequest | None = None
        for each in () if self.newest is None else (self.newest, *reversed(self._lately)):
            was_read = after is not None and after.usage.cache_read_tokens >= each.cached > 0 and is_same_model(after.model, each.model)
            yield each, after.started if after is not None and was_read else each.started
            after = each

    def before(self, sent: SentRequest) -> SentRequest | None:
        """The request before `sent`; None if it is not remembered."""
        return next((each for each in reversed(self._lately) if each.seq < sent.seq), None)

    def _sent(self, seq: int, reply: AssistantReply, usage: Usage, started: float) -> None:
        sent = SentRequest(seq, started, reply.model, reply.effort, self._key_of(seq), usage, self._read)
        before, self.newest = self.newest, sent
        if before is not None:
            self._lately.append(before)
        self._newest_under.pop(sent.key, None)
        self._newest_under[sent.key] = sent
        if len(self._newest_under) > KEYS_KEPT:
            del self._newest_under[next(iter(self._newest_under))]
        self.count += 1
        if self._prelude is not None and sent.cached:
            self.preludes.add(self._prelude, sent)
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
    """The parts of the prelude that are not the same in `before` and `after`. Empty if there was none before."""
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


_DATE = re.compile(r"[-@:]\d{4}-?\d{2}-?\d{2}")


def is_same_model(one: str, other: str) -> bool:
    """Whether both names mean one model: an endpoint answers with a date behind the name that it was asked by."""
    short, long = sorted((one, other), key=len)
    return short == long or (short != "" and long.startswith(short) and _DATE.fullmatch(long, len(short)) is not None)
