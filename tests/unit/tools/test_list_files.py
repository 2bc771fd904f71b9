"""Listing folders."""

from __future__ import annotations

from pathlib import Path

from tests.unit.tools.workplace import Workplace


async def test_levels_links_and_ignored_names(workplace: Workplace) -> None:
    workplace.put(
        {
            "README.md": "",
            "src/tank.py": "",
            "src/deep/deeper/x.py": "",
            "node_modules/left/pad.js": "",
            ".gitignore": "*.log\n",
            "a.log": "",
            ".ullage/ullage.db": "",
        }
    )
    (workplace.root / "link").symlink_to("/etc")
    outcome = await workplace.call("list_files")
    assert outcome.content.splitlines() == [
        ".gitignore",
        "README.md",
        "link (link)",
        "src/",
        "src/deep/",
        "src/tank.py",
        "(Folders below level 2 are not listed.)",
    ]
    assert (await workplace.call("list_files", path="src/deep", depth=5)).content.splitlines() == [
        "src/deep/deeper/",
        "src/deep/deeper/x.py",
    ]


async def test_a_huge_folder_is_listed_in_part(workplace: Workplace) -> None:
    workplace.put({f"{number:04}.txt": "" for number in range(700)})
    lines = (await workplace.call("list_files")).content.splitlines()
    assert len(lines) == 501
    assert "Only the first 500" in lines[-1]


async def test_an_empty_folder_says_so(workplace: Workplace) -> None:
    assert (await workplace.call("list_files")).content == "(Nothing but what is ignored.)"


async def test_other_workspace_folders_are_named(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    outcome = await Workplace(tmp_path / "one", tmp_path / "two").call("list_files")
    assert f"{(tmp_path / 'two').as_posix()}/" in outcome.content


async def test_what_cannot_be_listed_says_why(workplace: Workplace) -> None:
    workplace.put({"a.py": ""})
    for name, words in (("missing", "does not exist"), ("a.py", "is a file"), ("..", "outside")):
        outcome = await workplace.call("list_files", path=name)
        assert outcome.is_error
        assert words in outcome.content
