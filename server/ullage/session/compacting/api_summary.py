"""Asking the API for its own summary: the first rung, where the model's capabilities list it (anthropic-api.md 2.4).

It summarises what it is sent, which is the beginning of a request that was sent already (so that it reads the cache), and gives a signed
block. The turns after that are kept as they are, with their thinking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import CompactionBlock, Usage
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.entries import Logged
from ullage.context.moves.api_cut import for_the_api
from ullage.context.moves.plan import Asked, Plan
from ullage.context.record.api_summary import instructions, judged
from ullage.context.record.summary_prompt import Rejected
from ullage.context.view.breakpoints import place
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request
from ullage.models.model import Model, ModelCard
from ullage.session.compacting.summary import SummaryFailed, reply_in_time

THINKING_TOKENS = 4_096
"""What the model may think before it writes, beyond what it may write: the API's limit covers both."""


@dataclass(frozen=True, slots=True)
class ApiSummary:
    """A block of the API's, and the plan as it was carried out: the first `cut` messages of the request give way to it."""

    plan: Plan
    cut: int
    block: CompactionBlock
    usage: Usage | None


class NotForTheApi(Exception):
    """The API cannot do what is planned; `str()` says why, for the user. Nothing was spent."""


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
