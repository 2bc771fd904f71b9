"""What of a model's reply can go back to it.

The API refuses empty text, thinking that was cut off before its signature, and a message that ends in thinking
(anthropic-api.md 2.6, 2.7). A reply that a cancel or a crash cut short may have any of them.
"""

from __future__ import annotations

from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking
from ullage.context.entries import AssistantReply


def replayed(reply: AssistantReply) -> tuple[AssistantBlock, ...]:
    """The reply with its thinking, all of it; without any where one block of it cannot go back."""
    blocks = tuple(block for block in reply.blocks if not _is_blank(block))
    if not blocks or _is_thinking(blocks[-1]) or not all(_is_signed(block) for block in blocks):
        return spoken(reply)
    return blocks


def spoken(reply: AssistantReply) -> tuple[AssistantBlock, ...]:
    """What the model said and called, without its thinking."""
    return tuple(block for block in reply.blocks if not _is_blank(block) and not _is_thinking(block))


def _is_blank(block: AssistantBlock) -> bool:
    return isinstance(block, Text) and not block.text.strip()


def _is_thinking(block: AssistantBlock) -> bool:
    return isinstance(block, Thinking | RedactedThinking)


def _is_signed(block: AssistantBlock) -> bool:
    if isinstance(block, Thinking):
        return bool(block.signature)
    return not isinstance(block, RedactedThinking) or bool(block.data)
