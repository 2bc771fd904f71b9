"""On-demand compaction (section 2.4): the `compaction` parameter, and where a block that the API wrote may stand.

Whether a block is as the API wrote it is judged in `compaction_seals.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import placed_blocks
from tests.fake_api.json_values import JsonObject, blocks_of, is_object, objects
from tests.fake_api.refused import invalid
from tests.fake_api.rules.shape import string, tagged

COMPACTION_BETA = "compact-2026-09-04"
MOST_INSTRUCTIONS = 16_384
"""Characters of `compaction.instructions`."""

_TYPES = tagged({"summarize": {"instructions": string}}, {})


def check_compaction_alone(body: JsonObject, betas: Collection[str]) -> None:
    """Raises `Refused` where `compaction` comes without its header, is malformed, or goes with what it cannot go with."""
    compaction = body.get("compaction")
    if compaction is None:
        return
    if COMPACTION_BETA not in betas:
        raise invalid(f"compaction: `compaction` requires anthropic-beta: {COMPACTION_BETA}")
    _TYPES("compaction", compaction)
    instructions = str(compaction.get("instructions", ""))
    if len(instructions) > MOST_INSTRUCTIONS:
        raise invalid(f"compaction.summarize.instructions: String should have at most {MOST_INSTRUCTIONS} characters")
    for name, conflict in _conflicts(body).items():
        if conflict:
            raise invalid(f"`{name}` cannot be used together with `compaction`. Remove it from the request.")
    if not any(blocks_of(message.get("content")) for message in objects(body.get("messages"))):
        raise invalid("messages: there is nothing to summarize", "compaction_nothing_to_summarize")
    last = objects(body["messages"])[-1]
    if last.get("role") == "assistant" and any(block.get("type") == "tool_use" for block in blocks_of(last.get("content"))):
        raise invalid(
            "messages: the last `assistant` turn ends in a tool call that has no result yet. Send its `tool_result` first.",
            "compaction_incomplete_turn",
        )


def check_compacts(body: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` where the model writes no compaction blocks, or would have to read one."""
    if model.compacts:
        return
    if body.get("compaction") is not None:
        raise invalid(f"compaction: {model.id} does not support compaction")
    if any(placed.block.get("type") == "compaction" for placed in placed_blocks(body)):
        raise invalid(f"messages: {model.id} does not support `compaction` blocks")


def check_compaction_blocks(body: JsonObject) -> None:
    """Raises `Refused` for a block that is not the very first, a second one, or one without what makes it valid."""
    placed = [each for each in placed_blocks(body) if each.block.get("type") == "compaction"]
    if len(placed) > 1:
        raise invalid("messages: more than one `compaction` block with content", "compaction_block_ambiguous")
    for each in placed:
        if (each.message, each.index) != (0, 0) or each.role == "system":
            raise invalid(
                f"{each.path}: a `compaction` block must be the first block of the conversation. Remove the messages that it summarizes.",
                "compaction_block_misplaced",
            )
        if not each.block.get("content"):
            raise invalid(f"{each.path}.compaction.content: this fake of the API does not simulate blocks without a summary")
        if not each.block.get("signature"):
            raise invalid(f"{each.path}: a `compaction` block with `content` requires its `signature`")


def begins_with_compaction(messages: list[JsonObject]) -> bool:
    """Whether the first message may be the assistant's: it begins with a compaction block."""
    blocks = blocks_of(messages[0].get("content"))
    return bool(blocks) and blocks[0].get("type") == "compaction"


def _conflicts(body: JsonObject) -> Mapping[str, bool]:
    config = body.get("output_config")
    choice = body.get("tool_choice")
    budget = config.get("task_budget") if is_object(config) else None
    return {
        "context_management": body.get("context_management") is not None,
        "stop_sequences": bool(body.get("stop_sequences")),
        "output_config.format": is_object(config) and config.get("format") is not None,
        "output_config.task_budget.remaining": is_object(budget) and budget.get("remaining") is not None,
        "tool_choice": is_object(choice) and choice.get("type") in ("any", "tool"),
        "max_tokens: 0": body.get("max_tokens") == 0,  # assumed: a pre-warming request runs no model
    }
