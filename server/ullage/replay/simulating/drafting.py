"""The compactions of a simulated session: drafted ahead as a live session does in the background, or when they are needed.

Deciding, planning and assembling are those of the live session (`context/compaction/`). A transcript has no model to ask and no disk:
here something stands in for the model's summary, and files are known from the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ullage.context.compaction.assemble import (
    Draft,
    Sizes,
    Wanted,
    counting,
    covered_by,
    entry_of,
    epoch_of,
    fitted,
    is_of_use,
    planned,
    shrinks,
    sparing,
    stand_in_by,
    standing_in,
    summary_by,
    ways,
    with_resume,
)
from ullage.context.compaction.gathering import Breaker, SpendGuard
from ullage.context.compaction.restore import in_room, resume_text
from ullage.context.compaction_entries import Compaction, RestoredFile, Trigger
from ullage.context.engines.engine import SummaryText
from ullage.context.moves.cuts import newest_turn
from ullage.context.moves.plan import Asked, leaves_alone
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy, RestoreOptions
from ullage.context.summary.facts import Reading
from ullage.context.summary.whole_summary import tail_note
from ullage.context.view.projection import Projection
from ullage.replay.simulating.outcome import StandIn


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft, and what stood for the model's summary in it (empty where none would have been asked)."""

    draft: Draft
    stood_in: str


@dataclass(frozen=True, slots=True)
class Around:
    """What a draft is made of, as things are."""

    view: Projection
    sizes: Sizes
    stand_in: Callable[[Asked, str], StandIn]
    """What stands for the answer to a question, which says what to favour; it is charged by whoever gives this."""
    with_entry: Callable[[Compaction], Projection]
    weigh: Callable[[Projection], int]
    files: Callable[[Projection, RestoreOptions], tuple[RestoredFile, ...]]
    sources: Mapping[str, str]
    """The texts of the repository, as far as they are known."""


Look: TypeAlias = Callable[[], Around]


class Drafting:
    """Drafts compactions of one simulated session under one policy. Times are Unix seconds and come from the caller."""

    def __init__(self, policy: Policy, look: Look, spend_in_vain: Callable[[], None], writing_seconds: float) -> None:
        """`spend_in_vain` is called where nothing comes of what a model wrote."""
        self._policy = policy
        self._look = look
        self._spend_in_vain = spend_in_vain
        self._writing_seconds = writing_seconds
        self._reading = Reading()
        self._breaker = Breaker()
        """Open: no model is asked for a while, since what it wrote was not shorter."""
        self._guard = SpendGuard()
        self._begun = False
        self._ahead: Drafted | None = None
        self._ready_at = 0.0

    # Ahead, as `Preparation` does in the background of a live session

    def prepare(self, id: str, trigger: Trigger, now: float) -> bool:
        """Begins a draft, unless one was begun; one that is to save takes the place of one that is ready. False where none can be made."""
        if self._begun and (trigger != "economy" or not self.is_ready(now)):
            return True
        self.give_up()
        self._begun = True
        around = self._look()
        self._ahead = self._drafted(Wanted(id, trigger), self._policy, around.sizes, around, now)
        self._ready_at = now + (self._writing_seconds if self._ahead is not None and self._ahead.stood_in else 0.0)
        return self._ahead is not None

    def done_at(self, now: float) -> float | None:
        """When the draft that was begun is ready, or has failed; None where none was begun."""
        return max(now, self._ready_at) if self._begun else None

    def is_prepared(self, now: float) -> bool:
        """Whether one is ready that leaves the newest turn alone."""
        return self.is_ready(now) and self._ahead is not None and leaves_alone(self._ahead.draft.plan, newest_turn(self._look().view))

    def give_up(self) -> None:
        """What was begun serves no more."""
        ahead, self._begun, self._ahead = self._ahead, False, None
        if ahead is not None:
            self._discard(ahead)

    def _discard(self, drafted: Drafted) -> None:
        if drafted.stood_in:
            self._spend_in_vain()

    def is_ready(self, now: float) -> bool:
        """Whether one is ready and speaks of the epoch in force. One that does not is given up."""
        if not self._begun or now < self._ready_at:
            return False
        if self._ahead is None or not self._still_fits(self._ahead):
            self.give_up()
            return False
        return True

    def _still_fits(self, ahead: Drafted) -> bool:
        return ahead.draft.epoch == epoch_of(self._look().view)

    def _take(self) -> Drafted | None:
        """The draft, waited for where it is in work."""
        ahead, self._begun, self._ahead = self._ahead, False, None
        if ahead is not None and not self._still_fits(ahead):
            self._discard(ahead)
            return None
        return ahead if ahead is not None and is_of_use(ahead.draft) else None

    # Now

    def for_now(self, wanted: Wanted, now: float, *, must: bool) -> Drafted | None:
        """What the compaction is made of: the draft that was made ahead where that serves, or a new one.

        Where the policy has nothing to do though something `must` be done, or never compacts though somebody asks for it, Ullage's own
        engine stands in. None where nothing can be done.
        """
        serves = wanted.trigger != "reactive" and not wanted.focus and not wanted.by_program
        serves = serves and (wanted.trigger != "economy" or self.is_prepared(now))
        ahead = self._take() if serves else None
        made = self._new(wanted, now, must=must) if ahead is None else replace(ahead, draft=ahead.draft.as_wanted(wanted))
        if made is not None and not _may_be_made(wanted, made.draft, self._look().view):
            self._discard(made)
            return None
        return made

    def _new(self, wanted: Wanted, now: float, *, must: bool) -> Drafted | None:
        around = self._look()
        draft = self._drafted(wanted, self._policy, around.sizes, around, now)
        by = stand_in_by(self._policy, wanted, must=must)
        if draft is not None or by is None:
            return draft
        asking, sizes = standing_in(wanted, around.sizes)
        stood = self._drafted(replace(asking, by_program=by == "program"), ULLAGE, sizes, around, now)
        return None if stood is None else replace(stood, draft=stood.draft.as_wanted(wanted))

    def upkeep(self, id: str) -> Draft | None:
        """What the policy does before every call; None where that is nothing."""
        around = self._look()
        if not around.view.messages:
            return None
        return planned(self._policy, around.view, Wanted(id, "upkeep"), around.sizes)

    def entry(self, drafted: Drafted, *, at_work: bool) -> Compaction | None:
        """The entry as it is logged, its files read again; None where pins have left nothing of it."""
        around, prepared = self._look(), drafted.draft
        entry = replace(entry_of(prepared), tokens_before=around.sizes.used)
        options = prepared.policy.restore
        if prepared.plan.summarise_to is not None and options is not None:
            after = around.with_entry(entry)
            taken, sizes = around.weigh(after), around.sizes
            held = sizes.window * prepared.policy.threshold.hold_share
            room = in_room(options, prepared.threshold - taken, held - taken, sizes.calibration.ratio)
            restored = around.files(after, room)
            entry = replace(with_resume(entry, prepared.policy, resume(at_work=at_work)), restored=restored)
        weigh = self._weighing(around)
        spared = sparing(entry, prepared, around.view, counting(around.sizes.calibration), weigh)
        if spared is None:
            self._discard(drafted)
            return None
        return fitted(spared, weigh)

    def _drafted(self, wanted: Wanted, policy: Policy, sizes: Sizes, around: Around, now: float) -> Drafted | None:
        """By the first way that makes the context smaller."""
        if not around.view.messages:
            return None
        draft = planned(policy, around.view, wanted, sizes)
        if draft is None:
            return None
        if draft.plan.summarise_to is None:
            return Drafted(draft, "")
        what, weigh, asked = "", self._weighing(around), draft.plan.asked
        for way in ways(draft.plan, wanted):
            text: str | None = None
            if way == "api":
                continue  # a transcript has nothing that could stand for the API's block
            if way == "model" and asked is not None:
                if self._breaker.is_open(now) or self._guard.rests(now) or (asked.text is None and sizes.used > sizes.window):
                    continue
                self._guard.called(now)
                stands = around.stand_in(asked, wanted.focus)
                text, what = stands.text, stands.what
            elif way == "digest" and what:
                if what == "digest":
                    continue  # it was just tried in the model's place
                what = "digest"
            summary = SummaryText(tail_note(draft.plan.covers)) if way == "tail" else self._summary(draft, text, around)
            written = replace(draft, rung=way, summary=summary)
            if shrinks(written, resume(at_work=True), weigh, around.sizes.used):
                if way == "model":
                    self._breaker.succeeded()
                return Drafted(written, what)
            if way == "model":
                self._breaker.failed(now)
        if what:
            self._spend_in_vain()
        return None

    def _summary(self, draft: Draft, by_model: str | None, around: Around) -> SummaryText:
        told = covered_by(around.view, draft.plan, by_model, draft.wanted.focus, draft.threshold, around.sources)
        return summary_by(draft.policy, replace(told, reading=self._reading))

    @staticmethod
    def _weighing(around: Around) -> Callable[[Compaction], int]:
        return lambda entry: around.weigh(around.with_entry(entry))


def _may_be_made(wanted: Wanted, draft: Draft, view: Projection) -> bool:
    """One that is to save takes nothing out of the newest turn."""
    return wanted.trigger != "economy" or leaves_alone(draft.plan, newest_turn(view))


def resume(*, at_work: bool) -> str:
    """How to go on. No transcript has a task list."""
    return resume_text("", rules_changed=False, at_work=at_work)
