"""Prompts of no scenario: the words that are searched for, the tools that are called, the report with its links."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.models.practice.workbench import Workbench
from ullage.context.blocks import ToolUse
from ullage.models.practice.looking_around import words_of
from ullage.models.practice.practice_model import PracticeModel


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "notes").mkdir()
    (tmp_path / "pump.py").write_text("def start_pump(tank):\n    return tank.open_valve()\n\n\ndef stop_pump(tank):\n    pass\n")
    (tmp_path / "notes" / "a b.md").write_text("The pump is `loud`.\n")
    return Workbench(PracticeModel((), pace=0), tmp_path)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Where is start_pump called?", ("start_pump", "called")),
        ("What does the pump do?", ("pump",)),
        ("Wo wird die Überlaufsicherung geprüft?", ("Überlaufsicherung", "geprüft")),
        ("fix src/tank.py and the volumes of every single tank", ("src/tank.py", "volumes", "single")),
        ("hi", ()),
        ("", ()),
    ],
)
def test_words_worth_a_search(prompt: str, expected: tuple[str, ...]) -> None:
    assert words_of(prompt)[: len(expected) or 1] == expected


async def test_it_searches_reads_and_reports_with_links(bench: Workbench) -> None:
    report = await bench.prompt("Where is start_pump, or another pump?")
    names = [[block.name for block in reply.blocks if isinstance(block, ToolUse)] for reply in bench.replies]
    assert names == [["search", "search", "search", "list_files"], ["read_file"], []]
    assert "[pump.py:1](pump.py#L1): `def start_pump(tank):`" in report
    assert "[notes/a b.md:1](notes/a%20b.md#L1): `The pump is 'loud'.`" in report
    assert "not an AI" in report
    assert "Ullage: Connect a model" in report


async def test_nothing_found_is_said(bench: Workbench) -> None:
    assert "found none" in await bench.prompt("Where is the combobulator?")


async def test_where_nothing_is_found_it_tells_how_the_readme_begins(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Pumps\n\nA package about `pumps`.\nIt starts them.\n\n## Use\n\nRun it.\n")
    report = await bench.prompt("What does this project do?")
    names = [[block.name for block in reply.blocks if isinstance(block, ToolUse)] for reply in bench.replies]
    assert names == [["search", "list_files"], ["read_file"], []]
    assert "[README.md](README.md) begins like this:\n\n> A package about `pumps`. It starts them.\n" in report
    assert "not an AI" in report


@pytest.mark.parametrize("prompt", ["hi", "?"])
async def test_without_a_word_worth_a_search_it_says_what_it_is(bench: Workbench, prompt: str) -> None:
    assert "not an AI" in await bench.prompt(prompt)
    assert bench.replies[-1].stop_reason == "end_turn"


async def test_without_tools_it_says_what_it_is(tmp_path: Path) -> None:
    bench = Workbench(PracticeModel((), pace=0), tmp_path)
    bench.without_tools()
    assert "not an AI" in await bench.prompt("Where is start_pump?")


async def test_it_goes_on_after_a_compaction(bench: Workbench) -> None:
    bench.start("Where is start_pump?")
    await bench.play(1)
    bench.compact_all(at_work=True)
    assert "not an AI" in await bench.go_on()


async def test_each_prompt_is_answered_anew(bench: Workbench) -> None:
    await bench.prompt("Where is start_pump?")
    report = await bench.prompt("And stop_pump?")
    assert "stop_pump" in report
    assert "start_pump" not in report
