"""What a recorded session cost: in dollars as recorded, in dollars with another model in its place, and in tokens as predicted.

The calls are priced one by one. The calls that wrote the summaries of compactions are not in a transcript. They are worked out twice,
with a warm prompt cache and with a cold one, and are not part of the total.

`predict` compares what the model of the prompt cache says with what was recorded, to show how far that model can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace

from ullage.context.blocks import Usage
from ullage.context.counting.prompt_cache import PromptCache, RequestShape
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Logged
from ullage.models.model import Prices
from ullage.recorded.transcript import RecordedCompaction, Transcript
from ullage.replay.pricing.recorded_models import minimum_cached, prices_of, tokenizer_share, tokens_factor
from ullage.replay.pricing.recorded_requests import RecordedRequest, habits_of, requests_of
from ullage.store.set_aside import held_as

SUMMARY_REQUEST_TOKENS = 1_000
"""What asking for a summary adds to the conversation: about the size of the instructions that coding agents use."""


@dataclass(frozen=True, slots=True)
class Dollars:
    """An amount in dollars, split by price class."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write_5m: float = 0.0
    cache_write_1h: float = 0.0

    @property
    def total(self) -> float:
        """The dollars of all classes together."""
        return sum(getattr(self, field.name) for field in fields(self))

    def __add__(self, other: Dollars) -> Dollars:
        return Dollars(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class PricedCall:
    """One call of a model: who was asked, and what was counted."""

    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class SummaryCall:
    """The call that wrote one summary, as it would be counted with the conversation in the cache and without."""

    model: str
    warm: Usage
    cold: Usage


@dataclass(frozen=True, slots=True)
class TranscriptCost:
    """The cost of one session. All sums leave out what `unpriced` names, and replies without a count of tokens."""

    dollars: Dollars
    summaries_warm: Dollars
    summaries_cold: Dollars
    unpriced: tuple[str, ...]
    """Models whose prices are not known, in order of appearance."""


def cost_of(transcript: Transcript, as_model: str | None = None) -> TranscriptCost:
    """The cost of a session, at the prices of the models that it ran on or of `as_model` throughout.

    At another model's prices the calls are those that were made: the same reads and writes, with as many tokens as the other
    model's tokenizer makes of the same texts on average. So a session of Codex, where nothing is billed as written, has no writes at
    a Claude model's prices either; `prompt_cache.py` models what it would have written there.
    """
    calls = [PricedCall(reply.model, reply.usage) for reply in transcript.replies if reply.usage is not None]
    summaries = tuple(summary_calls(transcript))
    models = dict.fromkeys(as_model or call.model for call in calls if call.usage.context_tokens)
    return TranscriptCost(
        dollars=dollars_of(calls, as_model),
        summaries_warm=dollars_of((PricedCall(each.model, each.warm) for each in summaries), as_model),
        summaries_cold=dollars_of((PricedCall(each.model, each.cold) for each in summaries), as_model),
        unpriced=tuple(model for model in models if prices_of(model) is None),
    )


def dollars_of(calls: Iterable[PricedCall], as_model: str | None = None) -> Dollars:
    """The dollars of calls at their own models' prices or at those of `as_model`. Those of models without known prices count nothing."""
    total = Dollars()
    for call in calls:
        model = as_model or call.model
        prices = prices_of(model)
        if prices is not None:
            total += dollars(prices, scaled(call.usage, tokens_factor(call.model, model)))
    return total


def dollars(prices: Prices, usage: Usage) -> Dollars:
    """The dollars of one call by price class. The sum is what `prices.cost` says."""
    is_long = prices.long_prompt is not None and usage.total_input_tokens > prices.long_prompt
    for_one = (prices.long_prompt_factor if is_long else 1.0) / 1_000_000
    return Dollars(
        input=usage.input_tokens * prices.input * for_one,
        output=usage.output_tokens * prices.output * for_one,
        cache_read=usage.cache_read_tokens * prices.cache_read * for_one,
        cache_write_5m=usage.cache_write_5m_tokens * prices.cache_write_5m * for_one,
        cache_write_1h=usage.cache_write_1h_tokens * prices.cache_write_1h * for_one,
    )


def summary_calls(transcript: Transcript) -> Iterator[SummaryCall]:
    """For each recorded compaction that followed a counted reply: the call that must have written its summary.

    Where its tokens are not recorded it sends the conversation and asks. Warm, what the last reply's request held is read from the
    cache; cold, nothing is. A summary that the transcript does not tell counts no output.
    """
    for compaction in transcript.compactions:
        call = summary_call(transcript, compaction)
        if call is not None:
            yield call


def summary_call(transcript: Transcript, compaction: RecordedCompaction) -> SummaryCall | None:
    """The call that must have written the summary of one recorded compaction; None if no counted reply precedes it."""
    reply = _last_counted(transcript, compaction)
    if reply is None or reply.usage is None:
        return None
    used = compaction.usage
    if used is not None:
        return SummaryCall(reply.model, warm=used, cold=Usage(used.total_input_tokens, used.output_tokens))
    read = reply.usage.total_input_tokens
    context = max(compaction.tokens_before or 0, reply.usage.context_tokens) + SUMMARY_REQUEST_TOKENS
    output = round(estimate_text(compaction.told) * tokenizer_share(reply.model))
    return SummaryCall(
        model=reply.model,
        warm=Usage(context - read, output, cache_read_tokens=read),
        cold=Usage(context, output),
    )


def scaled(usage: Usage, factor: float) -> Usage:
    """The usage with every class of tokens times `factor`."""
    return Usage(*(round(getattr(usage, field.name) * factor) for field in fields(usage)))


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum of usages by price class."""
    rows = [tuple(getattr(usage, field.name) for field in fields(Usage)) for usage in usages]
    return Usage(*(sum(column) for column in zip(*rows, strict=True))) if rows else Usage(0, 0)


def _last_counted(transcript: Transcript, compaction: RecordedCompaction) -> AssistantReply | None:
    for logged in reversed(transcript.entries[: compaction.after_seq]):
        entry = logged.entry
        if isinstance(entry, AssistantReply) and entry.usage is not None and entry.usage.total_input_tokens:
            return entry
    return None


def as_if(transcript: Transcript, model: str) -> Transcript:
    """The session with `model` in the place of every model of it, and its counts of tokens turned into that model's."""
    return replace(transcript, entries=held_as(transcript.entries, (_answered_by(logged, model) for logged in transcript.entries)))


def _answered_by(logged: Logged, model: str) -> Logged:
    reply = logged.entry
    if not isinstance(reply, AssistantReply):
        return logged
    usage = reply.usage
    if usage is not None:
        usage = scaled(usage, tokens_factor(reply.model, model))
    return replace(logged, entry=replace(reply, model=model, usage=usage))


# What the cache model predicts


@dataclass(frozen=True, slots=True)
class PredictedCall:
    """The usage of one request, predicted and recorded. `seq` is the entry of its reply, `at` when it started (Unix seconds; 0.0 where no
    time was recorded)."""

    seq: int
    at: float
    predicted: Usage
    recorded: Usage


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted and the recorded calls of one session or of many."""

    calls: tuple[PredictedCall, ...]

    @property
    def predicted(self) -> Usage:
        """The predicted usage of all calls together."""
        return total_usage(call.predicted for call in self.calls)

    @property
    def recorded(self) -> Usage:
        """The recorded usage of all calls together."""
        return total_usage(call.recorded for call in self.calls)


def predict(transcript: Transcript) -> Prediction:
    """Puts every counted request of a session through the cache model, with the recorded times and totals.

    Where caching is automatic (Codex), what is written counts as input, as it is billed and recorded.
    """
    habits = habits_of(transcript)
    cache = PromptCache(minimum_cached)
    calls: list[PredictedCall] = []
    for number, request in enumerate(requests_of(transcript)):
        if number == 0:
            cache.charge(left_by_others(request))
        charged = cache.charge(request.shape)
        predicted = charged if habits.writes_cost else without_writes(charged)
        calls.append(PredictedCall(request.seq, request.shape.at, predicted, request.recorded))
    return Prediction(tuple(calls))


def without_writes(usage: Usage) -> Usage:
    """The same tokens with those written to the cache counted as input, for where a write is not billed as one."""
    return Usage(
        input_tokens=usage.total_input_tokens - usage.cache_read_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
    )


def left_by_others(first: RecordedRequest) -> RequestShape:
    """A request that another session must have made just before the first one: it had as much in common with the first one as that found in
    the cache."""
    found = first.recorded.cache_read_tokens
    marks = tuple(mark for mark in first.shape.marks if mark.prefix.tokens == found)
    return RequestShape(first.shape.model, first.shape.at, first.shape.end, marks)
