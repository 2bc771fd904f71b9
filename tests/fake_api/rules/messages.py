"""The messages as a conversation: roles and their order, nothing empty, which block may stand where, no prefill."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import PlacedBlock, placed_blocks
from tests.fake_api.json_values import JsonObject, blocks_of, is_array, objects
from tests.fake_api.refused import invalid
from tests.fake_api.rules.blocks import check_message_shape, check_system_shape
from tests.fake_api.rules.compaction import COMPACTION_BETA, begins_with_compaction, check_compaction_blocks
from tests.fake_api.rules.web_search import CALL, RESULT, goes_on_with_a_search

_MOST_MESSAGES = 100_000
_USER_ONLY = frozenset({"tool_result", "image", "document"})
_ASSISTANT_ONLY = frozenset({"tool_use", "thinking", "redacted_thinking", CALL, RESULT})


def check_messages(body: JsonObject, model: ModelFacts, betas: Collection[str] = ()) -> None:
    """Raises `Refused` where messages or system prompt are malformed in themselves; pairing is judged elsewhere."""
    _check_shape(body, compaction=COMPACTION_BETA in betas)
    messages = objects(body["messages"])
    check_compaction_blocks(body)
    _check_roles(messages, model)
    _check_nothing_empty(messages)
    for placed in placed_blocks(body):
        _check_place(placed)
        _check_text(placed)
    _check_system_texts(body)


def check_end(body: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` where the last message is an assistant's and the model takes no prefill."""
    last = objects(body["messages"])[-1]
    if last["role"] != "assistant" or body.get("compaction") is not None:
        return
    # Section 0.6: prefill is refused on 4.6 and newer.
    if goes_on_with_a_search(body):
        return
    if not model.prefill:
        raise invalid("This model does not support assistant message prefill. The conversation must end with a user message.")
    texts = [str(b.get("text")) for b in blocks_of(last["content"]) if b.get("type") == "text"]
    if texts and texts[-1] != texts[-1].rstrip():
        raise invalid("messages: final assistant content cannot end with trailing whitespace")


def _check_shape(body: JsonObject, *, compaction: bool) -> None:
    messages: Any = body["messages"]
    if not is_array(messages):
        raise invalid("messages: Input should be a valid array")
    if not messages:
        raise invalid("messages: at least one message is required")
    if len(messages) > _MOST_MESSAGES:
        # Section 1.3.
        raise invalid(f"messages: List should have at most {_MOST_MESSAGES} items after validation, not {len(messages)}")
    for number, message in enumerate(messages):
        check_message_shape(f"messages.{number}", message, compaction=compaction)
    if body.get("system") is not None:
        check_system_shape("system", body["system"])


def _check_roles(messages: list[JsonObject], model: ModelFacts) -> None:
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "system":
            _check_system_message(messages, number, model)
        elif role not in ("user", "assistant"):
            raise invalid(f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant"')
        elif "output_config" in message:
            raise invalid(f"messages.{number}.output_config: Extra inputs are not permitted")
    if messages[0]["role"] != "user" and not begins_with_compaction(messages):
        raise invalid('messages: first message must use the "user" role')


def _check_system_message(messages: list[JsonObject], number: int, model: ModelFacts) -> None:
    # Section 2.1, last part: only some models; after a user turn; last, or followed by the assistant.
    if not model.system_messages:
        raise invalid(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter,'
            ' not "system" as an input message role.'
        )
    if number == 0:
        raise invalid(
            "messages.0: use the top-level 'system' parameter for the initial system prompt;"
            " the directive-only form (content: [] with output_config) is accepted at any position"
        )
    if messages[number - 1]["role"] != "user":
        raise invalid(f"messages.{number}: a system message must directly follow a user message")
    if number + 1 < len(messages) and messages[number + 1]["role"] != "assistant":
        raise invalid(f"messages.{number}: a system message must be the last message or be followed by an assistant message")


def _check_nothing_empty(messages: list[JsonObject]) -> None:
    # Section 2.7.
    for number, message in enumerate(messages):
        is_final_assistant = number == len(messages) - 1 and message["role"] == "assistant"
        if not message["content"] and not is_final_assistant:
            raise invalid(f"messages.{number}: all messages must have non-empty content except for the optional final assistant message")


def _check_place(placed: PlacedBlock) -> None:
    kind = str(placed.block["type"])
    if placed.role != "user" and kind in _USER_ONLY:
        # Section 1.1 names documents; the others are as old as the API.
        raise invalid(f"messages.{placed.message}: `{kind}` blocks can only be in `user` messages")
    if placed.role != "assistant" and kind in _ASSISTANT_ONLY:
        raise invalid(f"messages.{placed.message}: `{kind}` blocks can only be in `assistant` messages")
    if placed.role == "user" and kind == "text" and placed.block.get("citations"):
        # Section 1.1: refused since version 2026-10-21.
        raise invalid(f"{placed.path}.text.citations: citations are not permitted in user messages")


def _check_text(placed: PlacedBlock) -> None:
    # Sections 2.1 (empty text and cache_control) and 2.7 (nothing empty).
    block = placed.block
    if block["type"] == "text":
        _check_one_text(f"{placed.path}.text", "messages", block)
    if block["type"] != "tool_result":
        return
    if block.get("is_error") and not block.get("content"):
        raise invalid(f"{placed.path}.tool_result: content cannot be empty if `is_error` is true")
    content = block.get("content")
    if block.get("is_error") and any(part["type"] != "text" for part in objects(content)):
        raise invalid(f"{placed.path}.tool_result: all content must be type `text` if `is_error` is true")
    for index, part in enumerate(objects(content)):
        if part["type"] == "text" and not part["text"]:
            path = f"{placed.path}.tool_result.content.{index}.text"
            _check_one_text(path, "messages", part)


def _check_system_texts(body: JsonObject) -> None:
    for index, block in enumerate(objects(body.get("system"))):
        _check_one_text(f"system.{index}", "system", block)


def _check_one_text(path: str, field: str, block: JsonObject) -> None:
    text = str(block["text"])
    if not text and block.get("cache_control"):
        raise invalid(f"{path}: cache_control cannot be set for empty text blocks")
    if not text:
        raise invalid(f"{field}: text content blocks must be non-empty")
    if not text.strip():
        raise invalid(f"{field}: text content blocks must contain non-whitespace text")
