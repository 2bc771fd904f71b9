"""What a call of the practice model would have used: estimated tokens, and a simple prompt cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ullage.context.blocks import AssistantBlock, Usage
from ullage.context.counting.tokens import estimate_block, estimate_message, estimate_prelude
from ullage.context.entries import Prelude
from ullage.context.view.request import Message, Request


def count_of(request: Request) -> int:
    """Tokens of input that a call would report."""
    return estimate_prelude(Prelude(request.system, request.tools)) + sum(estimate_message(message) for message in request.messages)


class SimulatedUsage:
    """Counts requests one after the other. What a request shares with the one before, from its beginning, is read from the cache."""

    def __init__(self) -> None:
        self._prelude: Prelude | None = None
        self._messages: Sequence[Message] = ()
        self._counted: dict[int, tuple[Message, int]] = {}

    def of_request(self, request: Request) -> Usage:
        """The input of a call; the output is still 0."""
        prelude = Prelude(request.system, request.tools)
        shared = self._shared(request.messages) if prelude == self._prelude else 0
        ahead = estimate_prelude(prelude)
        counts = [self._count(message) for message in request.messages]
        read = ahead + sum(counts[:shared]) if prelude == self._prelude else 0
        self._prelude, self._messages = prelude, request.messages
        self._counted = {id(message): (message, count) for message, count in zip(request.messages, counts, strict=True)}
        return Usage(input_tokens=0, output_tokens=0, cache_read_tokens=read, cache_write_5m_tokens=ahead + sum(counts) - read)

    def with_output(self, used: Usage, blocks: Sequence[AssistantBlock]) -> Usage:
        """The same with what came back."""
        return replace(used, output_tokens=sum(estimate_block(block) for block in blocks))

    def _shared(self, messages: Sequence[Message]) -> int:
        """How many messages at the beginning are those of the request before."""
        shared = 0
        for now, before in zip(messages, self._messages, strict=False):
            if now is not before and now.blocks != before.blocks:
                break
            shared += 1
        return shared

    def _count(self, message: Message) -> int:
        known = self._counted.get(id(message))
        return known[1] if known else estimate_message(message)
