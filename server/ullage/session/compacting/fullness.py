"""How full the context of a session is, and when no call can be made: what the user is told then. What is done about it: `room.py`."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.counting.accounting import Counted
from ullage.context.counting.media import shown_tokens
from ullage.context.counting.tokens import MESSAGE_TOKENS, Calibration, estimate_text_of
from ullage.context.entries import UserPrompt
from ullage.context.view.attachments import prompt_blocks
from ullage.session.compacting.policy_in_use import PolicyInUse


class ContextFull(Exception):
    """No model call can be made: the context is full and cannot be made smaller. `str()` says what to do."""


@dataclass(frozen=True, slots=True)
class Fullness:
    """How full the context is (tokens)."""

    counted: Counted
    used: int
    """The one number: by the measure of the policy in force."""
    line: int
    """Where the context counts as full, by the same measure."""
    window: int
    hold: int
    """The window over which no call is made: the same, unless a refusal named a smaller one, which only a call can show to be wrong."""

    @property
    def is_hearsay(self) -> bool:
        """Whether the window, and so the line, is what a refusal named."""
        return self.hold != self.window


def is_held(full: Fullness, more: int, policy: PolicyInUse) -> bool:
    """Whether the window itself, whatever the line, is as good as full with `more` tokens to come."""
    return full.counted.used + more >= full.hold * policy.policy.line.hold_share


def refuse_where_nothing_helps(full: Fullness, policy: PolicyInUse) -> None:
    """Where system and tools alone are over the line or the window no compaction brings the context under it. Raises `ContextFull`."""
    fixed = full.counted.fixed
    if fixed >= full.hold * policy.policy.line.hold_share:
        raise ContextFull(
            f"The instructions, rules and tools alone take about {fixed:,} tokens; the model has {full.hold:,} in all. "
            "Shorten AGENTS.md or CLAUDE.md, or choose a model with a larger window."
        )
    if fixed < full.line or full.is_hearsay or policy.policy.measure != "usage" or not policy.by_itself:
        return
    raise ContextFull(
        f"The instructions, rules and tools alone take about {fixed:,} tokens, more than the {full.line:,} at which "
        "the context counts as full. Shorten AGENTS.md or CLAUDE.md, raise ullage.compaction.cap if it is low, "
        "or choose a model with a larger window."
    )


def refuse_where_held(full: Fullness, more: int, policy: PolicyInUse, rests: float) -> None:
    """Where the window is as good as full. `rests`: seconds until it is compacted again after failures, 0 where it is at once.

    Raises `ContextFull`.
    """
    if not is_held(full, more, policy):
        return
    if rests > 0:
        raise ContextFull(
            f"The context is full and compacting failed several times. It is tried again in {rests:.0f} s; until then "
            "compact by hand with a click on the gauge, or begin a new session."
        )
    raise ContextFull(f"The context is full: about {full.counted.used + more:,} of {full.hold:,} tokens. {ways_out(policy)}.")


def ways_out(policy: PolicyInUse) -> str:
    """What the user can do, as a sentence without its end."""
    ways = ["Compact with a click on the gauge or /compact"]
    if policy.never:
        ways.append(f"choose another policy than {policy.policy.name} with ullage.compaction.policy")
    elif not policy.by_itself:
        ways.append("turn on ullage.compaction.auto")
    return f"{', '.join(ways)}, or begin a new session"


def prompt_tokens(prompt: UserPrompt, calibration: Calibration) -> int:
    """About what a prompt that is still to be appended will take (tokens), as the gauge then counts it."""
    text = MESSAGE_TOKENS + sum(map(estimate_text_of, prompt_blocks(prompt)))
    return calibration.apply(text) + sum(shown_tokens(block, calibration.images) for block in prompt_blocks(prompt))
