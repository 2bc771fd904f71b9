"""Carrying out a policy over a log in a test: one boundary at a time, as session and replay do it."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import Message
from ullage.context.compaction_entries import Compaction, Trigger
from ullage.context.counting.gauge import measured, threshold_of
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.engines.engine import Covered, Occasion, SummaryText, planned_entry
from ullage.context.entries import Logged
from ullage.context.moves.plan import Plan
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection

WINDOW = 200_000


def tokens(messages: Sequence[Message]) -> int:
    """What messages take, as session and replay count them."""
    return sum(estimate_message(message) for message in messages)


def occasion(policy: Policy, entries: Sequence[Logged], trigger: Trigger = "threshold", window: int = WINDOW) -> Occasion:
    """The boundary after `entries`."""
    projection = Projection(entries)
    used = measured(policy.measure, tokens(projection.messages), projection.messages, Calibration())
    return Occasion(projection, trigger, used, threshold_of(window, policy.threshold), window, tokens)


def written(policy: Policy, entries: Sequence[Logged], plan: Plan, model_text: str | None = None, focus: str = "") -> SummaryText:
    """The text of the plan's summary."""
    covered = [logged for logged in entries if logged.seq <= (plan.summarise_to or 0)]
    return policy.engine.summarise(Covered(covered, plan, model_text, focus, room=60_000))


def compacted(
    policy: Policy,
    entries: Sequence[Logged],
    trigger: Trigger = "threshold",
    model_text: str | None = None,
    window: int = WINDOW,
) -> list[Logged] | None:
    """The log with one more compaction; None where the policy does nothing."""
    at = occasion(policy, entries, trigger, window)
    plan = policy.engine.plan(at)
    if plan is None:
        return None
    told = written(policy, entries, plan, model_text) if plan.summarise_to is not None else SummaryText("")
    seq = entries[-1].seq + 1
    made: Compaction = planned_entry(f"c{seq}", trigger, plan, told, "model", policy=policy.name, tokens_before=at.used)
    return [*entries, Logged(seq, float(seq), made)]
