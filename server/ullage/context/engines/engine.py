"""The one seam between a policy and whoever carries it out, live (`session/`) or over a recorded session (`replay/`).

An engine is data with four answers. It reads no file and calls no model. It says in a `Plan` what a model is to be asked, and gets what
came back as text. What an engine keeps from one compaction to the next it reads out of the log. What was planned becomes an entry of the
log here too (`planned_entry`), the same way live and in replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ullage.context.blocks import CompactionBlock
from ullage.context.compaction_entries import Compaction, Rung, Snipped, Summarised, Trigger
from ullage.context.entries import Logged
from ullage.context.moves.cheap import Arrival, Clip, messages_in
from ullage.context.moves.plan import Asked, Count, Plan
from ullage.context.summary.facts import Reading
from ullage.context.summary.nearby import NearbyFile
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection

PathOf: TypeAlias = Callable[[str], str]
"""Gives for a tool use id the path of the file that holds the whole output."""

SUMMARY_ROOM_SHARE = 1 / 3
"""Share of the threshold that the summary may take: the rest is for the tail, the restored files and the turns to come."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A moment at which an engine is asked for a plan. All sizes are tokens."""

    projection: Projection
    trigger: Trigger
    used: int
    """Tokens that the context holds, by the policy's own measure."""
    threshold: int
    """Tokens from which on the context counts as full, by the same measure."""
    window: int
    """The model's window."""
    count: Count
    """Gives the tokens of messages, as the model counts (an estimate)."""


@dataclass(frozen=True, slots=True)
class Covered:
    """The part of the log that a summary stands for, and what there is to write it from."""

    entries: Sequence[Logged]
    """The whole log up to the last entry that the summary stands for, from the session's first."""
    plan: Plan
    model_text: str | None
    """The model's text; None if none was asked, or none could be used."""
    focus: str
    """What the user or the model wants favoured; empty for nothing."""
    room: int
    """Tokens that the summary may take."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """The source texts of the workspace by path (relative, with `/`), for an engine that wants them; empty in replay."""
    tail: Sequence[Logged] = ()
    """The entries after `entries`, up to the last one when the summary was planned. They stay in view, and the program summary may speak of
    them all the same."""
    reading: Reading | None = None
    """What was read of this log for an earlier program summary. It saves time and changes nothing."""


@dataclass(frozen=True, slots=True)
class SummaryText:
    """The text that takes the place of what is summarised."""

    text: str
    acknowledgement: str = ""
    """What the assistant is shown to have answered to it; empty for nothing."""
    resume: str = ""
    """The text that comes after all that stays; empty for none."""
    block: CompactionBlock | None = None
    """The API's own summary, which takes the messages' place; `text` then completes it, after the turns that stay."""
    nearby: tuple[NearbyFile, ...] = ()
    """Files that may be named beside those that are read again, the likeliest needed first."""


class Engine(Protocol):
    """The way in which a policy is carried out. A frozen value; every answer depends on the arguments alone.

    `Unchanging` has a default for all of it.
    """

    @property
    def tools(self) -> frozenset[str]:
        """The names of tools that the model is offered only under this engine. A replay ignores them."""
        ...

    @property
    def keeps_up(self) -> bool:
        """Whether `upkeep` may do anything. Asking `upkeep` costs a fold of the whole log."""
        ...

    @property
    def sweeps(self) -> int:
        """How many compactions may be made one right after the other, as long as `plan` still gives one."""
        ...

    @property
    def wants_files(self) -> bool:
        """Whether `summarise` is to be given the workspace's source texts (`Covered.files`)."""
        ...

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """What the model gets of each result of one message, before that is first sent; in the same order."""
        ...

    def upkeep(self, at: Occasion) -> Plan | None:
        """The moves to make before a model call, however full the context is; without a summary. None for none."""
        ...

    def plan(self, at: Occasion) -> Plan | None:
        """The moves to make where the context is full, where the API refused it (`reactive`), or where somebody asked for a compaction.

        None: there is nothing to gain. The context may be less than full where somebody asked (`manual`, `tool`), while the user edits
        (`idle`) and to save (`economy`).
        """
        ...

    def summarise(self, covered: Covered) -> SummaryText:
        """The text of a planned summary, made with what the model wrote for it or, without that, by program."""
        ...


class Unchanging:
    """An engine that does nothing: for policies that never compact, and as the base of engines of one's own."""

    tools: frozenset[str] = frozenset()
    sweeps: int = 1
    wants_files: bool = False

    @property
    def keeps_up(self) -> bool:
        """Whether an engine that derives from this one has an `upkeep` of its own."""
        return type(self).upkeep is not Unchanging.upkeep

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """Leaves the results as they came."""
        return tuple(Clip(arrival.content, clipped=False, characters=len(arrival.content)) for arrival in arrivals)

    def upkeep(self, at: Occasion) -> Plan | None:
        """None: nothing is done."""
        return None

    def plan(self, at: Occasion) -> Plan | None:
        """None: nothing is done."""
        return None

    def summarise(self, covered: Covered) -> SummaryText:
        """The model's text as it came; empty without one."""
        return SummaryText(covered.model_text or "")


def planned_entry(
    id: str, trigger: Trigger, plan: Plan, summary: SummaryText, rung: Rung, *, policy: str, tokens_before: int, focus: str = ""
) -> Compaction:
    """The log entry for a plan, before files are read again and before its size is known (`estimated_after` is 0). `tokens_before` are
    those of the whole context."""
    summarised, snipped = None, plan.snipped
    if plan.summarise_to is not None and plan.summarise_from:
        snipped = Snipped(plan.summarise_from, plan.summarise_to, summary.text, plan.carried)
    elif plan.summarise_to is not None:
        summarised = Summarised(plan.summarise_to, summary.text, plan.covers, summary.acknowledgement, plan.carried, summary.block)
    return Compaction(
        id=id,
        trigger=trigger,
        rung=rung,
        through=plan.through,
        cleared=plan.cleared,
        snipped=snipped,
        summarised=summarised,
        restored=(),
        resume=summary.resume,
        focus=focus,
        policy=policy,
        tokens_before=tokens_before,
        estimated_after=0,
        without_files=plan.without_files,
    )


def is_in_force(planned: Plan, projection: Projection) -> bool:
    """Whether all that is planned was done before: an epoch of its own would cost the cache and all thinking for nothing."""
    cleared = {each for active in projection.active for each in active.cleared}
    snipped = [active.snipped for active in projection.active]
    return cleared.issuperset(planned.cleared) and (planned.snipped is None or planned.snipped in snipped)


def summary_up_to(cut: int, at: Occasion, estimated_after: int, asked: Asked | None = None) -> Plan:
    """The plan of a summary of all messages before `cut`, which is legal and not the first. `estimated_after` is in tokens; `asked` is as
    in `Plan`."""
    to = at.projection.last_seq_before(cut)
    covers = messages_in(at.projection.entries[: place_of(at.projection.entries, to + 1)])
    return Plan(at.projection.entries[-1].seq, (), None, to, covers, estimated_after, asked=asked)


def summary_room(threshold: int) -> int:
    """Tokens that a summary may take, at that threshold."""
    return int(threshold * SUMMARY_ROOM_SHARE)
