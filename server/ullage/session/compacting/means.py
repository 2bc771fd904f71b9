"""What a live session does around the making of a compaction: it asks the engine in a thread and the model, reads files, logs the entry.

The model writes on the conversation as it was (`AskingModel`): here are the requests, how long they may take, and the check of the replies.
The course itself stands in `context/compaction/making.py`; `telling.py` tells the user how it goes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeVar

from ullage.context.blocks import Message, Usage
from ullage.context.compaction.api_summary import for_the_api, instructions, judged
from ullage.context.compaction.decide import Fullness
from ullage.context.compaction.draft import Draft, DraftSizes, NotForTheApi, SummaryFailed, WantedCompaction, both, counting
from ullage.context.compaction.drafting import summary_by
from ullage.context.compaction.forgotten import priced
from ullage.context.compaction.gathering import threshold_in_force
from ullage.context.compaction.means import ApiSummary, Writers, WrittenSummary
from ullage.context.compaction_entries import Compaction, FetchedAgain, MessageCounts, RestoredFile, SpentInVain
from ullage.context.counting.gauge import Measuring
from ullage.context.counting.tokens import Calibration
from ullage.context.engines.engine import Covered, SummaryText
from ullage.context.entries import Logged
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policy import Policy, RestoreOptions
from ullage.context.summary.summary_prompt import Form, Rejected, accept, asking, checked_request, small_request, summary_request
from ullage.context.view.fates import counts
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, place, request_so_far
from ullage.models.errors import ModelError
from ullage.models.model import Model, ModelCard, Reply, Retrying
from ullage.session.compacting.ahead import LiveSlot, ReadingAhead, source_texts
from ullage.session.compacting.restoring import Restoring
from ullage.session.compacting.saving import KeptRefetches
from ullage.session.compacting.telling import TellingUser
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.hooks.at_events import HooksAtEvents
from ullage.session.models_in_use import ModelInUse
from ullage.session.policy_in_use import PolicyInUse
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import new_id
from ullage.store.plain_files import write_transcript
from ullage.tools.rules.reading import ReadRulesNow

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

SECONDS = 180.0
"""Longest that a summary may take. A minute proved too short for large contexts (Amazon Q); peers need 25 to 37 s."""

ATTEMPTS = 3
"""Calls that are made for one summary: the program can write one at once, so a busy endpoint is not waited for long."""

THINKING_TOKENS = 4_096
"""What the model may think before it writes, beyond what it may write: the API's limit covers both."""


class SessionMeans:
    """Implements `Means` for one live session."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        policy: PolicyInUse,
        model: ModelInUse,
        restoring: Restoring,
        compacting: Callable[[], AbstractContextManager[None]],
        compacted: Callable[[], None],
        prepared: Callable[[], None],
        read_rules: ReadRulesNow,
        hooks: HooksAtEvents,
    ) -> None:
        """`compacted` is called once a compaction is in force, `prepared` when a draft is ready or has failed."""
        self._conversation = conversation
        self._surroundings = surroundings
        self._policy = policy
        self._model = model
        self._restoring = restoring
        self._compacted = compacted
        self._read_rules = read_rules
        self._hooks = hooks
        self._measuring = Measuring()
        self._fetched: FetchedAgain | None = None
        self._priced: FetchedAgain | None = None
        """What the agent got again, in tokens and dollars of the model that was in use when it was found."""
        self.slot = LiveSlot(prepared)
        self.telling = TellingUser(conversation, self.fullness, compacting)
        self.reading = ReadingAhead(conversation)
        self.learned = KeptRefetches(surroundings.store, conversation.session_id)
        self.show_fetched_again(told=False)

    # The session as it is

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._policy.policy

    @property
    def view(self) -> Projection:
        """The log as it is now, with what the model sees of it."""
        return self._conversation.projection

    def now(self) -> float:
        """The time now, in Unix seconds."""
        return self._surroundings.clock()

    def new_id(self) -> str:
        """The id of a new compaction."""
        return new_id("c")

    def fullness(self) -> Fullness:
        """How full the context is now."""
        card, policy, calibration = self._model.card, self.policy, self._calibration
        counted = self._conversation.counted(calibration)
        used = self._measuring.measured(policy.measure, counted.used, self.view, calibration)
        settings, long_prompt = self._surroundings.settings, card.prices.long_prompt if card.prices is not None else None
        full = threshold_in_force(policy, card.window, settings.economy, long_prompt, settings.threshold_cap)
        return Fullness(counted, used, full, card.window, card.hold_window)

    def sizes(self) -> DraftSizes:
        """How full the context is, as drafts are planned by it."""
        full = self.fullness()
        return DraftSizes(full.counted.used, full.threshold, full.window, self._calibration)

    def weigh(self, entry: Compaction) -> int:
        """What the context would hold with one more compaction (tokens); nothing changes."""
        return self._conversation.counted_with(entry, self._calibration).used

    @property
    def _calibration(self) -> Calibration:
        return self._surroundings.calibration(self._model.card)

    # Who is asked

    def writers(self) -> Writers:
        """Who writes summaries beside the program, by what the model in use can do and the user wants."""
        card, engine = self._model.card, self._surroundings.settings.summary_engine
        return Writers(model=card.writes_summaries and engine != "digest", api=card.compacts and engine == "model")

    def asking(self) -> AskingModel:
        """Asks the model on the conversation as it is now."""
        return AskingModel(request_so_far(self.view), self.view.entries[:], self._model.model, self._model.card, self._calibration)

    async def ask_engine(self, policy: Policy, question: Callable[[], Answer], *, counts: bool) -> Answer:
        """Asks a policy's engine in another thread, and gives its answer. Raises `PolicyFailed`; the engine rests after some failures that
        count (`counts`)."""
        # In another thread: for a long log planning takes a second, and nobody's typing may wait for it.
        with self._policy.asked(policy, counts=counts):
            return await asyncio.to_thread(question)

    async def summarise(self, policy: Policy, covered: Covered, *, counts: bool) -> SummaryText:
        """Has a policy's engine write a summary, in another thread: reading the facts out of a long log takes a quarter of a second. Raises
        `PolicyFailed`; the engine rests after some failures that count (`counts`)."""

        def written() -> SummaryText:
            with self.reading.lent() as reading:
                return summary_by(policy, replace(covered, reading=reading))

        return await self.ask_engine(policy, written, counts=counts)

    def engine_served(self) -> None:
        """Tells that the engine in force gave answers that can be used."""
        self._policy.succeeded()

    # What is read

    async def sources(self) -> Mapping[str, str]:
        """The texts of the workspace's source files by path, as `source_texts` gives them."""
        return await source_texts(self._surroundings.folders, self._read_rules())

    async def files(self, after: Projection, options: RestoreOptions) -> tuple[RestoredFile, ...]:
        """The files that are likely to be needed and that `after` does not hold, as they are now."""
        return await self._restoring.files(after, options, self.learned.missed)

    def fetched_again(self) -> FetchedAgain | None:
        """What the agent got again since the newest compaction in force; None if there is none."""
        found = self._conversation.fetched_again()
        if found is not None and found != self._fetched:
            self._fetched, terms = found, self._model.card.terms
            self._priced = priced(found, self._calibration.ratio, terms.token if terms is not None else None)
        return None if found is None else self._priced

    def show_fetched_again(self, *, told: bool = True) -> None:
        """Shows what the agent got again on the card of the newest compaction. Not `told`: no front end is told of it."""
        found = self.fetched_again()
        if found is not None:
            self._conversation.timeline.fetched_again(found, told=told)

    def resume(self, *, at_work: bool) -> str:
        """What the model is told of how to go on after a compaction. `at_work`: it is made in the middle of a turn."""
        return self._restoring.resume(at_work=at_work)

    async def with_counts(self, entry: Compaction) -> Compaction:
        """The compaction with how many messages it takes out of view. That is done in another thread, since all that is in view is looked
        at. Where no summary takes the place of most of it, what the compaction leaves is folded and counted there, too, and what follows
        finds that done."""
        view = self.view.copy()
        if entry.summarised is None:
            await self._conversation.foresee(entry, self._calibration)

        def counted() -> MessageCounts:
            if entry.summarised is not None:
                self._conversation.foresee_forgotten(view, entry)
            return counts(view, entry)

        return replace(entry, counts=await asyncio.to_thread(counted))

    # What is written

    async def set_aside(self) -> None:
        """Writes down the messages in view as a transcript, before a summary takes their place."""
        view = self.view
        number = 1 + len(view.active) + len(view.undone)  # no epoch writes over the transcript of one that was undone
        folder, id = self._surroundings.store_folder, self._conversation.session_id
        await asyncio.to_thread(write_transcript, folder, id, number, view.messages)

    async def objection(self, wanted: WantedCompaction) -> str:
        """Why a hook does not want a compaction that can wait, for the user; empty if it is made."""
        return await self._hooks.before_compaction(wanted)

    async def in_force(self, entry: Compaction) -> None:
        """Tells hooks that the compaction is in force."""
        with in_any_case("hooks were not told of the compaction"):
            await self._hooks.after_compaction(entry)

    def commit(self, draft: Draft, entry: Compaction) -> None:
        """Logs the compaction. Raises `StoreFailed`, and has then changed nothing. Once it is logged it is in force: nothing is raised."""
        self._conversation.append(entry)
        with in_any_case("what the agent has seen of files is as before the compaction"):
            self._restoring.after(entry)
        with in_any_case("the card of the compaction is as before it was made"):
            self.telling.made(entry)
        with in_any_case("the rules are as before the compaction"):
            self._compacted()

    def spent_in_vain(self, usage: Usage | None, cost: float | None) -> None:
        """Logs what was spent and brought nothing: it still counts, and counts once. None: nothing was spent.

        As long as a summary may serve, its draft holds the cost. Then the compaction that it becomes holds it.
        """
        if usage is not None:
            self._conversation.append_or_owe(SpentInVain(usage, cost))


@dataclass(frozen=True, slots=True)
class AskingModel:
    """Asks the model on the conversation as it was (`request`, which `entries` make), whatever is logged meanwhile."""

    request: Request
    entries: Sequence[Logged]
    _model: Model
    _card: ModelCard
    _calibration: Calibration

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the conversation as it was then."""
        return self.request.messages

    async def model(self, draft: Draft, asked: Asked) -> WrittenSummary:
        """The model's part of a summary. Raises `SummaryFailed`. Cancelling ends the call at once."""
        asked = replace(asked, output_tokens=min(asked.output_tokens, self._card.max_output))
        return await _write_summary(self._model, self.request, draft.wanted.focus, asked)

    async def api(self, draft: Draft, asked: Asked) -> ApiSummary:
        """The API's own summary. Raises `SummaryFailed` and `NotForTheApi`. Cancelling ends the call at once."""
        # In another thread: for a long log it takes a second, and nobody's typing may wait for it.
        possible = await asyncio.to_thread(self._possible, draft.plan)
        if possible is None:
            raise NotForTheApi("The API was not asked for a summary, since it would replace messages that are pinned")
        plan, cut = possible
        beginning = self.messages[:cut]
        told = replace(self.request, messages=beginning, breakpoints=place(beginning), summarise=instructions(draft.wanted.focus))
        reply = await _reply_in_time(self._model, told, min(asked.output_tokens + THINKING_TOKENS, self._card.max_output), "The API")
        block = judged(reply.compaction, reply.stop_reason)
        if isinstance(block, Rejected):
            raise SummaryFailed(block.reason, reply.usage)
        return ApiSummary(plan, cut, block, reply.usage)

    def _possible(self, planned: Plan) -> tuple[Plan, int] | None:
        return for_the_api(planned, Projection(self.entries), counting(self._calibration))

    def cost(self, usage: Usage | None) -> float | None:
        """Dollars; None if nothing was spent or prices are not known."""
        return self._card.cost(usage) if usage is not None else None


async def _write_summary(model: Model, request: Request, focus: str, asked: Asked) -> WrittenSummary:
    """The summary that the model writes, checked by it where that is asked for. `request` is the conversation as the next request would
    have it. Raises `SummaryFailed`. Cancelling ends the call at once."""
    own = asked.text is not None
    first = small_request(request, asked.prompt, asked.text or "", focus) if own else summary_request(request, asked.prompt, focus)
    text, usage = await _write(model, first, asked, asking(asked.prompt, focus))
    if not asked.check:
        return WrittenSummary(text, usage)
    try:
        checked, more = await _write(model, checked_request(first, text, asked.check), asked, asked.check)
    except SummaryFailed as failure:
        raise SummaryFailed(str(failure), both(usage, failure.usage)) from None
    return WrittenSummary(checked, both(usage, more))


async def _reply_in_time(model: Model, request: Request, tokens: int, writer: str) -> Reply:
    """The reply to a request for a summary, of at most `tokens`. `writer` is who is told to have failed, as a sentence begins with it.

    Raises `SummaryFailed`. Cancelling ends the call at once.
    """
    reply: Reply | None = None
    try:
        async with asyncio.timeout(SECONDS):
            async for event in model.stream(request, tokens):
                if isinstance(event, Retrying) and event.attempt > ATTEMPTS:
                    raise SummaryFailed(f"{writer} could not write the summary: {event.reason}")
                if isinstance(event, Reply):
                    reply = event
    except TimeoutError:
        raise SummaryFailed(f"{writer} took more than {SECONDS:.0f} s over the summary") from None
    except (ModelError, SummaryFailed) as error:
        raise SummaryFailed(f"{writer} could not write the summary: {error}" if isinstance(error, ModelError) else str(error)) from error
    except Exception as error:
        logger.exception("a summary failed")
        raise SummaryFailed(f"{writer} could not write the summary: {type(error).__name__}. The log has the details") from error
    if reply is None:
        raise SummaryFailed(f"{writer}'s summary ended before it was whole")
    return reply


async def _write(model: Model, request: Request, asked: Asked, question: str) -> tuple[str, Usage | None]:
    reply = await _reply_in_time(model, request, asked.output_tokens, "The model")
    form = Form(marked=not asked.prompt, sections=asked.sections, holds=asked.holds)
    accepted = accept(reply.blocks, reply.stop_reason, form, question)
    if isinstance(accepted, Rejected):
        raise SummaryFailed(accepted.reason, reply.usage)
    return accepted, reply.usage
