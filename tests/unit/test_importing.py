"""`ullage import`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.session.test_brought_folders import linked_folder, plain
from ullage.cli import main
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore
from ullage.store.origins import is_foreign


def test_sessions_are_imported_once_and_as_somebody_elses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    plain(folder)
    for count in (1, 0):
        assert main(["import", str(folder), "--store", str(tmp_path / "store")]) == 0
        assert capsys.readouterr().out.startswith(f"{count} new sessions")
    log = LogStore.open(folder_of(folder, tmp_path / "store"))
    assert [is_foreign(each.id) for each in log.sessions()] == [True]
    log.close()


def test_what_cannot_be_imported_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    linked_folder(folder)
    for name, why in ((folder, "plain file in a plain folder"), (tmp_path / "gone", "is no folder")):
        assert main(["import", str(name), "--store", str(tmp_path / "store")]) == 1
        assert why in capsys.readouterr().err
    assert main(["import", str(folder), "--store", str(folder / "store")]) == 1
    assert "lies in the workspace folder" in capsys.readouterr().err
