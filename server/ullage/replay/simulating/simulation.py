"""Carries a recorded session through a policy: what each request would have held and cost, and what each compaction would have left.

The replies are those that were recorded, whatever the policy put before them: a model that had forgotten something might have
answered otherwise, and read again what it had lost. So the figures say what a policy costs and keeps over the same work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import TypeVar

from ullage.context.compaction.assemble import Draft, Wanted, covered_by, entry_of, fitted, handoff_by, shrinks, ways, with_resume
from ullage.context.compaction.decide import (
    ASK_AGAIN_SHARE,
    Compact,
    decide,
    decide_after_refusal,
)
from ullage.context.compaction.restore import in_room, resume_text
from ullage.context.counting.media import media_tokens
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import Handoff, Occasion, is_in_force, planned_entry, sweeps
from ullage.context.entries import AssistantReply, Compaction, Logged, Trigger, UserPrompt, media_in
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.summary.handoff import tail_note
from ullage.context.summary.reading import Reading
from ullage.context.summary.summary_prompt import asking
from ullage.context.view.projection import Projection
from ullage.replay.cache import Prefix, RequestShape
from ullage.replay.cost import total_usage
from ullage.replay.predicted import left_by_others
from ullage.replay.recorded_sizes import SizedRequest
from ullage.replay.retaining import left_by
from ullage.replay.runs import CompactionPoint, RequestPoint, Run
from ullage.replay.shapes import HABITS
from ullage.replay.simulating.carried import Carried
from ullage.replay.simulating.known_files import KnownFiles, put_back
from ullage.replay.simulating.laid_out import LaidOut
from ullage.replay.simulating.ledger import Ledger, Question, stand_in
from ullage.replay.simulating.measures import Measures, prelude_of
from ullage.replay.simulating.outcome import Epoch, Made, Outcome, Watch
from ullage.replay.simulating.prepared import USUAL, Prepared, Settings
from ullage.replay.simulating.saving import Saving
from ullage.replay.simulating.violations import violations
from ullage.replay.transcript import RecordedCompaction

T = TypeVar("T")

RESUME = resume_text("", rules_changed=False, at_work=True)
"""How to go on. No transcript has a task list."""


def simulate(session: Prepared, policy: Policy, settings: Settings = USUAL, watch: Watch | None = None) -> Run:
    """One session under one policy. A policy that raises gives a run with nothing but its `failure`."""
    return outcome_of(session, policy, settings, watch).run


def outcome_of(session: Prepared, policy: Policy, settings: Settings = USUAL, watch: Watch | None = None) -> Outcome:
    """The same with what its compactions left."""
    session_id = session.transcript.session_id
    try:
        return _Simulation(session, policy, settings, watch).outcome()
    except Exception as error:  # noqa: BLE001 - a policy may come from anybody; the other rows go on
        return Outcome(Run(policy.name, session_id, failure=f"{type(error).__name__}: {error}"))


class _Simulation:
    def __init__(self, session: Prepared, policy: Policy, settings: Settings, watch: Watch | None) -> None:
        self._session = session
        self._transcript = session.transcript
        self._policy = policy
        self._settings = settings
        self._watch = watch
        self._carried = Carried(policy.engine, prelude_of(session))
        self._laid_out = LaidOut(self._carried, session.sizes, session.memo.block)
        self._ledger = Ledger(HABITS[self._transcript.source])
        self._files = KnownFiles()
        self._reading = Reading()
        self._saving = Saving(policy, settings.economy)
        self._made = Made()
        self._seconds = 0.0
        self._measures = Measures(session, policy, settings, self._carried, self._laid_out)
        self._nothing_below = 0
        """Tokens below which the policy, which found nothing to do, is not asked again."""
        self._new_turn = True
        self._unchecked = False
        """Whether a compaction was made since the last request."""
        self._unseen: CompactionPoint | None = None
        """The compaction since the last request, upkeep aside."""
        self._last_seq = 0
        """Of the transcript's entries that were taken."""

    def outcome(self) -> Outcome:
        if self._session.sizes.requests:
            self._ledger.cache.charge(left_by_others(self._session.sizes.requests[0].recorded))
        waiting = sorted(self._transcript.compactions, key=lambda each: each.after_seq)
        upcoming = self._upcoming()
        for logged in self._transcript.entries:
            while self._settings.at == "recorded" and waiting and waiting[0].after_seq < logged.seq:
                self._at_recorded(waiting.pop(0), upcoming[logged.seq])
            self._take(logged, upcoming[logged.seq])
        return Outcome(self._result(), self._made.leaves(self._policy.name, self._ledger.questions))

    def _upcoming(self) -> dict[int, SizedRequest | None]:
        """For each entry the next request that is counted: its reply is this entry or comes after it."""
        following: SizedRequest | None = None
        found: dict[int, SizedRequest | None] = {}
        for logged in reversed(self._transcript.entries):
            following = self._session.requests.get(logged.seq) or following
            found[logged.seq] = following
        return found

    def _take(self, logged: Logged, upcoming: SizedRequest | None) -> None:
        entry = logged.entry
        if isinstance(entry, UserPrompt) and not entry.steering and upcoming is not None and self._settings.at == "policy":
            self._before_prompt(entry, upcoming)
        request = self._session.requests.get(logged.seq)
        if isinstance(entry, AssistantReply):
            self._timed(self._carried.settle)
            if request is not None:
                self._before_request(request)
        self._timed(lambda: self._carried.take(logged))
        self._files.take(logged)
        self._new_turn |= isinstance(entry, UserPrompt)
        self._last_seq = logged.seq

    # When

    def _before_prompt(self, prompt: UserPrompt, upcoming: SizedRequest) -> None:
        """A prompt that would cross the line comes after the compaction, as in the agent."""
        self._timed(self._carried.settle)
        if not self._carried.projection.messages or not self._made.requests:
            return
        texts = (prompt.text, *(attachment.text for attachment in prompt.attachments))
        more = round(sum(self._session.memo.text(text) for text in texts) * self._session.sizes.ratio)
        more += sum(map(media_tokens, media_in(prompt)))
        self._make_room(upcoming.recorded.shape, more)

    def _before_request(self, request: SizedRequest) -> None:
        recorded = request.recorded.shape
        self._laid_out.learn(request.sizes, changes=request.changes)
        self._upkeep(recorded)
        if self._settings.at == "policy":
            self._make_room(recorded, 0)
        window = self._measures.window(recorded.model)
        end = self._measures.end()
        if end.tokens > window and self._after_refusal(recorded):
            end = self._measures.end()
        if self._unchecked:
            self._check()
        usage = self._ledger.charge(recorded, self._laid_out.system, end, new_turn=self._new_turn)
        self._new_turn = False
        self._saving.requested(end.tokens, recorded.at, self._laid_out.system.tokens)
        self._made.requests.append(RequestPoint(request.recorded.seq, recorded.at, end.tokens, usage, end.tokens <= window))

    def _after_refusal(self, recorded: RequestShape) -> bool:
        decision = decide_after_refusal(self._measures.state(recorded.model, self._nothing_below))
        return isinstance(decision, Compact) and self._compact(decision.trigger, recorded)

    def _make_room(self, recorded: RequestShape, more: int) -> None:
        """As the agent decides; where it would hold the call, the recorded reply tells that it went on."""
        state = self._measures.state(recorded.model, self._nothing_below)
        match decide(state, more):
            case Compact(trigger, must=must):
                made = False
                for _ in range(sweeps(self._policy.engine)):
                    if not self._compact(trigger, recorded):
                        break
                    made = True
                if not made and must and self._policy is not ULLAGE:
                    made = self._compact("manual", recorded, by_program=True, policy=ULLAGE)
                used = self._measures.measured(self._measures.end().tokens)
                nothing = not made and self._policy is not ULLAGE
                self._nothing_below = used + int(self._measures.line(recorded.model) * ASK_AGAIN_SHARE) if nothing else 0
            case _:
                if state.replied and state.full.used + more < state.full.line:
                    self._save(recorded, idle=more > 0)

    def _save(self, recorded: RequestShape, *, idle: bool) -> None:
        """Before the line, where that costs less than carrying on."""
        used, fixed = self._measures.end().tokens, self._laid_out.system.tokens
        due = self._saving.due(recorded, used, fixed, by_model=True, idle=idle)
        if due == "before cold":
            self._compact("economy", replace(recorded, at=self._saving.before_cold(recorded)))
        elif due != "no":
            self._compact("economy", recorded, by_program=due == "cold")

    def _at_recorded(self, compaction: RecordedCompaction, upcoming: SizedRequest | None) -> None:
        """Where the record has a compaction. One that the user asked for, or whose reason is not told, is asked for here too."""
        if upcoming is None:
            return
        self._timed(self._carried.settle)
        shape = upcoming.recorded.shape
        shape = replace(shape, at=compaction.at or shape.at)
        triggers: tuple[Trigger, ...] = ("threshold", "manual") if compaction.automatic else ("manual",)
        for trigger in triggers:
            if self._compact(trigger, shape, compaction.told):
                return

    # What

    def _upkeep(self, recorded: RequestShape) -> None:
        if not self._carried.projection.messages:
            return
        planned = self._timed(lambda: self._policy.engine.upkeep(self._occasion("upkeep", recorded.model, self._policy)))
        if planned is None or is_in_force(planned, self._carried.projection):
            return
        before = self._measures.end().tokens
        entry = planned_entry(self._id(), "upkeep", planned, Handoff(""), "moves", policy=self._policy.name, tokens_before=before)
        after = self._timed(lambda: self._carried.with_compaction(entry, recorded.at))
        self._log(entry, after, recorded, before, stood_in="", upkeep=True)

    def _compact(
        self, trigger: Trigger, recorded: RequestShape, told: str = "", *, by_program: bool = False, policy: Policy | None = None
    ) -> bool:
        """Makes a compaction, if the policy plans one that makes the context smaller. `told` is the recorded summary of this place.

        `by_program`: no model is asked. `policy`: one that stands in for the one in force.
        """
        projection = self._carried.projection
        if not projection.messages:
            return False
        policy = policy or self._policy
        planned = self._timed(lambda: policy.engine.plan(self._occasion(trigger, recorded.model, policy)))
        if planned is None:
            return False
        end = self._measures.end()
        wanted = Wanted(self._id(), trigger, by_program=by_program)
        key = projection.key
        line = self._measures.line_of(policy, recorded.model)
        draft = Draft(wanted, planned, "moves", Handoff(""), None, None, (), end.tokens, line, key, policy, key)
        what = ""
        if planned.summarise_to is not None:
            written, what = self._written(draft, end, recorded, told)
            if written is None:
                return False
            draft = written
        entry = entry_of(draft)
        if planned.summarise_to is not None:
            entry = self._with_files(entry, draft)
        entry = fitted(entry, self._weigh)
        if entry.estimated_after >= end.tokens:
            return False
        after = self._timed(lambda: self._carried.with_compaction(entry, recorded.at))
        self._log(entry, after, recorded, end.tokens, stood_in=what, upkeep=False)
        return True

    def _written(self, draft: Draft, end: Prefix, recorded: RequestShape, told: str) -> tuple[Draft | None, str]:
        """The draft with its summary by the first way that makes the context smaller, and what stood in for a model's; None for no way."""
        what, asked = "", draft.plan.asked
        for way in ways(draft.plan, draft.wanted):
            text: str | None = None
            if way == "api":
                continue  # a transcript has nothing that could stand for the API's block
            if way == "model" and asked is not None:
                stands = stand_in(self._settings.summary, told, asked)
                text, what = stands.text, stands.what
                self._charge_summary(recorded, end, draft.plan, stands.tokens)
            elif way == "digest" and what:
                if what == "digest":
                    continue  # it was just tried in the model's place
                what = "digest"
            handoff = Handoff(tail_note(draft.plan.covers)) if way == "tail" else self._handoff(draft, text)
            written = replace(draft, rung=way, handoff=handoff)
            if shrinks(written, RESUME, self._weigh):
                return written, what
        return None, what

    def _with_files(self, entry: Compaction, draft: Draft) -> Compaction:
        numbers = draft.policy.restore
        if numbers is None:
            return entry
        after = self._view_with(entry)
        numbers = in_room(numbers, draft.line - self._measures.tokens(after))
        restored = self._timed(lambda: put_back(after, self._files, numbers))
        return replace(with_resume(entry, draft.policy, RESUME), restored=restored)

    def _handoff(self, draft: Draft, by_model: str | None) -> Handoff:
        told = covered_by(self._carried.projection, draft.plan, by_model, "", draft.line)
        return self._timed(lambda: handoff_by(draft.policy, replace(told, reading=self._reading)))

    def _view_with(self, entry: Compaction) -> Projection:
        return self._timed(lambda: self._carried.with_compaction(entry, 0.0))

    def _weigh(self, entry: Compaction) -> int:
        return self._measures.tokens(self._view_with(entry))

    def _log(self, entry: Compaction, after: Projection, recorded: RequestShape, before: int, *, stood_in: str, upkeep: bool) -> None:
        seq = self._carried.next_seq
        tokens = self._measures.tokens(after)
        self._carried.compact(after)
        self._saving.compacted(tokens)
        if entry.summarised is not None:
            summary = len(entry.summarised.text)
        else:
            summary = len(entry.snipped.marker) if entry.snipped is not None and entry.rung != "moves" else 0
        self._made.compactions.append(
            CompactionPoint(self._last_seq, recorded.at, entry.trigger, entry.rung, before, tokens, summary, upkeep, stood_in)
        )
        if not upkeep:
            self._made.left.append(left_by(entry, self._last_seq, seq, after))
            self._unseen = self._made.compactions[-1]
        self._unchecked = True

    def _charge_summary(self, recorded: RequestShape, before: Prefix, planned: Plan, answer: int) -> None:
        asked = planned.asked
        if asked is None:
            return
        ratio = self._session.sizes.ratio
        question = Question(
            asked=round(estimate_text(asking(asked.prompt, "")) * ratio),
            answer=round(answer * ratio),
            own_text=None if asked.text is None else round(estimate_text(asked.text) * ratio),
            check=round(estimate_text(asked.check) * ratio),
        )
        self._ledger.charge_summary(recorded, self._laid_out.system, before, question)

    def _check(self) -> None:
        projection = self._carried.projection
        self._made.violations.update(dict.fromkeys(violations(projection.complete_messages, projection.entries)))
        self._unchecked = False
        if self._unseen is not None and self._watch is not None:
            self._watch(Epoch(len(self._made.left), self._unseen.after_seq, self._unseen.trigger, projection, self._carried))
        self._unseen = None

    # How much

    def _occasion(self, trigger: Trigger, model: str, policy: Policy) -> Occasion:
        measures = self._measures
        used = measures.end().tokens
        used = measures.measured(used) if policy is self._policy else used
        return Occasion(self._carried.projection, trigger, used, measures.line_of(policy, model), measures.window(model), measures.count)

    def _id(self) -> str:
        return f"c{self._carried.next_seq}"

    def _timed(self, work: Callable[[], T]) -> T:
        started = process_time()
        try:
            return work()
        finally:
            self._seconds += process_time() - started

    def _result(self) -> Run:
        made = self._made
        dollars, summaries, cold = self._ledger.dollars()
        return Run(
            policy=self._policy.name,
            session_id=self._transcript.session_id,
            requests=tuple(made.requests),
            compactions=tuple(made.compactions),
            usage=total_usage(point.usage for point in made.requests),
            dollars=dollars,
            summaries=summaries,
            summaries_cold=cold,
            retained=self._session.needed.retained(made.left),
            violations=tuple(made.violations),
            seconds=self._seconds,
            line=self._measures.largest_line,
            window=self._measures.largest_window,
        )
