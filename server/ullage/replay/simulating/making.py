"""Makes the compactions of a simulated session, and notes what came of them. When one is made says `simulation.py`.

What is decided by stands in a `State`, which is gathered as in a live session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import TypeVar

from ullage.context.compaction.assemble import Wanted
from ullage.context.compaction.decide import Compact, Decision, Prepare, State
from ullage.context.compaction.gathering import newest_seq
from ullage.context.compaction_entries import ASKED_FOR, Compaction
from ullage.context.counting.tokens import estimate_text
from ullage.context.moves.plan import Asked
from ullage.context.policy import Policy
from ullage.context.summary.summary_prompt import asking
from ullage.context.view.projection import Projection
from ullage.replay.measuring.retaining import left_by
from ullage.replay.measuring.runs import CompactionPoint
from ullage.replay.pricing.prompt_cache import Prefix, RequestShape
from ullage.replay.pricing.recorded_requests import habits_of
from ullage.replay.simulating.block_sizes import LaidOut
from ullage.replay.simulating.carried import Carried
from ullage.replay.simulating.drafting import Around, Drafted, Drafting
from ullage.replay.simulating.known_files import KnownFiles, put_back
from ullage.replay.simulating.measures import Measures, prelude_of
from ullage.replay.simulating.outcome import Epoch, Ledger, Made, Question, StandIn, Watch, stand_in
from ullage.replay.simulating.prepared import Prepared, Settings
from ullage.replay.simulating.views import violations
from ullage.replay.transcript import RecordedCompaction

T = TypeVar("T")


class Making:
    """Of one session under one policy. `now`, `shape` and `after_seq` are set by whoever goes through the transcript."""

    def __init__(self, session: Prepared, policy: Policy, settings: Settings, watch: Watch | None) -> None:
        self.now = 0.0
        """Unix seconds."""
        self.shape: RequestShape | None = None
        """Of the request that is to come, or of the last one where none is."""
        self.after_seq = 0
        """The last of the transcript's entries that were taken."""
        self.told = ""
        """The recorded summary of this place; empty where there is none."""
        self.seconds = 0.0
        """What the policy took."""
        self.carried = Carried(policy.engine, prelude_of(session))
        self.laid_out = LaidOut(self.carried, session.sizes, session.memo.block)
        self.ledger = Ledger(habits_of(session.transcript))
        self.files = KnownFiles()
        self.made = Made()
        self.measures = Measures(session, policy, settings, self.carried)
        self.drafting = Drafting(policy, self._look, lambda: self.carried.spend_in_vain(self.now), settings.writing_seconds)
        self._session = session
        self._policy = policy
        self._settings = settings
        self._watch = watch
        self._summaries: list[tuple[int, str]] = []
        """Of the compactions that were made, upkeep aside: the transcript's last entry before each, and the words of its summary."""
        self._unchecked = False
        """Whether a compaction was made since the last request."""
        self._unseen: CompactionPoint | None = None
        """The compaction since the last request, upkeep aside."""

    # What is decided by

    @property
    def request(self) -> RequestShape:
        """The request that is to come."""
        if self.shape is None:
            raise RuntimeError("There is no request whose model says how tokens are counted")
        return self.shape

    def state(self) -> State:
        """As things are."""
        return self.measures.state(self.request, self.now, lambda: self.drafting.is_prepared(self.now))

    def end(self) -> Prefix:
        """Where the next request would end."""
        return self.laid_out.end(self.carried.projection)

    def is_as_recorded(self) -> bool:
        """Whether the compactions so far are those that were recorded. Then the recorded usage is exact, and what is laid out is not."""
        return self._summaries == [(each.after_seq, each.summary) for each in self._recorded()]

    def next_recorded(self) -> RecordedCompaction | None:
        """The compaction that the record has next at this place, where all so far are as recorded."""
        recorded, made = self._recorded(), len(self._summaries)
        if len(recorded) <= made or self._summaries != [(each.after_seq, each.summary) for each in recorded[:made]]:
            return None
        return recorded[made]

    def _recorded(self) -> list[RecordedCompaction]:
        return [each for each in self._session.transcript.compactions if each.after_seq <= self.after_seq]

    # What is done

    def carry_out(self, decided: Compact, *, at_work: bool) -> bool:
        """Makes a compaction that was decided; whether it came about."""
        wanted = Wanted(self._id(), decided.trigger, by_program=decided.by_program, saves=decided.saves)
        made = self._compact(wanted, at_work=at_work, must=decided.must)
        if made and decided.trigger == "threshold":
            for _ in range(1, self._policy.engine.sweeps):
                if not self._compact(Wanted(self._id(), "threshold"), at_work=at_work):
                    break
        full, seq = self.measures.fullness(self.request.model), newest_seq(self.carried.projection.entries)
        self.measures.gathering.tried(decided, self._policy, full, seq, self.now, made=made)
        return made

    def prepare_if(self, decision: Decision) -> None:
        """Drafts a compaction where that was decided."""
        if not isinstance(decision, Prepare):
            return
        seq = newest_seq(self.carried.projection.entries)
        if not self.timed(lambda: self.drafting.prepare(self._id(), decision.trigger, self.now)):
            self.measures.gathering.gave_nothing(seq)

    def upkeep(self) -> None:
        """What the policy does before every call."""
        draft = self.timed(lambda: self.drafting.upkeep(self._id()))
        if draft is not None:
            self._commit(Drafted(draft, ""), at_work=True)

    def as_recorded(self, compaction: RecordedCompaction) -> None:
        """Where the record has a compaction, for the reason that it tells. One whose reason is not told is asked for.

        So is one for which the policy has nothing to do by itself.
        """
        self.told, at_work = compaction.told, self._session.transcript.is_at_work_after(compaction.after_seq)
        trigger = compaction.trigger or ("threshold" if compaction.automatic else "manual")
        wanted = Wanted(self._id(), trigger, compaction.focus)
        made = self._compact(wanted, at_work=at_work, must=trigger == "reactive")
        if not made and trigger not in ASKED_FOR:
            self._compact(replace(wanted, trigger="manual"), at_work=at_work)
        self.told = ""

    def check(self) -> None:
        """What the next request breaks of the API's rules, where a compaction was made since the last; then it is shown to who watches."""
        if not self._unchecked:
            return
        view = self.carried.projection
        self.made.violations.update(dict.fromkeys(violations(view.complete_messages, view.entries)))
        self._unchecked = False
        if self._unseen is not None and self._watch is not None:
            self._watch(Epoch(len(self.made.left), self._unseen.after_seq, self._unseen.trigger, view, self.carried))
        self._unseen = None

    def timed(self, work: Callable[[], T]) -> T:
        """Does it; the time that it takes is the policy's."""
        started = process_time()
        try:
            return work()
        finally:
            self.seconds += process_time() - started

    def _compact(self, wanted: Wanted, *, at_work: bool, must: bool = False) -> bool:
        """Makes a compaction, if there is anything to do."""
        drafted = self.timed(lambda: self.drafting.for_now(wanted, self.now, must=must))
        return drafted is not None and self._commit(drafted, at_work=at_work)

    def _commit(self, drafted: Drafted, *, at_work: bool) -> bool:
        before = self.end().tokens
        entry = self.timed(lambda: self.drafting.entry(drafted, at_work=at_work))
        if entry is None:
            return False
        after = self.timed(lambda: self.carried.with_compaction(entry, self.now))
        self._log(entry, after, before, drafted.stood_in)
        return True

    def _log(self, entry: Compaction, after: Projection, before: int, stood_in: str) -> None:
        seq, upkeep = self.carried.next_seq, entry.trigger == "upkeep"
        tokens = self.laid_out.tokens(after)
        self.carried.compact(after)
        if entry.summarised is not None:
            summary = len(entry.summarised.text)
        else:
            summary = len(entry.snipped.marker) if entry.snipped is not None and entry.rung != "moves" else 0
        point = CompactionPoint(self.after_seq, self.now, entry.trigger, entry.rung, before, tokens, summary, upkeep, stood_in)
        self.made.compactions.append(point)
        if not upkeep:
            self.drafting.give_up()
            self.made.left.append(left_by(entry, self.after_seq, seq, after))
            self._unseen = point
            self._summaries.append((self.after_seq, entry.summarised.words if entry.summarised is not None else ""))
        self._unchecked = True

    # What a draft is made of

    def _look(self) -> Around:
        model = self.request.model
        return Around(
            self.carried.projection,
            self.measures.sizes(model),
            self._ask,
            lambda entry: self.carried.with_compaction(entry, 0.0),
            lambda view: self.measures.after(view, model),
            lambda after, numbers: put_back(after, self.files, numbers),
            self._session.sources,
        )

    def _ask(self, asked: Asked, focus: str) -> StandIn:
        """What stands for the answer to a question, which is charged."""
        stands, ratio = stand_in(self._settings.summary, self.told, asked), self._session.sizes.ratio
        question = Question(
            asked=round(estimate_text(asking(asked.prompt, focus)) * ratio),
            answer=round(stands.tokens * ratio),
            own_text=None if asked.text is None else round(estimate_text(asked.text) * ratio),
            check=round(estimate_text(asked.check) * ratio),
        )
        self.ledger.charge_summary(replace(self.request, at=self.now), self.laid_out.system, self.end(), question)
        return stands

    def _id(self) -> str:
        return f"c{self.carried.next_seq}"
