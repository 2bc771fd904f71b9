"""Editor truth: unsaved text wins, and no edit lands on text that it was not made for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.workspace.editors import MemoryEditor
from ullage.workspace.files import ChangedMeanwhile, EditorChanged, EditorRefused, WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.text_file import OwnWrites, text_sha256


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "tank.py"
    file.write_text("disk\n")
    return file


@pytest.fixture
def editor() -> MemoryEditor:
    return MemoryEditor()


@pytest.fixture
def files(tmp_path: Path, editor: MemoryEditor) -> WorkspaceFiles:
    return WorkspaceFiles(Folders((tmp_path,)), editor, OwnWrites())


async def test_unsaved_text_wins_over_disk(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "typed\n"
    current = await files.read(path)
    assert (current.text, current.unsaved) == ("typed\n", True)


async def test_an_open_file_that_is_saved_is_not_unsaved(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "disk\r\n"  # line ends are no difference
    assert not (await files.read(path)).unsaved


async def test_a_file_that_is_only_in_the_editor_can_be_read(files: WorkspaceFiles, editor: MemoryEditor, tmp_path: Path) -> None:
    editor.documents[tmp_path / "gone.py"] = "kept open\n"
    current = await files.read(tmp_path / "gone.py")
    assert (current.text, current.unsaved) == ("kept open\n", True)


async def test_a_closed_file_is_written_to_disk(files: WorkspaceFiles, path: Path) -> None:
    written = await files.write(path, "new\n", text_sha256("disk\n"))
    assert (path.read_text(), written.text, written.unsaved) == ("new\n", "new\n", False)


@pytest.mark.parametrize("saves", [True, False])
async def test_an_edit_of_a_saved_open_file_reaches_editor_and_disk(
    files: WorkspaceFiles, editor: MemoryEditor, path: Path, saves: bool
) -> None:
    editor.documents[path] = "disk\n"
    editor.saves = saves
    written = await files.write(path, "new\n", text_sha256("disk\n"))
    assert (editor.documents[path], path.read_text(), written.unsaved) == ("new\n", "new\n", False)


async def test_an_edit_of_unsaved_text_stays_in_the_editor(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "typed\n"
    written = await files.write(path, "typed and edited\n", text_sha256("typed\n"))
    assert (editor.documents[path], path.read_text()) == ("typed and edited\n", "disk\n")
    assert written.unsaved


async def test_line_ends_of_an_open_document_are_kept(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "a\r\nb\r\n"
    await files.write(path, "a\nc\n", text_sha256("a\nb\n"))
    assert editor.documents[path] == "a\r\nc\r\n"


@pytest.mark.parametrize("open_text", [None, "disk\n"])
async def test_text_that_changed_meanwhile_is_not_overwritten(
    files: WorkspaceFiles, editor: MemoryEditor, path: Path, open_text: str | None
) -> None:
    if open_text is not None:
        editor.documents[path] = open_text
    with pytest.raises(ChangedMeanwhile):
        await files.write(path, "new\n", text_sha256("something else\n"))
    assert path.read_text() == "disk\n"


async def test_creating_does_not_overwrite(files: WorkspaceFiles, path: Path) -> None:
    with pytest.raises(ChangedMeanwhile):
        await files.write(path, "new\n", None)
    assert path.read_text() == "disk\n"


async def test_what_the_user_types_meanwhile_wins(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "disk\n"
    editor.typed_meanwhile = True
    with pytest.raises(EditorChanged):
        await files.write(path, "new\n", text_sha256("disk\n"))
    assert path.read_text() == "disk\n"


async def test_an_editor_that_takes_no_edits_leaves_saved_files_to_the_disk(
    files: WorkspaceFiles, editor: MemoryEditor, path: Path
) -> None:
    editor.documents[path] = "disk\n"
    editor.accepts = False
    await files.write(path, "new\n", text_sha256("disk\n"))
    assert path.read_text() == "new\n"


async def test_unsaved_text_is_never_lost_to_an_editor_that_refuses(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "typed\n"
    editor.accepts = False
    with pytest.raises(EditorRefused):
        await files.write(path, "new\n", text_sha256("typed\n"))
    assert (editor.documents[path], path.read_text()) == ("typed\n", "disk\n")


async def test_an_editor_that_tells_its_new_text_late_is_believed(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "disk\n"
    editor.tells_late = True
    written = await files.write(path, "new\n", text_sha256("disk\n"))
    assert (written.text, written.unsaved, path.read_text()) == ("new\n", False, "new\n")


async def test_text_that_the_editor_formats_when_saving_is_the_text(files: WorkspaceFiles, editor: MemoryEditor, path: Path) -> None:
    editor.documents[path] = "disk\n"
    editor.saves, editor.formats_to = True, "formatted\n"
    written = await files.write(path, "new\n", text_sha256("disk\n"))
    assert (written.text, written.unsaved, path.read_text()) == ("formatted\n", False, "formatted\n")
