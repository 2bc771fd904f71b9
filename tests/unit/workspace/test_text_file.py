"""Reading and writing text files: encodings, line ends, modes and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ullage.workspace.text_file import MAXIMUM_BYTES, FileTooLarge, NotEncodable, NotText, OwnWrites, read_text, write_text


@pytest.mark.parametrize(
    ("data", "text", "encoding", "newline"),
    [
        (b"a\nb\n", "a\nb\n", "utf-8", "\n"),
        (b"", "", "utf-8", "\n"),
        (b"a\r\nb\r\n", "a\nb\n", "utf-8", "\r\n"),
        (b"a\r\nb\n", "a\r\nb\n", "utf-8", "mixed"),
        (b"\xef\xbb\xbfa\n", "a\n", "utf-8-sig", "\n"),
        ("grün\r\n".encode("utf-16"), "grün\n", "utf-16-le", "\r\n"),
        (b"\xfe\xff" + "grün\n".encode("utf-16-be"), "grün\n", "utf-16-be", "\n"),
        ("grün\n".encode("latin-1"), "grün\n", "latin-1", "\n"),
    ],
)
def test_a_file_written_back_is_the_same_bytes(tmp_path: Path, data: bytes, text: str, encoding: str, newline: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    read = read_text(path)
    assert (read.text, read.encoding, read.newline) == (text, encoding, newline)
    write_text(path, read.text, read, OwnWrites())
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "data", [b"a\0b", b"\x89PNG\r\n\x1a\n\xff\xfe", bytes(range(256)), b"\xff\xfea", "a\0b".encode("utf-16"), "a".encode("utf-32")]
)
def test_binary_is_not_text(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(NotText):
        read_text(tmp_path / "file")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotText, match="not a regular file"):
        read_text(tmp_path / "pipe")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MAXIMUM_BYTES + 1)
    with pytest.raises(FileTooLarge, match="10,000,001 bytes"):
        read_text(tmp_path / "huge")


def test_missing_files_and_folders_are_the_systems_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)


def test_writing_keeps_the_mode_and_leaves_nothing_beside(tmp_path: Path) -> None:
    target = tmp_path / "script.sh"
    target.write_text("old")
    target.chmod(0o755)
    write_text(target, "new", read_text(target), OwnWrites())
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["script.sh"]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.txt", "text", None, OwnWrites())
    assert (tmp_path / "a" / "b" / "c.txt").read_text() == "text"


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_text(path, "new", None, OwnWrites())
    assert path.read_text() == "old"


def test_text_that_the_encoding_does_not_know_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes("grün".encode("latin-1"))
    with pytest.raises(NotEncodable, match="'€'"):
        write_text(path, "grün €", read_text(path), OwnWrites())
    assert path.read_bytes() == "grün".encode("latin-1")
