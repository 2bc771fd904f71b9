"""When a compaction pays for itself: what carrying the context costs against what compacting costs.

All amounts are in prices of one uncached input token, so that only the proportions of a model's prices matter. The line stays in force
beside it: this only says when to compact before.

Every request pays for reading the whole context from the prompt cache. A compaction is paid once: the call that writes the summary, and
writing to the cache what the compaction leaves. With even growth the two together are least where the one has come to equal the other
(the square-root rule of economic lot sizes); at `patience` times that, the sum is (√p + 1/√p) / 2 times the least: 1.06 at 2.

What a compaction forgets costs, too: the agent fetches some of it again. That is counted with its price: what the compactions of this
workspace really brought about, where there are enough of them. What the agent gets wrong because it does not look is not counted. Nobody
can, so nothing is compacted to save unless the user chose that (`fullest` is the default).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypeAlias

from ullage.context.compaction_entries import Compaction, FetchedAgain
from ullage.context.entries import AssistantReply, Forked, Logged

Economy: TypeAlias = Literal["cheapest", "balanced", "fullest"]

CACHE_SECONDS = 300.0
"""How long the prompt cache lives after the last request has started (anthropic-api.md 2.1; the marks are for five minutes)."""
COOLING_SECONDS = 240.0
"""From here on, while nobody asks anything, the cache is about to go cold; the rest is for writing a summary from it. A cache that lives
longer has as large a share of its time for that."""
SUMMARY_OUTPUT_TOKENS = 2_500
"""Tokens that a model usually writes for a summary: a guess, until one has been written (`took`)."""
SUMMARIES_LOOKED_AT = 5
"""Newest summaries whose length is looked at: models and prompts change."""
USUAL_LEFT = 18_000
"""Tokens of messages that a first compaction usually leaves: tail, summary and files. Later ones are measured by the one before."""
SMALLEST_GAIN = 10_000
"""Tokens. With less to gain a compaction is not worth what it loses."""
CHARACTERS_PER_TOKEN = 2.9
"""Characters for each token of what tools gave in recorded sessions."""
FETCHED_AGAIN_TOKENS = 3_600
"""Tokens that are fetched again after a compaction, though they stood in view before. Of results of 46,700 characters in the 60 messages
after one of 31 recorded compactions, 39.7 % is text acquired again, of which 44 % would have been in view still."""
FETCHED_AGAIN_CALLS = 4
"""Requests that fetch nothing but that: the same share of the 17 results that these messages have."""
FETCHING_OUTPUT_TOKENS = 150
"""Tokens that the model writes for a call that fetches something again: a guess."""
ENOUGH_COMPACTIONS = 3
"""From this many compactions on, what they brought about counts instead of these two numbers."""


@dataclass(frozen=True, slots=True)
class Refetching:
    """What is fetched again after a compaction: tokens, and the requests that fetch nothing else."""

    tokens: float
    calls: float


@dataclass(frozen=True, slots=True)
class Refetched:
    """What several compactions brought about together: the tokens that were fetched again, and the requests that fetched nothing else."""

    compactions: int = 0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: Refetched) -> Refetched:
        return Refetched(self.compactions + other.compactions, self.tokens + other.tokens, self.calls + other.calls)

    def after(self, found: FetchedAgain | None) -> Refetched:
        """The sum with one more compaction. It is not counted where nothing was said after it, or `found` is None."""
        return self + Refetched(1, found.tokens, found.results) if found is not None and found.messages else self

    @property
    def usual(self) -> Refetching | None:
        """What one compaction brings about on average; None if there are fewer than `ENOUGH_COMPACTIONS`."""
        if self.compactions < ENOUGH_COMPACTIONS:
            return None
        return Refetching(self.tokens / self.compactions, self.calls / self.compactions)


NONE_YET = Refetched()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a token costs that is read from the cache, written to it or written by the model. One uncached input token costs 1."""

    read: float
    write: float
    output: float
    token: float = 0.0
    """Dollars for one uncached input token."""
    refetching: Refetching | None = None
    """What has to be fetched again after a compaction. None: what was seen in recorded sessions."""


@dataclass(frozen=True, slots=True)
class EconomyOptions:
    """The terms for a compaction that is made to save. `patience` is how many times its price must have been paid in carrying the context;
    None: carrying alone is no reason."""

    patience: float | None
    when_cold: bool
    """Whether a compaction is made when the cache has gone cold or is about to."""


ECONOMIES: Mapping[Economy, EconomyOptions] = {
    "cheapest": EconomyOptions(1.0, when_cold=True),
    "balanced": EconomyOptions(2.0, when_cold=True),
    "fullest": EconomyOptions(None, when_cold=False),
}


@dataclass(frozen=True, slots=True)
class CarriedTokens:
    """What was carried since the newest compaction in force: the tokens of each request beyond what a compaction would have left.

    `left` is how many tokens a compaction now would leave, with system and tools. `last_at` is when the newest request started, right
    after what was logged before its reply: the cache lives from then on. `logged_at` is the time of the newest entry.
    """

    beyond: int
    left: int
    last_at: float = 0.0
    logged_at: float = 0.0

    def and_then(self, *more: Logged) -> CarriedTokens:
        """What was carried with more entries of the log."""
        beyond, last_at, logged_at = self.beyond, self.last_at, self.logged_at
        for logged in more:
            if isinstance(logged.entry, Forked):  # the other session has carried it so far, and kept it in the cache
                beyond, last_at = 0, max(last_at, logged.entry.used_at) if last_at else 0.0
            if isinstance(logged.entry, AssistantReply):
                usage = logged.entry.usage
                beyond += max(0, usage.total_input_tokens - self.left) if usage is not None else 0
                last_at = logged_at or logged.at
            logged_at = logged.at
        return CarriedTokens(beyond, self.left, last_at, logged_at)


def took(logged: Iterable[Compaction], policy: str) -> int | None:
    """Tokens (thinking included) that a model wrote for a summary of that policy: the median of the newest in `logged`, which is in log
    order; None if no model wrote any of them."""
    outputs = [each.usage.output_tokens for each in logged if each.usage and each.rung in ("api", "model") and each.policy == policy]
    return int(median(outputs[-SUMMARIES_LOOKED_AT:])) if outputs else None


def since(active: Sequence[Compaction], fixed: int) -> CarriedTokens:
    """The count that begins with the newest of `active`, the compactions in force: nothing is carried yet. `fixed` are the tokens of system
    and tools.

    What one without a summary left (the user took a message out, say) tells nothing of what a summary would leave.
    """
    newest = next((each for each in reversed(active) if each.summarised is not None), None)
    return CarriedTokens(0, newest.estimated_after if newest else fixed + USUAL_LEFT)


def pays(used: int, fixed: int, so_far: CarriedTokens, terms: Terms, options: EconomyOptions, *, by_model: bool) -> bool:
    """Whether carrying the context has cost enough by now for a compaction. `used` is what it holds, `by_model` whether a model would write
    the summary."""
    if options.patience is None or used - so_far.left < SMALLEST_GAIN:
        return False
    return terms.read * so_far.beyond >= options.patience * in_all(used, fixed, so_far.left, terms, by_model=by_model)


def in_all(used: int, fixed: int, left: int, terms: Terms, *, by_model: bool) -> float:
    """What a compaction costs on a warm cache, with the cost of forgetting."""
    return price(used, fixed, left, terms, by_model=by_model) + forgetting(left, terms)


def forgetting(left: int, terms: Terms) -> float:
    """What it costs to fetch again what a compaction forgets: requests that read the `left` tokens, and what they bring."""
    each = terms.read * left + terms.output * FETCHING_OUTPUT_TOKENS
    again = terms.refetching or Refetching(FETCHED_AGAIN_TOKENS, FETCHED_AGAIN_CALLS)
    return terms.write * again.tokens + again.calls * each


def price(used: int, fixed: int, left: int, terms: Terms, *, by_model: bool) -> float:
    """What a compaction costs on a warm cache: the summary, and writing the `left` tokens instead of reading them."""
    summary = terms.read * used + terms.output * SUMMARY_OUTPUT_TOKENS if by_model else 0.0
    return summary + (terms.write - terms.read) * max(0, left - fixed)


def pays_when_cold(used: int, so_far: CarriedTokens, terms: Terms, options: EconomyOptions) -> bool:
    """Whether to compact because the cache is gone. The prefix has to be written anew, so a smaller one is cheaper at once.

    That holds for a summary that no model writes; reading the cold prefix for it would cost what is saved.
    """
    if not options.when_cold or used - so_far.left < SMALLEST_GAIN:
        return False
    return saved_when_cold(used, so_far.left, terms) >= 0


def saved_when_cold(used: int, left: int, terms: Terms) -> float:
    """What a compaction without a model saves with the next request, on a cold cache."""
    return terms.write * (used - left) - forgetting(left, terms)


def saved_before_cold(used: int, fixed: int, left: int, terms: Terms, *, by_model: bool) -> float:
    """What a compaction saves with the next request after the cache will have gone cold."""
    return terms.write * (used - left) - in_all(used, fixed, left, terms, by_model=by_model)


def saved_by_carrying_less(used: int, fixed: int, so_far: CarriedTokens, terms: Terms, *, by_model: bool) -> float:
    """What a compaction saves if as much is still to come as was carried so far."""
    return terms.read * so_far.beyond - in_all(used, fixed, so_far.left, terms, by_model=by_model)


def pays_before_cold(used: int, fixed: int, so_far: CarriedTokens, terms: Terms, options: EconomyOptions, *, by_model: bool) -> bool:
    """Whether to compact because the cache is about to go, while it can still serve a summary: the next request then writes less."""
    if not options.when_cold or used - so_far.left < SMALLEST_GAIN:
        return False
    return saved_before_cold(used, fixed, so_far.left, terms, by_model=by_model) >= 0


def is_cold(now: float, last_at: float, lives: float | None = None) -> bool:
    """Whether the cache has gone since the newest request, if there was one. It lives `lives` seconds (None: five minutes)."""
    return last_at > 0 and now - last_at > (CACHE_SECONDS if lives is None else lives)


def cools_after(lives: float | None = None) -> float:
    """Seconds after the start of the newest request at which the cache is about to go cold. It lives `lives` seconds (None: five
    minutes)."""
    return COOLING_SECONDS if lives is None else lives * COOLING_SECONDS / CACHE_SECONDS


def threshold_before_step(threshold: int, long_prompt: int | None, options: EconomyOptions) -> int:
    """The threshold (tokens) where every token of a longer prompt costs more: at most `long_prompt`, unless nothing is to be saved."""
    return threshold if long_prompt is None or options.patience is None else min(threshold, long_prompt)


When: TypeAlias = Literal["now", "pause", "cold", "cold later"]
"""In which case a compaction saves: now, since carrying has cost enough; in a pause, just before the cache goes; on a cold cache, as
whatever is sent is written anew; or later, once the cache is cold."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a compaction before the threshold would save, and in which case."""

    when: When
    saved: float
    """The saving, in prices of one uncached input token."""


def outlook(
    used: int, fixed: int, so_far: CarriedTokens, terms: Terms, options: EconomyOptions, *, by_model: bool, cold: bool
) -> Outlook | None:
    """What a compaction before the threshold would save; None if nothing. `cold`: the cache is gone."""
    if cold:
        return Outlook("cold", saved_when_cold(used, so_far.left, terms)) if pays_when_cold(used, so_far, terms, options) else None
    if pays(used, fixed, so_far, terms, options, by_model=by_model):
        return Outlook("now", saved_by_carrying_less(used, fixed, so_far, terms, by_model=by_model))
    if pays_before_cold(used, fixed, so_far, terms, options, by_model=by_model):
        return Outlook("pause", saved_before_cold(used, fixed, so_far.left, terms, by_model=by_model))
    if pays_when_cold(used, so_far, terms, options):
        return Outlook("cold later", saved_when_cold(used, so_far.left, terms))
    return None
