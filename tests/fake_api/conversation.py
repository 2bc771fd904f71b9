"""Reading a request body: the flat sequence of its blocks, and what the user said last. No rules, no counting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.fake_api.json_values import JsonObject, blocks_of, objects

THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A content block and where it stands: `messages.{message}.content.{index}`."""

    message: int
    index: int
    role: str
    block: JsonObject

    @property
    def path(self) -> str:
        """The place as error messages name it."""
        return f"messages.{self.message}.content.{self.index}"

    @property
    def is_thinking(self) -> bool:
        """Whether this is thinking, readable or redacted."""
        return self.block.get("type") in THINKING_TYPES


def placed_blocks(body: JsonObject) -> Iterator[PlacedBlock]:
    """Every content block of every message, in order."""
    for number, message in enumerate(objects(body.get("messages"))):
        role = str(message.get("role"))
        for index, block in enumerate(blocks_of(message.get("content"))):
            yield PlacedBlock(number, index, role, block)


def last_user_text(body: JsonObject) -> str:
    """The texts of the last user message that has any, joined by newlines; tool results do not count."""
    for message in reversed(objects(body.get("messages"))):
        if message.get("role") != "user":
            continue
        texts = [str(block.get("text", "")) for block in blocks_of(message.get("content")) if block.get("type") == "text"]
        if texts:
            return "\n".join(texts)
    return ""
