"""Searching: the same answers from every engine there is, unsaved text included."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools import search_matching
from ullage.workspace.text_file import MAXIMUM_BYTES

FILES = {
    ".gitignore": "dropped/\n*.log\n",
    "README.md": "The gauge shows the level.\n",
    "src/gauge.py": "class Gauge:\n    level = 0\n    # gauge.level (raw)\n",
    "src/deep/level.ts": "export const LEVEL = 1;\n",
    "src/notes.log": "level in a log\n",
    "dropped/level.py": "level\n",
    "node_modules/x/level.js": "level\n",
    ".ullage/tool-results/a.txt": "level of old\n",
    "../kept/tool-results/a.txt": "level of old\n",
    ".hidden/level.py": "hidden level\n",
    "latin.txt": "level\n",
}

ENGINES = ["python", *(["ripgrep"] if shutil.which("rg") else [])]


@pytest.fixture(params=ENGINES)
def searched(request: pytest.FixtureRequest, workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    if request.param == "python":
        monkeypatch.setenv("PATH", os.devnull)
    workplace.put(FILES)
    (workplace.root / "latin.txt").write_bytes("grün level\n".encode("latin-1"))
    (workplace.root / "binary.bin").write_bytes(b"level\0level\n")
    (workplace.root / "link").symlink_to(workplace.root / "src")
    return workplace


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ({"pattern": "gauge"}, ["README.md:1", "src/gauge.py:1", "src/gauge.py:3"]),
        ({"pattern": "gauge", "case_sensitive": True}, ["README.md:1", "src/gauge.py:3"]),
        ({"pattern": r"^class \w+:$"}, ["src/gauge.py:1"]),
        ({"pattern": r"\.level \("}, ["src/gauge.py:3"]),
        ({"pattern": "-level"}, []),
        ({"pattern": "level", "glob": "*.py"}, [".hidden/level.py:1", "src/gauge.py:2", "src/gauge.py:3"]),
        ({"pattern": "level", "glob": "src/**/*.ts"}, ["src/deep/level.ts:1"]),
        ({"pattern": "level", "glob": "src/**/*.{py,ts}"}, ["src/deep/level.ts:1", "src/gauge.py:2", "src/gauge.py:3"]),
        ({"pattern": "level", "path": "src/deep"}, ["src/deep/level.ts:1"]),
        ({"pattern": "level", "path": "src/deep/level.ts"}, ["src/deep/level.ts:1"]),
        ({"pattern": "level", "path": "dropped"}, ["dropped/level.py:1"]),
        ({"pattern": "level", "path": "../kept/tool-results"}, ["{kept}/tool-results/a.txt:1"]),
        ({"pattern": "level", "path": ".ullage/tool-results"}, ["{kept}/tool-results/a.txt:1"]),
        ({"pattern": "level", "path": "src/notes.log"}, ["src/notes.log:1"]),
        ({"pattern": "n level", "path": "latin.txt"}, ["latin.txt:1"]),
    ],
)
async def test_lines_are_found(searched: Workplace, search: dict[str, str | bool], expected: list[str]) -> None:
    outcome = await searched.call("search", **search)
    assert not outcome.is_error
    found = [line.rsplit(": ", 1)[0] for line in outcome.content.splitlines() if line != "No matches."]
    assert sorted(found) == sorted(each.format(kept=searched.root.parent / "kept") for each in expected)


async def test_matches_show_their_line(searched: Workplace) -> None:
    assert (await searched.call("search", pattern="raw")).content == "src/gauge.py:3: # gauge.level (raw)"


async def test_unsaved_text_is_searched_instead_of_the_disk(searched: Workplace) -> None:
    searched.editor.documents[searched.root / "src/gauge.py"] = "typed gauge\r\n"
    searched.editor.documents[searched.root / "src/new.py"] = "brand new gauge\n"
    searched.editor.documents[searched.root / "dropped/open.py"] = "gauge\n"
    lines = (await searched.call("search", pattern="gauge", glob="*.py")).content.splitlines()
    assert lines == ["src/gauge.py:1: typed gauge", "src/new.py:1: brand new gauge"]
    assert (await searched.call("search", pattern="typed", path="src/gauge.py")).content == "src/gauge.py:1: typed gauge"


async def test_too_many_matches_are_bounded(searched: Workplace) -> None:
    searched.put({"many.txt": "needle\n" * 1_000, "wide.txt": f"{'x' * 5_000}needle\n"})
    lines = (await searched.call("search", pattern="needle")).content.splitlines()
    assert len(lines) == 201
    assert lines[-1].startswith("(Only the first 200 matches.")


async def test_long_lines_are_cut(searched: Workplace) -> None:
    searched.put({"wide.txt": f"needle{'x' * 50_000}\n"})
    assert len((await searched.call("search", pattern="needle")).content) < 400


async def test_a_wrong_pattern_is_an_error(searched: Workplace) -> None:
    outcome = await searched.call("search", pattern="(open")
    assert outcome.is_error
    assert "not a valid regular expression" in outcome.content


@pytest.mark.parametrize("glob", ["!", "[z-a]", "*a*a*a*a*b", "{a,b}" * 20])
async def test_a_wrong_glob_is_an_error(searched: Workplace, glob: str) -> None:
    outcome = await searched.call("search", pattern="level", glob=glob)
    assert outcome.is_error
    assert "not a usable glob" in outcome.content


@pytest.mark.parametrize(("path", "words"), [("missing", "does not exist"), ("..", "outside"), ("link/../../x", "outside")])
async def test_a_wrong_place_is_an_error(searched: Workplace, path: str, words: str) -> None:
    outcome = await searched.call("search", pattern="x", path=path)
    assert outcome.is_error
    assert words in outcome.content


async def test_a_pattern_that_takes_for_ever_holds_nothing_up(searched: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_matching, "SECONDS", 0.3)
    searched.put({"long.txt": f"{'a' * 60}!\n"})
    searched.editor.documents[searched.root / "open.txt"] = f"{'a' * 60}!\n"
    searching = asyncio.create_task(searched.call("search", pattern="(a+)+$", glob="*.txt"))
    ticks = 0
    while not searching.done():
        ticks += 1
        await asyncio.sleep(0.01)
    assert (await searching).content.startswith("No matches in the time there was")
    assert ticks > 3  # a search that held the loop would let it go on once, when it is over


async def test_all_workspace_folders_are_searched(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("needle\n")
    lines = (await Workplace(tmp_path / "one", tmp_path / "two").call("search", pattern="needle")).content.splitlines()
    assert lines == ["a.txt:1: needle", f"{tmp_path.as_posix()}/two/a.txt:1: needle"]


async def test_what_is_left_out_for_its_size_is_said(searched: Workplace) -> None:
    with (searched.root / "src" / "huge.log2").open("wb") as file:
        file.write(b"level\n")
        file.truncate(MAXIMUM_BYTES + 1)
    said = "(Not searched, for they are over 10,000,000 bytes: `src/huge.log2`. Use bash to look into them.)"
    assert (await searched.call("search", pattern="nowhere")).content == f"No matches.\n{said}"
    assert (await searched.call("search", pattern="class Gauge")).content == f"src/gauge.py:1: class Gauge:\n{said}"
    assert (await searched.call("search", pattern="nowhere", glob="*.py")).content == "No matches."


async def test_a_path_may_hold_the_end_of_a_line(searched: Workplace) -> None:
    searched.put({"a\nb.md": "the level\n", "c\rd.md": "one level\n"})
    (searched.root / "before.bin").write_bytes(b"level\n" * 20 + b"\0" * 70_000)
    found = (await searched.call("search", pattern="(the|one) level|^level$", glob="*.{md,bin}")).content.splitlines()
    assert [line for line in found if ".md" in line] == [
        "README.md:1: The gauge shows the level.",
        "a\\nb.md:1: the level",
        "c\\rd.md:1: one level",
    ]
