"""What a workspace keeps is opened as far as the disk lets us, and the user hears of the rest."""

from __future__ import annotations

from pathlib import Path

from ullage.store.folder import folder_of
from ullage.store.workspace_store import open_workspace_store


def test_without_a_folder_everything_is_in_memory_and_the_user_is_told() -> None:
    kept = open_workspace_store(())
    assert kept.folder is None
    assert "memory only" in kept.warnings[0]


def test_a_folder_that_cannot_be_written_means_memory(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("in the way")
    kept = open_workspace_store([tmp_path / "project"], str(tmp_path / "kept"))
    assert kept.folder is None
    assert "memory only" in kept.warnings[0]


def test_an_index_that_cannot_be_opened_does_not_take_the_log_with_it(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "project", tmp_path / "kept")
    (folder / "search.db").mkdir(parents=True)
    kept = open_workspace_store([tmp_path / "project"], str(tmp_path / "kept"))
    assert kept.folder == folder
    assert (folder / "ullage.db").exists()
    assert "Search finds only what is in memory" in kept.warnings[0]
    kept.index.close()
    kept.log.close()
