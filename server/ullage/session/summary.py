"""Asking the model for its part of a summary, on the very prefix that its last request had (so that it reads the cache)."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.blocks import Usage
from ullage.context.policy import SummaryNumbers
from ullage.context.request import Request
from ullage.context.summary_prompt import Rejected, accept, summary_request
from ullage.models.errors import ModelError
from ullage.models.model import Model, Reply


class SummaryFailed(Exception):
    """The model wrote no summary that can be used; `str()` says why, for the user."""


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What the model wrote, and what it used."""

    text: str
    usage: Usage


async def write_summary(model: Model, request: Request, focus: str, numbers: SummaryNumbers) -> WrittenSummary:
    """Raises `SummaryFailed`. Cancelling ends the call at once."""
    asked = summary_request(request, focus)
    reply: Reply | None = None
    try:
        async for event in model.stream(asked, numbers.output_tokens):
            if isinstance(event, Reply):
                reply = event
    except ModelError as error:
        raise SummaryFailed(f"The model could not write the summary: {error}") from error
    if reply is None:
        raise SummaryFailed("The model's summary ended before it was whole")
    accepted = accept(reply.blocks, reply.stop_reason)
    if isinstance(accepted, Rejected):
        raise SummaryFailed(accepted.reason)
    return WrittenSummary(accepted, reply.usage)
