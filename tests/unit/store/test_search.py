"""Everything that was said or returned is found by its words, and nothing that is typed is an operator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import RedactedThinking, Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, Snipped, Summarised
from ullage.context.entries import AssistantReply, Attachment, Entry, Notice, ToolReturned, UserPrompt
from ullage.context.view.taken_out import EXCLUDED_MESSAGE
from ullage.store import folder
from ullage.store.log_store import LogStore
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.search import SearchIndex
from ullage.store.versions import Versions
from ullage.store.workspace_store import erase_session

SUMMARY = Compaction("c1", "manual", "model", 3, (), None, Summarised(3, "handoff: the nozzle was replaced"), (), "", "", "ullage", 9, 1)
SAID: list[Entry] = [
    UserPrompt("p1", "Please fix the strapping table", (Attachment("notes.md", "barometer readings"),)),
    AssistantReply(
        "r1",
        (
            Thinking("ponder the interpolation", "s"),
            RedactedThinking("zz"),
            Text("I shall look at `read_file`"),
            ToolUse("t1", "bash", {"command": "grep -rn trycock"}),
        ),
        "m",
        "tool_use",
        None,
    ),
    ToolReturned("t1", "bash", "src/tank.py:17: def dip_to_volume(level)", is_error=False, characters=39),
    Notice("file_changed", "thermometer.csv changed on disk"),
    SUMMARY,
    UserPrompt("p2", "日本語のテキストを直して"),
]


class Workspace:
    """A log with its index, on disk or in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.log = LogStore.open(path)
        self.results = ResultFiles(path)
        self.index = SearchIndex(path, self.log, self.results)

    def session(self, entries: list[Entry], at: float = 2.0) -> str:
        session_id = self.log.create_session("a", 1.0).id
        self.log.append_many(session_id, entries, at)
        return session_id

    def found(self, words: str, limit: int = 10) -> list[tuple[int, str]]:
        return [(hit.seq, hit.what) for hit in self.index.search(words, limit)]


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("strapping", [(1, "user")]),
        ("STRAPPING Table", [(1, "user")]),
        ("strap", [(1, "user")]),
        ("barometer", [(1, "attachment notes.md")]),
        ("interpolation", [(2, "thinking")]),
        ("read_file", [(2, "assistant")]),
        ("trycock", [(2, "call of bash")]),
        ("dip_to_volume", [(3, "result of bash")]),
        ("thermometer", [(4, "notice")]),
        ("nozzle", [(5, "summary")]),
        ("trapping tabl", [(1, "user")]),
        ("volume(level)", [(3, "result of bash")]),
        ("テキスト", [(6, "user")]),
        ("nozzle weatherglass", [(5, "summary")]),
        ("weatherglass", []),
        ("", []),
        ("   ", []),
    ],
)
def test_words_are_found_where_they_stand(tmp_path: Path, in_memory: bool, words: str, expected: list[tuple[int, str]]) -> None:
    workspace = Workspace(None if in_memory else tmp_path)
    workspace.session(SAID)
    assert workspace.found(words) == expected


def test_all_words_come_before_any_word_and_the_limit_holds() -> None:
    workspace = Workspace(None)
    workspace.session([UserPrompt(f"p{number}", text) for number, text in enumerate(["red", "red green", "green", "red green"])])
    assert {seq for seq, _ in workspace.found("red green")} == {2, 4}
    assert len(workspace.found("red", limit=1)) == 1
    assert workspace.found("red", limit=0) == []


def test_of_very_many_words_each_counts_once_and_the_longest_count(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Workspace(None)
    here.session([UserPrompt("p1", "the nozzle leaks"), UserPrompt("p2", "the barometer falls"), UserPrompt("p3", "nozzle of a barometer")])
    assert here.found("nozzle " * 2_000) == here.found("nozzle") == [(1, "user"), (3, "user")]
    few = " ".join(f"x{number}" for number in range(23))
    assert [seq for seq, _ in here.found(f"{few} nozzle")] == [1, 3]
    assert [seq for seq, _ in here.found(f"{few} a b c d nozzle barometer")] == [3, 1, 2]
    assert [seq for seq, _ in here.found(f"barometer{'r' * 1_000}")] == []
    asked: list[int] = []

    def phrase(word: str) -> str:
        asked.append(len(word))
        return '"x"'

    monkeypatch.setattr("ullage.store.search._phrase", phrase)
    here.found(" ".join(f"{'w' * 500}{number}" for number in range(2_000)))
    assert (len(asked), max(asked)) == (24, 200)


@pytest.mark.parametrize(("rows", "size"), [(1, 1_000_000), (2, 1_000_000), (7, 1_000_000), (2_000, 1), (2_000, 200)])
def test_what_is_taken_in_is_the_same_in_batches_of_any_size(rows: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def hits() -> list[tuple[int, str]]:
        here = Workspace(None)
        first = here.session(SAID)
        fork = here.log.fork(first, 4, "a fork", 3.0).id
        for session_id in (first, fork, first):
            here.log.append_many(session_id, [UserPrompt(f"p{number}", f"nozzle {number} of them") for number in range(9)], 4.0)
        return here.found("nozzle", 50) + here.found("table", 50)

    whole = hits()
    assert len(whole) == 29
    monkeypatch.setattr("ullage.store.search._BATCH", rows)
    monkeypatch.setattr("ullage.store.search._BATCH_BYTES", size)
    assert hits() == whole


def test_a_hit_says_where_and_when_and_shows_the_words() -> None:
    workspace = Workspace(None)
    session_id = workspace.session(
        [ToolReturned("t9", "read_file", "a\n" * 400 + "the valve is\nstuck" + "\nb" * 400, is_error=False, characters=1700)], 7.5
    )
    (hit,) = workspace.index.search("valve", 5)
    assert (hit.session_id, hit.seq, hit.at, hit.tool_use_id) == (session_id, 1, 7.5, "t9")
    assert "the valve is stuck" in hit.excerpt
    assert len(hit.excerpt) < 300


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_nothing_that_is_typed_is_an_operator(words: str) -> None:
    workspace = Workspace(None)
    workspace.session(SAID)
    workspace.index.search(words, 3)


@pytest.mark.parametrize("words", ['"', "a AND", "NEAR(", "text:a", "^a", "a*", "-a", "a + b", "{a}", "NOT", "'; --"])
def test_operators_are_plain_words(words: str) -> None:
    workspace = Workspace(None)
    workspace.session([UserPrompt("p", f"before {words} after")])
    assert workspace.found(words) == [(1, "user")]


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_clipped_result_is_found_and_opened_whole(tmp_path: Path, in_memory: bool) -> None:
    workspace = Workspace(None if in_memory else tmp_path)
    whole = "start\n" + "filler\n" * 20_000 + "needle\n" + "filler\n" * 20_000
    path = workspace.results.save("t1", whole)
    clipped = ToolReturned("t1", "bash", "start … filler", is_error=False, characters=len(whole), full_output=path)
    session_id = workspace.session([clipped])
    assert workspace.found("needle") == [(1, "result of bash")]
    assert workspace.index.result("t1", session_id) == whole
    assert workspace.index.result("t2", session_id) is None
    if path is not None:
        (tmp_path / path).unlink()
        assert workspace.index.result("t1", session_id) == "start … filler"


def test_the_same_id_in_two_sessions_opens_the_own_result(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    ids = [workspace.session([ToolReturned("call_0", "bash", f"result {name}", is_error=False, characters=8)]) for name in "ab"]
    assert [workspace.index.result("call_0", session_id) for session_id in ids] == ["result a", "result b"]
    assert workspace.index.result("call_0", "a third session") == "result b"


def test_the_index_follows_the_log_and_is_made_again_when_it_is_lost(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    session_id = workspace.session(SAID)
    assert workspace.found("nozzle") == [(5, "summary")]
    workspace.log.append(session_id, UserPrompt("p3", "another nozzle"), 3.0)
    assert {seq for seq, _ in workspace.found("nozzle")} == {5, 7}
    workspace.index.close()
    folder.search_index(tmp_path).write_bytes(b"this is no database\n" * 500)
    workspace.index = SearchIndex(tmp_path, workspace.log, workspace.results)
    assert {seq for seq, _ in workspace.found("nozzle")} == {5, 7}


def test_another_window_finds_what_was_said_here(tmp_path: Path) -> None:
    here, there = Workspace(tmp_path), Workspace(tmp_path)
    here.session(SAID)
    assert there.found("nozzle") == here.found("nozzle") == [(5, "summary")]


def test_an_erased_session_leaves_nothing_behind(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    path = workspace.results.save("t1", "secret plan" * 10)
    erased = workspace.session([*SAID, ToolReturned("t1", "bash", "secret", is_error=False, characters=110, full_output=path)])
    kept = workspace.session([UserPrompt("p", "nozzle")])
    folder.transcripts(tmp_path).mkdir()
    (folder.transcripts(tmp_path) / f"{erased}-1.jsonl").write_text("{}")
    (folder.transcripts(tmp_path) / f"{kept}-1.jsonl").write_text("{}")
    assert len(workspace.found("nozzle")) == 2
    erase_session(erased, tmp_path, workspace.log, workspace.index, workspace.results, MediaFiles(tmp_path), Versions(None))
    assert [record.id for record in workspace.log.sessions()] == [kept]
    assert workspace.found("nozzle") == [(1, "user")]
    assert workspace.found("secret") == []
    assert workspace.index.result("t1", kept) is None
    assert list(folder.results(tmp_path).iterdir()) == []
    assert [file.name for file in folder.transcripts(tmp_path).iterdir()] == [f"{kept}-1.jsonl"]


def test_what_holds_the_words_as_they_were_written_comes_first(tmp_path: Path):
    store = LogStore.open(tmp_path)
    record = store.create_session("", 1.0)
    said = ["sessionID sessionID sessionID", "checkpoint ID", "formatStatusShort", *(f"the {'x ' * 200} sessionId {n}" for n in range(3))]
    said += ["a checkpoint_id here", "formatStatus()"]
    for number, text in enumerate(said):
        store.append(record.id, UserPrompt(f"p{number}", text), 1.0)
    index = SearchIndex(tmp_path, store, ResultFiles(tmp_path))
    for words in ("sessionId", "checkpoint_id", "formatStatus"):
        first = index.search(words, 2)[0]
        assert words in first.excerpt
        assert f"{words}Short" not in first.excerpt
    index.close()
    store.close()


def test_a_search_does_not_find_itself_but_what_it_gave_can_be_opened(tmp_path: Path):
    store = LogStore.open(tmp_path)
    record = store.create_session("", 1.0)
    store.append(record.id, UserPrompt("p", "the datum plate is at 1,204 mm"), 1.0)
    call = ToolUse("t1", "recall", {"query": "datum plate"})
    store.append(record.id, AssistantReply("r", (call,), "m", "tool_use", None), 1.0)
    store.append(record.id, ToolReturned("t1", "recall", "user: the datum plate is at 1,204 mm", False, 36), 1.0)
    index = SearchIndex(tmp_path, store, ResultFiles(tmp_path))
    assert [hit.what for hit in index.search("datum plate", 10)] == ["user"]
    assert index.result("t1", record.id) == "user: the datum plate is at 1,204 mm"
    index.close()
    store.close()


@pytest.mark.parametrize("in_memory", [True, False])
def test_of_each_session_it_is_known_what_is_out_of_sight(tmp_path: Path, *, in_memory: bool) -> None:
    workspace = Workspace(None if in_memory else tmp_path)
    takes_out = replace(SUMMARY, id="x", summarised=None, snipped=Snipped(1, 1, EXCLUDED_MESSAGE))
    session_id = workspace.session([*SAID, takes_out])
    workspace.session(SAID)
    fork = workspace.log.fork(session_id, None, "", 3.0).id
    record = SAID.index(SUMMARY) + 1
    assert workspace.index.out_of_sight() == {session_id: {1, record}, fork: {1, record}}
    workspace.log.append(session_id, CompactionUndone("x"), 3.0)
    for _ in range(2):
        assert workspace.index.out_of_sight() == {fork: {1, record}}
    if not in_memory:
        workspace.index.close()
        workspace.index = SearchIndex(tmp_path, workspace.log, workspace.results)
    workspace.log.append(session_id, CompactionRedone("x"), 4.0)
    assert workspace.index.out_of_sight() == {session_id: {1, record}, fork: {1, record}}
    workspace.log.delete(session_id)
    workspace.index.forget(session_id)
    assert workspace.index.out_of_sight() == {fork: {1, record}}
    workspace.log.append(fork, CompactionUndone("x"), 5.0)
    assert workspace.index.out_of_sight() == {}
