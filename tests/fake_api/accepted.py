"""Judging a request: every check that can refuse it, and what is known of it once none did."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.fake_api.cache import CachePlan
from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.counting import count_request, summary_prompt_tokens
from tests.fake_api.json_values import JsonObject
from tests.fake_api.prefix import positions, without_old_thinking
from tests.fake_api.reading import Reading
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import invalid
from tests.fake_api.rules.thinking_settings import BINDING_BETA
from tests.fake_api.script import asks_for_compaction
from tests.fake_api.state import FakeState
from tests.fake_api.validation import validate_count_request, validate_request


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request that the API would run."""

    model: ModelFacts
    body: JsonObject
    """What the model gets to see."""
    plan: CachePlan
    transformations: tuple[JsonObject, ...] | None
    """Reported only to those who sent the beta header (section 2.6)."""
    reading: Reading
    """The state at the end, which the reply's own blocks move on."""
    at_end: Reading
    """The same, which nothing moves: what a compaction block stands for."""


def accept(state: FakeState, record: RecordedRequest) -> Accepted:
    """Raises `Refused` for the first rule that the request breaks."""
    validate_request(record.body, betas=record.betas, models=state.models)
    model = state.models[record.body["model"]]
    checked = state.seals.check(record.body, model)
    state.searches.check(record.body)
    body = without_old_thinking(checked.body, model)
    total = count_request(body, model)
    if total > model.window:
        # Section 1.4: only when the input alone is over the window, on every model.
        raise invalid(f"prompt is too long: {total} tokens > {model.window} maximum")
    if asks_for_compaction(body):
        total += summary_prompt_tokens(body)
    plan = state.cache.plan(record.key or "", model, positions(body, model), total, record.arrived)
    reported = BINDING_BETA in record.betas
    return Accepted(model, body, plan, checked.transformations if reported else None, checked.reading, replace(checked.reading))


def accept_count(state: FakeState, record: RecordedRequest) -> int:
    """The input tokens of a request to be counted. Raises `Refused`; the window is no matter here."""
    validate_count_request(record.body, betas=record.betas, models=state.models)
    model = state.models[record.body["model"]]
    # Section 2.6: counting runs the same check of thinking.
    checked = state.seals.check(record.body, model)
    return count_request(without_old_thinking(checked.body, model), model)
