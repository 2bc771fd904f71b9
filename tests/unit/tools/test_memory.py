"""The tool with which the model keeps notes in blocks."""

from __future__ import annotations

import pytest

from ullage.context.blocks import Json
from ullage.context.policies.memgpt import Blocks
from ullage.tools.memory import MemoryTool
from ullage.tools.tool import BadToolInput, ToolCall, ToolOutcome


async def note(blocks: Blocks, **input: Json) -> ToolOutcome:
    return await MemoryTool(lambda: blocks).run(ToolCall("m", input))


async def test_a_line_is_appended_and_a_part_replaced() -> None:
    appended = await note(Blocks(task="Mend the gauge"), block="task", action="append", text="Then the pump")
    assert appended == ToolOutcome("The block `task` has 28 of 100,000 characters now:\nMend the gauge\nThen the pump")
    replaced = await note(Blocks(human="Likes tea"), block="human", action="replace", old_text="Likes tea", text="")
    assert replaced.content.endswith("\n(empty)")


async def test_what_cannot_be_done_is_told() -> None:
    outcome = await note(Blocks(), block="human", action="replace", old_text="tea", text="coffee")
    assert outcome.is_error
    assert (await note(Blocks(), block="persona", action="append", text="x" * 20_001)).is_error


@pytest.mark.parametrize(
    "input",
    [
        {},
        {"block": "mind", "action": "append", "text": "x"},
        {"block": "task", "action": "append", "text": "x", "old_text": "y"},
        {"block": "task", "action": "replace", "text": "x"},
    ],
)
async def test_input_that_does_not_fit_is_refused(input: dict[str, Json]) -> None:
    with pytest.raises(BadToolInput):
        await note(Blocks(), **input)


def test_its_title_takes_any_input() -> None:
    tool = MemoryTool(Blocks)
    assert tool.title({"block": "task"}) == "Note in memory: task"
    assert tool.title({}) == "Note in memory"
    assert tool.permission({}) is None
