"""What the cache model says a recorded session must have read and written, beside what was recorded: how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ullage.context.blocks import Usage
from ullage.replay.cache import PromptCache, RequestShape
from ullage.replay.cost import total_usage
from ullage.replay.shapes import HABITS, RecordedRequest, requests_of
from ullage.replay.transcript import Transcript


@dataclass(frozen=True, slots=True)
class PredictedCall:
    """One request. `seq` is the entry of its reply, `at` when it started (Unix seconds; 0.0 where no time was recorded)."""

    seq: int
    at: float
    predicted: Usage
    recorded: Usage


@dataclass(frozen=True, slots=True)
class Prediction:
    """Calls of one session or of many."""

    calls: tuple[PredictedCall, ...]

    @property
    def predicted(self) -> Usage:
        """All calls together, as predicted."""
        return total_usage(call.predicted for call in self.calls)

    @property
    def recorded(self) -> Usage:
        """All calls together, as recorded."""
        return total_usage(call.recorded for call in self.calls)

    @property
    def read_error(self) -> float | None:
        """By which share of the recorded cache reads the predicted ones are off; above zero, too many. None where none were recorded."""
        return _error(self.predicted.cache_read_tokens, self.recorded.cache_read_tokens)

    @property
    def write_error(self) -> float | None:
        """The same for cache writes of either time to live."""
        return _error(_written(self.predicted), _written(self.recorded))


def predict(transcript: Transcript) -> Prediction:
    """Every counted request of a session through the cache model, with the recorded times and totals.

    Where caching is automatic (Codex), what is written counts as input, as it is billed and recorded.
    """
    habits = HABITS[transcript.source]
    cache = PromptCache()
    calls: list[PredictedCall] = []
    for number, request in enumerate(requests_of(transcript)):
        if number == 0:
            cache.charge(left_by_others(request))
        charged = cache.charge(request.shape)
        predicted = charged if habits.writes_cost else without_writes(charged)
        calls.append(PredictedCall(request.seq, request.shape.at, predicted, request.recorded))
    return Prediction(tuple(calls))


def together(predictions: Iterable[Prediction]) -> Prediction:
    """Several sessions as one."""
    return Prediction(tuple(call for prediction in predictions for call in prediction.calls))


def without_writes(usage: Usage) -> Usage:
    """The same tokens where a write is not billed as one."""
    return Usage(
        input_tokens=usage.total_input_tokens - usage.cache_read_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
    )


def left_by_others(first: RecordedRequest) -> RequestShape:
    """A request of another session just before the first one, that had as much in common with it as that one found."""
    found = first.recorded.cache_read_tokens
    marks = tuple(mark for mark in first.shape.marks if mark.prefix.tokens == found)
    return RequestShape(first.shape.model, first.shape.at, first.shape.end, marks)


def _written(usage: Usage) -> int:
    return usage.cache_write_5m_tokens + usage.cache_write_1h_tokens


def _error(predicted: int, recorded: int) -> float | None:
    return predicted / recorded - 1 if recorded else None
