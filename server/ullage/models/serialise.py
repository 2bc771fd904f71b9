"""A request as the bytes of a Messages API call.

The bytes are stable: the same values give the same bytes, whatever was sent before, so that the prompt cache (which
hashes a prefix) and the signatures of thinking blocks (which bind what precedes them) hold. Between two requests with
the same messages only the cache marks differ. What comes back is read in `reply.py`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, cast

from ullage.context.blocks import (
    Block,
    CompactionBlock,
    Json,
    RedactedThinking,
    SystemPart,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from ullage.context.view.request import Message, Request

CACHE_MARK: dict[str, Json] = {"type": "ephemeral"}
"""What a marked block carries: cached for five minutes, the API's default."""

Mismatch: TypeAlias = Literal["error", "drop_block"]
"""What the API does with thinking that it takes for another conversation's: refuse the request, or leave the thinking out and say so."""

COMPACTION_BETA = "compact-2026-09-04"
BINDING_BETA = "thinking-binding-controls-2026-08-01"

REMEMBERED_BYTES = 32_000_000
"""How much serialised text a `Serialiser` keeps before it forgets all but the request at hand: a few sessions' worth."""

LARGE_TOKENS = 250_000
"""Of messages that are new to a `Serialiser`: about a megabyte, which takes some 5 ms."""
LARGE_MESSAGES = 2_000
"""Even where all of them were seen before, putting so many together takes a millisecond and more."""


class Serialiser:
    """Turns requests into bytes and remembers the bytes of messages it has seen, so that a call costs what is new.

    Messages are recognised by identity; a message that was made anew is serialised anew, to the same bytes. Several threads may use it at
    once: what two of them make at the same time is made twice, to the same bytes.
    """

    def __init__(self) -> None:
        self._messages: dict[int, tuple[Message, bytes]] = {}
        self._remembered = 0
        self._at_hand = 0
        self._prelude: tuple[Sequence[SystemPart], Sequence[ToolSpec], bytes] | None = None

    def body(self, request: Request, *, model: str, max_tokens: int, adaptive_thinking: bool, mismatch: Mismatch | None = None) -> bytes:
        """The JSON body of a streamed call, in UTF-8; it needs the headers that `betas` gives.

        Adaptive thinking is asked for with summaries, since newer models leave its text out by default. `mismatch` is said where
        it is not None; the API's own default is "error".
        """
        head: dict[str, Json] = {"model": model, "max_tokens": max_tokens, "stream": True}
        if adaptive_thinking:
            thinking: dict[str, Json] = {"type": "adaptive", "display": "summarized"}
            if mismatch is not None:
                thinking["block_binding"] = {"prefix_mismatch_behavior": mismatch}
            head["thinking"] = thinking
        return b"".join(
            (
                _dump(head)[:-1],
                self._prelude_bytes(request),
                b',"messages":[',
                b",".join(self._message_bytes(request)),
                b"]",
                _compaction(request.summarise),
                b"}",
            )
        )

    async def body_off_the_loop(
        self, request: Request, *, model: str, max_tokens: int, adaptive_thinking: bool, mismatch: Mismatch | None = None
    ) -> bytes:
        """The same, made in another thread where the request is large. Who is cancelled meanwhile gets nothing; what was made is kept."""

        def make() -> bytes:
            return self.body(request, model=model, max_tokens=max_tokens, adaptive_thinking=adaptive_thinking, mismatch=mismatch)

        return await asyncio.to_thread(make) if self._is_large(request) else make()

    def _is_large(self, request: Request) -> bool:
        """By what its messages are estimated at; one that nobody has weighed counts as nothing."""
        if len(request.messages) > LARGE_MESSAGES:
            return True
        new = request.messages if self._forgets else [message for message in request.messages if id(message) not in self._messages]
        return sum(message.tokens or 0 for message in new) > LARGE_TOKENS

    @property
    def _forgets(self) -> bool:
        """Whether it begins anew with the next request."""
        return not self._messages or self._remembered > REMEMBERED_BYTES + self._at_hand

    def _prelude_bytes(self, request: Request) -> bytes:
        known = self._prelude
        if known is None or known[0] is not request.system or known[1] is not request.tools:
            known = (request.system, request.tools, _prelude(request.system, request.tools))
            self._prelude = known
        return known[2]

    def _message_bytes(self, request: Request) -> list[bytes]:
        marks: dict[int, set[int]] = {}
        for breakpoint in request.breakpoints:
            marks.setdefault(breakpoint.message, set()).add(breakpoint.block)
        anew = self._forgets
        if anew:
            self._messages.clear()
            self._remembered = 0
        parts = [self._remembered_bytes(message) for message in request.messages]
        if anew:  # a request that takes more than that alone is not to be made anew each time
            self._at_hand = self._remembered
        for index, blocks in marks.items():
            parts[index] = message_bytes(request.messages[index], frozenset(blocks))
        return parts

    def _remembered_bytes(self, message: Message) -> bytes:
        known = self._messages.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        made = message_bytes(message)
        # The message is kept with its bytes: as long as it lives, no other can have its id.
        self._messages[id(message)] = (message, made)
        self._remembered += len(made)
        return made


def message_bytes(message: Message, marked: frozenset[int] = frozenset()) -> bytes:
    """One message as JSON; the blocks with the indexes `marked` carry a cache mark."""
    content: list[Json] = []
    for index, block in enumerate(message.blocks):
        value = block_json(block)
        if index in marked and _can_carry_a_mark(block):
            value["cache_control"] = CACHE_MARK
        content.append(value)
    return _dump({"role": message.role, "content": content})


def block_json(block: Block) -> dict[str, Json]:
    """One content block as the Messages API names its parts."""
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(thinking, signature):
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case RedactedThinking(data):
            return {"type": "redacted_thinking", "data": data}
        case ToolUse(id, name, input):
            return {"type": "tool_use", "id": id, "name": name, "input": dict(input)}
        case ToolResult(tool_use_id, content, is_error):
            result: dict[str, Json] = {
                "type": "tool_result",
                "tool_use_id": tool_use_id,
                "content": content,
            }
            if is_error:
                result["is_error"] = True
            return result
        case CompactionBlock(json=text):
            return cast("dict[str, Json]", json.loads(text))


def betas(request: Request, mismatch: Mismatch | None = None) -> tuple[str, ...]:
    """The values of the `anthropic-beta` header without which the API does not take the request."""
    compaction = request.block is not None or request.summarise is not None
    return (COMPACTION_BETA,) * compaction + (BINDING_BETA,) * (mismatch is not None)


def _compaction(instructions: str | None) -> bytes:
    """The member `compaction` with a comma before it; left out where a reply is wanted."""
    if instructions is None:
        return b""
    asked: dict[str, Json] = {"type": "summarize"}
    if instructions.strip():
        asked["instructions"] = instructions
    return b',"compaction":' + _dump(asked)


def _prelude(system: Sequence[SystemPart], tools: Sequence[ToolSpec]) -> bytes:
    """The members `system` and `tools`, each with a comma before it; left out where there are none."""
    parts = b""
    if system:
        blocks: list[dict[str, Json]] = [{"type": "text", "text": part.text} for part in system]
        blocks[-1]["cache_control"] = CACHE_MARK
        parts += b',"system":' + _dump(blocks)
    if tools:
        parts += b',"tools":' + _dump([_tool(tool) for tool in tools])
    return parts


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.input_schema),
    }


def _can_carry_a_mark(block: Block) -> bool:
    return not isinstance(block, Thinking | RedactedThinking)


def _dump(value: Mapping[str, Json] | Sequence[Mapping[str, Json]]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair, as a tool may find in a broken file, has no UTF-8; it becomes a question mark.
    return text.encode("utf-8", errors="replace")
