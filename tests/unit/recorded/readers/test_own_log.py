"""Ullage's own log as transcripts."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.context.logs import PRELUDE, calls, compaction, prompt, returned, says
from tests.unit.recorded.readers.recorded import drawn, mended
from ullage.context.blocks import Usage
from ullage.context.compaction_entries import (
    Cleared,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    FetchedAgain,
    FileTakenOut,
    Summarised,
)
from ullage.context.entries import Clipped, Entry, TurnEnded
from ullage.context.policies.ullage import ULLAGE
from ullage.context.view.taken_out import EXCLUDED_RESULT
from ullage.recorded.readers import NotATranscript, read
from ullage.recorded.readers.own_log import BY_THE_USER
from ullage.recorded.transcript import RecordedAside, RecordedCompaction, RecordedExclusion, RecordedReversal
from ullage.replay.simulating.prepared import PreparedSession
from ullage.replay.simulating.simulation import outcome_of
from ullage.session.history import preview
from ullage.store.log_store import LogStore
from ullage.store.schema import set_version

SESSION: tuple[Entry, ...] = (
    PRELUDE,
    prompt("Look"),
    calls("t1"),
    returned("t1"),
    compaction("c1", summarised=Summarised(4, "So far")),
    says("Done."),
    TurnEnded("end_turn"),
    compaction("c2", summarised=Summarised(6, "Undone later")),
    CompactionUndone("c2"),
    prompt("More"),
    calls("t2"),
    returned("t2"),
    Clipped(12, "short", "out.txt"),
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    workspace = tmp_path / "work #1?"
    workspace.mkdir()
    store = LogStore.open(workspace)
    session = store.create_session("Looking", 5.0)
    for at, entry in enumerate(SESSION, 10):
        store.append(session.id, entry, float(at))
    store.create_session("Empty", 1.0)
    store.close()
    return workspace / "ullage.db"


def test_what_summarises_nothing_is_no_recorded_compaction(tmp_path: Path):
    assert BY_THE_USER == preview.BY_THE_USER
    store = LogStore.open(tmp_path)
    session = store.create_session("Looking", 5.0)
    kept = replace(compaction("c3", cleared=[Cleared(3, "gone")]), trigger="manual")
    small = [replace(kept, id="c1", trigger="upkeep"), replace(kept, id="c2", policy=BY_THE_USER)]
    undone = replace(kept, id="c4", trigger="upkeep")
    for entry in (prompt("Look"), calls("t1"), returned("t1"), *small, kept, undone, CompactionUndone("c4"), says("Done.")):
        store.append(session.id, entry, 6.0)
    store.close()
    (transcript,) = read(tmp_path / "ullage.db")
    assert transcript.compactions == (
        RecordedCompaction(
            *(3, "", False, 0, 6.0),
            usage=Usage(0, 0),
            trigger="manual",
            id="c3",
            policy="ullage",
            fetched_again=FetchedAgain("c3", (), 0, 0, 0, 1),
        ),
    )
    assert mended(transcript) == {
        "clearings before a call (upkeep) or by the user's hand": 2,
        "compactions whose summary is not recorded": 1,
    }


def test_the_history_tells_what_the_user_did_by_hand_and_what_was_planned_when(tmp_path: Path):
    store = LogStore.open(tmp_path)
    session = store.create_session("Looking", 5.0)
    first = compaction("c1", summarised=Summarised(2, "So far"))
    out = replace(compaction("c2", cleared=[Cleared(5, EXCLUDED_RESULT)]), trigger="manual", policy=BY_THE_USER)
    file_out = replace(out, id="c3", cleared=(), without_files=(FileTakenOut("a.py", (1,)),))
    failed = CompactionFailed("c4", "manual", "Nothing to compact", cancelled=True)
    again = replace(first, id="c5", summarised=Summarised(2, "So far", carried=(1,)))
    entries = (
        *(prompt("Look"), says("Well."), prompt("More"), calls("t1"), returned("t1"), replace(first, through=3), CompactionUndone("c1")),
        *(out, CompactionUndone("c2"), CompactionRedone("c2"), file_out, failed, replace(again, through=3), says("Done.")),
    )
    for entry in entries:
        store.append(session.id, entry, 6.0)
    store.close()
    (transcript,) = read(tmp_path / "ullage.db")
    made, *by_hand = transcript.history
    assert isinstance(made, RecordedCompaction)
    assert (made.id, made.after_seq, made.planned_after) == ("c1", 5, 3)
    assert by_hand == [
        RecordedReversal("c1", "c1", 5, 6.0, redo=False),
        RecordedExclusion("c2", 5, 6.0, 5),
        RecordedReversal("c2", "c2", 5, 6.0, redo=False),
        RecordedReversal("c2", "c2", 5, 6.0, redo=True),
        RecordedExclusion("c3", 5, 6.0, 0, "a.py"),
        RecordedAside(5, 6.0, failed),
        RecordedReversal("c5", "c1", 5, 6.0, redo=True),
    ]
    assert [each.id for each in transcript.compactions] == ["c5"]


def test_a_compaction_after_a_refusal_tells_of_it(tmp_path: Path):
    store = LogStore.open(tmp_path)
    session = store.create_session("Looking", 5.0)
    refused = replace(compaction("c1", summarised=Summarised(2, "So far")), trigger="reactive")
    for entry in (prompt("Look"), says("Well."), prompt("More"), refused, says("Done.")):
        store.append(session.id, entry, 6.0)
    store.close()
    (transcript,) = read(tmp_path / "ullage.db")
    assert [(each.after_seq, each.automatic, each.reactive) for each in transcript.compactions] == [(3, True, True)]


def files_beside(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def test_every_session_is_a_transcript_without_its_compactions(database: Path):
    transcript, empty = read(database)
    assert drawn(transcript) == [
        "system: You are a coding agent.",
        "user: Look",
        "assistant: t1()",
        "=t1 text of t1",
        "assistant: Done.",
        "TurnEnded",
        "user: More",
        "assistant: t2()",
        "=t2 text of t2",
        "Clipped",
    ]
    assert [logged.seq for logged in transcript.entries] == list(range(1, 11))
    assert transcript.entries[-1].entry == Clipped(9, "short", "out.txt")
    assert transcript.entries[1].at == 11.0
    assert transcript.compactions == (
        RecordedCompaction(
            *(4, "So far", True, 0, 14.0),
            usage=Usage(0, 0),
            trigger="threshold",
            by_program=True,
            policy="ullage",
            id="c1",
            fetched_again=FetchedAgain("c1", (), 0, 0, 0, 4),
        ),
    )
    assert mended(transcript) == {"compactions that were undone": 1}
    assert (transcript.source, empty.entries) == ("ullage", ())


def test_reading_leaves_everything_as_it_is(database: Path):
    before = files_beside(database)
    read(database)
    assert files_beside(database) == before


def test_a_log_that_an_editor_has_open_is_read_with_its_last_entries(database: Path):
    store = LogStore.open(database.parent)
    session = store.sessions()[0]
    store.append(session.id, prompt("Just now"), 99.0)
    assert drawn(read(database)[0])[-1] == "user: Just now"
    store.close()


def test_entries_that_cannot_be_read_are_counted(database: Path):
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE entry SET body = '{' WHERE seq = 2")
    connection.close()
    transcript = read(database)[0]
    assert "user: Look" not in drawn(transcript)
    assert mended(transcript)["entries of the log that cannot be read"] == 1


def other_version(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def test_a_log_of_a_later_version_is_refused(database: Path):
    with closing(sqlite3.connect(database)) as connection:
        set_version(connection, 99)
    with pytest.raises(NotATranscript, match="later version"):
        read(database)


@pytest.mark.parametrize("version", [0, 1])
def test_another_programs_database_is_refused(tmp_path: Path, version: int):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    other_version(path, version)
    with pytest.raises(NotATranscript, match="no log of Ullage"):
        read(path)


def test_a_damaged_database_is_refused(database: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    shutil.copy(database, copy)
    copy.write_bytes(copy.read_bytes()[:100] + bytes(range(256)) * 40)
    with pytest.raises(NotATranscript):
        read(copy)


@pytest.mark.parametrize("original_is_gone", [False, True])
def test_what_forks_have_in_common_is_counted_once(tmp_path: Path, original_is_gone: bool):
    store = LogStore.open(tmp_path)
    original = store.create_session("Looking", 5.0)
    counted = replace(says("Seen."), usage=Usage(100, 10, cache_read_tokens=1_000), cost=0.5)
    store.append_many(original.id, [PRELUDE, prompt("Look"), counted, TurnEnded("end_turn")], 6.0)
    forks = [store.fork(original.id, None, "Looking (fork)", at) for at in (7.0, 8.0)]
    for each in forks:
        store.append_many(each.id, [prompt("And now?"), counted, TurnEnded("end_turn")], 9.0)
    if original_is_gone:
        store.delete(original.id)
    store.close()
    transcripts = list(read(tmp_path / "ullage.db"))
    assert sum(reply.usage is not None for transcript in transcripts for reply in transcript.replies) == 3
    assert sum(reply.usage is None for transcript in transcripts for reply in transcript.replies) == (1 if original_is_gone else 2)
    whole = {tuple(drawn(transcript)) for transcript in transcripts}
    assert (
        "system: You are a coding agent.",
        "user: Look",
        "assistant: Seen.",
        "TurnEnded",
        "user: And now?",
        "assistant: Seen.",
        "TurnEnded",
    ) in whole
    runs = [outcome_of(PreparedSession(transcript), ULLAGE).run for transcript in transcripts]
    assert sum(len(run.requests) for run in runs) == 3
    assert [run.failure for run in runs] == [""] * len(runs)
    flaws = [mended(transcript) for transcript in transcripts]
    assert sum(len(each) for each in flaws) == (1 if original_is_gone else 2)
