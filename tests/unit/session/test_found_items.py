"""Which item a search leads to: the one in which the words stand, and not the first of its reply."""

from __future__ import annotations

import pytest

from ullage.context.blocks import Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply
from ullage.session.sessions.searching import block_with

BLOCKS = (
    Thinking("I weigh the tanks", ""),
    Text("First the north tank."),
    Text("Then the safe fill."),
    ToolUse("t1", "bash", {"command": "ls"}),
)
REPLY = AssistantReply("r1", BLOCKS, "m", "tool_use", None)


@pytest.mark.parametrize(
    ("what", "words", "item"),
    [
        ("assistant", "north", "r1.1"),
        ("assistant", "SAFE fill", "r1.2"),
        ("assistant", "tank", "r1.1"),
        ("thinking", "tanks", "r1.0"),
        ("call of bash", "ls", "t1"),
        ("call of read_file", "ls", None),
    ],
)
def test_a_hit_leads_to_its_words(what: str, words: str, item: str | None) -> None:
    assert block_with(REPLY, what, words) == item
