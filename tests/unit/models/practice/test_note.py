"""The note: a prompt that writes a file, with a question, in whichever folder is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.models.practice.workbench import Workbench
from ullage.models.practice.practice_model import PracticeModel
from ullage.models.practice.scenario import load_scenarios


@pytest.mark.parametrize("prompt", ["Write a note", "please write a file for me", "Create a file"])
async def test_a_file_is_written_in_any_folder(tmp_path: Path, prompt: str) -> None:
    bench = Workbench(PracticeModel(load_scenarios(), pace=0), tmp_path)
    said = await bench.prompt(prompt)
    assert "Done" in said
    assert (tmp_path / "ullage-note.md").read_text("utf-8").startswith("# A note by Ullage")


async def test_a_second_time_nothing_is_lost(tmp_path: Path) -> None:
    bench = Workbench(PracticeModel(load_scenarios(), pace=0), tmp_path)
    await bench.prompt("Write a note")
    (tmp_path / "ullage-note.md").write_text("My own words\n")
    await Workbench(PracticeModel(load_scenarios(), pace=0), tmp_path).prompt("Write a note")
    assert (tmp_path / "ullage-note.md").read_text("utf-8") == "My own words\n"
