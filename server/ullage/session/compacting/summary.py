"""The model's summaries, as a live session gets them: the requests, how long they may take, and the check of the replies.

When one is asked for, and what is done where none comes, stands in `context/compaction/writing.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import Message, Usage
from ullage.context.compaction.api_summary import for_the_api, instructions, judged
from ullage.context.compaction.draft import Draft, NotForTheApi, SummaryFailed, both, counting
from ullage.context.compaction.means import ApiSummary, WrittenSummary
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Logged
from ullage.context.moves.plan import Asked, Plan
from ullage.context.summary.summary_prompt import Form, Rejected, accept, asking, checked_request, small_request, summary_request
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, place
from ullage.models.errors import ModelError
from ullage.models.model import Model, ModelCard, Reply, Retrying

logger = logging.getLogger(__name__)

SECONDS = 180.0
"""Longest that a summary may take. A minute proved too short for large contexts (Amazon Q); peers need 25 to 37 s."""

ATTEMPTS = 3
"""Calls that are made for one summary: the program can write one at once, so a busy endpoint is not waited for long."""

THINKING_TOKENS = 4_096
"""What the model may think before it writes, beyond what it may write: the API's limit covers both."""


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
        """Those of the conversation then."""
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
        """Dollars; None where nothing was spent or prices are not known."""
        return self._card.cost(usage) if usage is not None else None


async def _write_summary(model: Model, request: Request, focus: str, asked: Asked) -> WrittenSummary:
    """`request` is the conversation as the next request would have it. Raises `SummaryFailed`. Cancelling ends the call at once."""
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
