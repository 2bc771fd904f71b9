"""A log that an earlier version wrote opens, compacts, undoes and replays under this one, also where its migration was cut off."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import compactions, items, stage
from ullage.context.entries import UserPrompt
from ullage.context.policies.ullage import ULLAGE
from ullage.recorded.readers import own_log
from ullage.replay.simulating.prepared import PreparedSession
from ullage.replay.simulating.simulation import outcome_of
from ullage.session.timeline.items import UserItem
from ullage.store import folder as ullage_folder
from ullage.store import schema
from ullage.store.database import connect
from ullage.store.folder import folder_of
from ullage.store.log_store import LogStore
from ullage.store.statements import damage_in_words

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


def check_all_rows(kept: Path) -> None:
    store = LogStore.open(kept)
    assert store.set_aside is None
    assert {record.id for record in store.sessions()} == {COMPACTED, FORK, OTHER}
    assert [len(store.load(each)) for each in (COMPACTED, FORK, OTHER)] == [20, 21, 4]
    assert [store.damaged(each) for each in (COMPACTED, FORK, OTHER)] == [(), (), ()]
    assert [prompt.text for prompt in store.prompts.of(OTHER)] == ["I wait"]
    assert store.recalled(f"model:{FORK}") == "claude-opus-5-5"
    store.close()
    with closing(sqlite3.connect(ullage_folder.database(kept))) as connection:
        assert schema.version_of(connection) == schema.VERSION


def test_all_rows_of_version_1_are_there_and_sound(tmp_path: Path) -> None:
    restore(tmp_path)
    check_all_rows(tmp_path)


@pytest.mark.parametrize("done", range(1, len(schema.MIGRATIONS[1]) + 1))
def test_where_the_process_was_killed_in_the_midst_of_a_migration_all_rows_are_there(tmp_path: Path, done: int) -> None:
    """After so many of its statements, with all that they changed on the disk by then."""
    path = restore(tmp_path / "killed")
    after = ullage_folder.database(tmp_path / "after")
    after.parent.mkdir(parents=True)
    with closing(connect(str(path))) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("BEGIN IMMEDIATE")
        for statement in schema.MIGRATIONS[1][:done]:
            connection.execute(statement)
        for suffix in ("", "-wal"):
            shutil.copy(path.with_name(path.name + suffix), after.with_name(after.name + suffix))
        connection.rollback()
    check_all_rows(tmp_path / "after")


def test_a_log_of_version_1_is_replayed_as_it_lies_there(tmp_path: Path) -> None:
    path = restore(tmp_path)
    before = path.read_bytes()
    transcripts = {transcript.session_id: transcript for transcript in own_log.read(path)}
    assert transcripts.keys() == {COMPACTED, FORK, OTHER}
    assert len(transcripts[COMPACTED].compactions) == 1
    for transcript in transcripts.values():
        run = outcome_of(PreparedSession(transcript), ULLAGE).run
        assert run.failure == ""
        assert len(run.requests) == sum(reply.usage is not None for reply in transcript.replies)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


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


def test_entries_that_a_later_version_wrote_are_told_as_such_and_stay(tmp_path: Path) -> None:
    with closing(LogStore.open(tmp_path)) as store:
        session = store.create_session("later", 1.0)
        store.append_many(session.id, [UserPrompt(f"p{number}", "Look") for number in range(4)], 1.0)
    later = '{"kind": "weighed", "tokens": 4}'
    with closing(connect(str(ullage_folder.database(tmp_path)))) as connection:
        of_it = "CAST(session_id AS BLOB), seq, at, CAST(:later AS BLOB)"
        connection.execute(f"UPDATE entry SET body = :later, sum = entry_sum({of_it}) WHERE seq > 1", {"later": later})
    with closing(LogStore.open(tmp_path)) as store:
        assert [logged.seq for logged in store.load(session.id)] == [1]
        assert damage_in_words(store.damaged(session.id)) == [
            "Entries 2 to 4 of this session are of a later version of Ullage and were passed over. Update Ullage to see them."
        ]
        assert store.append(session.id, UserPrompt("p5", "Go on"), 2.0).seq == 5
    with closing(connect(str(ullage_folder.database(tmp_path)))) as connection:
        assert connection.execute("SELECT count(*) FROM entry WHERE body = ?", (later,)).fetchone() == (3,)


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
