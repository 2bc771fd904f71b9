"""Carries a recorded session through a policy: what each request would have held and cost, and what each compaction would have left.

The replies are those that were recorded, whatever the policy put before them: a model that had forgotten something might have
answered otherwise, and read again what it had lost. So the figures say what a policy costs and keeps over the same work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import TypeVar

from ullage.context.counting.gauge import CHARACTERS_PER_TOKEN, line
from ullage.context.counting.measured import characters_of
from ullage.context.counting.media import media_tokens
from ullage.context.counting.tokens import estimate_text
from ullage.context.economy import ECONOMIES, line_before_step
from ullage.context.engines.engine import Covered, Handoff, Occasion, sweeps
from ullage.context.engines.entry import is_in_force, planned_entry
from ullage.context.engines.ullage import handoff_room
from ullage.context.entries import AssistantReply, Compaction, Logged, Rung, Trigger, UserPrompt, media_in
from ullage.context.moves.plan import Plan
from ullage.context.policy import Policy
from ullage.context.record.handoff import tail_note
from ullage.context.record.reading import Reading
from ullage.context.record.summary_prompt import asking
from ullage.context.restore import in_room, resume_text
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection
from ullage.replay.cache import Prefix, RequestShape
from ullage.replay.carried import UNSEEN_PRELUDE, Carried
from ullage.replay.cost import total_usage
from ullage.replay.known_files import KnownFiles
from ullage.replay.laid_out import LaidOut
from ullage.replay.ledger import Ledger, Question
from ullage.replay.made import Made, Outcome
from ullage.replay.predicted import left_by_others
from ullage.replay.prepared import USUAL, Prepared, Settings
from ullage.replay.prices import prices_of
from ullage.replay.put_back import put_back
from ullage.replay.recorded_sizes import SizedRequest
from ullage.replay.retaining import left_by
from ullage.replay.runs import CompactionPoint, RequestPoint, Run
from ullage.replay.saving import Saving
from ullage.replay.shapes import HABITS
from ullage.replay.stand_ins import stand_in
from ullage.replay.transcript import RecordedCompaction
from ullage.replay.violations import violations

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Epoch:
    """The request that follows a compaction: `number` counts them from 1, `after_seq` is the transcript's last entry before it. Upkeep is
    no compaction here."""

    number: int
    after_seq: int
    trigger: Trigger
    view: Projection
    carried: Carried


Watch = Callable[[Epoch], None]
"""Gets every request that follows a compaction."""


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
        prelude = UNSEEN_PRELUDE.format(tokens=session.precedes) if session.precedes else ""
        self._prelude = prelude
        self._carried = Carried(policy.engine, prelude)
        self._laid_out = LaidOut(self._carried, session.sizes, session.memo.block)
        self._ledger = Ledger(HABITS[self._transcript.source])
        self._files = KnownFiles()
        self._reading = Reading()
        self._saving = Saving(policy, settings.economy)
        self._made = Made()
        self._seconds = 0.0
        self._windows = session.windows(settings)
        self._replied = True
        """Since the last compaction that made room: without a reply another one would change nothing."""
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
            self._replied = True
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
        window = self._window(recorded.model)
        end = self._end()
        if end.tokens > window and self._compact("reactive", recorded):
            end = self._end()
        if self._unchecked:
            self._check()
        usage = self._ledger.charge(recorded, self._laid_out.system, end, new_turn=self._new_turn)
        self._new_turn = False
        self._saving.requested(end.tokens, recorded.at, self._laid_out.system.tokens)
        self._made.requests.append(RequestPoint(request.recorded.seq, recorded.at, end.tokens, usage, end.tokens <= window))

    def _make_room(self, recorded: RequestShape, more: int) -> None:
        if not self._replied:
            return
        if self._measured(self._end().tokens) + more >= self._line(recorded.model):
            for _ in range(sweeps(self._policy.engine)):
                if not self._compact("threshold", recorded):
                    break
        else:
            self._save(recorded, idle=more > 0)

    def _save(self, recorded: RequestShape, *, idle: bool) -> None:
        """Before the line, where that costs less than carrying on."""
        used, fixed = self._end().tokens, self._laid_out.system.tokens
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
        planned = self._timed(lambda: self._policy.engine.upkeep(self._occasion("upkeep", recorded.model)))
        if planned is None or is_in_force(planned, self._carried.projection):
            return
        before = self._end().tokens
        entry = planned_entry(self._id(), "upkeep", planned, Handoff(""), "moves", policy=self._policy.name, tokens_before=before)
        after = self._timed(lambda: self._carried.with_compaction(entry, recorded.at))
        self._log(entry, after, recorded, before, stood_in="", upkeep=True)

    def _compact(self, trigger: Trigger, recorded: RequestShape, told: str = "", *, by_program: bool = False) -> bool:
        """Makes a compaction, if the policy plans one that makes the context smaller. `told` is the recorded summary of this place.

        `by_program`: no model is asked.
        """
        projection = self._carried.projection
        if not projection.messages:
            return False
        planned = self._timed(lambda: self._policy.engine.plan(self._occasion(trigger, recorded.model)))
        if planned is None:
            return False
        before = self._end()
        what = ""
        made: tuple[Compaction, Projection] | None = None
        if planned.summarise_to is None:
            made = self._candidate(trigger, planned, Handoff(""), "moves", before.tokens, recorded)
        else:
            by_model: str | None = None
            asks = planned.asked is not None and trigger != "reactive" and not by_program
            if planned.asked is not None and asks:
                stands = stand_in(self._settings.summary, told, planned.asked)
                by_model, what = stands.text, stands.what
                self._charge_summary(recorded, before, planned, stands.tokens)
                made = self._candidate(trigger, planned, self._handoff(planned, by_model, recorded.model), "model", before.tokens, recorded)
            if made is None and (by_model is not None or not asks):
                what = "" if not asks else "digest"
                made = self._candidate(trigger, planned, self._handoff(planned, None, recorded.model), "digest", before.tokens, recorded)
            if made is None:
                made = self._candidate(trigger, planned, Handoff(tail_note(planned.covers)), "tail", before.tokens, recorded)
        if made is None:
            return False
        self._log(*made, recorded, before.tokens, stood_in=what, upkeep=False)
        self._replied = False
        return True

    def _candidate(
        self, trigger: Trigger, planned: Plan, handoff: Handoff, rung: Rung, before: int, recorded: RequestShape
    ) -> tuple[Compaction, Projection] | None:
        """The entry with its restored files, and the view after it; None where the context would not be smaller."""
        entry = planned_entry(self._id(), trigger, planned, handoff, rung, policy=self._policy.name, tokens_before=before)
        numbers = self._policy.restore
        if planned.summarise_to is not None and numbers is not None:
            entry = replace(entry, resume="\n\n".join(filter(None, (entry.resume, resume_text("", rules_changed=False, at_work=True)))))
        after = self._timed(lambda: self._carried.with_compaction(entry, recorded.at))
        if self._tokens(after) >= before and trigger != "reactive":
            return None
        if planned.summarise_to is None or numbers is None:
            return entry, after
        numbers = in_room(numbers, self._line(recorded.model) - self._tokens(after))
        restored = tuple(self._timed(lambda: list(put_back(after, self._files, numbers))))
        while restored:
            whole = replace(entry, restored=restored)
            with_files = self._timed(lambda whole=whole: self._carried.with_compaction(whole, recorded.at))
            if self._tokens(with_files) < before:
                return whole, with_files
            restored = restored[:-1]
        return entry, after

    def _handoff(self, planned: Plan, by_model: str | None, model: str) -> Handoff:
        last = planned.summarise_to or 0
        covered = [logged for logged in self._carried.projection.entries if logged.seq <= last]
        tail = [logged for logged in self._carried.projection.entries if last < logged.seq <= planned.through]
        told = Covered(covered, planned, by_model, "", handoff_room(self._line(model)), tail=tail, reading=self._reading)
        return self._timed(lambda: self._policy.engine.handoff(told))

    def _log(self, entry: Compaction, after: Projection, recorded: RequestShape, before: int, *, stood_in: str, upkeep: bool) -> None:
        seq = self._carried.next_seq
        tokens = self._tokens(after)
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

    def _occasion(self, trigger: Trigger, model: str) -> Occasion:
        used = self._measured(self._end().tokens)
        return Occasion(self._carried.projection, trigger, used, self._line(model), self._window(model), self._count)

    def _count(self, messages: Sequence[Message]) -> int:
        return round(sum(self._tokens_of(message) for message in messages) * self._session.sizes.ratio)

    def _tokens_of(self, message: Message) -> float:
        block = message.blocks[0] if len(message.blocks) == 1 else None
        if block is not None and self._prelude and getattr(block, "text", None) == self._prelude:
            return self._session.precedes / self._session.sizes.ratio
        return self._session.memo.message(message)

    def _measured(self, used: int) -> int:
        match self._policy.measure:
            case "usage":
                return used
            case "messages":
                return self._count(self._carried.projection.messages)
            case "characters / 4":
                memo = self._session.memo
                return sum(memo.characters(message, characters_of) for message in self._carried.projection.messages) // CHARACTERS_PER_TOKEN

    def _end(self) -> Prefix:
        return self._laid_out.end(self._carried.projection)

    def _tokens(self, view: Projection) -> int:
        return self._laid_out.tokens(view)

    def _line(self, model: str) -> int:
        full = line(self._window(model), self._policy.line)
        prices = prices_of(model)
        if self._policy.saves and prices is not None:
            full = line_before_step(full, prices.long_prompt, ECONOMIES[self._settings.economy])
        self._made.largest_line = max(self._made.largest_line, full)
        return full

    def _window(self, model: str) -> int:
        window = self._windows[model]
        self._made.largest_window = max(self._made.largest_window, window)
        return window

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
            line=made.largest_line,
            window=made.largest_window,
        )
