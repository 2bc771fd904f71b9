"""The prompt as the cache sees it: a row of blocks, each with a hash of everything up to it (section 2.1).

Order: tools, system, messages. What invalidates more than itself (the table in section 2.1) is mixed into the hash where it takes effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.fake_api.canonical import canonical_block, digest
from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import THINKING_TYPES, placed_blocks
from tests.fake_api.counting import (
    count_block,
    count_message_frame,
    count_tool,
)
from tests.fake_api.json_values import JsonObject, blocks_of, is_object, objects
from tests.fake_api.rules.cache_marks import automatic_target, mark_ttl


@dataclass(frozen=True, slots=True)
class Position:
    """One block of the prompt."""

    hash: str
    """Of this block and all before it."""
    tokens: int
    """Of this block and all before it."""
    ttl: str | None
    """`5m` or `1h` where the block is a breakpoint."""


@dataclass(frozen=True, slots=True)
class _Part:
    block: JsonObject
    key: tuple[str, JsonObject]
    tokens: int


def positions(body: JsonObject, model: ModelFacts) -> list[Position]:
    """The blocks of the prompt in order. `body` must be valid."""
    parts = list(_parts(body, model))
    automatic = mark_ttl(body.get("cache_control"))
    target = automatic_target([part.block for part in parts]) if automatic else None
    row: list[Position] = []
    hash, tokens = "", 0
    for index, part in enumerate(parts):
        hash = digest(hash, *part.key)
        tokens += part.tokens
        ttl = _mark(part.block) or (automatic if index == target else None)
        row.append(Position(hash, tokens, ttl))
    return row


def without_old_thinking(body: JsonObject, model: ModelFacts) -> JsonObject:
    """The body without the thinking before the last user text, for the models that do not read it (section 2.1, table)."""
    if not model.strips_old_thinking:
        return body
    messages = objects(body["messages"])
    texts = [
        number
        for number, message in enumerate(messages)
        if message.get("role") == "user" and any(b.get("type") != "tool_result" for b in blocks_of(message.get("content")))
    ]
    last_text = texts[-1] if texts else -1
    kept = [
        {
            **message,
            "content": [
                block for block in blocks_of(message.get("content")) if number > last_text or block.get("type") not in THINKING_TYPES
            ],
        }
        for number, message in enumerate(messages)
    ]
    return {**body, "messages": kept}


def _parts(body: JsonObject, model: ModelFacts) -> Iterator[_Part]:
    section = "tools"
    for tool in objects(body.get("tools")):
        if tool.get("defer_loading"):
            continue
        # The tool prompt of the model comes with the first tool.
        extra = model.tool_prompt if section == "tools" else 0
        yield _Part(tool, (section, canonical_block(tool)), count_tool(tool) + extra)
        section = "more tools"
    system_key = f"system {digest(_system_settings(body))}"
    for block in blocks_of(body.get("system")):
        if not block.get("text"):
            continue
        yield _Part(block, (system_key, canonical_block(block)), count_block(block, model))
    messages_key = f"messages {digest(system_key, _message_settings(body, model))}"
    message = -1
    for placed in placed_blocks(body):
        frame = count_message_frame() if placed.message != message else 0
        message = placed.message
        yield _Part(
            placed.block,
            (f"{messages_key} {placed.role}", canonical_block(placed.block)),
            count_block(placed.block, model) + frame,
        )


def _system_settings(body: JsonObject) -> JsonObject:
    citations = any(is_object(placed.block.get("citations")) and placed.block["citations"].get("enabled") for placed in placed_blocks(body))
    return {"speed": body.get("speed"), "citations": citations}


def _message_settings(body: JsonObject, model: ModelFacts) -> JsonObject:
    thinking = body.get("thinking")
    config = body.get("output_config")
    effort = config.get("effort") if is_object(config) else None
    return {
        "tool_choice": body.get("tool_choice") or {"type": "auto"},
        "thinking": [thinking.get("type"), thinking.get("budget_tokens")] if is_object(thinking) else None,
        # Effort set to the model's default is as good as none.
        "effort": None if effort == model.default_effort else effort,
        "images": any(_has_image(placed.block) for placed in placed_blocks(body)),
    }


def _has_image(block: JsonObject) -> bool:
    return block.get("type") == "image" or any(part.get("type") == "image" for part in objects(block.get("content")))


def _mark(block: JsonObject) -> str | None:
    own = mark_ttl(block.get("cache_control"))
    if own is not None or block.get("type") != "tool_result":
        return own
    inner = [mark_ttl(part.get("cache_control")) for part in objects(block.get("content"))]
    return next((ttl for ttl in reversed(inner) if ttl is not None), None)
