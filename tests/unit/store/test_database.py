"""A database file that cannot be used is set aside and told of; a folder that cannot be written to fails clearly."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ullage.context.entries import UserPrompt
from ullage.store import folder, schema
from ullage.store.database import connect, open_file
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.schema import add_functions


def make_log(workspace: Path) -> None:
    store = LogStore.open(workspace)
    session = store.create_session("a", 1.0)
    store.append_many(session.id, [UserPrompt(f"p{number}", "x" * 3000) for number in range(50)], 2.0)
    store.close()


def test_writing_is_durable(tmp_path: Path) -> None:
    connection, _ = open_file(tmp_path / "ullage.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def no_database(_: bytes) -> bytes:
    return b"this is no database\n" * 500


def cut_off(content: bytes) -> bytes:
    return content[: len(content) // 2]


def with_holes(content: bytes) -> bytes:
    return content[:8192] + b"\xff" * 16384 + content[24576:]


@pytest.mark.parametrize(("damage", "left"), [(no_database, 0), (cut_off, 15), (with_holes, 40)])
def test_a_damaged_file_is_set_aside_byte_for_byte_and_what_can_be_read_is_there(
    tmp_path: Path, damage: Callable[[bytes], bytes], left: int
) -> None:
    make_log(tmp_path)
    path = folder.database(tmp_path)
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    store = LogStore.open(tmp_path)
    assert store.set_aside is not None
    assert store.set_aside.path.read_bytes() == damaged
    assert store.set_aside.path.name in store.set_aside.reason
    assert "damaged" in store.set_aside.reason
    for record in store.sessions():
        there = store.load(record.id)
        assert len(there) >= left
        assert len(there) + len(store.damaged(record.id)) == 50
        store.append(record.id, UserPrompt("p50", "goes on"), 3.0)
    assert bool(store.sessions()) == (left > 0)
    store.create_session("goes on", 1.0)
    store.close()
    again = LogStore.open(tmp_path)
    assert again.set_aside is None
    assert len(again.sessions()) == 1 + (left > 0)


def test_a_file_of_a_later_version_is_set_aside(tmp_path: Path) -> None:
    make_log(tmp_path)
    with sqlite3.connect(folder.database(tmp_path)) as connection:
        schema.set_version(connection, schema.VERSION + 1)
    connection.close()
    store = LogStore.open(tmp_path)
    assert store.set_aside is not None
    assert "later version" in store.set_aside.reason
    with sqlite3.connect(store.set_aside.path) as connection:
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (50,)
    connection.close()


def test_a_file_of_a_later_version_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    make_log(tmp_path)
    path = folder.database(tmp_path)
    connection = sqlite3.connect(path)
    schema.set_version(connection, schema.VERSION + 1)
    connection.execute("SELECT count(*) FROM entry").fetchone()
    with pytest.raises(StoreFailed, match="another window"):
        LogStore.open(tmp_path)
    assert connection.execute("SELECT count(*) FROM entry").fetchone() == (50,)
    assert path.exists()
    connection.close()


def test_a_folder_that_cannot_be_written_to_fails_clearly(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file where the folder should be")
    with pytest.raises(StoreFailed, match=r"Cannot write to .*kept"):
        LogStore.open(tmp_path / "kept")


def test_no_function_runs_because_a_schema_says_so(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as plain:
        add_functions(plain)
        plain.execute("CREATE VIEW trap AS SELECT updated_sum(x'00', 1.0) AS value")
        assert plain.execute("SELECT value FROM trap").fetchone()
    with closing(connect(str(tmp_path / "a.db"))) as ours, pytest.raises(sqlite3.OperationalError, match="unsafe use"):
        ours.execute("SELECT value FROM trap")
