"""Having the summary of a planned compaction written, by the first way that works: the API, the model, the program, a short note.

A way that fails has changed nothing. The draft says why it failed. Planning, reading files again and logging: `compaction.py`.

The API is asked first, where the model's capabilities say that it writes summaries (anthropic-api.md 2.4). It summarises what it is sent
and gives a signed block. The turns after that stay as they are, with their thinking. The API gets the beginning of a request that was sent
already, and the model gets the prefix of its last request. So both read the cache.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import CompactionBlock, Message, Usage
from ullage.context.compaction.api_summary import ELSEWHERE, completing, for_the_api, instructions, judged, keeps_turns
from ullage.context.compaction.assemble import Draft, NothingToCompact, covered_by, entry_of, shrinks, summary_by, ways
from ullage.context.compaction.gathering import Breaker, SpendGuard
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.engines.engine import Covered, SummaryText
from ullage.context.entries import Logged
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policy import Policy
from ullage.context.summary.summary_prompt import Form, Rejected, accept, asking, checked_request, small_request, summary_request
from ullage.context.summary.whole_summary import tail_note
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import files_out
from ullage.context.view.request import Request, place
from ullage.models.errors import ModelError
from ullage.models.model import Model, ModelCard, Reply, Retrying
from ullage.session.compacting.failures import Spent, spend_in_vain, spent_on
from ullage.session.compacting.policy_in_use import PolicyFailed, PolicyInUse
from ullage.session.compacting.restoring import Restoring
from ullage.session.compacting.sources import ReadingAhead, source_texts
from ullage.session.conversation import Conversation
from ullage.session.surroundings import Surroundings

logger = logging.getLogger(__name__)

SECONDS = 180.0
"""Longest that a summary may take. A minute proved too short for large contexts (Amazon Q); peers need 25 to 37 s."""

ATTEMPTS = 3
"""Calls that are made for one summary: the program can write one at once, so a busy endpoint is not waited for long."""

THINKING_TOKENS = 4_096
"""What the model may think before it writes, beyond what it may write: the API's limit covers both."""


class SummaryFailed(Exception):
    """The model wrote no summary that can be used; `str()` says why, for the user, `usage` what was spent on it all the same."""

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage


class NotForTheApi(Exception):
    """The API cannot do what is planned; `str()` says why, for the user. Nothing was spent."""


class SummaryWriter:
    """Writes the summaries of one session."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, policy: PolicyInUse, restoring: Restoring) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._policy = policy
        self._restoring = restoring
        self._spending = SpendGuard()
        self.ahead = ReadingAhead(conversation)
        self.model_breaker = Breaker()
        """Open: summaries are not asked of the model for a while; the program writes them."""
        self.api_breaker = Breaker()
        """Open: the API is not asked for its own."""

    async def with_summary(
        self, draft: Draft, request: Request, entries: Sequence[Logged], model: Model, card: ModelCard, calibration: Calibration
    ) -> Draft:
        """The draft with its summary, by the first way that works, and with what was spent on it. Raises `PolicyFailed` and
        `NothingToCompact`."""
        spent = Spent()
        try:
            written = await self._by_first(draft, request, entries, model, card, calibration, spent)
        except PolicyFailed as failure:
            raise PolicyFailed(str(failure), spent.usage) from failure
        except BaseException:
            spend_in_vain(self._conversation, spent.usage, spent_on(card, spent.usage))
            raise
        return replace(written, usage=spent.usage, cost=spent_on(card, spent.usage))

    async def _by_first(
        self,
        draft: Draft,
        request: Request,
        entries: Sequence[Logged],
        model: Model,
        card: ModelCard,
        calibration: Calibration,
        spent: Spent,
    ) -> Draft:
        skipped: list[str] = []
        asked, first = draft.plan.asked, tuple(ways(draft.plan, draft.wanted))
        if asked is not None and "api" in first and self.may_ask_api(draft, card):
            try:
                written = await self._by_api(draft, asked, request, entries, model, card, calibration, spent)
                self.api_breaker.succeeded()
                return written
            except NotForTheApi as reason:
                skipped.append(str(reason))
            except SummaryFailed as failure:
                self.api_breaker.failed(self._surroundings.clock())
                skipped.append(str(failure))
                spent.add(failure.usage)
        if asked is not None and self.may_ask_model(draft, card, skipped):
            try:
                return await self._by_model(draft, asked, request, model, card, calibration, tuple(skipped), spent)
            except SummaryFailed as failure:
                self.model_breaker.failed(self._surroundings.clock())
                skipped.append(str(failure))
                spent.add(failure.usage)
        return await self.by_program(draft, skipped, calibration)

    async def by_program(self, draft: Draft, skipped: Sequence[str], calibration: Calibration) -> Draft:
        """The draft with a summary that no model had a part in. Raises `NothingToCompact`."""
        digest = replace(draft, rung="digest", summary=await self._summary(draft, None), skipped=tuple(skipped))
        if self._shrinks(digest, calibration):
            return digest
        why = (*skipped, "The summary written from the log was not shorter than what it would replace")
        tail = replace(draft, rung="tail", summary=SummaryText(tail_note(draft.plan.covers)), skipped=why)
        if self._shrinks(tail, calibration):
            return tail
        raise NothingToCompact

    def may_ask_api(self, draft: Draft, card: ModelCard) -> bool:
        """Whether the API is asked for its own summary: where it writes them for this model, for the policy that is written for that."""
        if not card.compacts or not draft.policy.api_summaries or "api" not in ways(draft.plan, draft.wanted):
            return False
        if draft.tokens_before > card.window:
            return False
        if self._spending.rests(self._surroundings.clock()):
            return False
        return self._surroundings.settings.summary_engine == "model" and not self.api_breaker.is_open(self._surroundings.clock())

    async def _by_api(
        self,
        draft: Draft,
        asked: Asked,
        request: Request,
        entries: Sequence[Logged],
        model: Model,
        card: ModelCard,
        calibration: Calibration,
        spent: Spent,
    ) -> Draft:
        """The draft with the API's block and the program summary to complete it.

        Raises `SummaryFailed` and `NotForTheApi`; `NothingToCompact` where the epoch has passed meanwhile, for which no draft serves.
        """
        self._spending.called(self._surroundings.clock())
        summary = await write_api_summary(model, card, request, entries, draft.plan, asked, draft.wanted.focus, calibration)
        spent.add(summary.usage)
        if draft.key != self._conversation.projection.key:
            raise NothingToCompact
        planned = replace(draft, plan=summary.plan)
        record = await self._summary(planned, ELSEWHERE)
        told = replace(record, text=completing(record.text), block=summary.block)
        written = replace(planned, rung="api", summary=told)
        after = self._conversation.projection.with_appended(Logged(self._conversation.entries[-1].seq + 1, 0.0, entry_of(written)))
        if not keeps_turns(request.messages, summary.cut, after.complete_messages):
            raise SummaryFailed("The API's summary did not fit the messages after it")
        if not self._shrinks(written, calibration):
            raise SummaryFailed("The API's summary was not shorter than what it would replace")
        return written

    def may_ask_model(self, draft: Draft, card: ModelCard, skipped: list[str]) -> bool:
        """Whether the model is asked for its part; `skipped` gets the reason where the user would wonder why not."""
        wanted, asked = draft.wanted, draft.plan.asked
        if not card.writes_summaries or self._surroundings.settings.summary_engine == "digest" or wanted.by_program:
            return False
        if self._spending.rests(self._surroundings.clock()):
            skipped.append("The model was asked for too many summaries within minutes, so for half an hour they are written from the log")
            return False
        if wanted.trigger == "reactive":
            skipped.append("The model was not asked: it had just refused this conversation as too long")
            return False
        if draft.tokens_before > card.window and (asked is None or asked.text is None):  # another model was chosen, with a smaller window
            skipped.append(f"The model was not asked: the conversation is larger than its window of {card.window:,} tokens")
            return False
        if self.model_breaker.is_open(self._surroundings.clock()):
            skipped.append("The model failed three times in a row to write a summary, so it is not asked at the moment")
            return False
        return True

    async def _by_model(
        self,
        draft: Draft,
        asked: Asked,
        request: Request,
        model: Model,
        card: ModelCard,
        calibration: Calibration,
        skipped: tuple[str, ...],
        spent: Spent,
    ) -> Draft:
        """The draft with the model's part in its summary. Raises `SummaryFailed` and `PolicyFailed`."""
        asked = replace(asked, output_tokens=min(asked.output_tokens, card.max_output))
        self._spending.called(self._surroundings.clock())
        summary = await write_summary(model, request, draft.wanted.focus, asked)
        spent.add(summary.usage)
        written = replace(draft, rung="model", summary=await self._summary(draft, summary.text), skipped=skipped)
        if not self._shrinks(written, calibration):
            raise SummaryFailed("The model's summary was not shorter than what it would replace")
        self.model_breaker.succeeded()
        return written

    async def _summary(self, draft: Draft, model_text: str | None) -> SummaryText:
        """Written in another thread: reading the facts out of a long log takes a quarter of a second. Raises `PolicyFailed`."""
        projection = self._conversation.projection
        files: Mapping[str, str] = await source_texts(self._surroundings.folders) if draft.policy.engine.wants_files else {}
        if left_out := files_out(projection) if files else ():
            files = {path: text for path, text in files.items() if path not in left_out}
        told = covered_by(projection, draft.plan, model_text, draft.wanted.focus, draft.threshold, files)
        counts = not draft.wanted.foreseen
        return await self._policy.ask(draft.policy, lambda: _summary_of(draft.policy, told, self.ahead), counts=counts)

    def _shrinks(self, draft: Draft, calibration: Calibration) -> bool:
        resume = self._restoring.resume(at_work=True)
        now = self._conversation.counted(calibration).used
        return shrinks(draft, resume, lambda entry: self.tokens_after(entry, calibration), now)

    def tokens_after(self, entry: Compaction, calibration: Calibration) -> int:
        """What the context would hold with one more compaction; nothing changes."""
        return self._conversation.counted_with(entry, calibration).used


def _summary_of(policy: Policy, covered: Covered, ahead: ReadingAhead) -> SummaryText:
    with ahead.lent() as reading:
        return summary_by(policy, replace(covered, reading=reading))


@dataclass(frozen=True, slots=True)
class ApiSummary:
    """A block of the API's, and the plan as it was carried out: the first `cut` messages of the request give way to it."""

    plan: Plan
    cut: int
    block: CompactionBlock
    usage: Usage | None


async def write_api_summary(
    model: Model,
    card: ModelCard,
    request: Request,
    entries: Sequence[Logged],
    planned: Plan,
    asked: Asked,
    focus: str,
    calibration: Calibration,
) -> ApiSummary:
    """`request` is the conversation as the next request would have it, which `entries` make.

    Raises `SummaryFailed` and `NotForTheApi`. Cancelling ends the call at once.
    """
    as_possible = await possible(planned, entries, calibration)
    if as_possible is None:
        raise NotForTheApi("The API was not asked for a summary, since it would replace messages that are pinned")
    plan, cut = as_possible
    beginning = request.messages[:cut]
    told = replace(request, messages=beginning, breakpoints=place(beginning), summarise=instructions(focus))
    reply = await reply_in_time(model, told, min(asked.output_tokens + THINKING_TOKENS, card.max_output), "The API")
    block = judged(reply.compaction, reply.stop_reason)
    if isinstance(block, Rejected):
        raise SummaryFailed(block.reason, reply.usage)
    return ApiSummary(plan, cut, block, reply.usage)


async def possible(planned: Plan, entries: Sequence[Logged], calibration: Calibration) -> tuple[Plan, int] | None:
    """The plan as the API can carry it out, and how many messages it gets; None where it cannot."""
    # In another thread: for a long log it takes a second, and nobody's typing may wait for it.
    return await asyncio.to_thread(_possible, planned, entries, calibration)


def _possible(planned: Plan, entries: Sequence[Logged], calibration: Calibration) -> tuple[Plan, int] | None:
    def count(messages: Sequence[Message]) -> int:
        return calibration.apply(sum(estimate_message(message) for message in messages))

    return for_the_api(planned, Projection(entries), count)


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What the model wrote, and what it used."""

    text: str
    usage: Usage | None


async def write_summary(model: Model, request: Request, focus: str, asked: Asked) -> WrittenSummary:
    """`request` is the conversation as the next request would have it. Raises `SummaryFailed`. Cancelling ends the call at once."""
    own = asked.text is not None
    first = small_request(request, asked.prompt, asked.text or "", focus) if own else summary_request(request, asked.prompt, focus)
    written = await _write(model, first, asked, asking(asked.prompt, focus))
    if not asked.check:
        return written
    try:
        checked = await _write(model, checked_request(first, written.text, asked.check), asked, asked.check)
    except SummaryFailed as failure:
        raise SummaryFailed(str(failure), _both(written.usage, failure.usage)) from None
    return WrittenSummary(checked.text, _both(written.usage, checked.usage))


async def reply_in_time(model: Model, request: Request, tokens: int, writer: str) -> Reply:
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


async def _write(model: Model, request: Request, asked: Asked, question: str) -> WrittenSummary:
    reply = await reply_in_time(model, request, asked.output_tokens, "The model")
    form = Form(marked=not asked.prompt, sections=asked.sections, holds=asked.holds)
    accepted = accept(reply.blocks, reply.stop_reason, form, question)
    if isinstance(accepted, Rejected):
        raise SummaryFailed(accepted.reason, reply.usage)
    return WrittenSummary(accepted, reply.usage)


def _both(first: Usage | None, second: Usage | None) -> Usage | None:
    """Two calls together; what was not counted counts nothing."""
    return first + second if first and second else first or second
