"""What the API asks of a request (anthropic-api.md 2.1, 2.6, 2.7), stated on its own, without a look at how requests are made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ullage.context.blocks import Block, CompactionBlock, Message, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from ullage.context.view.request import Request


def problems(request: Request) -> list[str]:
    """Everything about `request` that the API would refuse, in words; empty where it is valid."""
    return [
        *_of_order(request.messages),
        *_of_pairing(request.messages),
        *_of_ids(request.messages),
        *_of_content(request.messages),
        *_of_breakpoints(request),
    ]


def _of_order(messages: Sequence[Message]) -> Iterator[str]:
    if not messages:
        yield "there are no messages"
        return
    begins_with_block = isinstance(messages[0].blocks[0], CompactionBlock)
    if messages[0].role != "user" and not begins_with_block:
        yield "the first message is not the user's"
    if messages[-1].role != "user":
        yield "the last message is not the user's"
    for index in range(1, len(messages)):
        after_block = begins_with_block and index == 1  # a message of its own, whatever follows (anthropic-api.md 2.4)
        if messages[index].role == messages[index - 1].role and not after_block:
            yield f"messages {index - 1} and {index} have the same role"


def _of_pairing(messages: Sequence[Message]) -> Iterator[str]:
    called: list[str] = []
    for index, message in enumerate(messages):
        results = [block.tool_use_id for block in message.blocks if isinstance(block, ToolResult)]
        if sorted(results) != sorted(called):
            yield f"message {index} has results for {results}, called were {called}"
        elif results != called:
            yield f"the results of message {index} are not in the order of their calls"
        if any(isinstance(block, ToolResult) for block in message.blocks[len(results) :]):
            yield f"message {index} has a result after something else"
        called = [block.id for block in message.blocks if isinstance(block, ToolUse)]
    if called:
        yield f"the calls {called} are not answered"


def _of_ids(messages: Sequence[Message]) -> Iterator[str]:
    ids = [block.id for message in messages for block in message.blocks if isinstance(block, ToolUse)]
    if len(set(ids)) != len(ids):
        yield f"tool use ids are not unique: {ids}"
    for id in ids:
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", id):
            yield f"{id!r} is no tool use id"


def _of_content(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if not message.blocks:
            yield f"message {index} is empty"
            continue
        last = message.blocks[-1]
        if any(isinstance(block, CompactionBlock) for block in message.blocks) and (index > 0 or len(message.blocks) > 1):
            yield f"message {index} has a compaction block that does not stand first and alone"
        if len(message.blocks) != len(message.sources):
            yield f"message {index} has {len(message.sources)} sources for {len(message.blocks)} blocks"
        if isinstance(last, Thinking | RedactedThinking):
            yield f"message {index} ends in thinking"
        for block in message.blocks:
            yield from (f"message {index}: {problem}" for problem in _of_block(block, message))


def _of_block(block: Block, message: Message) -> Iterator[str]:
    of_the_model = isinstance(block, Thinking | RedactedThinking | ToolUse)
    if message.role == "user" and of_the_model:
        yield f"a user said {block}"
    if message.role == "assistant" and isinstance(block, ToolResult):
        yield f"the model said {block}"
    if isinstance(block, Text) and not block.text.strip():
        yield "an empty text"
    if isinstance(block, Thinking) and not block.signature:
        yield "thinking without a signature"
    if isinstance(block, RedactedThinking) and not block.data:
        yield "redacted thinking without its data"
    if isinstance(block, ToolResult) and not block.content:
        yield "an empty result"


def _of_breakpoints(request: Request) -> Iterator[str]:
    if len(request.breakpoints) > 3:
        yield f"{len(request.breakpoints)} breakpoints beside the one at the end of the system prompt"
    if len(set(request.breakpoints)) != len(request.breakpoints):
        yield "two breakpoints on one block"
    for mark in request.breakpoints:
        block = request.messages[mark.message].blocks[mark.block]
        if isinstance(block, Thinking | RedactedThinking):
            yield "a breakpoint on thinking"
