"""Files are opened at the path that was resolved, whatever was put in the place of a name on the way since."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deep import many
from ullage.workspace.media_file import read_media
from ullage.workspace.regular_files import LedElsewhere, NotRegular, Regulars, open_regular, replace_regular
from ullage.workspace.text_file import NotText, OwnWrites, read_text, write_text

Exchange = Callable[[Path, Path], None]
"""What somebody does to the workspace `root` while a question waits; `outside` is a folder that must stay as it is."""


def file_for_link(root: Path, outside: Path) -> None:
    (root / "a/b/c.txt").unlink()
    (root / "a/b/c.txt").symlink_to(outside / "c.txt")


def file_for_link_to_nothing(root: Path, outside: Path) -> None:
    (root / "a/b/c.txt").unlink()
    (root / "a/b/c.txt").symlink_to(outside / "new.txt")


def file_for_link_to_itself(root: Path, outside: Path) -> None:
    (root / "a/b/c.txt").unlink()
    (root / "a/b/c.txt").symlink_to("c.txt")


def file_for_relative_link(root: Path, outside: Path) -> None:
    (root / "a/b/c.txt").unlink()
    (root / "a/b/c.txt").symlink_to(os.path.relpath(outside / "c.txt", root / "a/b"))


def folder_for_link(root: Path, outside: Path) -> None:
    (root / "a/b").rename(root / "a/old")
    (root / "a/b").symlink_to(outside)


def folder_for_link_inside(root: Path, outside: Path) -> None:
    (root / "other").mkdir()
    (root / "other/c.txt").write_text("outside")
    (root / "a/b").rename(root / "a/old")
    (root / "a/b").symlink_to(root / "other")


def link_in_the_middle(root: Path, outside: Path) -> None:
    (outside / "b").mkdir()
    (outside / "b/c.txt").write_text("outside")
    (root / "a").rename(root / "old")
    (root / "a").symlink_to(outside)


def workspace_for_link(root: Path, outside: Path) -> None:
    (outside / "a/b").mkdir(parents=True)
    (outside / "a/b/c.txt").write_text("outside")
    root.rename(root.with_name("moved"))
    root.symlink_to(outside)


def parent_of_workspace_for_link(root: Path, outside: Path) -> None:
    (outside / root.name / "a/b").mkdir(parents=True)
    (outside / root.name / "a/b/c.txt").write_text("outside")
    root.parent.rename(root.parent.with_name("moved"))
    root.parent.symlink_to(outside)


def folder_for_chain_of_links(root: Path, outside: Path) -> None:
    (root / "second").symlink_to(outside)
    (root / "a/b").rename(root / "a/old")
    (root / "a/b").symlink_to(root / "second")


EXCHANGES = [
    file_for_link,
    file_for_link_to_nothing,
    file_for_link_to_itself,
    file_for_relative_link,
    folder_for_link,
    folder_for_link_inside,
    link_in_the_middle,
    workspace_for_link,
    parent_of_workspace_for_link,
    folder_for_chain_of_links,
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "home" / "project"
    (made / "a/b").mkdir(parents=True)
    (made / "a/b/c.txt").write_text("inside")
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "outside"
    made.mkdir()
    (made / "c.txt").write_text("outside")
    return made


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_what_was_exchanged_is_neither_read_nor_written(root: Path, outside: Path, exchange: Exchange) -> None:
    path = root / "a/b/c.txt"
    exchange(root, outside)
    before = texts(outside)
    with pytest.raises(LedElsewhere):
        read_text(path)
    with pytest.raises(LedElsewhere):
        write_text(path, "written", None, OwnWrites())
    with pytest.raises(LedElsewhere), Regulars() as files:
        files.read(str(path), 100)
    assert read_media(path) is None
    assert texts(outside) == before
    assert "written" not in "".join(texts(root.parent).values())


def test_of_many_files_each_is_that_of_the_folder_that_was_opened(root: Path, outside: Path) -> None:
    (root / "a/b/d.txt").write_text("inside, too")
    (root / "a/e.txt").write_text("12345")
    with Regulars() as files:
        assert files.read(str(root / "a/b/c.txt"), 100)[0] == b"inside"
        folder_for_link(root, outside)
        assert files.read(str(root / "a/b/d.txt"), 100)[0] == b"inside, too"
        assert files.read(str(root / "a/e.txt"), 3)[0] == b"1234", "one byte more tells that it is too long"
        with pytest.raises(LedElsewhere):
            files.read(str(root / "a/b/c.txt"), 100)


def test_a_name_that_is_a_link_is_written_nowhere_below_it(root: Path, outside: Path) -> None:
    (root / "new").symlink_to(outside)
    with pytest.raises(LedElsewhere):
        write_text(root / "new/folder/file.txt", "written", None, OwnWrites())
    assert texts(outside) == {"c.txt": "outside"}
    assert [path.name for path in outside.iterdir()] == ["c.txt"]


def test_writing_leaves_a_hard_link_elsewhere_as_it_was(root: Path, outside: Path) -> None:
    path = root / "a/b/c.txt"
    path.unlink()
    os.link(outside / "c.txt", path)
    write_text(path, "written", None, OwnWrites())
    assert (path.read_text(), (outside / "c.txt").read_text()) == ("written", "outside")


def test_other_things_than_files_are_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server, tempfile.TemporaryDirectory() as short:
        place = Path(short).resolve() / "socket"
        server.bind(str(place))
        for path in (root / "pipe", place, Path("/dev/zero")):
            with pytest.raises(NotText, match="not a regular file"):
                read_text(path)
            with pytest.raises(NotRegular), Regulars() as files:
                files.read(str(path), 100)
            with pytest.raises(NotRegular):
                replace_regular(path, b"x", lambda status: None)
    with pytest.raises(IsADirectoryError):
        write_text(root / "a/b", "x", None, OwnWrites())


def test_a_path_that_is_not_resolved_is_a_fault_of_ours(root: Path) -> None:
    for path in (Path("a/b/c.txt"), root / "a/../a/b/c.txt"):
        with pytest.raises(ValueError, match="not a resolved path"), open_regular(path):
            pass


def test_a_file_in_the_place_of_a_folder_is_said_to_be_one(root: Path) -> None:
    with pytest.raises(NotADirectoryError):
        read_text(root / "a/b/c.txt/d")


EXCHANGER = """
import os, sys
place, inside, outside = sys.argv[1:]
os.symlink(outside, place + ".link")
print("ready", flush=True)
while True:
    os.rename(place, inside)
    os.rename(place + ".link", place)
    os.rename(place, place + ".link")
    os.rename(inside, place)
"""


@pytest.mark.deep
def test_a_folder_that_is_exchanged_all_the_time_never_leads_out(root: Path, outside: Path) -> None:
    place = root / "a/b"
    exchanger = subprocess.Popen(
        [sys.executable, "-c", EXCHANGER, str(place), str(root / "a/old"), str(outside)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert exchanger.stdout is not None
        assert exchanger.stdout.readline() == "ready\n"
        read = tried = 0
        while tried < many(500, deep=50_000) or read == 0:  # on a busy machine the exchanger may stand still for longer than 500 tries
            tried += 1
            try:
                assert read_text(place / "c.txt").text != "outside"
                write_text(place / "c.txt", "inside", None, OwnWrites())
                read += 1
            except OSError:
                continue
    finally:
        exchanger.kill()
        exchanger.wait()
        assert exchanger.stdout is not None
        exchanger.stdout.close()
    assert texts(outside) == {"c.txt": "outside"}
