"""The folders of a session, as a client names them."""

from __future__ import annotations

from pathlib import Path

from tests.no_editor import NoEditor
from ullage.acp.workspaces import Workspaces
from ullage.session.settings import Settings


async def test_a_folder_that_is_named_later_belongs_to_all_that_knows_the_folders(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    settings = Settings(provider="practice", store_location=str(tmp_path / "store"))
    workspaces = Workspaces(
        lambda: settings, None, tmp_path / "state", lambda _: NoEditor(), lambda _session, _seq, _update: None, lambda _folder: None
    )
    try:
        place = await workspaces.at(str(first))
        assert place.folders.roots == (first,)
        assert await workspaces.at(str(first), [str(second)]) is place
        assert place.folders.roots == (first, second), "links of a prompt are read by these"
    finally:
        await workspaces.close()
