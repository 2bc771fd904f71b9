"""What holds of every policy that comes with Ullage, whatever the history.

All of them are tried on the same histories, since making these takes longest. `ULLAGE_POLICY_EXAMPLES` says on how many (usually
few, since everybody runs this), `ULLAGE_POLICY_TRIED` names one policy to try alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api.validation import validate_request
from tests.unit.context.logs import prompt
from tests.unit.context.pictures import kept
from tests.unit.context.policies.rehearsal import occasion, tokens
from tests.unit.context.strategies import planned_histories, turns
from tests.unit.context.validity import problems
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, Rung, Trigger
from ullage.context.engines.engine import Covered, SummaryText, planned_entry, summary_room
from ullage.context.engines.staged import Staged
from ullage.context.entries import Entry, Logged
from ullage.context.moves.plan import Plan
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request
from ullage.models.serialise import Serialiser, betas

EXAMPLES = int(os.environ.get("ULLAGE_POLICY_EXAMPLES", many(12, deep=300)))
ALONE = os.environ.get("ULLAGE_POLICY_TRIED")
MODEL = "claude-opus-5-5"

pytestmark = pytest.mark.timeout(600 + 15 * EXAMPLES)

examples = settings(max_examples=EXAMPLES)

triggers = st.sampled_from(["threshold", "idle", "manual", "tool", "reactive"])
windows = st.sampled_from([3_000, 20_000, 200_000])
model_texts = st.sampled_from([None, "What a model wrote.", "# What a model wrote\n\n" + "It goes on for some lines. " * 8])


@st.composite
def boundaries(draw: st.DrawFn) -> list[Logged]:
    """A log up to a place where an engine is asked."""
    log = draw(planned_histories(max_chunks=10))
    return log[: draw(st.integers(1, len(log)))] if draw(st.booleans()) else log


def then(log: Sequence[Logged], *entries: Entry) -> list[Logged]:
    last = log[-1].seq
    return [*log, *(Logged(last + number, float(last + number), entry) for number, entry in enumerate(entries, 1))]


def entry_of(policy: Policy, log: Sequence[Logged], plan: Plan, trigger: Trigger, model_text: str | None, line: int) -> Compaction:
    """The plan carried out, as session and replay do it."""
    told, rung = SummaryText(""), "moves"
    if plan.summarise_to is not None:
        covered = [logged for logged in log if logged.seq <= plan.summarise_to]
        written = model_text if plan.asked is not None else None
        told = policy.engine.summarise(Covered(covered, plan, written, "", summary_room(line)))
        rung: Rung = "digest" if written is None else "model"
    return planned_entry(f"made after {log[-1].seq}", trigger, plan, told, rung, policy=policy.name, tokens_before=0)


def kept_up(policy: Policy, log: list[Logged], window: int) -> list[Logged]:
    """The log after the policy's upkeep."""
    plan = policy.engine.upkeep(occasion(policy, log, "upkeep", window))
    return log if plan is None else then(log, entry_of(policy, log, plan, "upkeep", None, 1))


def made(policy: Policy, log: list[Logged], trigger: Trigger, model_text: str | None, window: int) -> tuple[Plan, list[Logged]] | None:
    """A plan and the log after it; None where the policy does nothing."""
    at = occasion(policy, log, trigger, window)
    plan = policy.engine.plan(at)
    return None if plan is None else (plan, then(log, entry_of(policy, log, plan, trigger, model_text, at.threshold)))


def is_valid(log: Sequence[Logged]) -> None:
    """Both judges take the next request, with another prompt and, where the model is still at it, without."""
    for entries in (then(log, prompt("Go on, please.")), log):
        projection = Projection(entries)
        if projection.prelude is None or not projection.messages or projection.complete_messages[-1].role == "assistant":
            continue
        request = build_request(projection)
        assert problems(request) == []
        body = Serialiser(kept).body(request, opening={"model": MODEL, "stream": True}, max_tokens=1_000, adaptive_thinking=True)
        validate_request(json.loads(body), betas=betas(request))


def is_asked(log: Sequence[Logged]) -> bool:
    """Whether the model owes an answer."""
    messages = Projection(log).complete_messages
    return bool(messages) and messages[-1].role == "user"


def every_policy() -> Iterator[Policy]:
    """Each in turn; the last one noted is the one that failed."""
    for name, policy in BUILT_IN.items():
        if ALONE in (None, name):
            note(f"policy {name}")
            yield policy


@examples
@given(log=boundaries(), more=turns(), trigger=triggers, window=windows, text=model_texts)
def test_requests_stay_valid_and_nothing_is_lost(log: list[Logged], more: list[Entry], trigger: Trigger, window: int, text: str | None):
    for policy in every_policy():
        upkept = kept_up(policy, log, window)
        done = made(policy, upkept, trigger, text, window)
        after = upkept if done is None else done[1]
        for before, then_after in ((log, upkept), (upkept, after)):
            if then_after is not before:
                loses_nothing(before, then_after)
        if after is not log:
            is_valid(then(after, *more))


def loses_nothing(before: Sequence[Logged], after: Sequence[Logged]) -> None:
    """The compaction that `after` ends with leaves the log alone, can be undone and redone, and leaves the model what it is to answer."""
    *untouched, last = after
    assert untouched == before
    assert isinstance(last.entry, Compaction)
    assert is_asked(after) or not is_asked(before)
    is_valid(after)
    undone = then(after, CompactionUndone(last.entry.id))
    assert Projection(undone).messages == Projection(before).messages
    assert Projection(undone).key == Projection(before).key
    assert Projection(then(undone, CompactionRedone(last.entry.id))).messages == Projection(after).messages


@examples
@given(log=boundaries(), trigger=triggers, window=windows)
def test_a_plan_keeps_its_word_that_the_context_gets_smaller(log: list[Logged], trigger: Trigger, window: int):
    for policy in every_policy():
        upkept = kept_up(policy, log, window)
        size = tokens(Projection(upkept).messages)
        assert upkept is log or size < tokens(Projection(log).messages)
        done = made(policy, upkept, trigger, "What a model wrote.", window)
        if done is None:
            continue
        plan, after = done
        assert plan.estimated_after < max(size, occasion(policy, upkept, trigger, window).used)
        if says_nothing_itself(policy, plan):
            assert tokens(Projection(after).messages) < size


def says_nothing_itself(policy: Policy, plan: Plan) -> bool:
    """Whether the text of the summary is the model's. What a program writes may be longer than it stands for, and is then not taken."""
    return plan.summarise_to is None or (plan.asked is not None and isinstance(policy.engine, Staged))


@examples
@given(log=boundaries(), trigger=triggers, window=windows)
def test_no_policy_goes_round_in_circles(log: list[Logged], trigger: Trigger, window: int):
    for policy in every_policy():
        upkept = kept_up(policy, log, window)
        assert kept_up(policy, upkept, window) is upkept
        comes_to_an_end(policy, upkept, trigger, window)


def comes_to_an_end(policy: Policy, log: list[Logged], trigger: Trigger, window: int) -> None:
    """Asked again and again, it has nothing to gain any more after a few compactions, each of which gains something."""
    for _ in range(8):
        size = tokens(Projection(log).messages)
        done = made(policy, log, trigger, "What a model wrote.", window)
        if done is None:
            return
        plan, log = done
        if tokens(Projection(log).messages) >= size:
            assert not says_nothing_itself(policy, plan)
            return
    raise AssertionError("after 8 compactions there was still something to gain")
