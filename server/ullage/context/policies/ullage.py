"""`ullage`: the default. Program and model write a summary together, and cheap moves are made where it would gain nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ullage.context.engines.engine import Covered, Occasion, PathOf, SummaryText, Unchanging, summary_room
from ullage.context.moves.cheap import Arrival, Clip, clip
from ullage.context.moves.cuts import newest_turn, start_of_turns
from ullage.context.moves.plan import Plan, leaves_alone, plan, reactive_plan
from ullage.context.moves.repeats import refer
from ullage.context.policy import Policy, RestoreOptions, SummaryOptions, UllageOptions
from ullage.context.summary.program_summary import brief
from ullage.context.summary.whole_summary import USER_SHARE, staying_text, whole_summary
from ullage.context.view.log_places import joined


@dataclass(frozen=True, slots=True)
class UllageEngine(Unchanging):
    """Refer and clip on arrival; at the threshold a program summary of all but a short tail.

    There is no upkeep: between two compactions the prefix only grows.
    """

    options: UllageOptions = field(default_factory=UllageOptions)

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """Results that stand in view already give way to a reference, those over their limit to their head and tail."""
        referred = refer(arrivals, self.options.repeat, path_of)
        shorter = [replace(each, content=known.content) if known else each for each, known in zip(arrivals, referred, strict=True)]
        clips = clip(shorter, self.options.clip, path_of)
        return tuple(first or second for first, second in zip(referred, clips, strict=True))

    def plan(self, at: Occasion) -> Plan | None:
        """Cheap moves where they suffice, else a summary."""
        options = _within_room(self.options, summary_room(at.threshold))
        if at.trigger == "reactive":
            return reactive_plan(at.projection, options, at.threshold, at.count, brief)
        if at.trigger == "economy":
            return _beside_the_newest_turn(at, options)
        if at.trigger in ("manual", "tool"):
            return plan(at.projection, _with_short_tail(options, at.used), at.threshold, at.count, brief, goal=0)
        return plan(at.projection, options, at.threshold, at.count, brief)

    def summarise(self, covered: Covered) -> SummaryText:
        """The program summary, and what the model wrote beside it."""
        # A name is of use beside its file, and what was done last is the likeliest needed: the program summary is of the tail, too.
        entries = joined(covered.entries, covered.tail)
        staying = staying_text(covered.tail, {each.seq for each in covered.plan.cleared})
        return SummaryText(
            whole_summary(entries, covered.model_text, covered.focus, self.options.summary, covered.room, covered.reading, staying)
        )


def _beside_the_newest_turn(at: Occasion, options: UllageOptions) -> Plan | None:
    """To save, nothing of the newest turn is touched: the user may be reading it. None where there is nothing to gain without it.

    Old results are not cleared alone: that would free little and cost the cache.
    """
    newest = at.count(at.projection.messages[start_of_turns(at.projection, 1) :])
    summary = options.summary
    tail = max(
        summary.tail_tokens if summary.tail_tokens < summary.tail_share * at.threshold else int(summary.tail_share * at.threshold), newest
    )
    whole = replace(options, summary=replace(summary, tail_tokens=tail, tail_share=1.0))
    planned = plan(at.projection, whole, at.threshold, at.count, brief, goal=0)
    if planned is None:
        return None
    first = newest_turn(at.projection)
    kept = replace(planned, cleared=tuple(each for each in planned.cleared if each.seq < first))
    return kept if leaves_alone(kept, first) else None


def _within_room(options: UllageOptions, room: int) -> UllageOptions:
    """With the user's words counted as the summary will quote them: in a small window not all of them."""
    words = min(options.summary.user_message_tokens, int(room * USER_SHARE))
    return replace(options, summary=replace(options.summary, user_message_tokens=words))


def _with_short_tail(options: UllageOptions, used: int) -> UllageOptions:
    """For a compaction that somebody asked for: the tail is at most a quarter of what is there now.

    Without it a short conversation would be all tail, and a click would do nothing.
    """
    tail = min(options.summary.tail_tokens, used // 4)
    return replace(options, summary=replace(options.summary, tail_tokens=tail))


RESTORED = RestoreOptions(more_files=10, file_tokens=19_500, total_tokens=19_500, tests_share=0.7, room_share=0.5)
"""Chosen by hand on recorded sessions; `ullage replay --policy fitted` chooses them anew without each project. Tests are edited often and
read again less than the code that they are about: any weight from a quarter to 0.7 held more than 1. One file may take all the room."""

ULLAGE = Policy(
    name="ullage",
    title="Long results are shortened; when full, or where it saves, a summary from the log and by the model; files in work are read again",
    sources=("Ullage itself; every number names its own source",),
    engine=UllageEngine(),
    saves=True,
    restore=RESTORED,
    tail_tokens=SummaryOptions().tail_tokens,
    has_stand_in=False,
    drafts_ahead=True,
    waits_for_gain=True,
    proves=True,
    api_summaries=True,
)
