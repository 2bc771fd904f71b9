"""Messages written out as plain text, for a model that is to summarise them in a request of their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ullage.context.blocks import Block, Text, ToolResult, ToolUse
from ullage.context.redact import redact
from ullage.context.view.message import Message

LONGEST_BLOCK = 8_000
"""Characters of one block; what a longer one has in its middle is left out: a summary never needs all of it."""


def written_out(messages: Iterable[Message], longest_block: int = LONGEST_BLOCK) -> str:
    """The messages one after the other, each block with who says it and the entry of the log that it comes from.

    Thinking is left out, secrets with well-known shapes are redacted.
    """
    return redact("\n\n".join(_blocks(messages, longest_block)))


def _blocks(messages: Iterable[Message], longest: int) -> Iterator[str]:
    for message in messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            said = _said(message.role, block)
            if said is not None:
                who, text = said
                yield f"[{source}] {who}:\n{_shortened(text, longest)}"


def _said(role: str, block: Block) -> tuple[str, str] | None:
    match block:
        case Text():
            return role, block.text
        case ToolUse():
            return f"call of {block.name}", json.dumps(dict(block.input), ensure_ascii=False, default=dict)
        case ToolResult():
            return "failed result" if block.is_error else "result", block.content
        case _:
            return None


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
