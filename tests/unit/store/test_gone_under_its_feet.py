"""The log is removed, exchanged or cut off while it is open: nothing that was acknowledged is lost, and the user hears of it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.deep import many
from ullage.context.entries import UserPrompt
from ullage.store import folder as ullage_folder
from ullage.store import log_file
from ullage.store.copying import HeldSession
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore


def remove(*names: str) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        for name in names:
            (folder / name).unlink(missing_ok=True)

    return do


def git_clean(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder.parent, check=True)
    subprocess.run(["git", "clean", "-fdxq"], cwd=folder.parent, check=True)


def renamed_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def exchanged_for(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """A new file takes the place of the database."""

    def do(folder: Path) -> None:
        path = ullage_folder.database(folder)
        other = folder / "other.db"
        make(other)
        other.replace(path)

    return do


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def junk(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")


def other_log(path: Path) -> None:
    elsewhere = path.parent / "another"
    elsewhere.mkdir()
    store = LogStore.open(elsewhere)
    store.append(store.create_session("of another log", 1.0).id, UserPrompt("x", "other"), 1.0)
    store.close()
    shutil.copy(ullage_folder.database(elsewhere), path)


def old_backup(path: Path) -> None:
    shutil.copy(path.with_name("backup.db"), path)


def folder_removed(folder: Path) -> None:
    shutil.rmtree(folder)


def folder_made_anew(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def folder_is_another(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    shutil.copytree(folder.with_name("elsewhere"), folder)


def everything(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
        else:
            shutil.rmtree(path)


def restored_in_place(folder: Path) -> None:
    """As `cp` does: the same file with another content, and shorter."""
    path = ullage_folder.database(folder)
    path.write_bytes((folder / "backup.db").read_bytes()[: 3 * 4096])


def cut_to(size: int) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        path = ullage_folder.database(folder)
        with path.open("r+b") as file:
            file.truncate(size)

    return do


def cut_wal(folder: Path) -> None:
    with (folder / "ullage.db-wal").open("r+b") as file:
        file.truncate(0)


def another_window_was_first(folder: Path) -> None:
    """`git clean`, and then a second window begins a new log before this one notices."""
    shutil.rmtree(folder)
    there = LogStore.open(folder)
    there.append(there.create_session("of the other window", 1.0).id, UserPrompt("x", "other"), 1.0)
    there.close()


CASES: dict[str, Callable[[Path], None]] = {
    "the database is removed": remove("ullage.db"),
    "all three files are removed": remove("ullage.db", "ullage.db-wal", "ullage.db-shm"),
    "the write-ahead log is removed": remove("ullage.db-wal"),
    "the shared memory is removed": remove("ullage.db-shm"),
    "both are removed": remove("ullage.db-wal", "ullage.db-shm"),
    "database and last rows are removed": remove("ullage.db", "last-rows"),
    "git clean -fdx": git_clean,
    "the folder is removed": folder_removed,
    "the folder is made anew": folder_made_anew,
    "the folder is renamed": renamed_folder,
    "a copy of the folder takes its place": folder_is_another,
    "everything in it is removed": everything,
    "exchanged for an empty file": exchanged_for(nothing),
    "exchanged for junk": exchanged_for(junk),
    "exchanged for another program's database": exchanged_for(other_database),
    "exchanged for another log": exchanged_for(other_log),
    "exchanged for an old backup": exchanged_for(old_backup),
    "cut off to nothing": cut_to(0),
    "cut off in the middle": cut_to(5 * 4096 + 100),
    "an old backup is copied over it, in part": restored_in_place,
    "the write-ahead log is emptied": cut_wal,
    "another window begins a new one first": another_window_was_first,
}


def said(number: int) -> UserPrompt:
    return UserPrompt(f"p{number}", f"turn {number} " + "x" * 400)


ALL = [*((case, True) for case in CASES), *((case, False) for case in list(CASES)[:: many(4, deep=1)])]


@pytest.mark.deep
@pytest.mark.parametrize(("case", "at_once"), ALL)
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, case: str, at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small log is saved at once, a large one beside its users."""
    monkeypatch.setattr(log_file, "AT_ONCE_BYTES", 1 << 40 if at_once else 0)
    folder = tmp_path / "store"
    folder.mkdir()
    earlier = LogStore.open(folder)
    old = earlier.create_session("an old session", 1.0)
    earlier.append_many(old.id, [said(number) for number in range(30)], 1.0)
    earlier.close()
    shutil.copy(ullage_folder.database(folder), folder / "backup.db")
    store = LogStore.open(folder)
    told: list[str] = []
    store.tell_of(told.append)
    session = store.create_session("at work", 2.0)
    written = [store.append(session.id, said(number), 2.0) for number in range(20)]
    store.hold(lambda: [HeldSession(session.id, "at work", written), HeldSession(old.id, "an old session", before)])
    before = store.load(old.id)
    CASES[case](folder)
    written += [store.append(session.id, said(number), 3.0) for number in range(20, 40)]
    store.prompts.add(session.id, UserPrompt("q", "I wait"))
    store.close()
    assert told, "the user has to hear of it"

    again = LogStore.open(folder)
    assert again.set_aside is None
    assert again.load(session.id) == written
    assert again.damaged(session.id) == ()
    assert again.load(old.id) == before
    assert {record.title for record in again.sessions()} >= {"an old session", "at work"}
    assert again.prompts.of(session.id) == [UserPrompt("q", "I wait")]
    again.close()


def test_two_windows_meet_in_one_file_again(tmp_path: Path) -> None:
    here, there = LogStore.open(tmp_path), LogStore.open(tmp_path)
    mine, yours = here.create_session("mine", 1.0), there.create_session("yours", 1.0)
    for store, session in ((here, mine), (there, yours)):
        store.append(session.id, said(1), 1.0)
    for path in tmp_path.glob("ullage.db*"):
        path.unlink()
    for number in range(2, 5):
        here.append(mine.id, said(number), 2.0)
        there.append(yours.id, said(number), 2.0)
    here.close()
    there.close()
    again = LogStore.open(tmp_path)
    assert [len(again.load(each.id)) for each in (mine, yours)] == [4, 4]


def test_where_it_cannot_be_saved_nothing_is_acknowledged(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    store = LogStore.open(folder)
    session = store.create_session("a", 1.0)
    store.append(session.id, said(1), 1.0)
    shutil.rmtree(folder)
    folder.write_text("in the way")
    with pytest.raises(StoreFailed, match="store"):
        store.append(session.id, said(2), 2.0)
    folder.unlink()
    assert store.append(session.id, said(2), 2.0).seq == 2
    store.close()
    assert len(LogStore.open(folder).load(session.id)) == 2
