"""The prompt cache as a live session sees it: what the next request reads and writes, warm and cold, and why earlier ones missed the cache.

What a request found is what its usage reports. What it should have found is what the request before had read and written. Where it found
less, something between the two is the reason: the log tells which. Where the log tells of nothing, the API had let go of it.

Times are given, nothing here reads a clock. How the cache charges a request is known in `prompt_cache.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ullage.context.blocks import RedactedThinking, Thinking, Usage
from ullage.context.compaction_entries import BY_THE_USER, Compaction
from ullage.context.counting.prompt_cache import LOOK_BACK, START, TTL_SECONDS, Mark, Prefix, PromptCache, RequestShape, Ttl
from ullage.context.counting.tokens import estimate_prelude
from ullage.context.entries import AssistantReply, Entry, Forked, Logged, Prelude, UserPrompt
from ullage.context.view.epoch import EpochKey
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection

LEAST_MISSED = 256
"""Tokens. Less is no miss: caches that need no marks keep prefixes in steps of 128 (OpenAI)."""

KEYS_KEPT = 4
"""Whose newest request is known: the cache forgets the others soon."""
LATELY = 64
"""Requests before the newest that the cache may still have something of."""

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
        self._newest_under: dict[EpochKey, SentRequest] = {}
        self._lately: deque[SentRequest] = deque(maxlen=LATELY)
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

    def newest_under(self, key: EpochKey) -> SentRequest | None:
        """The newest request under that key: an undo leads back to it."""
        return self._newest_under.get(key)

    def lately(self) -> Iterator[SentRequest]:
        """Those before the newest, newest first; each as of when the one after it read what it had left, if it did."""
        after = self.newest
        for each in reversed(self._lately):
            was_read = after is not None and after.usage.cache_read_tokens >= each.cached > 0 and is_same_model(after.model, each.model)
            yield replace(each, started=after.started) if after is not None and was_read else each
            after = each

    def _sent(self, seq: int, reply: AssistantReply, usage: Usage, started: float) -> None:
        sent = SentRequest(seq, started, reply.model, reply.effort, self._key_of(seq), usage)
        before, self.newest = self.newest, sent
        if before is not None:
            self._lately.append(before)
        self._newest_under.pop(sent.key, None)
        self._newest_under[sent.key] = sent
        if len(self._newest_under) > KEYS_KEPT:
            del self._newest_under[next(iter(self._newest_under))]
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


_DATE = re.compile(r"[-@:]\d{4}-?\d{2}-?\d{2}")


def is_same_model(one: str, other: str) -> bool:
    """Whether both name one model: an endpoint answers with a date behind the name that it was asked by."""
    short, long = sorted((one, other), key=len)
    return short == long or (short != "" and long.startswith(short) and _DATE.fullmatch(long, len(short)) is not None)


# The next request


@dataclass(frozen=True, slots=True)
class NextRequest:
    """What the next request will take of the cache. Tokens of its input: what comes back is not known."""

    warm: Usage
    cold: Usage
    started: float | None
    """When the request was sent that left in the cache what the next one reads (Unix seconds); None where nothing is in it."""
    lives: float
    """Seconds from then on."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What will be asked: of which model, with which effort; `used` tokens in all, of which `fixed` precede the messages."""

    model: str
    effort: str
    minimum: int
    """Tokens below which the model caches nothing."""
    used: int
    fixed: int


def next_request(requests: SentRequests, view: Projection, asking: Asking, now: float) -> NextRequest:
    """What a request of `view` reads and writes.

    It finds what an earlier one left, if nothing before its end has changed since (the model, what precedes the messages, the messages) and
    it ended near enough to the end for the cache to look there. After another effort or a compaction it finds what precedes the messages.
    """
    cold = _charged(asking, 0, "5m", warm=False)
    for each in _candidates(requests, view):
        lives = each.started + TTL_SECONDS[each.ttl] > now
        if lives and _is_asked_alike(each, asking) and _is_in_reach(each, view) and stands(each, view):
            return _warm(each, asking, each.cached, cold)
    newest = requests.newest
    if newest is None or not is_same_model(newest.model, asking.model):
        return NextRequest(cold, cold, None, TTL_SECONDS["5m"])
    if newest.key.prelude != view.key.prelude:
        return _warm(newest, asking, min(_fixed_in_common(newest, view, asking), newest.cached), cold)
    whole = stands(newest, view) and _is_asked_alike(newest, asking)  # it has gone cold, and the clock says since when
    return _warm(newest, asking, newest.cached if whole else min(asking.fixed, newest.cached), cold)


def _fixed_in_common(sent: SentRequest, view: Projection, asking: Asking) -> int:
    """Tokens of what preceded the messages of `sent`, where all of it still does and only more has come after it, such as a rules file."""
    then, now = entry_at(view.entries, sent.key.prelude), view.prelude
    if not isinstance(then, Prelude) or now is None or then.tools != now.tools or then.system != now.system[: len(then.system)]:
        return 0
    return asking.fixed * estimate_prelude(then) // max(1, estimate_prelude(now))


def _candidates(requests: SentRequests, view: Projection) -> Iterator[SentRequest]:
    """The requests that may have left the most in the cache, those first."""
    if requests.newest is not None:
        yield requests.newest
    under = requests.newest_under(view.key)
    if under is not None:
        yield under
    yield from requests.lately()


def _is_in_reach(sent: SentRequest, view: Projection) -> bool:
    """Whether what it sent ended so near to the end of the last user message in view, which is marked, that it is found from there."""
    messages = view.messages
    last = len(messages) - 1
    while last >= 0 and messages[last].role != "user":
        last -= 1
    blocks = 0
    for index in range(last, -1, -1):
        if max(messages[index].sources) < sent.seq:
            return True
        blocks += len(messages[index].blocks)
        if blocks >= LOOK_BACK:
            return False
    return False


def _is_asked_alike(sent: SentRequest, asking: Asking) -> bool:
    return is_same_model(sent.model, asking.model) and (not sent.effort or sent.effort == asking.effort)


def stands(sent: SentRequest, view: Projection) -> bool:
    """Whether the next request begins with all that `sent` held."""
    if sent.key == view.key:
        return True
    if sent.key.prelude != view.key.prelude or any(each.summarised is not None for each in view.active):
        return False
    changed = {*sent.key.seqs[1:]} ^ {*view.key.seqs[1:]}
    if any(_first_touched(entry_at(view.entries, seq)) < sent.seq for seq in changed):
        return False
    # What was thought under its key it sent, and now that is no longer sent.
    return not any(_thinks(entry_at(view.entries, seq)) and view.key_at(seq) == sent.key for seq in _replies_before(sent, view))


def _first_touched(made: Entry | None) -> int:
    """The seq of the first entry that a compaction changes something of."""
    if not isinstance(made, Compaction) or made.summarised is not None:
        return 0
    snipped = () if made.snipped is None else (made.snipped.first_seq,)
    files = (seq for file in made.without_files for seq in file.seqs)
    return min((*(each.seq for each in made.cleared), *snipped, *files), default=made.through)


def _replies_before(sent: SentRequest, view: Projection) -> set[int]:
    replies = (message.sources for message in view.messages if message.role == "assistant")
    return {seq for sources in replies for seq in sources if seq < sent.seq}


def _thinks(entry: Entry | None) -> bool:
    return isinstance(entry, AssistantReply) and any(isinstance(block, Thinking | RedactedThinking) for block in entry.blocks)


def _warm(sent: SentRequest, asking: Asking, left: int, cold: Usage) -> NextRequest:
    left = min(left, asking.used)
    warm = _charged(asking, left, sent.ttl, warm=True) if left else cold
    return NextRequest(warm, cold, sent.started if left else None, TTL_SECONDS[sent.ttl])


def _charged(asking: Asking, left: int, ttl: Ttl, *, warm: bool) -> Usage:
    """By the cache, into which a request was put before that ended at `left`."""
    cache = PromptCache(lambda _: asking.minimum)
    ends = {end for end in (min(asking.fixed, asking.used), left, asking.used) if end}
    row: list[Prefix] = []
    before = START
    for end in sorted(ends):
        before = before.then(str(end), end - before.tokens)
        row.append(before)
    if warm:
        marks = tuple(Mark(prefix, ttl) for prefix in row if prefix.tokens <= left)
        cache.charge(RequestShape(asking.model, 0.0, marks[-1].prefix, marks))
    return cache.charge(RequestShape(asking.model, 1.0, before, tuple(Mark(prefix, ttl) for prefix in row)))
