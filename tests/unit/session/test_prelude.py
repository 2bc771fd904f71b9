"""Which rules files stand in the prelude."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.session.prelude import make_prelude
from ullage.workspace.folders import Folders


def rules(folder: Path) -> str:
    return "\n".join(part.text for part in make_prelude(Folders([folder]), {}).system if part.category == "rules")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "secret").write_text("The user's own secret.")
    return tmp_path / "project"


def test_rules_files_are_read(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Use uv.")
    assert rules(folder) == "Rules of this workspace, from AGENTS.md:\n\nUse uv."


def test_a_link_inside_the_workspace_is_followed(folder: Path) -> None:
    (folder / "rules.md").write_text("Use uv.")
    (folder / "CLAUDE.md").symlink_to("rules.md")
    assert "Use uv." in rules(folder)


def test_a_link_out_of_the_workspace_is_not(folder: Path) -> None:
    (folder / "AGENTS.md").symlink_to(folder.parent / "secret")
    assert rules(folder) == ""
