"""Asking the model for its part of a summary, on the very prefix that its last request had (so that it reads the cache)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ullage.context.blocks import Usage
from ullage.context.policy import SummaryNumbers
from ullage.context.record.summary_prompt import Rejected, accept, summary_request
from ullage.context.view.request import Request
from ullage.models.errors import ModelError
from ullage.models.model import Model, Reply, Retrying

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


async def write_summary(model: Model, request: Request, focus: str, numbers: SummaryNumbers) -> WrittenSummary:
    """Raises `SummaryFailed`. Cancelling ends the call at once."""
    asked = summary_request(request, focus)
    reply: Reply | None = None
    try:
        async with asyncio.timeout(SECONDS):
            async for event in model.stream(asked, numbers.output_tokens):
                if isinstance(event, Retrying) and event.attempt > ATTEMPTS:
                    raise SummaryFailed(f"The model could not write the summary: {event.reason}")
                if isinstance(event, Reply):
                    reply = event
    except TimeoutError:
        raise SummaryFailed(f"The model took more than {SECONDS:.0f} s over the summary") from None
    except ModelError as error:
        raise SummaryFailed(f"The model could not write the summary: {error}") from error
    if reply is None:
        raise SummaryFailed("The model's summary ended before it was whole")
    accepted = accept(reply.blocks, reply.stop_reason)
    if isinstance(accepted, Rejected):
        raise SummaryFailed(accepted.reason, reply.usage)
    return WrittenSummary(accepted, reply.usage)
