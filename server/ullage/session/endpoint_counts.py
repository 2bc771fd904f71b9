"""The sizes that an endpoint itself names: the gauge shows them instead of estimates.

`EndpointCounts` asks the endpoint in the background to count what is new and large. No prompt waits for it. The next reply reports the same
number. Until then, and where no reply follows, this count is all that is known for sure. Two things are asked: once, what system prompt,
rules and tools take; and the size of the whole request, if much of it is only estimated. Nothing of a workspace is sent before the user
has asked for something, and it is sent only where their prompts go. Whoever looks at the context view wants to know: then less is enough.

A refusal may name the size of a request, too. `take_size` and `keep_size` log such sizes, so that the gauge shows them after a restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from ullage.context.blocks import Message, SystemPart, Text, ToolSpec
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.counting.accounting import Stated
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.tokens import MESSAGE_TOKENS, can_take
from ullage.context.entries import AssistantReply, Prelude, SizeStated
from ullage.context.view.request import Request, request_so_far
from ullage.models.errors import PromptTooLong
from ullage.models.model import Model, ModelCard
from ullage.session.conversation import Conversation, in_any_case
from ullage.session.models_in_use import ModelInUse
from ullage.session.surroundings import Surroundings

WORTH = 1_000
"""Tokens. What is less is not counted by itself: the next reply tells soon enough."""
WORTH_SHARE = 0.02
"""A share of the context. What is less is not counted by itself either: the whole request goes over the wire for it."""

WORTH_ASKED = 100
"""Tokens. Where the user wants to know, only what is less is not counted."""

PAUSE = 3.0
"""Seconds between two counts of a session, whatever comes meanwhile."""

WORD = "."
"""What stands for a user's words where there are none. One token in every tokenizer."""
WORD_TOKENS = MESSAGE_TOKENS + 1


class EndpointCounts:
    """Asks the endpoint how large the requests of one session are. `may_ask`: whether the user has asked for something that is being done.
    `counted` is called once more is known."""

    def __init__(
        self,
        conversation: Conversation,
        surroundings: Surroundings,
        model: ModelInUse,
        may_ask: Callable[[], bool],
        counted: Callable[[], None],
    ) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._model = model
        self._may_ask = may_ask
        self._counted = counted
        self._work: asyncio.Task[None] | None = None
        self._again = False
        self._is_asked = False
        """Whether the user wants to know."""

    def look(self) -> None:
        """Has the endpoint count what was logged, if it is worth it."""
        if self._work is not None or self._may_ask():
            self._begin()

    def ask(self) -> None:
        """Has all but a few tokens counted, since the user wants to know, though nothing is being done."""
        self._is_asked = True
        self._begin()

    def _begin(self) -> None:
        if self._work is not None:
            self._again = True
        else:
            self._work = asyncio.get_running_loop().create_task(self._count(), name="count at the endpoint")

    async def close(self) -> None:
        """Stops asking."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def settled(self) -> None:
        """Waits until what was worth it is counted."""
        while self._work is not None:
            await asyncio.gather(self._work, return_exceptions=True)

    async def _count(self) -> None:
        try:
            while True:
                self._again = False
                await asyncio.sleep(0)  # what is logged at once is counted at once
                with in_any_case("what is new could not be counted"):
                    if await self._count_once():
                        self._counted()
                if not self._again:
                    return
                await asyncio.sleep(PAUSE)
        finally:
            self._work = None

    async def _count_once(self) -> bool:
        """Asks the endpoint for what is worth it; gives whether anything was counted."""
        model, card = self._model.model, self._model.card
        fixed, prelude = self._surroundings.fixed_of(card), self._conversation.projection.prelude
        if fixed is None or prelude is None or not self._conversation.projection.messages:
            return False
        told = not fixed.is_counted(prelude) and await _count_fixed(model, prelude, fixed)
        view = self._conversation.projection
        now = self._conversation.counted(self._surroundings.calibration(card))
        worth = WORTH_ASKED if self._is_asked else max(WORTH, int(now.used * WORTH_SHARE))
        self._is_asked = False
        if self._model.model is not model or not view.messages or now.guess < worth:
            return told
        key, seq = view.key, self._conversation.entries[-1].seq
        tokens = await _count_whole(model, request_so_far(view))
        if tokens is not None:
            self._conversation.state(Stated(key, seq, tokens, now.categories, fixed))
        return told or tokens is not None


async def _count_whole(model: Model, request: Request) -> int | None:
    """How many tokens the conversation has as it would be sent; None if the endpoint does not count."""
    request = replace(request, breakpoints=())
    if request.messages[-1].role == "user":
        return await model.count(request)
    tokens = await model.count(replace(request, messages=[*request.messages, _word()]))
    return None if tokens is None else max(0, tokens - WORD_TOKENS)


async def _count_fixed(model: Model, prelude: Prelude, known: FixedParts) -> bool:
    """Has system prompt, rules and tools counted apart, by what each adds; gives whether the endpoint told that."""
    parts: dict[str, tuple[tuple[SystemPart, ...], tuple[ToolSpec, ...]]] = {}
    own = tuple(part for part in prelude.system if part.category == "system")
    if own:
        parts["system"] = (own, ())
    if len(own) < len(prelude.system):
        parts["rules"] = (prelude.system, ())
    if prelude.tools:
        parts["tools"] = (prelude.system, prelude.tools)
    tokens: dict[str, int] = {}
    before = WORD_TOKENS
    for category, (system, tools) in parts.items():
        so_far = await model.count(Request(system, tools, [_word()], ()))
        if so_far is None:
            return False
        tokens[category] = so_far - before
        before = so_far
    return _take_fixed(known, prelude, tokens)


def _take_fixed(known: FixedParts, prelude: Prelude, tokens: Mapping[str, int]) -> bool:
    if not tokens or min(tokens.values()) <= 0:  # no count of these parts: an endpoint that leaves some of them out
        return False
    known.take_count(prelude, tokens)
    return True


def _word() -> Message:
    return Message("user", (Text(WORD),), (0,))


_LATER = AssistantReply | Prelude | Compaction | CompactionUndone | CompactionRedone
"""The entries after which the request is another one, or a reply has told its size."""


def take_size(refusal: PromptTooLong, conversation: Conversation, surroundings: Surroundings, card: ModelCard) -> None:
    """Has the gauge go by the size that the refusal named, if it named one."""
    if refusal.input_tokens is not None:
        _state(conversation, surroundings, card, conversation.entries[-1].seq, refusal.input_tokens)


def keep_size(conversation: Conversation, surroundings: Surroundings, card: ModelCard) -> None:
    """Logs what the endpoint said, where the gauge goes by that and nothing else will tell it."""
    stated, newest = conversation.stated(surroundings.calibration(card)), _newest(conversation)
    if stated is None or (newest is not None and (newest.through, newest.model, newest.tokens) == (stated.seq, card.name, stated.tokens)):
        return
    conversation.append_or_owe(SizeStated(stated.seq, card.name, stated.tokens))


def restate_size(conversation: Conversation, surroundings: Surroundings, card: ModelCard) -> None:
    """Has the gauge go by the size that was logged, if it is that of the newest request, by this model, and fits the estimate."""
    newest = _newest(conversation)
    if newest is None or newest.model != card.name:
        return
    estimated = conversation.counted(surroundings.calibration(card)).used
    if can_take(newest.tokens, estimated):
        _state(conversation, surroundings, card, newest.through, newest.tokens)


def _newest(conversation: Conversation) -> SizeStated | None:
    newest = next((each.entry for each in reversed(conversation.entries) if isinstance(each.entry, SizeStated | _LATER)), None)
    return newest if isinstance(newest, SizeStated) else None


def _state(conversation: Conversation, surroundings: Surroundings, card: ModelCard, seq: int, tokens: int) -> None:
    calibration = surroundings.calibration(card)
    categories = conversation.counted(calibration).categories
    conversation.state(Stated(conversation.projection.key, seq, tokens, categories, calibration.fixed))
