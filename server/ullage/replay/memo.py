"""Estimates that were made once: a view is counted again and again, and only its last messages are new."""

from __future__ import annotations

from collections.abc import Callable

from ullage.context.blocks import Block, Text, ToolResult
from ullage.context.counting.media import shown_tokens
from ullage.context.counting.tokens import MESSAGE_TOKENS, TOOL_BLOCK_TOKENS, estimate_block, estimate_text
from ullage.context.view.message import Message


class Memo:
    """Tokens without any ratio. What was counted is kept alive, so that it is known by its identity."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[str, int]] = {}
        self._blocks: dict[int, tuple[object, int]] = {}
        self._characters: dict[int, tuple[Message, int]] = {}

    def text(self, text: str) -> int:
        """Of a text."""
        known = self._texts.get(id(text))
        if known is None:
            known = self._texts[id(text)] = (text, estimate_text(text))
        return known[1]

    def block(self, block: Block) -> int:
        """Of a block with its framing."""
        if isinstance(block, Text):
            return self.text(block.text)
        if isinstance(block, ToolResult):
            return TOOL_BLOCK_TOKENS + self.text(block.content) + shown_tokens(block)
        known = self._blocks.get(id(block))
        if known is None:
            known = self._blocks[id(block)] = (block, estimate_block(block))
        return known[1]

    def message(self, message: Message) -> int:
        """Of a message with its framing."""
        return MESSAGE_TOKENS + sum(self.block(block) for block in message.blocks)

    def characters(self, message: Message, of: Callable[[Message], int]) -> int:
        """Of a message, counted by `of`, which is always the same."""
        known = self._characters.get(id(message))
        if known is None:
            known = self._characters[id(message)] = (message, of(message))
        return known[1]
