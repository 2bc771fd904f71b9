"""Which tools there are, and that what the model is told of them fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.tools.workplace import TAKE_A_PATH, Workplace, needed
from ullage.context.blocks import Json
from ullage.tools import registry
from ullage.tools.registry import TITLES, TOOL_NAMES
from ullage.tools.tool import BadToolInput, ToolCall

EVERY = Workplace().tools
READING = Workplace(trusted=False).tools


def test_an_untrusted_workspace_has_no_tool_that_writes_or_runs() -> None:
    acting = EVERY.keys() - READING.keys()
    assert acting == {name for name, tool in EVERY.items() if tool.kind in ("edit", "execute")} | {"running_command"}
    assert acting >= {"write_file", "edit_file", "bash"}


def test_the_tools_that_act_come_last() -> None:
    assert list(EVERY)[: len(READING)] == list(READING)


@pytest.mark.parametrize("name", EVERY)
def test_each_tool_describes_itself_and_titles_anything(name: str) -> None:
    tool = EVERY[name]
    assert tool.spec.name == name
    assert len(tool.spec.description) > 80
    for wrong in ({}, {"path": 3, "command": None}, {"path": "x" * 9}):
        assert tool.title(wrong)


@pytest.mark.parametrize("name", EVERY)
def test_what_takes_a_path_says_so_by_its_name(name: str) -> None:
    """By the name `path` the tests of bad paths, pipes and missing folders find their tools."""
    properties = EVERY[name].spec.input_schema.get("properties", {})
    assert isinstance(properties, dict)
    others = [each for each in properties if re.search(r"path|^(file|folder|directory|dir)(name)?$", each) and each != "path"]
    assert others == []


@pytest.mark.parametrize("name", EVERY)
async def test_each_tool_refuses_what_it_does_not_know(workplace: Workplace, name: str) -> None:
    with pytest.raises(BadToolInput, match=r"`surprise`|is missing"):
        await workplace.tools[name].run(ToolCall("toolu_1", {"surprise": 1}))


@pytest.mark.parametrize("name", [*TAKE_A_PATH, "bash"])
async def test_without_a_folder_each_tool_says_so(name: str) -> None:
    outcome = await Workplace().call(name, **needed(EVERY[name]))
    assert outcome.is_error
    assert "No folder is open" in outcome.content


def test_the_names_of_all_tools_are_known_without_making_one() -> None:
    written = {file.stem for file in Path(registry.__file__).parent.glob("*.md")}
    assert written == TOOL_NAMES


def test_a_call_has_the_same_title_where_its_tool_is_not_there() -> None:
    input: dict[str, Json] = {"path": "a.py", "command": "npm test"}
    for name, (title, kind) in TITLES.items():
        assert name in TOOL_NAMES
        if name in EVERY:
            assert (title(input), kind) == (EVERY[name].title(input), EVERY[name].kind)
    assert {name for name, tool in EVERY.items() if tool.kind in ("edit", "execute")} <= TITLES.keys()
