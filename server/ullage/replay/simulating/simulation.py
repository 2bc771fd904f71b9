"""Carries a recorded session through a policy: what each request would have held and cost, and what each compaction would have left.

The replies are those that were recorded, whatever the policy put before them: a model that had forgotten something might have
answered otherwise, and read again what it had lost. So the figures say what a policy costs and keeps over the same work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import TypeVar

from ullage.context.blocks import Usage
from ullage.context.compaction.assemble import Wanted
from ullage.context.compaction.decide import (
    ASK_AGAIN_SHARE,
    Compact,
    Prepare,
    State,
    Wait,
    decide,
    decide_after_refusal,
    next_compaction,
)
from ullage.context.compaction_entries import Compaction, Trigger
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import sweeps
from ullage.context.entries import AssistantReply, Logged, UserPrompt
from ullage.context.moves.plan import Asked
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.summary.summary_prompt import asking
from ullage.context.view.projection import Projection
from ullage.replay.measuring.retaining import left_by
from ullage.replay.measuring.runs import CompactionPoint, RequestPoint, Run
from ullage.replay.pricing.cost import left_by_others, total_usage
from ullage.replay.pricing.prompt_cache import Prefix, RequestShape
from ullage.replay.pricing.recorded_requests import HABITS
from ullage.replay.simulating.block_sizes import LaidOut, SizedRequest
from ullage.replay.simulating.carried import Carried
from ullage.replay.simulating.drafting import Around, Drafted, Drafting
from ullage.replay.simulating.known_files import KnownFiles, put_back
from ullage.replay.simulating.measures import Measures, Saving, prelude_of
from ullage.replay.simulating.outcome import Epoch, Ledger, Made, Outcome, Question, StandIn, Watch, stand_in
from ullage.replay.simulating.prepared import USUAL, Prepared, Settings
from ullage.replay.simulating.views import violations
from ullage.replay.transcript import RecordedCompaction

T = TypeVar("T")


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


def carry(session: Prepared, policy: Policy, settings: Settings = USUAL) -> Projection:
    """The log as it would have become, as it stands at the end. Raises what the policy raises."""
    simulation = _Simulation(session, policy, settings, None)
    simulation.outcome()
    return simulation.view


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
        self._drafting = Drafting(policy, self._look)
        self._saving = Saving(policy, settings.economy)
        self._made = Made()
        self._seconds = 0.0
        self._measures = Measures(session, policy, settings, self._carried)
        self._nothing_below = 0
        """Tokens below which the policy, which found nothing to do, is not asked again."""
        self._near = False
        """The threshold is near: a compaction is drafted beside the next request."""
        self._shape: RequestShape | None = None
        """Of the request that is to come, or of the last one where none is."""
        self._summaries: list[tuple[int, str]] = []
        """Of the compactions that were made, upkeep aside: the transcript's last entry before each, and the words of its summary."""
        self._told = ""
        """The recorded summary of this place; empty where there is none."""
        self._new_turn = True
        self._unchecked = False
        """Whether a compaction was made since the last request."""
        self._unseen: CompactionPoint | None = None
        """The compaction since the last request, upkeep aside."""
        self._last_seq = 0
        """Of the transcript's entries that were taken."""

    @property
    def view(self) -> Projection:
        """The log so far."""
        return self._carried.projection

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
        if upcoming is not None:
            self._shape = upcoming.recorded.shape
        if isinstance(entry, UserPrompt) and not entry.steering and self._settings.at == "policy":
            self._between_turns()
            self._before_prompt(entry)
        request = self._session.requests.get(logged.seq)
        if isinstance(entry, AssistantReply):
            self._timed(self._carried.settle)
            if request is not None:
                usage = self._before_request(request)
                logged = logged if self._is_as_recorded() else replace(logged, entry=replace(entry, usage=usage))
        self._timed(lambda: self._carried.take(logged))
        if request is not None:
            self._measures.learn(request.recorded.shape.model)
        self._files.take(logged)
        self._new_turn |= isinstance(entry, UserPrompt)
        self._last_seq = logged.seq

    def _is_as_recorded(self) -> bool:
        """Whether the compactions so far are those that were recorded. Then the recorded usage is exact, and what is laid out is not."""
        return self._summaries == [
            (each.after_seq, each.summary) for each in self._transcript.compactions if each.after_seq <= self._last_seq
        ]

    # When

    def _between_turns(self) -> None:
        """Where the next turn would usually cross the threshold a compaction is drafted, while nobody waits."""
        self._timed(self._carried.settle)
        if self._made.requests and self._shape is not None and next_compaction(self._state(self._shape)).while_editing:
            self._timed(lambda: self._drafting.prepare(self._id()))

    def _before_prompt(self, prompt: UserPrompt) -> None:
        """A prompt that would cross the threshold comes after the compaction, as in the agent."""
        shape = self._shape
        if not self._carried.projection.messages or not self._made.requests or shape is None:
            return
        self._upkeep(shape)
        self._make_room(shape, self._measures.of_prompt(prompt, shape.model))

    def _before_request(self, request: SizedRequest) -> Usage:
        """What the request of this reply would have used."""
        recorded = request.recorded.shape
        self._laid_out.learn(request.sizes, changes=request.changes)
        self._upkeep(recorded)
        if self._settings.at == "policy":
            self._make_room(recorded, 0)
        window = self._measures.window(recorded.model)
        end = self._end()
        if end.tokens > window and not self._is_as_recorded() and self._after_refusal(recorded):
            end = self._end()
        if self._near:
            self._near = False
            self._timed(lambda: self._drafting.prepare(self._id()))
        if self._unchecked:
            self._check()
        usage = self._ledger.charge(recorded, self._laid_out.system, end, new_turn=self._new_turn)
        self._new_turn = False
        self._saving.requested(end.tokens, recorded.at, self._laid_out.system.tokens)
        self._made.requests.append(RequestPoint(request.recorded.seq, recorded.at, end.tokens, usage, end.tokens <= window))
        return usage

    def _after_refusal(self, recorded: RequestShape) -> bool:
        decision = decide_after_refusal(self._state(recorded))
        return isinstance(decision, Compact) and self._compact(decision.trigger, recorded, must=decision.must)

    def _state(self, recorded: RequestShape) -> State:
        return self._measures.state(recorded.model, self._nothing_below, in_vain=self._drafting.in_vain)

    def _make_room(self, recorded: RequestShape, more: int) -> None:
        """As the agent decides; where it would hold the call, the recorded reply tells that it went on."""
        state = self._state(recorded)
        match decide(state, more):
            case Compact(trigger, must=must):
                made = self._compact(trigger, recorded, must=must, at_work=not more)
                for _ in range(1, sweeps(self._policy.engine) if made else 1):
                    if not self._compact(trigger, recorded, at_work=not more):
                        break
                full = self._measures.fullness(recorded.model)
                nothing = not made and self._policy is not ULLAGE
                self._nothing_below = full.used + int(full.line * ASK_AGAIN_SHARE) if nothing else 0
            case Prepare() if not self._save(recorded, state, more):
                self._near = True
            case Wait():
                self._save(recorded, state, more)
            case _:
                pass

    def _save(self, recorded: RequestShape, state: State, more: int) -> bool:
        """Before the threshold, where that costs less than carrying on; whether a compaction was made."""
        if not state.replied or state.full.used + more >= state.full.line:
            return False
        used, fixed = self._end().tokens, self._laid_out.system.tokens
        due = self._saving.due(recorded, used, fixed, by_model=True, idle=more > 0)
        if due == "before cold":
            return self._compact("economy", replace(recorded, at=self._saving.before_cold(recorded)))
        return due != "no" and self._compact("economy", recorded, by_program=due == "cold")

    def _at_recorded(self, compaction: RecordedCompaction, upcoming: SizedRequest | None) -> None:
        """Where the record has a compaction. One that the user asked for, or whose reason is not told, is asked for here too."""
        if upcoming is None:
            return
        self._timed(self._carried.settle)
        shape = upcoming.recorded.shape
        shape = replace(shape, at=compaction.at or shape.at)
        triggers: tuple[Trigger, ...] = ("threshold", "manual") if compaction.automatic else ("manual",)
        self._told = compaction.told
        for trigger in triggers:
            if self._compact(trigger, shape):
                break
        self._told = ""

    # What

    def _look(self) -> Around:
        shape = self._shape
        if shape is None:
            raise RuntimeError("There is no request whose model says how tokens are counted")
        return Around(
            self._carried.projection,
            self._measures.sizes(shape.model),
            lambda asked: self._ask(shape, asked),
            lambda entry: self._carried.with_compaction(entry, 0.0),
            lambda view: self._measures.after(view, shape.model),
            lambda after, numbers: put_back(after, self._files, numbers),
            self._session.sources,
        )

    def _upkeep(self, recorded: RequestShape) -> None:
        draft = self._timed(lambda: self._drafting.upkeep(self._id()))
        if draft is not None:
            self._commit(Drafted(draft, ""), recorded, at_work=True)

    def _compact(
        self, trigger: Trigger, recorded: RequestShape, *, must: bool = False, by_program: bool = False, at_work: bool = True
    ) -> bool:
        """Makes a compaction, if there is anything to do. `by_program`: no model is asked."""
        self._shape = recorded
        wanted = Wanted(self._id(), trigger, by_program=by_program)
        drafted = self._timed(lambda: self._drafting.for_now(wanted, must=must))
        return drafted is not None and self._commit(drafted, recorded, at_work=at_work)

    def _commit(self, drafted: Drafted, recorded: RequestShape, *, at_work: bool) -> bool:
        before = self._end().tokens
        entry = self._timed(lambda: self._drafting.entry(drafted.draft, at_work=at_work))
        if entry is None:
            return False
        after = self._timed(lambda: self._carried.with_compaction(entry, recorded.at))
        self._log(entry, after, recorded, before, stood_in=drafted.stood_in, upkeep=entry.trigger == "upkeep")
        return True

    def _log(self, entry: Compaction, after: Projection, recorded: RequestShape, before: int, *, stood_in: str, upkeep: bool) -> None:
        seq = self._carried.next_seq
        tokens = self._laid_out.tokens(after)
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
            self._summaries.append((self._last_seq, entry.summarised.words if entry.summarised is not None else ""))
        self._unchecked = True

    def _end(self) -> Prefix:
        """Where the next request would end."""
        return self._laid_out.end(self._carried.projection)

    def _ask(self, recorded: RequestShape, asked: Asked) -> StandIn:
        """What stands for the answer to a question, which is charged."""
        stands, ratio = stand_in(self._settings.summary, self._told, asked), self._session.sizes.ratio
        question = Question(
            asked=round(estimate_text(asking(asked.prompt, "")) * ratio),
            answer=round(stands.tokens * ratio),
            own_text=None if asked.text is None else round(estimate_text(asked.text) * ratio),
            check=round(estimate_text(asked.check) * ratio),
        )
        self._ledger.charge_summary(recorded, self._laid_out.system, self._end(), question)
        return stands

    def _check(self) -> None:
        projection = self._carried.projection
        self._made.violations.update(dict.fromkeys(violations(projection.complete_messages, projection.entries)))
        self._unchecked = False
        if self._unseen is not None and self._watch is not None:
            self._watch(Epoch(len(self._made.left), self._unseen.after_seq, self._unseen.trigger, projection, self._carried))
        self._unseen = None

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
