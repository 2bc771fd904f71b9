"""Short ways to ask a policy in a test: what arrives, what upkeep does, what is left after a compaction."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.context.logs import prompt, says, session
from tests.unit.context.policies.rehearsal import occasion, written
from ullage.context.blocks import Message, Text, ToolUse
from ullage.context.compaction_entries import Trigger
from ullage.context.counting.gauge import threshold_of
from ullage.context.engines.engine import SummaryText, planned_entry
from ullage.context.entries import AssistantReply, Entry, Logged, ToolReturned
from ullage.context.moves.cheap import Arrival
from ullage.context.moves.plan import Plan
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection

SUMMARY = "What the model wrote."


def arrived(policy: Policy, *sizes: int) -> list[int]:
    """How many characters `x` are left of results of these sizes that come in one message."""
    clips = policy.engine.arrive([Arrival(f"t{index}", "x" * size) for index, size in enumerate(sizes)], lambda id: f"file-of-{id}")
    return [clip.content.count("x") for clip in clips]


def called(id: str, content: str, tool: str = "bash") -> list[Entry]:
    """A call and its result."""
    reply = AssistantReply("reply", (ToolUse(id, tool, {"path": f"{id}.py"}),), "practice", "tool_use", None)
    return [reply, ToolReturned(id, tool, content, is_error=False, characters=len(content))]


def results(*sizes: int, answered: bool = True, tool: str = "bash") -> list[Logged]:
    """A session with a call for each size, whose results are so many characters long; `answered`: a last word follows."""
    steps: list[Entry] = [prompt("Go")]
    for index, size in enumerate(sizes):
        steps += called(f"t{index}", "x" * size, tool)
    return session(*steps, *([says("Done")] if answered else []))


def talk(turns: int, words: int = 0) -> list[Logged]:
    """Questions and answers, each `words` words longer than its name."""
    steps: list[Entry] = []
    for turn in range(turns):
        steps += [prompt(f"question {turn}" + " why" * words), says(f"answer {turn}" + " so" * words)]
    return session(*steps)


def cleared(policy: Policy, log: Sequence[Logged]) -> list[str]:
    """The placeholders that upkeep puts in, in log order."""
    plan = policy.engine.upkeep(occasion(policy, log, "upkeep"))
    return [each.placeholder for each in plan.cleared] if plan else []


def planned(policy: Policy, log: Sequence[Logged], trigger: Trigger = "threshold", window: int = 200_000) -> Plan:
    """What it does at the threshold."""
    plan = policy.engine.plan(occasion(policy, log, trigger, window))
    assert plan is not None
    return plan


def carried_out(
    policy: Policy, log: Sequence[Logged], plan: Plan, model_text: str | None = SUMMARY, trigger: Trigger = "threshold"
) -> list[Logged]:
    """The log after it."""
    told = written(policy, log, plan, model_text) if plan.summarise_to is not None else SummaryText("")
    rung = "moves" if plan.summarise_to is None else "digest" if model_text is None else "model"
    seq = log[-1].seq + 1
    entry = planned_entry(f"c{seq}", trigger, plan, told, rung, policy=policy.name, tokens_before=0)
    return [*log, Logged(seq, float(seq), entry)]


def after(
    policy: Policy, log: Sequence[Logged], trigger: Trigger = "threshold", window: int = 200_000, model_text: str | None = SUMMARY
) -> Sequence[Message]:
    """The messages after a compaction."""
    return Projection(carried_out(policy, log, planned(policy, log, trigger, window), model_text, trigger)).messages


def texts(messages: Sequence[Message]) -> list[str]:
    """All that is said in words, in order."""
    return [block.text for message in messages for block in message.blocks if isinstance(block, Text)]


def full_at(policy: Policy, window: int = 200_000) -> int:
    """Tokens at which the context counts as full, by the policy's measure."""
    return threshold_of(window, policy.threshold)
