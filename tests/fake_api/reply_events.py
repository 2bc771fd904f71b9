"""A scripted reply as the API sends it: content blocks, cut where a limit is reached, and the server-sent events of a stream.

Pure: signing, counting of the input and the socket are elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.fake_api.counting import count_text, search_result_tokens
from tests.fake_api.json_values import JsonObject, is_array
from tests.fake_api.rules.web_search import RESULT


@dataclass(frozen=True, slots=True)
class OutBlock:
    """A block of the reply on its way out.

    `start` is the block as `content_block_start` shows it, `deltas` is the type of its deltas and the text they carry,
    `signature` follows thinking. `hidden` is thinking that is paid for but not shown.
    """

    start: JsonObject
    delta_type: str | None = None
    text: str = ""
    signature: str | None = None
    hidden: str = ""
    citations: tuple[JsonObject, ...] = ()
    """Of a text, what it goes by."""

    @property
    def tokens(self) -> int:
        """Output tokens of the block."""
        return count_text(self.text or self.hidden)

    @property
    def is_thinking(self) -> bool:
        """Whether its tokens are reported as thinking."""
        return self.start["type"] in ("thinking", "redacted_thinking")

    def whole(self) -> JsonObject | None:
        """The block as a reply without streaming shows it; None for a tool call that was cut off in its input."""
        match self.delta_type:
            case "text_delta":
                return {**self.start, "text": self.text, **({"citations": list(self.citations)} if self.citations else {})}
            case "thinking_delta":
                return {
                    **self.start,
                    "thinking": self.text,
                    "signature": self.signature or "",
                }
            case "input_json_delta":
                try:
                    return {**self.start, "input": json.loads(self.text or "{}")}
                except ValueError:
                    return None
            case _:
                return self.start


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A reply that is ready to be sent."""

    blocks: tuple[OutBlock, ...]
    stop_reason: str
    unseen_tokens: int = 0
    """Output tokens of what the model wrote and nobody gets."""

    @property
    def output_tokens(self) -> int:
        """Output tokens: at least 1 where the model ran, 0 where nothing came out."""
        return self.unseen_tokens + sum(max(1, block.tokens) for block in self.blocks)

    @property
    def searched_tokens(self) -> int:
        """Input tokens of what searches in it found (section 2.8)."""
        return sum(search_result_tokens(block.start) for block in self.blocks)

    @property
    def searches(self) -> int:
        """How many searches of it are paid for: those that did not fail."""
        return sum(block.start["type"] == RESULT and is_array(block.start["content"]) for block in self.blocks)

    @property
    def thinking_tokens(self) -> int:
        """Output tokens that were thinking."""
        return sum(block.tokens for block in self.blocks if block.is_thinking)

    def content(self) -> list[JsonObject]:
        """The blocks as a reply without streaming shows them."""
        return [whole for block in self.blocks if (whole := block.whole()) is not None]


def within_limits(blocks: Sequence[OutBlock], stop_reason: str, *, max_tokens: int, room: int) -> Outgoing:
    """The reply cut at `max_tokens` or at the `room` left in the window (section 1.4), whichever comes first."""
    limit = min(max_tokens, room)
    used = 0
    kept: list[OutBlock] = []
    for block in blocks:
        if used + block.tokens > limit:
            kept.extend(_cut(block, limit - used))
            reason = "max_tokens" if max_tokens <= room else "model_context_window_exceeded"
            return Outgoing(tuple(kept), reason)
        used += block.tokens
        kept.append(block)
    return Outgoing(tuple(kept), stop_reason)


def _cut(block: OutBlock, tokens: int) -> list[OutBlock]:
    if block.delta_type is None or block.hidden or tokens <= 0:
        return []
    low, high = 0, len(block.text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_text(block.text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    if low == 0:
        return []
    # Thinking that was cut off was never finished, so it has no signature.
    return [OutBlock(block.start, block.delta_type, block.text[:low])]


def block_events(index: int, block: OutBlock, chunk_size: int) -> Iterator[JsonObject]:
    """`content_block_start`, the deltas and `content_block_stop` of one block."""
    yield {
        "type": "content_block_start",
        "index": index,
        "content_block": block.start,
    }
    if block.delta_type is not None:
        for delta in _deltas(block, chunk_size):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _deltas(block: OutBlock, chunk_size: int) -> Iterator[JsonObject]:
    key = {
        "text_delta": "text",
        "thinking_delta": "thinking",
        "input_json_delta": "partial_json",
    }[block.delta_type or "text_delta"]
    if block.delta_type == "input_json_delta":
        # The real API opens every tool input with an empty piece.
        yield {"type": "input_json_delta", "partial_json": ""}
    for citation in block.citations:
        yield {"type": "citations_delta", "citation": citation}
    for start in range(0, len(block.text), chunk_size):
        yield {"type": block.delta_type, key: block.text[start : start + chunk_size]}
    if block.signature is not None:
        yield {"type": "signature_delta", "signature": block.signature}


def sse(event: JsonObject) -> bytes:
    """One server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
