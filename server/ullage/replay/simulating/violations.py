"""What the API would refuse in the messages of a request (anthropic-api.md 2.6, 2.7), in words; checked after each compaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ullage.context.blocks import Message, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from ullage.context.entries import AssistantReply, Logged

_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")


def violations(messages: Sequence[Message], entries: Sequence[Logged]) -> Iterator[str]:
    """Every rule that is broken, once a place. `entries` is the log that the messages come from, seqs from 1 without gaps."""
    yield from _of_order(messages)
    yield from _of_pairing(messages)
    yield from _of_ids(messages)
    yield from _of_content(messages)
    yield from _of_thinking(messages, entries)


def _of_order(messages: Sequence[Message]) -> Iterator[str]:
    if not messages:
        yield "there are no messages"
        return
    if messages[0].role != "user":
        yield "the first message is not the user's"
    if messages[-1].role != "user":
        yield "the last message is not the user's"
    yield from (
        f"messages {index} and {index + 1} have the same role"
        for index in range(len(messages) - 1)
        if messages[index].role == messages[index + 1].role
    )


def _of_pairing(messages: Sequence[Message]) -> Iterator[str]:
    called: list[str] = []
    for index, message in enumerate(messages):
        results = [block.tool_use_id for block in message.blocks if isinstance(block, ToolResult)]
        if sorted(results) != sorted(called):
            yield f"the results in message {index} are not those of the calls before it"
        if any(isinstance(block, ToolResult) for block in message.blocks[len(results) :]):
            yield f"message {index} has a result after something else"
        called = [block.id for block in message.blocks if isinstance(block, ToolUse)]
    if called:
        yield "the last calls are not answered"


def _of_ids(messages: Sequence[Message]) -> Iterator[str]:
    ids = [block.id for message in messages for block in message.blocks if isinstance(block, ToolUse)]
    if len(set(ids)) != len(ids):
        yield "tool use ids are not unique"
    if not all(_TOOL_USE_ID.fullmatch(id) for id in ids):
        yield "a tool use id has other characters than the API takes"


def _of_content(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if not message.blocks:
            yield f"message {index} is empty"
        for block in message.blocks:
            if isinstance(block, Text) and not block.text.strip():
                yield f"message {index} has an empty text"
            if isinstance(block, ToolResult) and not block.content:
                yield f"message {index} has an empty result"
            if isinstance(block, Thinking) and not block.signature:
                yield f"message {index} has thinking without a signature"
            if message.role == "user" and isinstance(block, Thinking | RedactedThinking | ToolUse):
                yield f"message {index} is the user's and holds what only the model says"
            if message.role == "assistant" and isinstance(block, ToolResult):
                yield f"message {index} is the model's and holds a result"


def _of_thinking(messages: Sequence[Message], entries: Sequence[Logged]) -> Iterator[str]:
    """Of each reply all thinking blocks go back, or none, and none stands at a message's end."""
    for index, message in enumerate(messages):
        if message.role != "assistant":
            continue
        if message.blocks and isinstance(message.blocks[-1], Thinking | RedactedThinking):
            yield f"message {index} ends in thinking"
        shown: dict[int, int] = {}
        for block, source in zip(message.blocks, message.sources, strict=True):
            if isinstance(block, Thinking | RedactedThinking):
                shown[source] = shown.get(source, 0) + 1
        for source, count in shown.items():
            reply = entries[source - 1].entry
            if isinstance(reply, AssistantReply) and count != sum(isinstance(block, Thinking | RedactedThinking) for block in reply.blocks):
                yield f"message {index} holds only a part of a reply's thinking"
