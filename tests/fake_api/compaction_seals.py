"""Compaction blocks that the fake wrote (section 2.4): signed when they go out, judged when they come back.

A signature holds hashes of the summary and of what it stands for, so that thinking in turns that were kept after it can be told from
thinking that belongs to another conversation.
"""

from __future__ import annotations

from typing import Any

from tests.fake_api.canonical import digest
from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import PlacedBlock
from tests.fake_api.json_values import JsonObject, is_array, is_object, objects
from tests.fake_api.reading import Reading
from tests.fake_api.refused import invalid
from tests.fake_api.signing import Signer

_KIND = "compaction"


class CompactionSeals:
    """Signs and verifies compaction blocks."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def block(self, reading: Reading, model: ModelFacts, summary: str) -> JsonObject:
        """The block for a conversation that was read to its end."""
        # A compaction on a model without preserved thinking ends the validity of all thinking before it.
        stands_for = [reading.before, *reading.summarised] if model.checks_prefix else []
        sealed = [_KIND, digest(summary), reading.system, reading.tools, stands_for, reading.role]
        return {"type": "compaction", "content": summary, "signature": self._signer.sign(sealed)}

    def enter(self, placed: PlacedBlock, body: JsonObject, reading: Reading) -> None:
        """Goes past a block that came back. Raises `Refused` where it is not as it was written."""
        sealed: Any = self._signer.opened(str(placed.block["signature"]))
        if not is_array(sealed) or sealed[0] != _KIND:
            raise invalid(f"{placed.path}: the `signature` of the `compaction` block is invalid", "compaction_signature_invalid")
        _, summary, system, tools, stands_for, last_role = sealed
        if summary != digest(str(placed.block["content"])):
            raise invalid(
                f"{placed.path}: the `content` of the `compaction` block is not what its `signature` recorded",
                "compaction_content_mismatch",
            )
        if placed.block.get("tool_changes") is not None:
            raise invalid(
                f"{placed.path}: the `tool_changes` of the `compaction` block are not those it was returned with",
                "compaction_tool_changes_mismatch",
            )
        reading.take(placed.role, placed.block)
        # A first kept message of the same role is merged into the last summarised one, and the prefix is another.
        directly_follows = _first_kept_role(body) not in (last_role, "system")
        if directly_follows and (system, tools) == (reading.system, reading.tools):
            reading.summarised = tuple(stands_for)


def _first_kept_role(body: JsonObject) -> str:
    """The role of the first message after the block, which may stand in that message; empty where there is none."""
    messages = objects(body["messages"])
    content = messages[0]["content"]
    begins_a_message = is_array(content) and len(content) > 1
    following = messages[0] if begins_a_message else next(iter(messages[1:]), None)
    return str(following["role"]) if is_object(following) else ""
