"""A log that an earlier version wrote opens, compacts and undoes under this one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import compactions, items, stage
from ullage.session.timeline.items import UserItem
from ullage.store import folder as ullage_folder
from ullage.store import schema
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore

VERSION_1 = Path(__file__).parent / "fixtures" / "version_1.sql"
"""Three sessions that Ullage wrote before the rows had sums: one with a compaction, a fork of it, and one with a prompt that waits."""
COMPACTED, FORK, OTHER = "18dfa8355a74c59f", "bc6245203a40499e", "95009a4f24fad291"


def restore(kept: Path) -> Path:
    """Makes the database of a workspace from the dump."""
    path = ullage_folder.database(kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(VERSION_1.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    return path


def test_all_rows_of_version_1_are_there_and_sound(tmp_path: Path) -> None:
    restore(tmp_path)
    store = LogStore.open(tmp_path)
    assert store.set_aside is None
    assert {record.id for record in store.sessions()} == {COMPACTED, FORK, OTHER}
    assert [len(store.load(each)) for each in (COMPACTED, FORK, OTHER)] == [20, 21, 4]
    assert [store.damaged(each) for each in (COMPACTED, FORK, OTHER)] == [(), (), ()]
    assert [prompt.text for prompt in store.prompts.of(OTHER)] == ["I wait"]
    assert store.recalled(f"model:{FORK}") == "claude-opus-5-5"
    store.close()
    with closing(sqlite3.connect(ullage_folder.database(tmp_path))) as connection:
        assert schema.version_of(connection) == schema.VERSION


async def test_a_session_of_version_1_compacts_and_undoes(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    restore(folder_of(folder, tmp_path / "project-state"))
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.sessions.open(COMPACTED)
        assert [item.text for item in items(session) if isinstance(item, UserItem)][-1] == "One more"
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        await session.history.undo()
        await here.say(session, "Go on")
        assert [card.status for card in compactions(session)] == ["completed", "undone"]
        assert not here.refused()


@pytest.mark.parametrize("place", [100, 5_000, 20_000])
def test_a_damaged_file_of_version_1_loses_what_is_damaged_alone(tmp_path: Path, place: int) -> None:
    path = restore(tmp_path)
    data = bytearray(path.read_bytes())
    data[place : place + 8] = b"\xff" * 8
    path.write_bytes(data)
    store = LogStore.open(tmp_path)
    there = sum(len(store.load(record.id)) for record in store.sessions())
    assert there >= 20 + 21 + 4 - 2
    assert {record.id for record in store.sessions()} == {COMPACTED, FORK, OTHER}


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM session; END", "foreign"),
        ("CREATE VIEW v AS SELECT * FROM entry", "foreign"),
        ("CREATE TABLE more (x)", "foreign"),
        ("CREATE INDEX i ON entry (abs(seq))", "foreign"),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_a_file_with_tables_or_triggers_that_are_not_ours_is_not_believed(tmp_path: Path, statement: str, name: str, version: int) -> None:
    path = restore(tmp_path)
    if version == 2:
        LogStore.open(tmp_path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    store = LogStore.open(tmp_path)
    assert store.set_aside is not None
    assert name in store.set_aside.path.name
    assert store.sessions() == []
