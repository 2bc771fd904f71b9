"""The conversation as plain text, for a model that is asked for a summary of it in a request of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ullage.context.blocks import Block, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.staged_numbers import OwnText
from ullage.context.view.message import Message

FITS = 0.9
"""Of the window: how much of it the text and the answer may take, since both are estimates."""


def conversation_text(messages: Sequence[Message], own: OwnText, tokens: int) -> str:
    """The messages as `own` wants them, in no more than about `tokens` tokens. Thinking is left out."""
    results = [block for message in messages for block in message.blocks if isinstance(block, ToolResult)]
    text = ""
    for share in (0.0, *own.dropped_shares):
        dropped = {id(result) for result in middle_out(results, share)}
        text = "\n\n".join(line for message in messages for line in _lines(message, own.result_characters, dropped))
        if estimate_text(text) <= tokens:
            break
    return _within(text, own, tokens)


def middle_out(results: Sequence[ToolResult], share: float) -> list[ToolResult]:
    """A share of the results (at least one, where it is not 0), those in the middle first."""
    number = min(len(results), max(1, int(len(results) * share))) if share > 0 else 0
    middle = len(results) / 2 - 0.5
    nearest = sorted(range(len(results)), key=lambda index: (abs(index - middle), index))
    return [results[index] for index in nearest[:number]]


def _within(text: str, own: OwnText, tokens: int) -> str:
    characters = len(text) if own.characters is None else own.characters
    size = estimate_text(text)
    if size > tokens:
        characters = min(characters, int(len(text) * max(tokens, 0) / size))
    if len(text) <= characters:
        return text
    return text[:characters] if own.keeps == "beginning" else text[len(text) - characters :]


def _lines(message: Message, result_characters: int | None, dropped: set[int]) -> list[str]:
    lines = (_line(message.role, block, result_characters) for block in message.blocks if id(block) not in dropped)
    return [line for line in lines if line]


def _line(role: str, block: Block, result_characters: int | None) -> str:
    match block:
        case Text():
            return f"[{role}] {block.text}"
        case ToolUse():
            return f"[{role} calls {block.name}] {json.dumps(block.input, ensure_ascii=False, default=dict)}"
        case ToolResult():
            left_out = len(block.content) - result_characters if result_characters is not None else 0
            if left_out <= 0:
                return f"[result] {block.content}"
            return f"[result] {block.content[:result_characters]} … ({left_out:,} characters left out)"
        case Thinking() | RedactedThinking():
            return ""
        case _:
            return f"[{role}] {block.content}"
