"""Carries a recorded session through a policy: what each request would have held and cost, and what each compaction would have left.

The replies are those that were recorded, whatever the policy put before them: a model that had forgotten something might have
answered otherwise, and read again what it had lost. So the figures say what a policy costs and keeps over the same work.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ullage.context.blocks import ToolUse, Usage
from ullage.context.compaction.decide import (
    WINDOW_EXCEEDED,
    Compact,
    Decision,
    Prepare,
    State,
    Wait,
    decide,
    decide_after_refusal,
    decide_after_turn,
    decide_in_pause,
)
from ullage.context.compaction.draft import WantedCompaction
from ullage.context.compaction.making import Making
from ullage.context.compaction_entries import ASKED_FOR, Compaction, SpentInVain
from ullage.context.entries import AssistantReply, Entry, EntryPinned, FilePinned, Logged, Notice, TurnEnded, UserPrompt
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.recorded.transcript import ByHand, Happening, RecordedAside, RecordedCompaction
from ullage.replay.measuring.runs import RequestPoint, Run
from ullage.replay.memory import WorkTooLarge, look
from ullage.replay.pricing.cost import left_by_others, total_usage
from ullage.replay.simulating.block_sizes import SizedRequest
from ullage.replay.simulating.by_hand import HandsOfTheUser
from ullage.replay.simulating.means import ReplayMeans, at_once
from ullage.replay.simulating.outcome import Outcome, Watch
from ullage.replay.simulating.prepared import USUAL, PreparedSession, ReplaySettings


def outcome_of(session: PreparedSession, policy: Policy, settings: ReplaySettings = USUAL, watch: Watch | None = None) -> Outcome:
    """What comes of one session under one policy, with what its compactions left. A policy that raises gives a run with nothing but its
    `failure`."""
    session_id = session.transcript.session_id
    try:
        return _Simulation(session, policy, settings, watch).outcome()
    except WorkTooLarge:
        raise
    except Exception as error:  # noqa: BLE001 - a policy may come from anybody; the other rows go on
        return Outcome(Run(policy.name, session_id, failure=f"{type(error).__name__}: {error}"))


def carry(session: PreparedSession, policy: Policy, settings: ReplaySettings = USUAL) -> Projection:
    """The log as it would have become, as it stands at the end. Raises what the policy raises."""
    simulation = _Simulation(session, policy, settings, None)
    simulation.carry_through()
    return simulation.view


class _Simulation:
    def __init__(self, session: PreparedSession, policy: Policy, settings: ReplaySettings, watch: Watch | None) -> None:
        self._session = session
        self._transcript = session.transcript
        self._policy = policy
        self._settings = settings
        self._means = ReplayMeans(session, policy, settings, watch)
        self._making = Making(self._means, self._means.measures.gathering)
        self._means.give_up = self._making.ahead.give_up
        self._carried = self._means.carried
        self._hands = HandsOfTheUser(self._means, session.transcript)
        self._near: Prepare | None = None
        """The decision to draft a compaction beside the next request; None if none is to be drafted."""
        self._filled: AssistantReply | None = None
        """The reply that filled the window, for which nothing was done yet; None if there is none."""
        self._ahead: list[RecordedCompaction] = []
        """The recorded compactions for which a draft was made ahead and that are still to come."""
        self._new_turn = True
        self._is_over = False
        """Whether the transcript tells that the turn has ended."""
        self._ended: float | None = None
        """When the turn ended, once what follows from that was done (Unix seconds); None until then."""
        self._cools_at = 0.0
        """When the cache is about to go cold after that, if nobody asks anything (Unix seconds)."""
        self._has_cooled = False
        """Whether that time has come since the turn ended."""

    @property
    def view(self) -> Projection:
        """The view that the log gives so far."""
        return self._carried.projection

    def outcome(self) -> Outcome:
        """Carries the session through, and measures what came of it."""
        self.carry_through()
        return Outcome(self._result(), self._means.made.leaves(self._policy.name, self._means.ledger.questions))

    def carry_through(self) -> None:
        """Takes every entry of the transcript, and compacts where the policy or the record does."""
        means = self._means
        if self._session.sizes.requests:
            means.ledger.cache.charge(left_by_others(self._session.sizes.requests[0].recorded))
        waiting = list(self._transcript.happened)
        self._ahead = [each for each in waiting if self._settings.at == "recorded" and _was_drafted_ahead(each)]
        upcoming = self._upcoming()
        for logged in self._transcript.entries:
            look()
            request = upcoming[logged.seq]
            if request is not None:
                means.shape = request.recorded.shape
            while waiting and waiting[0].after_seq < logged.seq:
                happened = waiting.pop(0)
                if isinstance(happened, RecordedAside):
                    self._aside(happened)
                elif not isinstance(happened, RecordedCompaction):
                    self._by_hand(happened)
                elif self._settings.at == "recorded" and request is not None:
                    self._at_recorded(happened)
            if logged.seq not in self._session.requests and request is not None:
                self._draft_ahead(logged.seq, logged.at)
            self._take(logged)

    def _upcoming(self) -> dict[int, SizedRequest | None]:
        """For each entry the next request that is counted: its reply is this entry or comes after it."""
        following: SizedRequest | None = None
        found: dict[int, SizedRequest | None] = {}
        for logged in reversed(self._transcript.entries):
            following = self._session.requests.get(logged.seq) or following
            found[logged.seq] = following
        return found

    def _take(self, logged: Logged) -> None:
        means, entry = self._means, logged.entry
        if self._settings.at == "policy" and means.made.requests:
            if self._filled is not None and _comes_after_room(entry, self._filled):
                self._after_filled()
            asks = isinstance(entry, UserPrompt) and not entry.steering
            if asks or self._is_over:
                self._rest(logged.at)
        if means.made.requests and isinstance(entry, UserPrompt) and not entry.steering:
            self._before_prompt(entry, logged.at)
        if not isinstance(entry, EntryPinned | FilePinned):
            self._is_over, self._ended = isinstance(entry, TurnEnded), None
        request = self._session.requests.get(logged.seq)
        if isinstance(entry, AssistantReply):
            means.timed(self._carried.settle)
            if request is not None:
                usage = self._before_request(request)
                logged = logged if means.is_as_recorded() else replace(logged, entry=replace(entry, usage=usage))
        means.timed(lambda: self._carried.take(logged))
        if request is not None:
            means.measures.learn(request.recorded.shape.model)
        means.known_files.take(logged)
        self._new_turn |= isinstance(entry, UserPrompt)
        if isinstance(entry, AssistantReply):
            self._filled = entry if entry.stop_reason == WINDOW_EXCEEDED else None
        means.after_seq = logged.seq

    # When

    def _at(self, at: float) -> None:
        """Sets the simulated time (Unix seconds). Where none was recorded (0) it is that of the next request."""
        self._means.at = at or self._means.request.at

    def _rest(self, until: float) -> None:
        """Does what a live session does while nobody asks anything: from the end of a turn until something is logged again."""
        means = self._means
        means.timed(self._carried.settle)
        if self._ended is None:
            self._ended, self._has_cooled = self._carried.projection.entries[-1].at, False
            self._cools_at = means.measures.cools_at(means.request, self._ended)
            self._at(self._ended)
            self._prepare_if(decide_after_turn(self._state()))
        if self._ended and until and not self._has_cooled:
            self._pause(until)

    def _pause(self, until: float) -> None:
        """Decides once the cache is about to go cold. A summary that is still being written at `until` serves later."""
        means = self._means
        means.at = self._cools_at
        if means.at >= until:
            return
        self._has_cooled = True
        decision = decide_in_pause(self._state())
        if isinstance(decision, Wait):
            return
        self._prepare_if(decision)
        done = means.slot.done_at()
        if done is None or done >= until:
            return
        means.at = done
        decision = decide_in_pause(self._state()) if self._making.ahead.ready() else None
        if isinstance(decision, Compact):
            self._carry_out(decision, at_work=False)

    def _before_prompt(self, prompt: UserPrompt, prompt_at: float) -> None:
        """Compacts before a prompt that would cross the threshold, as the agent does."""
        if not self._carried.projection.messages:
            return
        self._means.timed(self._carried.settle)
        self._at(prompt_at)
        self._keep_up()
        if self._settings.at == "policy":
            self._make_room(self._means.measures.of_prompt(prompt, self._means.request.model))

    def _before_request(self, request: SizedRequest) -> Usage:
        """Gets the context ready for the request of this reply, as the policy does, and gives what the request would have used."""
        means, recorded = self._means, request.recorded.shape
        means.at = recorded.at
        means.laid_out.learn(request.sizes, changes=request.changes)
        self._keep_up()
        if self._settings.at == "policy":
            self._make_room(0)
        self._draft_ahead(request.recorded.seq, recorded.at)
        if self._near is not None:  # drafted beside the request; if that is refused, what is made then overtakes the draft
            self._prepare_if(self._near)
            self._near = None
        window = means.measures.window(recorded.model)
        refused = self._refused_with(window)
        if refused:
            means.measures.refused(recorded.model, refused)
            self._after_overflow()
        means.check()
        end = means.end()
        usage = means.ledger.charge(recorded, means.laid_out.system, end, new_turn=self._new_turn)
        self._new_turn = False
        means.made.requests.append(RequestPoint(request.recorded.seq, recorded.at, end.tokens, usage, end.tokens <= window))
        return usage

    def _refused_with(self, window: int) -> int:
        """The size that the API names where it refuses the request; 0 if it takes it.

        A request that stands in the record with its count was taken. Where all compactions so far are as recorded, and the next of the
        record came here after a refusal, this request was refused.
        """
        tokens, recorded = self._means.end().tokens, self._means.next_recorded()
        if recorded is not None and recorded.reactive:
            return recorded.tokens_before or tokens
        return tokens if tokens > window and not self._means.is_as_recorded() else 0

    def _after_filled(self) -> None:
        """Makes room after a reply that filled the window."""
        self._means.timed(self._carried.settle)
        self._filled = None
        self._at(self._carried.projection.entries[-1].at)
        self._after_overflow()

    def _after_overflow(self) -> bool:
        decision = decide_after_refusal(self._state())
        return isinstance(decision, Compact) and self._carry_out(decision, at_work=True)

    def _make_room(self, more: int) -> None:
        """Compacts before a request where the agent decides so. Where it would hold the call, the recorded reply tells that it went on."""
        decision = decide(self._state(), more)
        if isinstance(decision, Compact):
            self._carry_out(decision, at_work=not more)
            decision = decide(self._state(), more, tried=True)
        if isinstance(decision, Prepare):
            self._near = decision

    def _draft_ahead(self, before: int, at: float) -> None:
        """Drafts what was drafted in the recorded session when the entry `before` was to come."""
        while self._ahead and (self._ahead[0].planned_after or 0) < before:
            drafted = self._ahead.pop(0)
            self._means.timed(self._carried.settle)
            self._at(at)
            self._means.told = drafted.told
            self._prepare_if(Prepare("it was drafted here", "economy" if drafted.trigger == "economy" else "idle"))
            self._means.told = ""

    def _at_recorded(self, compaction: RecordedCompaction) -> None:
        self._means.timed(self._carried.settle)
        self._at(compaction.at or 0.0)
        self._as_recorded(compaction)

    def _aside(self, aside: RecordedAside) -> None:
        """Logs what the record logged without a message, so that later entries have the numbers of the record. What this policy spent in
        vain where it decides is noted where that is."""
        if self._settings.at == "recorded" or not isinstance(aside.entry, SpentInVain):
            self._means.timed(self._carried.settle)
            self._carried.log(aside.entry, aside.at)

    def _by_hand(self, what: ByHand) -> None:
        """Does what the user did while nothing ran."""
        means = self._means
        if means.shape is None:
            return
        means.timed(self._carried.settle)
        if self._settings.at == "policy":
            if means.made.requests and self._is_over:
                self._rest(what.at)
            self._hands.know_counterparts(what)
        self._at(what.at)
        self._hands.do(what)

    # What is done

    def _state(self) -> State:
        """The state that the decision looks at."""
        means = self._means
        return means.measures.state(means.request, means.at, self._making.ahead.is_prepared_to_save)

    def _carry_out(self, decided: Compact, *, at_work: bool) -> bool:
        """Makes a compaction that was decided; gives whether it came about."""
        return self._means.timed(lambda: at_once(self._making.carry_out(decided, at_work=at_work))) is not None

    def _prepare_if(self, decision: Decision) -> None:
        self._means.timed(lambda: self._making.ahead.prepare_if(decision))

    def _keep_up(self) -> None:
        if self._policy.engine.keeps_up:
            self._means.timed(lambda: at_once(self._making.keep_up()))

    def _as_recorded(self, compaction: RecordedCompaction) -> None:
        """Compacts where the record has a compaction, for the reason that it tells. A compaction whose reason is not told is asked for.

        So is one for which the policy has nothing to do by itself.
        """
        means, at_work = self._means, self._transcript.is_at_work_after(compaction.after_seq)
        if compaction.reactive and compaction.tokens_before and means.next_recorded() is compaction:
            means.measures.refused(means.request.model, compaction.tokens_before)
        means.told = compaction.told
        trigger = compaction.trigger or ("threshold" if compaction.automatic else "manual")
        by_program = compaction.by_program and self._is_by_program_here(compaction)
        wanted = WantedCompaction(means.new_id(), trigger, compaction.focus, by_program, compaction.saves)
        made = self._attempt(wanted, at_work=at_work)
        if made is None and trigger not in ASKED_FOR:
            made = self._attempt(replace(wanted, trigger="manual"), at_work=at_work)
        if made is not None:
            self._hands.has_made(compaction, made)
        means.told = ""

    def _is_by_program_here(self, compaction: RecordedCompaction) -> bool:
        """Whether what kept a model from writing the recorded summary means anything under this policy. A draft that was made ahead was not
        waited for, so it says nothing of the model now."""
        if _was_drafted_ahead(compaction):
            return False
        return compaction.trigger == "economy" or compaction.policy == self._policy.name

    def _attempt(self, wanted: WantedCompaction, *, at_work: bool) -> Compaction | None:
        must = wanted.trigger == "reactive"
        return self._means.timed(lambda: at_once(self._making.attempt(wanted, at_work=at_work, must=must)))

    def _result(self) -> Run:
        means = self._means
        dollars, summaries, cold = means.ledger.dollars()
        retained = self._session.needed.retained(means.made.left_in_force)
        return Run(
            policy=self._policy.name,
            session_id=self._transcript.session_id,
            requests=tuple(means.made.requests),
            compactions=tuple(means.made.compactions),
            usage=total_usage(point.usage for point in means.made.requests),
            dollars=dollars,
            summaries=summaries,
            summaries_cold=cold,
            retained=retained,
            forgetting=means.forgetting(retained.acquired),
            violations=tuple(means.made.violations),
            seconds=means.seconds,
            line=means.measures.largest_threshold,
            window=means.measures.largest_window,
        )


def _was_drafted_ahead(happened: Happening) -> TypeGuard[RecordedCompaction]:
    """Whether what happened is a compaction that took a draft: it was planned before the last of what it leaves behind."""
    if not isinstance(happened, RecordedCompaction) or happened.planned_after is None or happened.focus or happened.reactive:
        return False
    return happened.planned_after < happened.after_seq


def _comes_after_room(entry: Entry, filled: AssistantReply) -> bool:
    """Whether room was made for the window that was `filled` before this entry. Results come first, with what is said of them, and prompts
    that steered the turn."""
    if any(isinstance(block, ToolUse) for block in filled.blocks):
        return isinstance(entry, AssistantReply) or (isinstance(entry, Notice) and entry.about == "file_changed")
    return isinstance(entry, AssistantReply | Notice)
