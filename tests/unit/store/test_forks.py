"""A fork is a session of its own with the same entries up to its place, and shares with its original what lies beside the log."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, prompt, returned
from tests.unit.context.strategies import histories
from ullage.context.compaction_entries import Summarised
from ullage.context.entries import Entry, Forked, Logged, TurnEnded, UserPrompt
from ullage.context.view.projection import project
from ullage.context.view.request import request_so_far
from ullage.models.serialise import Serialiser
from ullage.store import folder as ullage_folder
from ullage.store import session_list
from ullage.store.errors import StoreFailed, UnknownSession
from ullage.store.log_store import LogStore
from ullage.store.origins import Holders, fork_of, origin_of
from ullage.store.plain_files import MediaFiles, ResultFiles
from ullage.store.search import SearchIndex
from ullage.store.versions import Versions
from ullage.store.workspace_store import erase_session


class Workspace:
    """A log with what lies beside it, on disk or in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.log = LogStore.open(path)
        self.results = ResultFiles(path)
        self.index = SearchIndex(path, self.log, self.results)

    def session(self, *entries: Entry, title: str = "Tanks") -> str:
        session_id = self.log.create_session(title, 1.0).id
        self.log.append_many(session_id, entries, 2.0)
        return session_id

    def fork(self, session_id: str, through: int | None = None) -> str:
        return self.log.fork(session_id, through, "Tanks (fork)", 3.0).id

    def erase(self, session_id: str) -> None:
        erase_session(session_id, self.path, self.log, self.index, self.results, MediaFiles(self.path), Versions(None))

    def found(self, words: str, preferred: str | None = None) -> list[tuple[str, int]]:
        return sorted((hit.session_id, hit.seq) for hit in self.index.search(words, 50, preferred=preferred))


def says(*texts: str) -> list[Entry]:
    return [UserPrompt(f"p{text}", text) for text in texts]


def request_bytes(log: list[Logged]) -> bytes | None:
    """The conversation as it would be sent, byte for byte; None where there is none."""
    try:
        request = request_so_far(project(log))
    except ValueError:
        return None
    return Serialiser().body(request, opening={"model": "m", "stream": True}, max_tokens=1_000, adaptive_thinking=True)


@given(histories(), st.data())
def test_a_fork_would_send_what_the_original_would_have_sent_there(log: list[Logged], data: st.DataObject) -> None:
    workspace = Workspace(None)
    session_id = workspace.session(*(logged.entry for logged in log))
    through = data.draw(st.integers(0, len(log)))
    before = workspace.log.load(session_id)
    fork_id = workspace.fork(session_id, through)
    forked = workspace.log.load(fork_id)
    assert forked[:through] == before[:through]
    assert forked[through:] == [Logged(through + 1, 3.0, Forked(session_id, "Tanks", 2.0))]
    assert request_bytes(forked) == request_bytes(before[:through])
    assert project(forked).key == project(before[:through]).key
    assert workspace.log.load(session_id) == before
    goes_on = prompt("Go on otherwise.")
    there = workspace.log.append(fork_id, goes_on, 4.0)
    here = Logged(through + 2, 4.0, goes_on)
    assert there == here
    assert request_bytes(workspace.log.load(fork_id)) == request_bytes([*before[:through], here])


@given(st.integers(0, 12), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 14), st.integers(0, 3)), max_size=5))
def test_each_entry_of_a_fork_is_the_one_that_was_first_logged(first: int, forks: list[tuple[int, int, int]]) -> None:
    workspace = Workspace(None)
    ids = [workspace.session(*says(*map(str, range(first))))]
    for source, through, more in forks:
        ids.append(workspace.fork(ids[source % len(ids)], through))
        workspace.log.append_many(ids[-1], says(*("x" * more)), 4.0)
    lineages = workspace.log.lineages()
    for session_id in ids:
        logged = workspace.log.load(session_id)
        lineage = lineages[session_id]
        for entry in logged:
            origin = origin_of(session_id, lineage, entry.seq)
            assert workspace.log.between(origin, entry.seq, entry.seq) == [entry]
            assert Holders(lineages, session_id).of(origin, entry.seq) == session_id


def test_a_fork_of_a_fork_knows_whose_each_entry_is() -> None:
    of_fork = fork_of("a", (), 50)
    assert of_fork == (("a", 50),)
    assert fork_of("b", of_fork, 70) == (("a", 50), ("b", 70))
    assert fork_of("b", of_fork, 50) == (("a", 50),)
    assert fork_of("b", of_fork, 20) == (("a", 20),)
    assert fork_of("b", of_fork, 0) == ()


def test_an_entry_that_cannot_be_read_comes_along_as_it_lies_there(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    session_id = workspace.session(*says("one", "two", "three"))
    with closing(sqlite3.connect(ullage_folder.database(tmp_path))) as connection, connection:
        connection.execute("UPDATE entry SET body = '{' WHERE seq = 2")
    fork_id = workspace.fork(session_id)
    assert [logged.seq for logged in workspace.log.load(fork_id)] == [1, 3, 4]
    assert [row.seq for row in workspace.log.damaged(fork_id)] == [2]


def test_the_queue_stays_where_it_is() -> None:
    workspace = Workspace(None)
    session_id = workspace.session(*says("one"))
    workspace.log.prompts.add(session_id, UserPrompt("q", "later"))
    assert workspace.log.prompts.of(workspace.fork(session_id)) == []
    assert workspace.log.prompts.of(session_id) == [UserPrompt("q", "later")]


def test_a_session_that_another_window_writes_can_be_forked(tmp_path: Path) -> None:
    here, there = Workspace(tmp_path), Workspace(tmp_path)
    session_id = here.session(*says("one"))
    fork_id = there.fork(session_id)
    here.log.append(session_id, UserPrompt("p2", "two"), 5.0)
    there.log.append(fork_id, UserPrompt("p3", "three"), 5.0)
    assert [len(here.log.load(each)) for each in (session_id, fork_id)] == [2, 3]


def test_there_is_no_fork_of_nothing() -> None:
    with pytest.raises(UnknownSession):
        Workspace(None).fork("nowhere")


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_fork_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_list, "COPIED_ROWS", 2)
    workspace = Workspace(tmp_path)
    session_id = workspace.session(*says("one", "two", "three"))
    monkeypatch.setattr(session_list, "finish_fork", failing(sqlite3.OperationalError("disk is full")))
    with pytest.raises(StoreFailed, match="disk is full"):
        workspace.fork(session_id)
    assert list(workspace.log.lineages()) == [session_id]
    assert [row.session_id for row in workspace.log.rows_after(0, 50, 1_000_000)] == [session_id] * 3


def test_a_fork_of_a_session_that_is_deleted_meanwhile_is_not_made_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_list, "COPIED_ROWS", 2)
    here, there = Workspace(tmp_path), Workspace(tmp_path)
    session_id = here.session(*says("one", "two", "three", "four", "five"))
    here.log.release(session_id)
    copy_page = session_list.copy_page

    def deleted_after_a_page(connection: sqlite3.Connection, *rest: object) -> None:
        copy_page(connection, *rest)  # pyright: ignore[reportArgumentType]
        connection.execute("DELETE FROM session WHERE id = ?", (session_id,))

    monkeypatch.setattr(session_list, "copy_page", deleted_after_a_page)
    with pytest.raises(UnknownSession):
        there.fork(session_id)
    assert there.log.lineages() == {}


def test_a_fork_whose_maker_was_killed_is_not_listed_and_goes_when_the_log_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    session_id = workspace.session(*says("one"))
    monkeypatch.setattr(session_list, "finish_fork", failing(KeyboardInterrupt()))
    monkeypatch.setattr(session_list.SessionList, "delete", failing(StoreFailed("killed")))
    with pytest.raises(KeyboardInterrupt):
        workspace.fork(session_id)
    monkeypatch.undo()
    other = LogStore.open(tmp_path)
    assert len(other.lineages()) == 2  # its maker still lives, for all that can be known
    assert [record.id for record in other.sessions()] == [session_id]
    workspace.log.close()
    assert list(LogStore.open(tmp_path).lineages()) == [session_id]


@pytest.mark.parametrize("page", [1, 2, 1_000])
def test_a_fork_is_copied_a_page_at_a_time(monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(session_list, "COPIED_ROWS", page)
    workspace = Workspace(None)
    session_id = workspace.session(*says("one", "two", "three", "four"))
    for through, length in ((0, 1), (1, 2), (3, 4), (4, 5), (99, 5), (None, 5)):
        assert len(workspace.log.load(workspace.fork(session_id, through))) == length


# The search index


def test_what_forks_have_in_common_is_found_once(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    session_id = workspace.session(*says("the sluice leaks", "the sluice is shut"))
    fork_id = workspace.fork(session_id, 1)
    workspace.log.append(fork_id, UserPrompt("p", "another sluice"), 4.0)
    assert workspace.found("sluice") == sorted([(session_id, 1), (session_id, 2), (fork_id, 3)])
    assert workspace.found("sluice", fork_id) == sorted([(fork_id, 1), (session_id, 2), (fork_id, 3)])
    assert workspace.found("sluice", session_id) == workspace.found("sluice")


@pytest.mark.parametrize("indexed_first", [True, False])
@pytest.mark.parametrize("indexed_between", [True, False])
def test_what_a_fork_has_is_found_as_long_as_anyone_has_it(tmp_path: Path, indexed_first: bool, indexed_between: bool) -> None:
    workspace = Workspace(tmp_path)
    first = workspace.session(*says("sluice one", "sluice two", "sluice three"))
    if indexed_first:
        workspace.index.catch_up()
    second = workspace.fork(first, 2)
    workspace.log.append(second, UserPrompt("p", "sluice four"), 4.0)
    third = workspace.fork(second)
    if indexed_between:
        workspace.index.catch_up()
    workspace.erase(first)
    assert workspace.found("sluice", second) == [(second, 1), (second, 2), (second, 4)]
    workspace.erase(second)
    assert workspace.found("sluice") == [(third, 1), (third, 2), (third, 4)]
    workspace.index.close()
    ullage_folder.search_index(tmp_path).unlink()
    workspace.index = SearchIndex(tmp_path, workspace.log, workspace.results)
    assert workspace.found("sluice") == [(third, 1), (third, 2), (third, 4)]
    workspace.erase(third)
    assert workspace.found("sluice") == []
    with closing(sqlite3.connect(ullage_folder.search_index(tmp_path))) as connection:
        assert connection.execute("SELECT count(*) FROM passage").fetchone() == (0,)


def test_a_result_is_opened_as_the_session_has_it() -> None:
    workspace = Workspace(None)
    session_id = workspace.session(returned("call_0", content="of then"))
    fork_id = workspace.fork(session_id)
    workspace.log.append(session_id, returned("call_0", content="of the original"), 4.0)
    workspace.log.append(fork_id, returned("call_1", content="of the fork"), 4.0)
    assert workspace.index.result("call_0", fork_id) == "of then"
    assert workspace.index.result("call_0", session_id) == "of the original"
    assert workspace.index.result("call_1", session_id) == "of the fork"
    workspace.erase(session_id)
    assert workspace.index.result("call_0", fork_id) == "of then"


# Files


def test_the_files_that_another_session_speaks_of_stay(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    ullage_folder.transcripts(tmp_path).mkdir()

    def files() -> list[str]:
        places = (ullage_folder.results(tmp_path), ullage_folder.transcripts(tmp_path))
        names = (path.name for place in places for path in place.iterdir())
        return sorted(name.replace(first, "first").replace(second, "second") for name in names)

    def turn(session_id: str, name: str) -> None:
        kept = workspace.results.save(name, f"all of {name}")
        result = returned(name)
        workspace.log.append(session_id, type(result)(name, "bash", "…", is_error=False, characters=9, full_output=kept), 4.0)

    def compacted(session_id: str, number: int) -> None:
        (ullage_folder.transcripts(tmp_path) / f"{session_id}-{number}.jsonl").write_text("{}")
        workspace.log.append(session_id, compaction(f"c{number}", summarised=Summarised(1, "So far")), 4.0)

    first = workspace.session(*says("one"))
    second = "none yet"
    turn(first, "t1")
    compacted(first, 1)
    second = workspace.fork(first)
    turn(first, "t2")
    compacted(first, 2)
    turn(second, "t3")
    compacted(second, 2)
    third = workspace.fork(second)
    workspace.erase(first)
    assert files() == ["first-1.jsonl", "second-2.jsonl", "t1.txt", "t3.txt"]
    assert workspace.index.result("t1", third) == "all of t1"
    workspace.erase(second)
    assert files() == ["first-1.jsonl", "second-2.jsonl", "t1.txt", "t3.txt"]
    workspace.erase(third)
    assert files() == []


def test_a_fork_that_is_deleted_takes_nothing_of_its_original(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    path = workspace.results.save("t1", "all of it")
    result = returned("t1")
    session_id = workspace.session(type(result)("t1", "bash", "…", is_error=False, characters=9, full_output=path), TurnEnded("end_turn"))
    workspace.erase(workspace.fork(session_id))
    assert workspace.index.result("t1", session_id) == "all of it"
    assert [record.id for record in workspace.log.sessions()] == [session_id]
