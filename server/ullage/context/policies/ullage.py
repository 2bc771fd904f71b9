"""`ullage`: the default. Program and model write a summary together, and cheap moves are made where it would gain nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ullage.context.engines.engine import Covered, Handoff, Occasion, PathOf, Unchanging, handoff_room
from ullage.context.moves.cheap import Arrival, Clip, clip
from ullage.context.moves.cuts import newest_turn, start_of_turns
from ullage.context.moves.plan import Plan, leaves_alone, plan, reactive_plan
from ullage.context.policy import Policy, RestoreNumbers, SummaryNumbers, UllageNumbers
from ullage.context.summary.program_summary import brief
from ullage.context.summary.whole_summary import USER_SHARE, staying_text, whole_summary
from ullage.context.view.log_places import joined


@dataclass(frozen=True, slots=True)
class UllageEngine(Unchanging):
    """Clip on arrival; at the threshold a record of all but a short tail.

    There is no upkeep: between two compactions the prefix only grows.
    """

    numbers: UllageNumbers = field(default_factory=UllageNumbers)

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """Results over their limit give way to their head and tail."""
        return clip(arrivals, self.numbers.clip, path_of)

    def plan(self, at: Occasion) -> Plan | None:
        """Cheap moves where they suffice, else a summary."""
        numbers = _within_room(self.numbers, handoff_room(at.line))
        if at.trigger == "reactive":
            return reactive_plan(at.projection, numbers, at.line, at.count, brief)
        if at.trigger == "economy":
            return _beside_the_newest_turn(at, numbers)
        if at.trigger in ("manual", "tool"):
            return plan(at.projection, _with_short_tail(numbers, at.used), at.line, at.count, brief, goal=0)
        return plan(at.projection, numbers, at.line, at.count, brief)

    def handoff(self, covered: Covered) -> Handoff:
        """The program's record, and what the model wrote beside it."""
        # A name is of use beside its file, and what was done last is the likeliest needed: the record is of the tail, too.
        entries = joined(covered.entries, covered.tail)
        staying = staying_text(covered.tail, {each.seq for each in covered.plan.cleared})
        return Handoff(
            whole_summary(entries, covered.model_text, covered.focus, self.numbers.summary, covered.room, covered.reading, staying)
        )


def _beside_the_newest_turn(at: Occasion, numbers: UllageNumbers) -> Plan | None:
    """To save, nothing of the newest turn is touched: the user may be reading it. None where there is nothing to gain without it.

    Old results are not cleared alone: that would free little and cost the cache.
    """
    newest = at.count(at.projection.messages[start_of_turns(at.projection, 1) :])
    summary = numbers.summary
    tail = max(summary.tail_tokens if summary.tail_tokens < summary.tail_share * at.line else int(summary.tail_share * at.line), newest)
    whole = replace(numbers, summary=replace(summary, tail_tokens=tail, tail_share=1.0))
    planned = plan(at.projection, whole, at.line, at.count, brief, goal=0)
    if planned is None:
        return None
    first = newest_turn(at.projection)
    kept = replace(planned, cleared=tuple(each for each in planned.cleared if each.seq < first))
    return kept if leaves_alone(kept, first) else None


def _within_room(numbers: UllageNumbers, room: int) -> UllageNumbers:
    """With the user's words counted as the handoff will quote them: in a small window not all of them."""
    words = min(numbers.summary.user_message_tokens, int(room * USER_SHARE))
    return replace(numbers, summary=replace(numbers.summary, user_message_tokens=words))


def _with_short_tail(numbers: UllageNumbers, used: int) -> UllageNumbers:
    """For a compaction that somebody asked for: the tail is at most a quarter of what is there now.

    Without it a short conversation would be all tail, and a click would do nothing.
    """
    tail = min(numbers.summary.tail_tokens, used // 4)
    return replace(numbers, summary=replace(numbers.summary, tail_tokens=tail))


ULLAGE = Policy(
    name="ullage",
    title="Long results are shortened; when full, or where it saves, a summary from the log and by the model; up to 5 files are read again",
    sources=("Ullage itself; every number names its own source",),
    engine=UllageEngine(),
    saves=True,
    restore=RestoreNumbers(room_share=0.5),
    tail_tokens=SummaryNumbers().tail_tokens,
    has_stand_in=False,
    drafts_ahead=True,
    waits_for_gain=True,
    api_summaries=True,
)
