"""Who is asked by a live session that compacts: the engine of the policy in force, and the model for a summary.

An engine may come from any package. One that fails is not asked for a while (`PolicyInUse`). The model writes on the conversation as it was
(`AskingModel`): here are the requests, how long they may take, and the check of the replies. `context/compaction/drafting.py` decides when
either is asked, and what is done if nothing comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ullage.context.blocks import Message, Usage
from ullage.context.compaction.api_summary import for_the_api, instructions, judged
from ullage.context.compaction.draft import Draft, NotForTheApi, PolicyFailed, SummaryFailed, both, counting
from ullage.context.compaction.gathering import Breaker
from ullage.context.compaction.means import ApiSummary, WrittenSummary
from ullage.context.counting.tokens import Calibration
from ullage.context.engines.engine import PathOf
from ullage.context.entries import Logged
from ullage.context.moves.cheap import Arrival, Clip
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.summary.summary_prompt import Form, Rejected, accept, asking, checked_request, small_request, summary_request
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, place
from ullage.models.errors import ModelError
from ullage.models.model import Model, ModelCard, Reply, Retrying
from ullage.session.surroundings import Surroundings

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

SECONDS = 180.0
"""Longest that a summary may take. A minute proved too short for large contexts (Amazon Q); peers need 25 to 37 s."""

ATTEMPTS = 3
"""Calls that are made for one summary: the program can write one at once, so a busy endpoint is not waited for long."""

THINKING_TOKENS = 4_096
"""What the model may think before it writes, beyond what it may write: the API's limit covers both."""


class PolicyInUse:
    """The policy that the user chose, as one session uses it."""

    def __init__(self, surroundings: Surroundings, taken_over: Callable[[], None]) -> None:
        self._surroundings = surroundings
        self._taken_over = taken_over
        self._policy = self._at_boundary = surroundings.policy
        self._breaker = Breaker()

    @property
    def policy(self) -> Policy:
        """The one that the settings name now."""
        if self._surroundings.policy is not self._policy:
            self._policy, self._breaker = self._surroundings.policy, Breaker()
        return self._policy

    def take_over(self) -> None:
        """At a boundary: says so where the policy is another one than at the boundary before, since the tools may be others too."""
        if self.policy is not self._at_boundary:
            self._at_boundary = self.policy
            self._taken_over()

    @property
    def keeps_up(self) -> bool:
        """Whether the engine is to be asked before every call."""
        return self._surroundings.settings.auto_compact and self.policy.engine.keeps_up and not self.rests

    @property
    def rests(self) -> bool:
        """Whether the engine failed too often and is not asked at the moment."""
        return self.policy.has_stand_in and self._breaker.is_open(self._surroundings.clock())

    async def ask(self, policy: Policy, question: Callable[[], Answer], *, counts: bool = True) -> Answer:
        """An answer of the policy's engine, from another thread. Raises `PolicyFailed`; of Ullage's own engine what it raises itself.

        `counts`: a failure is one of those after which the engine rests.
        """
        if not policy.has_stand_in:
            return await asyncio.to_thread(question)
        if self.rests:
            raise PolicyFailed(f"The policy {policy.name} failed several times in a row; it is not asked at the moment")
        try:
            return await asyncio.to_thread(question)
        except Exception as error:
            raise self._failed(error, counts=counts) from error

    def _failed(self, error: Exception, *, counts: bool = True) -> PolicyFailed:
        logger.error("the engine of the policy %s failed", self.policy.name, exc_info=error)
        if counts:
            self._breaker.failed(self._surroundings.clock())
        return PolicyFailed(f"The policy {self.policy.name} failed: {type(error).__name__}: {error}")

    def succeeded(self) -> None:
        """The engine gave an answer that can be used."""
        self._breaker.succeeded()

    def arrive(self, arrivals: Sequence[Arrival], path_of: PathOf) -> tuple[Clip, ...]:
        """What the model gets of each result of one message. Raises `PolicyFailed`."""
        if self.rests:
            return ULLAGE.engine.arrive(arrivals, path_of)
        try:
            clips = tuple(self.policy.engine.arrive(arrivals, path_of))
            for clip, _ in zip(clips, arrivals, strict=True):
                if not isinstance(clip.content, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a package may give anything
                    raise TypeError(f"a result became {type(clip.content).__name__}")
        except Exception as error:
            raise self._failed(error) from error
        return clips


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
        """Dollars; None if nothing was spent or prices are not known."""
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
