"""`ullage inspect` on a real log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.context.logs import calls, compaction, prompt, returned, says
from ullage.context.compaction_entries import Cleared, CompactionUndone, FetchedAgain, Summarised
from ullage.context.entries import Entry, EntryPinned
from ullage.inspection import run
from ullage.store.folder import folder_of, store_location
from ullage.store.log_store import LogStore

ENTRIES: tuple[Entry, ...] = (
    prompt("Measure\x1b[31m the tank"),
    calls("t1"),
    returned("t1", "42 centimetres"),
    says("Done"),
    compaction("c1", summarised=Summarised(3, "The record", 3)),
    prompt("And now?"),
    compaction("c2", cleared=[Cleared(3, "gone")]),
    CompactionUndone("c2"),
    EntryPinned(6, True),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    store = LogStore.open(folder_of(tmp_path, store_location()))
    for title in ("An older one", "Measure the tank"):
        record = store.create_session(title, 1_700_000_000.0)
        store.append_many(record.id, ENTRIES, 1_700_000_060.0)
    store.close()
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    seen = capsys.readouterr()
    return seen.out, seen.err


def test_it_prints_the_epochs_of_the_last_session(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("last", workspace, "table", messages=False) == 0
    out, _ = printed(capsys)
    assert "Measure the tank" in out
    assert "Epoch 1" in out
    assert "Epoch 2, from 2023-11-14 22:14:20, in force" in out
    assert "Epoch 3, from 2023-11-14 22:14:20, undone" in out
    assert "3 messages summarised" in out
    assert "Pinned: #6" in out
    assert "42 centimetres" not in out


def test_with_messages_each_has_its_fate_and_nothing_is_a_command_to_the_terminal(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("last", workspace, "table", messages=True) == 0
    out, _ = printed(capsys)
    assert "\x1b" not in out
    [line] = [line for line in out.splitlines() if "42 centimetres" in line]
    assert "summarised by c1" in line
    [line] = [line for line in out.splitlines() if "And now?" in line]
    assert "kept" in line


def test_as_json_it_has_the_same(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("last", workspace, "json", messages=False) == 0
    told = json.loads(printed(capsys)[0])
    assert [epoch["undone"] for epoch in told["epochs"]] == [False, False, True]
    assert told["epochs"][1]["compaction"]["messages_summarised"] == 3
    assert {message["fate"] for message in told["messages"]} == {"kept", "summarised"}
    assert told["pinned"] == {"entries": [6], "files": []}


def test_it_tells_what_was_read_again_after_a_compaction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(f"the dip of tank {number} is told in millimetres" for number in range(8))
    again = (calls("t2"), returned("t2", text, "dips.py"))
    later = compaction("c2", summarised=Summarised(7, "All"))
    told = replace(later, fetched_again=FetchedAgain("c1", ("dips.py",), len(text), 140, 1, 2, 0.0007))
    store = LogStore.open(folder_of(tmp_path, store_location()))
    record = store.create_session("Measure", 1_700_000_000.0)
    first = (
        prompt("Go"),
        calls("t1"),
        returned("t1", text, "dips.py"),
        says("Done"),
        compaction("c1", summarised=Summarised(4, "The record")),
    )
    store.append_many(record.id, (*first, *again, told, calls("t3"), returned("t3", text)), 1_700_000_060.0)
    store.close()
    assert run("last", tmp_path, "table", messages=False) == 0
    lines = [line.strip() for line in printed(capsys)[0].splitlines() if "read again after it" in line]
    assert lines[0] == "read again after it, though it was known: 140 tokens, $0.0007: dips.py"
    assert lines[1].endswith("tokens"), "neither price nor file is known"
    assert run("last", tmp_path, "json", messages=False) == 0
    made = [epoch["compaction"]["fetched_again"] for epoch in json.loads(printed(capsys)[0])["epochs"][1:]]
    assert made[0] == {"files": ["dips.py"], "characters": len(text), "tokens": 140, "dollars": 0.0007}
    assert (made[1]["files"], made[1]["dollars"]) == ([], None)


def test_it_shows_which_files_the_agent_was_told_of_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nearby = '<files note="seen">\nsrc/: dips.py (read_dip), tank.py\n</files>'
    made = replace(compaction("c1", summarised=Summarised(3, "The record")), nearby=nearby)
    store = LogStore.open(folder_of(tmp_path, store_location()))
    record = store.create_session("Measure", 1_700_000_000.0)
    store.append_many(record.id, (prompt("Go"), says("Done"), prompt("On"), made), 1_700_000_060.0)
    store.close()
    assert run("last", tmp_path, "table", messages=False) == 0
    assert "  told of by name: src/: dips.py (read_dip), tank.py" in printed(capsys)[0].splitlines()
    assert run("last", tmp_path, "json", messages=False) == 0
    assert json.loads(printed(capsys)[0])["epochs"][1]["compaction"]["files_nearby"] == nearby


@pytest.mark.parametrize(("name", "words"), [("zzz", "There is no session 'zzz'"), ("", "2 sessions begin with ''")])
def test_an_unknown_session_is_named_with_those_that_there_are(
    workspace: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    assert run(name, workspace, "table", messages=False) == 1
    _, err = printed(capsys)
    assert words in err
    assert "An older one" in err


def test_a_folder_without_sessions_and_a_file_that_is_no_log_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("last", tmp_path, "table", messages=False) == 1
    assert "has no sessions of Ullage" in printed(capsys)[1]
    kept = folder_of(tmp_path, store_location())
    kept.mkdir(parents=True)
    (kept / "ullage.db").write_text("no database")
    assert run("last", tmp_path, "table", messages=False) == 1
    assert "no database that can be read" in printed(capsys)[1]
