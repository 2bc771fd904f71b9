"""Asking the model for its part of a summary, on the very prefix that its last request had (so that it reads the cache)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from ullage.context.blocks import Usage
from ullage.context.moves.plan import Asked
from ullage.context.record.summary_prompt import Form, Rejected, accept, asking, checked_request, small_request, summary_request
from ullage.context.view.request import Request
from ullage.models.errors import ModelError
from ullage.models.model import Model, Reply, Retrying

logger = logging.getLogger(__name__)

SECONDS = 180.0
"""Longest that a summary may take. A minute proved too short for large contexts (Amazon Q); peers need 25 to 37 s."""


ATTEMPTS = 3
"""Calls that are made for one summary: the program can write one at once, so a busy endpoint is not waited for long."""


class SummaryFailed(Exception):
    """The model wrote no summary that can be used; `str()` says why, for the user, `usage` what was spent on it all the same."""

    def __init__(self, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage


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
