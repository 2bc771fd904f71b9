"""The conversation as plain text, for a model that is asked for a summary of it in a request of its own. Thinking is left out.

In two shapes: `conversation_text` within a limit, for staged engines, and `written_out` with the entries that passages come from, for
engines whose summaries point at entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ullage.context.blocks import Block, Document, Image, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.staged_numbers import OwnText
from ullage.context.redact import redact
from ullage.context.view.message import Message

FITS = 0.9
"""Of the window: how much of it the text and the answer may take, since both are estimates."""
LONGEST_BLOCK = 8_000
"""Characters of one block that is written out; what a longer one has in its middle is left out: a summary never needs all of it."""


def conversation_text(messages: Sequence[Message], own: OwnText, tokens: int) -> str:
    """The messages as `own` wants them, in no more than about `tokens` tokens."""
    results = [block for message in messages for block in message.blocks if isinstance(block, ToolResult)]
    text = ""
    for share in (0.0, *own.dropped_shares):
        dropped = {id(result) for result in middle_out(results, share)}
        text = "\n\n".join(_lines(messages, own.result_characters, dropped))
        if estimate_text(text) <= tokens:
            break
    return _within(text, own, tokens)


def written_out(messages: Iterable[Message], longest_block: int = LONGEST_BLOCK) -> str:
    """The messages one after the other, each block with who says it and the entry of the log that it comes from.

    Secrets with well-known shapes are redacted.
    """
    return redact("\n\n".join(_passages(messages, longest_block)))


def middle_out(results: Sequence[ToolResult], share: float) -> list[ToolResult]:
    """A share of the results (at least one, where it is not 0), those in the middle first."""
    number = min(len(results), max(1, int(len(results) * share))) if share > 0 else 0
    middle = len(results) / 2 - 0.5
    nearest = sorted(range(len(results)), key=lambda index: (abs(index - middle), index))
    return [results[index] for index in nearest[:number]]


def _lines(messages: Iterable[Message], result_characters: int | None, dropped: set[int]) -> Iterator[str]:
    for message in messages:
        for block in message.blocks:
            said = _said(message.role, block)
            if said is not None and id(block) not in dropped:
                who, text = said
                yield f"[{who}] {_beginning(text, result_characters) if isinstance(block, ToolResult) else text}"


def _passages(messages: Iterable[Message], longest: int) -> Iterator[str]:
    for message in messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            said = _said(message.role, block)
            if said is not None:
                who, text = said
                yield f"[{source}] {who}:\n{_without_middle(text, longest)}"


def _said(role: str, block: Block) -> tuple[str, str] | None:
    """Who says it, and what; None for thinking."""
    match block:
        case Text():
            return role, block.text
        case ToolUse():
            return f"{role} calls {block.name}", json.dumps(dict(block.input), ensure_ascii=False, default=dict)
        case ToolResult():
            return "failed result" if block.is_error else "result", block.content
        case Thinking() | RedactedThinking():
            return None
        case Image() | Document():  # the text beside it says what it is
            return None
        case _:
            return role, block.content


def _within(text: str, own: OwnText, tokens: int) -> str:
    characters = len(text) if own.characters is None else own.characters
    size = estimate_text(text)
    if size > tokens:
        characters = min(characters, int(len(text) * max(tokens, 0) / size))
    if len(text) <= characters:
        return text
    return text[:characters] if own.keeps == "beginning" else text[len(text) - characters :]


def _beginning(text: str, characters: int | None) -> str:
    if characters is None or len(text) <= characters:
        return text
    return f"{text[:characters]} … ({len(text) - characters:,} characters left out)"


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
