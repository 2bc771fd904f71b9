"""Whether to compact now: one decision over values, the same live and in replay.

`State` is all that it looks at; `gathering.py` gathers it. `next_compaction` says when the next one comes by itself, which the gauge shows.
`decide` says what is done before a call, `decide_after_turn` and `decide_in_pause` what is done while nobody asks anything. They go by the
same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

from ullage.context.compaction.economy import Outlook, When
from ullage.context.compaction_entries import Trigger
from ullage.context.counting.accounting import Counted
from ullage.context.counting.gauge import USUAL_GROWTH
from ullage.context.policy import Policy

Why: TypeAlias = Literal["threshold", "window", "undone", "grown", "unanswered", "failed", "off"]
"""What decides when the next compaction comes: the threshold; the window, as good as full before that; that the user undid the newest
compaction; that the newest one left so much that more has to come; that the model has not answered since the newest one; that several
failed and it rests; or that none is ever made."""
Postponed: TypeAlias = Literal["none", "turn", "session"]
"""For how long the user wants no compaction made to save: not at all, until the next turn has ended, or as long as the session is open."""

WINDOW_EXCEEDED = "model_context_window_exceeded"
"""The stop reason of a reply that filled the window (anthropic-api: Claude 4.5 and later). It is compacted for as after a refusal."""

ASK_AGAIN_SHARE = 0.05
"""Share of the threshold. A policy that found nothing to do at its threshold is asked again within the turn once so much has come since."""

PREPARED_FROM = 0.9
"""Share of the threshold. What comes after a summary was drafted stays beside it, so a draft that is made early leaves more. Over two long
recorded sessions (replay, `ullage` and `claude-code`) one from 75 % cost 10 % more dollars than one from 95 %, one from 90 % only 2 %. The
rest of the threshold is room for some requests, as many as are usually made while a summary is written."""

TAKEN_BACK_SHARE = 0.25
"""Share of the threshold. Where the user undid the newest compaction, none is made by itself before so much more has come or the window is
as good as full: a few turns, as many as there are between the warning and the threshold."""


@dataclass(frozen=True, slots=True)
class EarlySaving:
    """A compaction before the threshold that would save money. It is made only where the gauge announced it before."""

    when: Literal["prompt", "pause"]
    """When it comes at the earliest: with the user's next prompt, or once nobody has asked anything for some minutes, and with the prompt
    after that."""
    dollars: float
    """About how many dollars it saves, with the cost of forgetting taken off."""
    postponed: Postponed = "none"
    pays: When = "now"
    """In which case it saves."""


@dataclass(frozen=True, slots=True)
class NextCompaction:
    """The claim about the next compaction: one is made before a call that holds `at` tokens or more, as the gauge counts them, unless `why`
    says otherwise."""

    why: Why
    at: int | None
    """Tokens; None if no compaction is made by itself."""
    while_editing: bool = False
    """Whether one is made as soon as the user pauses in typing, since the next turn would usually reach it."""
    saving: EarlySaving | None = None

    def is_due(self, tokens: int) -> bool:
        """Whether a compaction is made before a call that will hold that many tokens."""
        return self.at is not None and self.why not in ("unanswered", "failed") and tokens >= self.at


@dataclass(frozen=True, slots=True)
class Fullness:
    """How full the context is (tokens)."""

    counted: Counted
    used: int
    """The tokens that the context holds, by the measure of the policy in force."""
    threshold: int
    """The tokens from which on the context counts as full, by the same measure."""
    window: int
    hold: int
    """The window beyond which no call is made. It is `window`, unless a refusal named a smaller one, which only a call can show to be
    wrong."""

    @property
    def is_hearsay(self) -> bool:
        """Whether the window, and so the threshold, is what a refusal named."""
        return self.hold != self.window


@dataclass(frozen=True, slots=True)
class State:
    """All values that the decision looks at, at one moment."""

    policy: Policy
    full: Fullness
    auto: bool = True
    """Whether the user allows compactions that nobody asked for."""
    replied: bool = True
    """Whether the model has answered since the newest compaction: without an answer another one would change nothing."""
    left_by_newest: int = 0
    """Tokens that the newest summary in force left; 0 if there is none."""
    grown_since_undo: int | None = None
    """Tokens by which the context has grown since the user undid the newest compaction; None if they did not."""
    rests: float = 0.0
    """Seconds until a compaction is tried again after several failures; 0 if that may be at once."""
    usual_growth: int = USUAL_GROWTH
    """Tokens that a turn usually adds."""
    in_vain: bool = False
    """Whether a compaction of this very log was tried and came to nothing."""
    nothing_below: int = 0
    """Tokens below which the policy, which found nothing to do, is not asked again in the same turn."""
    by_model: bool = False
    """Whether a model would write the summary, so that a draft is made ahead."""
    prepared: bool = False
    """Whether a draft is ready that leaves the newest turn alone."""
    saving: EarlySaving | None = None

    @property
    def by_itself(self) -> bool:
        """Whether compactions are made that nobody asked for."""
        return self.auto and not self.policy.never

    @property
    def has_to_hold(self) -> int:
        """Tokens that the context must hold before another compaction, where the newest summary left much (of what is pinned, say).

        Each compaction costs a summary and the cache, and would free next to nothing before.
        """
        if not self.policy.waits_for_gain or not self.left_by_newest:
            return 0
        return ceil(self.left_by_newest + self.full.threshold * ASK_AGAIN_SHARE)

    def undone_left(self, share: float) -> int:
        """Tokens that still have to come after an undo until that share of the threshold has come; 0 if nothing was undone."""
        return 0 if self.grown_since_undo is None else max(0, int(self.full.threshold * share) - self.grown_since_undo)

    def is_held(self, more: int) -> bool:
        """Whether the window itself, whatever the threshold, is as good as full with `more` tokens to come."""
        return self.full.counted.used + more >= self.full.hold * self.policy.threshold.hold_share


@dataclass(frozen=True, slots=True)
class Wait:
    """Decided: nothing is done. `why` says why not."""

    why: str


@dataclass(frozen=True, slots=True)
class Prepare:
    """Decided: a compaction is drafted in the background, so that nobody waits for its summary. A call that is to come is made
    meanwhile."""

    why: str
    trigger: Trigger = "idle"
    """Why it is made. A draft that is to save leaves the newest turn alone, and takes the place of a ready draft that does not."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Decided: a compaction is made before the call."""

    trigger: Trigger
    why: Why | Literal["saves", "refused"]
    must: bool = False
    """Whether the window is as good as full: where the policy has nothing to do, Ullage's own engine stands in."""
    by_program: bool = False
    """Whether no model is asked for the summary: reading a cold prefix for it would cost what the compaction is to save."""
    saves: float | None = None
    """About how many dollars it saves, as announced; None of one that is not to save."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Decided: the call is not made, for the context is full. `why` tells the user what to do."""

    why: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Decided: the call is not made, and no compaction could help. `why` tells the user what to do."""

    why: str


Decision: TypeAlias = Wait | Prepare | Compact | Hold | Refuse


def decide(state: State, more: int = 0, *, tried: bool = False) -> Decision:
    """What is done before a call that will hold `more` tokens than there are now (a prompt to come).

    `tried`: a compaction was made for this call already, or was tried and came to nothing.
    """
    full, held = state.full, state.is_held(more)
    below = full.used + more < full.threshold and not held
    if tried and not below:
        return _held(state, more) if held else Wait("it was tried")
    if below:
        return ahead(state) if tried else _below_the_threshold(state, more)
    refused = _where_nothing_helps(state)
    if refused is not None:
        return refused
    following = next_compaction(state)
    if following.is_due(full.used + more) and (held or more or full.used >= state.nothing_below):
        return Compact("threshold", following.why, must=held)
    if held:
        return _held(state, more)
    return Wait("nothing to do was found") if following.is_due(full.used + more) else ahead(state)


def decide_after_refusal(state: State) -> Decision:
    """What is done after the API refused the prompt as too long."""
    if state.policy.never:
        return Refuse(f"The model refused the conversation as too long. {ways_out(state)}.")
    return Compact("reactive", "refused", must=True)


def decide_after_turn(state: State) -> Wait | Prepare:
    """What is done after a turn has ended and no prompt waits."""
    following = next_compaction(state)
    if following.while_editing:
        return Prepare("the next turn would usually cross the threshold")
    saving = following.saving
    if saving is not None and saving.postponed == "none" and saving.pays == "now" and not state.prepared:
        return Prepare("it saves with the next prompt", "economy")
    return Wait("nothing would be made with the next prompt")


def decide_in_pause(state: State) -> Wait | Prepare | Compact:
    """What is done while nobody asks anything and the cache is about to go cold. It can still serve a summary now."""
    saving = next_compaction(state).saving
    if saving is None or saving.postponed != "none":
        return Wait("nothing is to be saved")
    if saving.pays not in ("now", "pause"):
        return Wait("it saves once the cache is cold, and by the program")
    if not state.prepared:
        return Prepare("it saves before the cache goes cold", "economy")
    return Compact("economy", "saves", saves=saving.dollars)


def next_compaction(state: State) -> NextCompaction:
    """Tells when the next compaction comes by itself, as things are."""
    if not state.by_itself:
        return NextCompaction("off", None)
    full = state.full
    counted = full.counted.used
    window = full.used + max(0, ceil(full.hold * state.policy.threshold.hold_share) - counted)
    undone = state.undone_left(TAKEN_BACK_SHARE)
    lacking = max(0, state.has_to_hold - counted)
    why, at = decided(full.threshold, window, full.used + undone if undone else 0, full.used + lacking if lacking else 0)
    if state.rests > 0:
        return NextCompaction("failed", at)
    if not state.replied:
        return NextCompaction("unanswered", at)
    near = full.used + state.usual_growth >= full.threshold and not undone and counted >= state.has_to_hold
    return NextCompaction(why, at, near and not state.in_vain, state.saving)


def may_save(state: State) -> bool:
    """Whether a compaction before the threshold may be made to save money."""
    return state.policy.saves and state.by_itself and state.replied and state.rests <= 0 and state.grown_since_undo is None


def early_saving(outlook: Outlook, token: float, postponed: Postponed, *, prepared: bool) -> EarlySaving:
    """The compaction before the threshold as the gauge announces it. `token` is the dollars for one uncached input token."""
    ready = outlook.when == "cold" or (outlook.when == "now" and prepared)
    return EarlySaving("prompt" if ready else "pause", max(0.0, outlook.saved * token), postponed, outlook.when)


def decided(threshold: int, window: int, undone: int, grown: int) -> tuple[Why, int]:
    """What decides when the next compaction comes, and at how many tokens, of the places given (tokens; 0 if that one does not decide): the
    latest of threshold, undo and growth, but the window at last."""
    reasons: tuple[tuple[Why, int], ...] = (("threshold", threshold), ("grown", grown), ("undone", undone))
    why, at = max(reasons, key=lambda each: each[1])
    return ("window", window) if window < at and why == "threshold" else (why, min(at, window))


def ways_out(state: State) -> str:
    """The ways in which the user can make room, as a sentence without its end."""
    ways = ["Compact with a click on the gauge or /compact"]
    if state.policy.never:
        ways.append(f'choose another policy than {state.policy.name} in the setting "Ullage › Compaction: Policy"')
    elif not state.by_itself:
        ways.append('turn on the setting "Ullage › Compaction: Auto"')
    return f"{', '.join(ways)}, or begin a new session"


def _below_the_threshold(state: State, more: int) -> Decision:
    """The decision where the threshold is not reached. A compaction that saves is made only with a prompt, if it was announced and nobody
    has to wait."""
    saving = next_compaction(state).saving
    if more and saving is not None and saving.postponed == "none" and saving.when == "prompt":
        return Compact("economy", "saves", by_program=not state.prepared, saves=saving.dollars)
    return ahead(state)


def ahead(state: State) -> Decision:
    """Whether a compaction is drafted ahead, where none is made now."""
    if state.full.used < state.full.threshold * PREPARED_FROM:
        return Wait("there is room")
    if not state.by_itself or not state.by_model:
        return Wait("none is made by itself, or nobody would have to wait for it")
    if not state.replied or state.undone_left(ASK_AGAIN_SHARE):
        return Wait("the newest compaction stands against it")
    return Prepare("the threshold is near")


def _held(state: State, more: int) -> Hold:
    if state.rests > 0:
        return Hold(
            f"The context is full and compacting failed several times. It is tried again in {state.rests:.0f} s; until then "
            "compact by hand with a click on the gauge, or begin a new session."
        )
    return Hold(f"The context is full: about {state.full.counted.used + more:,} of {state.full.hold:,} tokens. {ways_out(state)}.")


def _where_nothing_helps(state: State) -> Refuse | None:
    """The refusal of a call where system and tools alone are over the threshold or the window, so that no compaction could help; None if
    they are not."""
    full, fixed = state.full, state.full.counted.fixed
    if fixed >= full.hold * state.policy.threshold.hold_share:
        return Refuse(
            f"The instructions, rules and tools alone take about {fixed:,} tokens; the model has {full.hold:,} in all. "
            "Shorten AGENTS.md or CLAUDE.md, or choose a model with a larger window."
        )
    if fixed < full.threshold or full.is_hearsay or state.policy.measure != "usage" or not state.by_itself:
        return None
    return Refuse(
        f"The instructions, rules and tools alone take about {fixed:,} tokens, more than the {full.threshold:,} at which "
        "the context counts as full. Shorten AGENTS.md or CLAUDE.md, raise the setting "
        '"Ullage › Compaction: Cap" if it is low, or choose a model with a larger window.'
    )
