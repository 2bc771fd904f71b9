"""The tools about the session itself: tasks, recall, compaction, the editor's problems."""

from __future__ import annotations

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.context.blocks import Json
from ullage.tools.recall import RecallHit
from ullage.tools.todo import plan_of
from ullage.tools.tool import BadToolInput, PlanEntry
from ullage.workspace.files import Diagnostic


async def test_the_task_list_is_counted(workplace: Workplace) -> None:
    todos: list[Json] = [{"content": "measure ", "status": "completed"}, {"content": "mend", "status": "in_progress"}]
    assert (await workplace.call("todo", todos=todos)).content == "Task list: 1 completed, 1 in progress, 0 pending."
    assert plan_of({"todos": todos}) == (PlanEntry("measure", "completed"), PlanEntry("mend", "in_progress"))
    assert (await workplace.call("todo", todos=[])).content == "The task list is empty now."


@pytest.mark.parametrize(("focus", "passed"), [({}, ""), ({"focus": " the parser "}, "the parser")])
async def test_compact_passes_its_focus_on(workplace: Workplace, focus: dict[str, str], passed: str) -> None:
    outcome = await workplace.call("compact", **focus)
    assert outcome.compact_focus == passed


async def test_recall_searches_opens_and_expands(workplace: Workplace) -> None:
    workplace.recall.hits = [
        RecallHit("s1", 7, 0.0, "result of bash", "the gauge was stuck", "toolu_7"),
        RecallHit("s0", 3, 0.0, "user", "mend the gauge", current=False),
    ]
    workplace.recall.results = {"toolu_7": "the gauge was stuck at 3", "toolu_8": ""}
    workplace.recall.entries = {4: "user: four", 5: "assistant: five"}
    assert (await workplace.call("recall", query="gauge")).content == (
        "[result of bash, 1970-01-01 00:00 UTC, entry 7, tool_use_id toolu_7]\n> the gauge was stuck\n\n"
        "[user, 1970-01-01 00:00 UTC, another session, entry 3]\n> mend the gauge"
    )
    assert (await workplace.call("recall", tool_use_id="toolu_7")).content == "the gauge was stuck at 3"
    assert (await workplace.call("recall", tool_use_id="toolu_8")).content == "(The result was empty.)"
    assert (await workplace.call("recall", **{"from": 4, "to": 5})).content == "user: four\nassistant: five"
    assert (await workplace.call("recall", **{"from": 5})).content == "assistant: five"


async def test_recall_says_when_there_is_nothing(workplace: Workplace) -> None:
    nothing = await workplace.call("recall", query="valve")
    assert "Nothing that was said" in nothing.content
    assert not nothing.is_error
    assert (await workplace.call("recall", tool_use_id="toolu_9")).is_error
    assert (await workplace.call("recall", **{"from": 90, "to": 99})).is_error


@pytest.mark.parametrize("wrong", [{}, {"to": 3}, {"query": "a", "tool_use_id": "b"}, {"from": 5, "to": 4}, {"query": " "}])
async def test_recall_takes_one_way_at_a_time(workplace: Workplace, wrong: dict[str, str | int]) -> None:
    with pytest.raises(BadToolInput):
        await workplace.call("recall", **wrong)


async def test_problems_are_listed_worst_first(workplace: Workplace) -> None:
    path = workplace.root / "src" / "a.py"
    workplace.editor.problems = [
        Diagnostic(path, 9, "warning", "ruff", "unused\nimport"),
        Diagnostic(path, 12, "error", "", "undefined name"),
        *[Diagnostic(workplace.root / "b.py", line, "hint", "x", "hm") for line in range(1, 200)],
    ]
    lines = (await workplace.call("diagnostics")).content.splitlines()
    assert lines[:2] == ["src/a.py:12: error: undefined name", "src/a.py:9: warning: unused import (ruff)"]
    assert lines[-1] == "(Only the worst 100 of 201.)"
    assert len((await workplace.call("diagnostics", path="src/a.py")).content.splitlines()) == 2
    assert (await workplace.call("diagnostics", path="c.py")).content == "The editor reports no problems in `c.py`."


async def test_an_editor_that_cannot_tell_says_so(workplace: Workplace) -> None:
    outcome = await workplace.call("diagnostics")
    assert outcome.is_error
    assert "cannot tell" in outcome.content
