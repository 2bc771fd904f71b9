"""The conversation as plain text, for a model that is asked for a summary of it in a request of its own. Thinking is left out.

In two shapes: `conversation_text` within a limit, for staged engines, and `written_out` with the entries that passages come from, for
engines whose summaries point at entries. In both a line says who speaks, by the entry of the log that it comes from, and what was said
is quoted (`quoting.py`): a tool's output cannot speak for the user.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ullage.context.blocks import Block, Document, Image, Message, RedactedThinking, Role, Text, Thinking, ToolResult, ToolUse
from ullage.context.calls import one_line
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.staged_options import OwnText
from ullage.context.entries import Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.quoting import beginning_of_quoted, end_of_quoted, quoted
from ullage.context.redact import redact
from ullage.context.view.log_places import entry_at

FITS = 0.9
"""Share of the window that the text and the answer may take, since both are estimates."""
LONGEST_BLOCK = 8_000
"""Characters of one block that is written out. A longer one loses its middle: a summary never needs all of it."""
ANSWERS = "user answers"
"""The speaker's name where the user answered a question: the agent's question stands in the result before it."""
LONGEST_NAME = 64
"""Characters of a tool's name: as many as the API allows."""


def conversation_text(messages: Sequence[Message], entries: Sequence[Logged], own: OwnText, tokens: int) -> str:
    """The messages as text, in no more than about `tokens` tokens, as `own` wants them. `entries` is the log that they come from."""
    results = [block for message in messages for block in message.blocks if isinstance(block, ToolResult)]
    text = ""
    for share in (0.0, *own.dropped_shares):
        dropped = {id(result) for result in middle_out(results, share)}
        text = "\n\n".join(_lines(messages, entries, own.result_characters, dropped))
        if estimate_text(text) <= tokens:
            break
    return _within(text, own, tokens)


def written_out(messages: Iterable[Message], entries: Sequence[Logged], longest_block: int = LONGEST_BLOCK) -> str:
    """The messages one after the other, each block with who says it and the entry of the log that it comes from.

    Secrets with well-known shapes are redacted.
    """
    return "\n\n".join(_passages(messages, entries, longest_block))


def middle_out(results: Sequence[ToolResult], share: float) -> list[ToolResult]:
    """That share of the results (at least one, unless it is 0), those in the middle first."""
    number = min(len(results), max(1, int(len(results) * share))) if share > 0 else 0
    middle = len(results) / 2 - 0.5
    nearest = sorted(range(len(results)), key=lambda index: (abs(index - middle), index))
    return [results[index] for index in nearest[:number]]


def _lines(messages: Iterable[Message], entries: Sequence[Logged], result_characters: int | None, dropped: set[int]) -> Iterator[str]:
    for message in messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            for who, text in _said(message.role, block, entry_at(entries, source)):
                is_result = isinstance(block, ToolResult) and who != ANSWERS
                if not (is_result and id(block) in dropped):
                    yield f"[{who}]\n{quoted(_beginning(text, result_characters) if is_result else text)}"


def _passages(messages: Iterable[Message], entries: Sequence[Logged], longest: int) -> Iterator[str]:
    for message in messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            for who, text in _said(message.role, block, entry_at(entries, source)):
                yield f"[{who}, entry {source}]\n{quoted(_without_middle(redact(text), longest))}"


def _said(role: Role, block: Block, entry: Entry | None) -> Iterator[tuple[str, str]]:
    """Who says each text of a block, and the text; nothing for thinking. The user's answer to a question is theirs, though it is a
    result."""
    match block:
        case Text():
            yield _speaker(role, block, entry), block.text
        case ToolUse():
            name = one_line(block.name, LONGEST_NAME)
            yield f"{role} calls {name}", json.dumps(dict(block.input), ensure_ascii=False, default=dict)
        case ToolResult():
            yield "failed result" if block.is_error else "result", block.content
            if isinstance(entry, ToolReturned) and entry.answers and block.content == entry.content:  # else the answers were taken out
                yield ANSWERS, "\n".join(answer.words for answer in entry.answers)
        case Thinking() | RedactedThinking():
            return
        case Image() | Document():  # the text beside it says what it is
            return
        case _:
            yield "summary", block.content


def _speaker(role: Role, block: Text, entry: Entry | None) -> str:
    """Who says a text. In the user's messages only what the user typed is the user's."""
    match entry:
        case UserPrompt() if block.text != entry.text:
            return "attachment"
        case Notice():
            return "notice"
        case Compaction() if role == "user":
            return "summary"
        case _:
            return role


def _within(text: str, own: OwnText, tokens: int) -> str:
    characters = len(text) if own.characters is None else own.characters
    size = estimate_text(text)
    if size > tokens:
        characters = min(characters, int(len(text) * max(tokens, 0) / size))
    if len(text) <= characters:
        return text
    return beginning_of_quoted(text, characters) if own.keeps == "beginning" else end_of_quoted(text, characters)


def _beginning(text: str, characters: int | None) -> str:
    if characters is None or len(text) <= characters:
        return text
    return f"{text[:characters]} … ({len(text) - characters:,} characters left out)"


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
