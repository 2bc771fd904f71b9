"""Why recorded requests found less in the prompt cache than the request before had left there, and what that cost.

The rule is the one of the live session (`context/counting/cache_clock.py`). A transcript tells less than a log of Ullage. What another
program changed in its prefix is often not recorded: such a miss has the reason `evicted`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ullage.context.blocks import Usage
from ullage.context.counting.cache_clock import CacheMiss, Reason, SentRequests
from ullage.context.entries import AssistantReply, Logged, Prelude, UserPrompt
from ullage.context.view.epoch import EpochKey, InForce, in_force
from ullage.models.model import Prices
from ullage.recorded.transcript import Transcript
from ullage.replay.pricing.cost import dollars
from ullage.replay.pricing.recorded_requests import Habits, habits_of

Why: TypeAlias = Reason | Literal["reasoning"]
"""`reasoning`: the program leaves the reasoning of the last turn out of its next requests."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A request (`seq` is the entry of its reply) that sent `tokens` anew, which the one before had left in the cache."""

    seq: int
    tokens: int
    reasons: tuple[Why, ...]


def misses_in(transcript: Transcript) -> Iterator[Missed]:
    """The requests of a session that missed the cache, in order. The first request of a session is none of them."""
    habits = habits_of(transcript)
    entries = (_with_all_written(logged, habits) for logged in transcript.entries)
    prompts = [logged.seq for logged in transcript.entries if isinstance(logged.entry, UserPrompt)]
    for miss in SentRequests(entries, _Keys(transcript).of).misses:
        yield Missed(miss.request.seq, miss.tokens, _reasons(miss, habits, prompts))


def _reasons(miss: CacheMiss, habits: Habits, prompts: list[int]) -> tuple[Why, ...]:
    is_new_turn = bisect_right(prompts, miss.before.seq) < bisect_left(prompts, miss.request.seq)
    if miss.reasons == ("evicted",) and habits.forgets_reasoning and is_new_turn:
        return ("reasoning",)
    return miss.reasons


def _with_all_written(logged: Logged, habits: Habits) -> Logged:
    """The reply with its input counted as written to the cache, where caching is automatic: a request leaves all of it there, and nothing
    of that is billed as written. Other entries stay as they are."""
    reply = logged.entry
    if habits.writes_cost or not isinstance(reply, AssistantReply) or reply.usage is None:
        return logged
    usage = reply.usage
    sent = {"cache_write_1h_tokens": usage.input_tokens} if habits.ttl == "1h" else {"cache_write_5m_tokens": usage.input_tokens}
    return replace(logged, entry=replace(reply, usage=replace(usage, input_tokens=0, **sent)))


class _Keys:
    """Tells under which prelude and compactions each reply of a transcript was made."""

    def __init__(self, transcript: Transcript) -> None:
        self._preludes = [logged.seq for logged in transcript.entries if isinstance(logged.entry, Prelude)]
        # A compaction has no entry of its own in a transcript. It is known by the first entry after it.
        self._compactions = sorted({compaction.after_seq + 1 for compaction in transcript.compactions})
        self._known: InForce | None = None

    def of(self, seq: int) -> EpochKey:
        """The key of the reply with that seq."""
        place = bisect_right(self._preludes, seq)
        self._known = in_force(self._known, self._compactions[: bisect_right(self._compactions, seq)])
        return EpochKey(self._preludes[place - 1] if place else 0, self._known)


def missed_dollars(prices: Prices, usage: Usage, tokens: int) -> float:
    """How much more these tokens of a request cost than if they had been read from the cache.

    They come right after what was read. So they are among those written for an hour, then for five minutes, then sent at full price.
    """
    for_an_hour = min(tokens, usage.cache_write_1h_tokens)
    for_minutes = min(tokens - for_an_hour, usage.cache_write_5m_tokens)
    plain = min(tokens - for_an_hour - for_minutes, usage.input_tokens)
    anew = for_an_hour + for_minutes + plain
    as_read = Usage(
        usage.input_tokens - plain,
        usage.output_tokens,
        usage.cache_read_tokens + anew,
        usage.cache_write_5m_tokens - for_minutes,
        usage.cache_write_1h_tokens - for_an_hour,
    )
    return dollars(prices, usage).total - dollars(prices, as_read).total
