"""What stands, in a simulated session, for what a live one does around the making of a compaction. What came of each is noted.

A transcript has no model to ask and no disk. Something stands in for the model's summary, and files are known from the transcript. Nothing
waits, so the whole course (`context/compaction/making.py`) is done in one go. Only a draft that is made in the background takes its time.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from statistics import mean
from time import process_time
from typing import TypeVar

from ullage.context.blocks import Message, Usage
from ullage.context.compaction.decide import Fullness
from ullage.context.compaction.draft import Draft, DraftSizes, NotForTheApi, NothingToCompact, WantedCompaction, with_entry
from ullage.context.compaction.drafting import summary_by
from ullage.context.compaction.economy import CHARACTERS_PER_TOKEN, Refetching, forgetting
from ullage.context.compaction.forgotten import Forgotten, priced
from ullage.context.compaction.means import ApiSummary, Writers, WrittenSummary
from ullage.context.compaction.restore import resume_text
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, FetchedAgain, RestoredFile, SpentInVain
from ullage.context.counting.prompt_cache import Prefix, RequestShape
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import Covered, SummaryText
from ullage.context.entries import Entry
from ullage.context.moves.plan import Asked
from ullage.context.policy import Policy, RestoreOptions
from ullage.context.summary.facts import Reading
from ullage.context.summary.summary_prompt import asking
from ullage.context.view.projection import Projection
from ullage.recorded.retention import Acquired
from ullage.recorded.transcript import ByHand, RecordedAside, RecordedCompaction, RecordedExclusion, RecordedReversal
from ullage.replay.measuring.retaining import left_by
from ullage.replay.measuring.runs import CompactionPoint
from ullage.replay.pricing.recorded_requests import habits_of
from ullage.replay.simulating.block_sizes import LaidOut
from ullage.replay.simulating.carried import CarriedSession
from ullage.replay.simulating.known_files import KnownFiles, put_back
from ullage.replay.simulating.measures import Measures, prelude_of
from ullage.replay.simulating.outcome import Ledger, Made, RequestAfterCompaction, SummaryQuestion, Watch, stand_in
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.views import violations

Answer = TypeVar("Answer")

NOT_PRICED = Usage(0, 0)
"""Says that something was spent. How much is charged in the ledger."""


def at_once(work: Coroutine[None, None, Answer]) -> Answer:
    """Runs a coroutine that never waits, and gives what it gives. Raises what it raises, and `RuntimeError` if it waits after all."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise RuntimeError("in replay there is nothing to wait for")


class SlotInTime:
    """Holds a draft that is made in the background. It is made at once, and is there only after the time that writing it takes."""

    def __init__(self, now: Callable[[], float], writing_seconds: float) -> None:
        self._now = now
        self._writing_seconds = writing_seconds
        self._made: Draft | NothingToCompact | None = None
        self._ready_at = 0.0

    @property
    def begun(self) -> bool:
        """Whether a draft is in work, ready or has failed."""
        return self._made is not None

    def outcome(self) -> Draft | BaseException | None:
        """The draft that is ready, or why there is none; None if one is in work or none was begun."""
        return self._made if self._now() >= self._ready_at else None

    def done_at(self) -> float | None:
        """When the draft that was begun is ready, or has failed (Unix seconds); None if none was begun."""
        return max(self._now(), self._ready_at) if self.begun else None

    def start(self, work: Coroutine[None, None, Draft]) -> None:
        """Begins a draft. Raises what the policy raises."""
        try:
            self._made = at_once(work)
        except NothingToCompact as nothing:
            self._made = nothing
        asked = isinstance(self._made, Draft) and self._made.usage is not None
        self._ready_at = self._now() + (self._writing_seconds if asked else 0.0)

    async def take(self) -> Draft | None:
        """The draft, waited for where it is in work, and not kept; None if there is none or it failed."""
        made, self._made = self._made, None
        return made if isinstance(made, Draft) else None

    def drop(self) -> Draft | None:
        """Forgets the draft, and gives it if it was ready; None if there was none, it failed, or it was still in work."""
        ready, self._made = self.outcome(), None
        return ready if isinstance(ready, Draft) else None


@dataclass(frozen=True, slots=True)
class AskingNobody:
    """Gives what stands for the model's answers."""

    messages: Sequence[Message]
    _stand_in: Callable[[Asked, str], WrittenSummary]

    async def model(self, draft: Draft, asked: Asked) -> WrittenSummary:
        """The text that stands for the model's part of a summary."""
        return self._stand_in(asked, draft.wanted.focus)

    async def api(self, draft: Draft, asked: Asked) -> ApiSummary:
        """Always raises `NotForTheApi`: nothing could stand for a signed block."""
        raise NotForTheApi("A transcript has nothing that could stand for the API's summary")

    def cost(self, usage: Usage | None) -> float | None:
        """Always None: what is spent is charged in the ledger."""
        return None


class TellingNobody:
    """Tells nobody of a compaction, since nobody waits. Raises what goes wrong."""

    def being_made(self, wanted: WantedCompaction) -> AbstractContextManager[None]:
        """Shows nothing while a compaction is made."""
        return nullcontext()

    def not_made(self, wanted: WantedCompaction, error: BaseException) -> None:
        """Raises the error that a compaction failed with, unless there was nothing to do."""
        if not isinstance(error, NothingToCompact):
            raise error

    def not_proved(self, error: Exception) -> None:
        """Raises the error: a figure that hides one is worth nothing."""
        raise error

    def was_told(self, wanted: WantedCompaction) -> bool:
        """Always False: there is nobody to tell."""
        return False


class ReplayMeans:
    """Implements `Means` for one session under one policy. Whoever goes through the transcript sets `now`, `shape`, `told` and
    `after_seq`."""

    def __init__(self, session: PreparedSession, policy: Policy, settings: ReplaySettings, watch: Watch | None) -> None:
        self.at = 0.0
        """The simulated time (Unix seconds)."""
        self.shape: RequestShape | None = None
        """The shape of the request that is to come, or of the last one where none is; None before any."""
        self.after_seq = 0
        """The seq of the last of the transcript's entries that were taken."""
        self.told = ""
        """The recorded summary of this place; empty if there is none."""
        self.seconds = 0.0
        """The seconds that the policy's own work took."""
        self.policy = policy
        self.carried = CarriedSession(policy.engine, prelude_of(session), session.transcript.entries)
        self.laid_out = LaidOut(self.carried, session.sizes, session.memo.block)
        self.ledger = Ledger(habits_of(session.transcript))
        self.known_files = KnownFiles()
        self.made = Made()
        self.measures = Measures(session, policy, settings, self.carried)
        self.slot = SlotInTime(self.now, settings.writing_seconds)
        self.telling = TellingNobody()
        self.give_up: Callable[[], None] = lambda: None
        """Gives up what is drafted ahead, since it serves no more; set by whoever makes the compactions."""
        self._session = session
        self._settings = settings
        self._watch = watch
        self._reading = Reading()
        self._forgotten = Forgotten()
        self._stood_in = ""
        self._happened: list[tuple[int, int]] = []
        """What came about, upkeep aside: the transcript's last entry before each, and of a compaction a mark of its summary's words."""
        self.made_at: list[tuple[int, str]] = []
        """The compactions among that: for each the transcript's last entry before it, and its id."""
        self._unchecked = False
        """Whether a compaction was made since the last request."""
        self._unseen: CompactionPoint | None = None
        """The compaction since the last request, upkeep aside; None if there was none."""

    # The session as it is

    @property
    def view(self) -> Projection:
        """The view that the log gives as it is now."""
        return self.carried.projection

    @property
    def request(self) -> RequestShape:
        """The request that is to come. Raises `RuntimeError` if there is none."""
        if self.shape is None:
            raise RuntimeError("There is no request whose model says how tokens are counted")
        return self.shape

    def now(self) -> float:
        """The simulated time, in Unix seconds."""
        return self.at

    def new_id(self) -> str:
        """The id of a new compaction."""
        return f"c{self.carried.next_seq}"

    def fullness(self) -> Fullness:
        """How full the context is now."""
        return self.measures.fullness(self.request.model)

    def sizes(self) -> DraftSizes:
        """The sizes by which a draft is planned."""
        return self.measures.sizes(self.request.model)

    def weigh(self, entry: Compaction) -> int:
        """How many tokens the context would hold with one more compaction; nothing changes."""
        return self.measures.after(with_entry(self.view, entry), self.request.model)

    def end(self) -> Prefix:
        """The end of the next request, if it were sent now."""
        return self.laid_out.end(self.view)

    def is_as_recorded(self) -> bool:
        """Whether all so far came about as it was recorded. Then the recorded usage is exact, and what is laid out is not."""
        return self._happened == [_told(each) for each in self._recorded()]

    def next_recorded(self) -> RecordedCompaction | None:
        """The compaction that the record has next at this place, where all so far came about as recorded."""
        recorded, count = self._recorded(), len(self._happened)
        if len(recorded) <= count or self._happened != [_told(each) for each in recorded[:count]]:
            return None
        following = recorded[count]
        return following if isinstance(following, RecordedCompaction) else None

    def _recorded(self) -> list[RecordedCompaction | ByHand]:
        happened = (each for each in self._session.transcript.happened if each.after_seq <= self.after_seq)
        return [each for each in happened if not isinstance(each, RecordedAside)]

    # Who is asked

    def writers(self) -> Writers:
        """The writers of a summary: a model, and never the API."""
        return Writers(model=True, api=False)

    def asking(self) -> AskingNobody:
        """Stands in for asking the model on the conversation as it is now."""
        return AskingNobody(self.view.messages, self._answer)

    def _answer(self, asked: Asked, focus: str) -> WrittenSummary:
        """The text that stands for the answer to a question, which is charged."""
        stands, ratio = stand_in(self._settings.summary, self.told, asked), self._session.sizes.ratio
        question = SummaryQuestion(
            asked=round(estimate_text(asking(asked.prompt, focus)) * ratio),
            answer=round(stands.tokens * ratio),
            own_text=None if asked.text is None else round(estimate_text(asked.text) * ratio),
            check=round(estimate_text(asked.check) * ratio),
        )
        self.ledger.charge_summary(replace(self.request, at=self.at), self.laid_out.system, self.end(), question)
        self._stood_in = stands.what
        return WrittenSummary(stands.text, NOT_PRICED)

    async def ask_engine(self, policy: Policy, question: Callable[[], Answer], *, counts: bool) -> Answer:
        """An answer of a policy's engine. Raises what that raises: then the session has no figures under this policy."""
        return question()

    async def summarise(self, policy: Policy, covered: Covered, *, counts: bool) -> SummaryText:
        """The summary of a policy's engine. Raises what that raises."""
        return summary_by(policy, replace(covered, reading=self._reading))

    def engine_served(self) -> None:
        """Does nothing: what engines serve is not counted here."""

    def timed(self, work: Callable[[], Answer]) -> Answer:
        """Does the work, and counts the time that it takes as the policy's."""
        started = process_time()
        try:
            return work()
        finally:
            self.seconds += process_time() - started

    # What is read

    async def sources(self) -> Mapping[str, str]:
        """The texts of the repository by path, as far as they are known."""
        return self._session.sources

    async def files(self, after: Projection, options: RestoreOptions) -> tuple[RestoredFile, ...]:
        """The files that are likely to be needed, as the transcript lets one know them."""
        return put_back(self.carried.seen(), after, self.known_files, options)

    def fetched_again(self) -> FetchedAgain | None:
        """What the agent got again since the newest compaction in force; None if there is none."""
        found, model = self._forgotten.look(self.view.entries, self.view.active_by_seq), self.request.model
        terms = self.measures.terms(self.request)
        return found and priced(found, self.measures.calibration(model).ratio, terms.token if terms is not None else None)

    def resume(self, *, at_work: bool) -> str:
        """How to go on. No transcript has a task list."""
        return resume_text("", at_work=at_work)

    async def with_counts(self, entry: Compaction) -> Compaction:
        """The compaction as it is: nobody looks at how many messages it takes out of view."""
        return entry

    # What came of it

    async def set_aside(self) -> None:
        """Does nothing: the transcript is there."""

    async def objection(self, wanted: WantedCompaction) -> str:
        """Always empty, since nobody objects: hooks are not in a transcript."""
        return ""

    async def in_force(self, entry: Compaction) -> None:
        """Does nothing: nobody hears of the compaction."""

    def commit(self, draft: Draft, entry: Compaction) -> None:
        """Puts the compaction into the log, and notes what came of it."""
        before, upkeep, seq = self.end().tokens, entry.trigger == "upkeep", self.carried.next_seq
        entry = replace(entry, usage=None)
        after = self.carried.with_entry(entry, self.at)
        tokens = self.laid_out.tokens(after)
        self.carried.compact(after)
        if entry.summarised is not None:
            summary = len(entry.summarised.text)
        else:
            summary = len(entry.snipped.marker) if entry.snipped is not None and entry.rung != "moves" else 0
        stood_in = "" if draft.usage is None else self._stood_in if draft.rung == "model" else "digest"
        point = CompactionPoint(self.after_seq, self.at, entry.trigger, entry.rung, before, tokens, summary, upkeep, stood_in)
        self.made.compactions.append(point)
        if not upkeep:
            self.give_up()
            self.made.left[entry.id] = left_by(entry, self.after_seq, seq, after)
            self._unseen = point
            self._happened.append((self.after_seq, hash(entry.summarised.words if entry.summarised is not None else "")))
            self.made_at.append((self.after_seq, entry.id))
        self._unchecked = True

    def forgetting(self, acquired: Acquired) -> float:
        """Dollars for what tools gave again after the compactions and was not in view: writing it to the cache, and requests for it."""
        left = [point.tokens_after for point in self.made.compactions if not point.upkeep]
        terms = self.measures.terms(self.shape) if self.shape is not None else None
        if terms is None or not left or not acquired.places:
            return 0.0
        tokens = acquired.gone / CHARACTERS_PER_TOKEN
        each = Refetching(tokens / acquired.places, acquired.fetches / acquired.places)
        return acquired.places * forgetting(round(mean(left)), replace(terms, refetching=each)) * terms.token

    def log_by_hand(self, what: ByHand, *entries: Entry) -> None:
        """Logs what the user did by hand, as these entries. What is drafted ahead serves no more."""
        for entry in entries:
            seq = self.carried.next_seq
            self.carried.log(entry, self.at)
            match entry:
                case CompactionUndone(compaction_id=id):
                    self.made.undone.add(id)
                case CompactionRedone(compaction_id=id):
                    self.made.undone.discard(id)
                case Compaction() if isinstance(what, RecordedReversal) and entry.trigger != "manual":  # a redo, made anew
                    self.made.left[entry.id] = left_by(entry, self.after_seq, seq, self.view)
                case _:
                    pass
        self._happened.append(_told(what))
        self._unchecked = True
        self.give_up()

    def check(self) -> None:
        """Notes which of the API's rules the next request breaks, where a compaction was made since the last; then it is shown to whoever
        watches."""
        if not self._unchecked:
            return
        view = self.view
        self.made.violations.update(dict.fromkeys(violations(view.complete_messages, view.entries)))
        self._unchecked = False
        if self._unseen is not None and self._watch is not None:
            self._watch(RequestAfterCompaction(len(self.made.left), self._unseen.after_seq, self._unseen.trigger, view, self.carried))
        self._unseen = None

    def spent_in_vain(self, usage: Usage | None, cost: float | None) -> None:
        """Logs that something was spent of which nothing comes: that stands in a log, too. At recorded places the log itself tells of
        it."""
        if usage is not None and self._settings.at == "policy":
            self.carried.log(SpentInVain(NOT_PRICED), self.at)


def _told(happened: RecordedCompaction | ByHand) -> tuple[int, int]:
    """Where something came about, and a mark by which two of a kind are known to be the same: the texts would all stay in memory."""
    match happened:
        case RecordedCompaction():
            return happened.after_seq, hash(happened.summary)
        case RecordedExclusion():
            return happened.after_seq, hash(f"without entry {happened.seq} {happened.path}")
        case RecordedReversal():
            return happened.after_seq, hash(f"{'redo' if happened.redo else 'undo'} {happened.of}")
