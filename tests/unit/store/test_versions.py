"""The bytes of files are kept under their hash, within a limit, and what was damaged is never given out."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ullage.context.change_entries import FileVersion
from ullage.store import folder as ullage_folder
from ullage.store.errors import StoreFailed
from ullage.store.versions import UNNAMED_SECONDS, Begun, NoRoom, ScannedFile, Versions, pack


def noise(number: int, size: int = 20_000) -> bytes:
    """Bytes that cannot be packed."""
    import random

    return random.Random(number).randbytes(size)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize("data", [b"", b"CAPACITY = 100\n", b"\xef\xbb\xbfa\r\nb", bytes(range(256)) * 100])
def test_the_very_bytes_come_back_also_after_it_was_closed(tmp_path: Path, data: bytes) -> None:
    versions = Versions.open(tmp_path)
    version = versions.keep(data)
    versions.close()
    assert version.size == len(data)
    assert Versions.open(tmp_path).read(version.sha256) == data


def test_without_a_folder_it_lies_in_memory() -> None:
    versions = Versions.open(None)
    assert versions.read(versions.keep(b"a").sha256) == b"a"


def test_only_its_user_can_read_the_file(tmp_path: Path) -> None:
    Versions.open(tmp_path).keep(b"secret")
    for path in tmp_path.glob("versions.db*"):
        assert path.stat().st_mode & 0o077 == 0, path.name


def test_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    versions = Versions.open(tmp_path)
    assert versions.keep(noise(1)) == versions.keep(noise(1))
    assert versions.size < 25_000


def test_over_the_limit_the_oldest_goes_first_and_is_known_to_have_gone(tmp_path: Path) -> None:
    versions = Versions(ullage_folder.versions(tmp_path), limit=50_000, clock=Clock())
    first, second, third = (versions.keep(noise(number)).sha256 for number in range(3))
    assert [versions.standing(each) for each in (first, second, third)] == ["let go", "kept", "kept"]
    assert versions.read(first) is None
    assert versions.standing(pack(b"never").sha256) == "unknown"
    assert versions.size <= 50_000
    assert versions.keep(noise(0)).sha256 == first
    assert versions.read(first) == noise(0)


def test_what_the_newest_scan_found_is_not_let_go_for_room(tmp_path: Path) -> None:
    versions = Versions(ullage_folder.versions(tmp_path), limit=50_000, clock=Clock())
    scanned = [pack(noise(number)) for number in range(2)]
    versions.keep_packed(scanned, named=False, seen=[(f"/{each.sha256}", ScannedFile("1", each.sha256)) for each in scanned])
    with pytest.raises(NoRoom):
        versions.keep(noise(2))
    assert [versions.standing(each.sha256) for each in scanned] == ["kept", "kept"]
    assert versions.standing(pack(noise(2)).sha256) == "unknown"


def test_what_nobody_names_goes_before_what_an_entry_names(tmp_path: Path) -> None:
    clock = Clock()
    versions = Versions(ullage_folder.versions(tmp_path), limit=50_000, clock=clock)
    named = versions.keep(noise(0)).sha256
    unnamed = pack(noise(1))
    versions.keep_packed([unnamed], named=False)
    clock.now += UNNAMED_SECONDS + 1
    versions.keep(noise(2))
    assert [versions.standing(each) for each in (named, unnamed.sha256)] == ["kept", "unknown"]


def test_damaged_content_is_not_given_out_and_can_be_kept_anew(tmp_path: Path) -> None:
    versions = Versions.open(tmp_path)
    version = versions.keep(b"CAPACITY = 100\n")
    versions.close()
    with sqlite3.connect(ullage_folder.versions(tmp_path)) as connection:
        connection.execute("UPDATE content SET packed = ?", (pack(b"CAPACITY = 999\n").data,))
    versions = Versions.open(tmp_path)
    assert versions.read(version.sha256) is None
    assert versions.standing(version.sha256) == "damaged"
    versions.keep(b"CAPACITY = 100\n")
    assert versions.read(version.sha256) == b"CAPACITY = 100\n"


@pytest.mark.parametrize("data", [b"no database at all", b"SQLite format 3\x00" + bytes(5_000)])
def test_a_damaged_file_is_kept_under_another_name(tmp_path: Path, data: bytes) -> None:
    ullage_folder.versions(tmp_path).write_bytes(data)
    versions = Versions.open(tmp_path)
    assert versions.read(versions.keep(b"a").sha256) == b"a"
    assert versions.set_aside is not None
    assert versions.set_aside.read_bytes() == data


def test_a_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    ullage_folder.versions(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreFailed):
        Versions.open(tmp_path).keep(b"a")
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_full_disk_refuses_and_leaves_everything_as_it_was(tmp_path: Path) -> None:
    versions = Versions.open(tmp_path)
    kept = versions.keep(b"a")
    connection = versions._opened()  # noqa: SLF001
    connection.execute("PRAGMA max_page_count = 10")
    with pytest.raises(StoreFailed, match="full"):
        versions.keep(noise(0, 200_000))
    connection.execute("PRAGMA max_page_count = 100000")
    assert versions.standing(pack(noise(0, 200_000)).sha256) == "unknown"
    assert versions.read(kept.sha256) == b"a"
    assert versions.size < 100


def test_a_call_that_began_is_known_until_it_has_ended(tmp_path: Path) -> None:
    versions = Versions.open(tmp_path)
    before = versions.keep(b"a", executable=True)
    edit = Begun("s", "t1", "/a/\udcff.py", before)
    command, other = Begun("s", "t2"), Begun("s2", "t1")
    for each in (edit, command, other):
        versions.begin(each)
    versions.close()
    versions = Versions.open(tmp_path)
    assert versions.begun("s") == [edit, command]
    versions.ended("s", ["t1"])
    assert versions.begun("s") == [command]
    assert versions.begun("s2") == [other]


def test_with_the_last_session_that_names_it_content_goes_for_good(tmp_path: Path) -> None:
    versions = Versions.open(tmp_path)
    gone, named = versions.keep(noise(1, 300_000)), versions.keep(b"named")
    scanned = pack(b"scanned")
    versions.keep_packed([scanned], named=False, seen=[("/a", ScannedFile("1", scanned.sha256))])
    versions.forget_all_but([named.sha256])
    assert [versions.standing(each) for each in (gone.sha256, named.sha256, scanned.sha256)] == ["unknown", "kept", "kept"]
    versions.forget_all_but([], keep_scans=False)
    assert versions.standing(scanned.sha256) == "unknown"
    assert versions.size == 0
    versions.close()
    assert ullage_folder.versions(tmp_path).stat().st_size < 100_000


def test_two_windows_keep_in_one_file(tmp_path: Path) -> None:
    here, there = Versions.open(tmp_path), Versions.open(tmp_path)
    one, other = here.keep(b"here"), there.keep(b"there")
    assert here.read(other.sha256) == b"there"
    assert there.read(one.sha256) == b"here"
    assert here.standing(FileVersion("00" * 32, 1).sha256) == "unknown"
