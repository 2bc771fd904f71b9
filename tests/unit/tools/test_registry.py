"""Which tools there are, and that what the model is told of them fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools.tool import BadToolInput, ToolCall

READING = ["read_file", "list_files", "search", "diagnostics", "todo", "recall", "compact"]
ACTING = ["write_file", "edit_file", "bash"]


def test_an_untrusted_workspace_has_no_tool_that_writes_or_runs(tmp_path: Path) -> None:
    assert list(Workplace(tmp_path, trusted=False).tools) == READING
    assert list(Workplace(tmp_path).tools) == READING + ACTING


@pytest.mark.parametrize("name", READING + ACTING)
def test_each_tool_describes_itself_and_titles_anything(workplace: Workplace, name: str) -> None:
    tool = workplace.tools[name]
    assert tool.spec.name == name
    assert len(tool.spec.description) > 80
    for wrong in ({}, {"path": 3, "command": None}, {"path": "x" * 9}):
        assert tool.title(wrong)


@pytest.mark.parametrize("name", READING + ACTING)
async def test_each_tool_refuses_what_it_does_not_know(workplace: Workplace, name: str) -> None:
    with pytest.raises(BadToolInput, match=r"`surprise`|is missing"):
        await workplace.tools[name].run(ToolCall("toolu_1", {"surprise": 1}))


@pytest.mark.parametrize("name", ["read_file", "list_files", "search", "write_file", "edit_file", "bash"])
async def test_without_a_folder_each_tool_says_so(name: str) -> None:
    inputs = {
        "read_file": {"path": "a"},
        "list_files": {},
        "search": {"pattern": "a"},
        "write_file": {"path": "a", "content": ""},
        "edit_file": {"path": "a", "old_text": "a", "new_text": "b"},
        "bash": {"command": "true"},
    }
    outcome = await Workplace().call(name, **inputs[name])
    assert outcome.is_error
    assert "No folder is open" in outcome.content
