"""When a compaction pays for itself: what carrying the context costs against what compacting costs.

All amounts are in prices of one uncached input token, so that only the proportions of a model's prices matter. The line stays in force
beside it: this only says when to compact before.

Every request pays for reading the whole context from the prompt cache. A compaction is paid once: the call that writes the summary, and
writing to the cache what the compaction leaves. With even growth the two together are least where the one has come to equal the other
(the square-root rule of economic lot sizes); at `patience` times that, the sum is (√p + 1/√p) / 2 times the least: 1.06 at 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, TypeAlias

from ullage.context.entries import AssistantReply, Compaction, Forked, Logged

Economy: TypeAlias = Literal["cheapest", "balanced", "fullest"]

CACHE_SECONDS = 300.0
"""How long the prompt cache lives after the last request has started (anthropic-api.md 2.1; the marks are for five minutes)."""
COOLING_SECONDS = 240.0
"""From here on, while nobody asks anything, the cache is about to go cold; the rest is for writing a summary from it."""
SUMMARY_OUTPUT_TOKENS = 2_500
"""What a model usually writes for a summary: a guess, until one has been written (`took`)."""
SUMMARIES_LOOKED_AT = 5
"""The newest: models and prompts change."""
USUAL_LEFT = 18_000
"""Tokens of messages that a first compaction usually leaves: tail, handoff and files. Later ones are measured by the one before."""
SMALLEST_GAIN = 10_000
"""Tokens. With less to gain a compaction is not worth what it loses."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What tokens cost, for one uncached input token being 1: read from the cache, written to it, written by the model."""

    read: float
    write: float
    output: float


@dataclass(frozen=True, slots=True)
class EconomyNumbers:
    """How one way of saving weighs. `patience` is how many times its price a compaction must have been paid for in carrying; None: it is
    never made for this reason alone."""

    patience: float | None
    when_cold: bool
    """Whether it compacts when the cache has gone cold or is about to."""


ECONOMIES: Mapping[Economy, EconomyNumbers] = {
    "cheapest": EconomyNumbers(1.0, when_cold=True),
    "balanced": EconomyNumbers(2.0, when_cold=True),
    "fullest": EconomyNumbers(None, when_cold=False),
}


@dataclass(frozen=True, slots=True)
class Carried:
    """What was carried since the newest compaction in force: the tokens of each request beyond what a compaction would have left.

    `left` is how many tokens a compaction now would leave, with system and tools. `last_at` is when the newest request started, right
    after what was logged before its reply: the cache lives from then on. `logged_at` is the time of the newest entry.
    """

    beyond: int
    left: int
    last_at: float = 0.0
    logged_at: float = 0.0

    def and_then(self, *more: Logged) -> Carried:
        """With more entries of the log."""
        beyond, last_at, logged_at = self.beyond, self.last_at, self.logged_at
        for logged in more:
            if isinstance(logged.entry, Forked):  # the other session has carried it so far, and kept it in the cache
                beyond, last_at = 0, max(last_at, logged.entry.used_at) if last_at else 0.0
            if isinstance(logged.entry, AssistantReply):
                usage = logged.entry.usage
                beyond += max(0, usage.total_input_tokens - self.left) if usage is not None else 0
                last_at = logged_at or logged.at
            logged_at = logged.at
        return Carried(beyond, self.left, last_at, logged_at)


def took(logged: Iterable[Compaction], policy: str) -> int | None:
    """What a model wrote for a summary of that policy (tokens, thinking included): the median of the newest of `logged`, which are in log
    order; None where none of them was written by one."""
    outputs = [each.usage.output_tokens for each in logged if each.usage and each.rung in ("api", "model") and each.policy == policy]
    return int(median(outputs[-SUMMARIES_LOOKED_AT:])) if outputs else None


def since(active: Sequence[Compaction], fixed: int) -> Carried:
    """Nothing carried yet after the newest of `active`, the compactions in force. `fixed` are the tokens of system and tools.

    What one without a summary left (the user took a message out, say) tells nothing of what a summary would leave.
    """
    newest = next((each for each in reversed(active) if each.summarised is not None), None)
    return Carried(0, newest.estimated_after if newest else fixed + USUAL_LEFT)


def pays(used: int, fixed: int, so_far: Carried, terms: Terms, numbers: EconomyNumbers, *, by_model: bool) -> bool:
    """Whether carrying has cost enough by now. `used` is what the context holds, `by_model` whether a model would write the summary."""
    if numbers.patience is None or used - so_far.left < SMALLEST_GAIN:
        return False
    return terms.read * so_far.beyond >= numbers.patience * price(used, fixed, so_far.left, terms, by_model=by_model)


def price(used: int, fixed: int, left: int, terms: Terms, *, by_model: bool) -> float:
    """What a compaction costs on a warm cache: the summary, and writing what is left instead of reading it."""
    summary = terms.read * used + terms.output * SUMMARY_OUTPUT_TOKENS if by_model else 0.0
    return summary + (terms.write - terms.read) * max(0, left - fixed)


def pays_when_cold(used: int, so_far: Carried, numbers: EconomyNumbers) -> bool:
    """Whether to compact because the cache is gone: the prefix has to be written anew, and less of it is cheaper at once.

    That holds for a summary that no model writes; reading the cold prefix for it would cost what is saved.
    """
    return numbers.when_cold and used - so_far.left >= SMALLEST_GAIN


def pays_before_cold(used: int, fixed: int, so_far: Carried, terms: Terms, numbers: EconomyNumbers, *, by_model: bool) -> bool:
    """Whether to compact because the cache is about to go, while it still serves the summary: the next request then writes less."""
    if not numbers.when_cold or used - so_far.left < SMALLEST_GAIN:
        return False
    saved = terms.write * (used - so_far.left)
    return saved >= price(used, fixed, so_far.left, terms, by_model=by_model)


def is_cold(now: float, last_at: float, lives: float | None = None) -> bool:
    """Whether the cache, which `lives` so many seconds (None: five minutes), has gone since the newest request, where there was one."""
    return last_at > 0 and now - last_at > (CACHE_SECONDS if lives is None else lives)


def line_before_step(line: int, long_prompt: int | None, numbers: EconomyNumbers) -> int:
    """The line (tokens) where every token of a longer prompt costs more: not beyond `long_prompt`, unless nothing is to be saved."""
    return line if long_prompt is None or numbers.patience is None else min(line, long_prompt)
