"""What the list of sessions says of each: folded from what its panel is told, kept as a row, read without the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fake_api import Call, Fail, Hang, Say
from tests.unit.session.harness import Stage, kept_of, stage
from ullage.context.blocks import Json
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.sessions import figures as figures_room
from ullage.session.sessions.figures import OpenFigures, SessionFigures, from_json, in_list, left_alone, to_json
from ullage.session.sessions.sessions import SessionSummary
from ullage.session.timeline.items import ToolCallItem, ToolStatus
from ullage.session.timeline.updates import EndedTurn, ItemUpdated, Snapshot, StateChanged, StopReason
from ullage.store.log_store import LogStore
from ullage.store.session_list import FIGURES
from ullage.store.statements import SessionRecord
from ullage.store.workspace_store import open_workspace_store

WORKING = SessionFigures(state="running")


def ended(reason: StopReason) -> StateChanged:
    return StateChanged("idle", None, EndedTurn("p1", reason))


def call(status: ToolStatus) -> ItemUpdated:
    return ItemUpdated(ToolCallItem("t1", 0.0, "bash", "$ ls", "execute", status, "", ""))


@pytest.mark.parametrize(
    ("reason", "status"),
    [("end_turn", "done"), ("max_tokens", "done"), ("error", "failed"), ("refusal", "failed"), ("cancelled", "idle")],
)
def test_what_became_of_a_turn(reason: StopReason, status: str) -> None:
    assert WORKING.after(ended(reason)).status == status


def test_a_command_that_was_typed_ends_no_turn() -> None:
    assert SessionFigures().after(ended("end_turn")).status == "idle"


def test_a_call_that_waits_for_the_user_and_its_answer() -> None:
    asked = WORKING.after(call("awaiting_permission"))
    assert asked.status == "waiting"
    assert asked.after(call("running")).status == "working"
    assert asked.after(ended("cancelled")).status == "idle"


def test_a_compaction_between_two_turns_leaves_what_became_of_the_last() -> None:
    failed = WORKING.after(ended("error"))
    compacting = failed.after(StateChanged("compacting"))
    assert compacting.status == "working"
    assert compacting.after(StateChanged("idle")).status == "failed"
    assert failed.after(StateChanged("running")).after(ended("cancelled")).status == "idle"


FULL = SessionFigures("done", used=84_210, threshold=167_000, cost=0.4172, files=3, added=24, removed=7)


@pytest.mark.parametrize("figures", [SessionFigures(), FULL, SessionFigures("interrupted")])
def test_a_row_is_read_as_it_was_written(figures: SessionFigures) -> None:
    assert from_json(to_json(figures)) == figures


@pytest.mark.parametrize(
    "row", [None, 3, [], {}, {"status": "asleep"}, {"status": "done", "used": "many"}, {"status": "done", "files": -1}]
)
def test_a_row_that_cannot_be_read_says_nothing(row: Json) -> None:
    assert from_json(row) is None


def test_who_is_at_work_elsewhere_works_and_who_is_left_alone_was_interrupted() -> None:
    record = SessionRecord("s", "", 0.0, 0.0)
    kept = from_json(to_json(WORKING.after(call("awaiting_permission"))))
    assert kept is not None
    there = in_list(record, None, kept, open_elsewhere=True).figures
    alone = in_list(record, None, kept, open_elsewhere=False).figures
    assert there is not None and alone is not None
    assert (there.status, alone.status, left_alone(FULL)) == ("waiting", "interrupted", FULL)


# Rows that are written in a thread, which may come late

WORKS = StateChanged("running")


class Rows:
    """A session's figures, and the writing of its rows, which the test lets go on when it wants."""

    def __init__(self, log: LogStore, snapshot: Snapshot) -> None:
        self.writing: asyncio.Queue[Coroutine[None, None, None]] = asyncio.Queue()
        self.figures = OpenFigures(log, lambda session_id, elsewhere: None, self.writing.put_nowait)
        self.figures.opened("s", snapshot)

    def kept(self) -> str | None:
        found = self.figures.kept().get("s")
        return None if found is None else found.status


@contextmanager
def rows(folder: Path, snapshot: Snapshot) -> Generator[Rows]:
    log = LogStore.open(folder)
    try:
        yield Rows(log, snapshot)
    finally:
        log.close()


@pytest.fixture
async def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Snapshot:
    monkeypatch.setattr(figures_room, "TOLD_AFTER", 0.0)
    async with stage(tmp_path) as here:
        return (await here.new()).snapshot()


async def test_a_row_that_is_written_late_does_not_replace_what_was_known_at_closing(tmp_path: Path, snapshot: Snapshot) -> None:
    with rows(tmp_path / "log", snapshot) as here:
        here.figures.take("s", WORKS)
        late = await here.writing.get()
        here.figures.take("s", ended("error"))
        here.figures.closed("s")
        assert here.kept() == "failed"
        await late
        assert here.kept() == "failed"


async def test_of_two_rows_the_newer_stands_whichever_is_written_last(tmp_path: Path, snapshot: Snapshot) -> None:
    with rows(tmp_path / "log", snapshot) as here:
        here.figures.take("s", WORKS)
        first = await here.writing.get()
        here.figures.take("s", ended("end_turn"))
        second = await here.writing.get()
        await second
        await first
        assert here.kept() == "done"


async def test_a_row_that_is_written_late_does_not_bring_a_deleted_session_back(tmp_path: Path, snapshot: Snapshot) -> None:
    with rows(tmp_path / "log", snapshot) as here:
        here.figures.take("s", WORKS)
        late = await here.writing.get()
        here.figures.forget("s")
        await late
        assert here.kept() is None


async def test_nobody_else_can_open_a_session_before_its_row_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows_at_release: list[Json] = []
    release = LogStore.release

    def watched(log: LogStore, session_id: str) -> None:
        rows_at_release.append(log.recalled(FIGURES + session_id))
        release(log, session_id)

    async with stage(tmp_path) as here:
        here.fake.enqueue(Fail(400, "invalid_request_error", "No."))
        session = await here.new()
        await here.say(session, "Go")
        monkeypatch.setattr(LogStore, "release", watched)
        await here.sessions.close_session(session.id)
    found = from_json(rows_at_release[0])
    assert found is not None and found.status == "failed"


# In sessions


async def listed(here: Stage, session: Session) -> SessionSummary:
    return next(each for each in await here.sessions.listed(1_000) if each.session_id == session.id)


async def status(here: Stage, session: Session) -> str:
    figures = (await listed(here, session)).figures
    return "" if figures is None else figures.status


async def test_a_session_is_at_work_then_done_and_idle_once_it_was_looked_at(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.fake.enqueue(Hang(), Say("Done."))
        session = await here.new()
        assert await status(here, session) == "idle"
        await session.prompt("Go")
        await here.fake.until_held()
        assert await status(here, session) == "working"
        session.cancel()
        await here.idle(session)
        assert await status(here, session) == "idle"
        await here.say(session, "Go")
        assert await status(here, session) == "done"
        here.sessions.looked(session.id)
        assert await status(here, session) == "idle"
        with pytest.raises(SessionError, match="not open"):
            here.sessions.looked("0000000000000000")


async def test_two_sessions_at_work_at_once_are_told_apart(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.fake.enqueue(Call("bash", {"command": "rm -r build"}), Say("Fine."))
        first, second = await here.new(), await here.new()
        await first.prompt("Clean up")
        await here.asked(first)
        await here.say(second, "Hello")
        assert (await status(here, first), await status(here, second)) == ("waiting", "done")


async def test_a_failed_turn_is_told_by_its_row_when_the_session_is_not_open(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.fake.enqueue(Fail(400, "invalid_request_error", "No."))
        session = await here.new()
        await here.say(session, "Go")
        gauge = session.snapshot().gauge
        await here.sessions.close_session(session.id)
        figures = (await listed(here, session)).figures
        assert figures is not None
        assert (figures.status, figures.used, figures.threshold) == ("failed", gauge.used, gauge.threshold)


async def test_what_was_at_work_when_the_window_closed_was_interrupted(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.fake.enqueue(Hang())
        session = await here.new()
        await session.prompt("Go")
        await here.fake.until_held()
    async with stage(tmp_path) as here:
        assert await status(here, session) == "interrupted"


async def test_the_cost_is_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        here.fake.enqueue(Say("Hello."))
        session = await here.new()
        await here.say(session, "Hello")
        cost = session.snapshot().gauge.cost
        await here.sessions.close_session(session.id)
        figures = (await listed(here, session)).figures
        assert figures is not None and figures.cost == cost


async def test_nothing_is_left_of_a_session_that_was_deleted(tmp_path: Path) -> None:
    async with stage(tmp_path) as here:
        session = await here.new()
        await here.say(session, "Hello")
        await here.sessions.delete(session.id)
    kept = open_workspace_store([tmp_path], str(kept_of(tmp_path).parent))
    try:
        assert kept.log.recalled_all(FIGURES) == {}
    finally:
        kept.index.close()
        kept.log.close()


async def test_the_list_of_a_thousand_sessions_opens_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(tmp_path) as here:
        log: LogStore = here.sessions._kept.log  # noqa: SLF001
        for number in range(1_000):
            record = log.create_session(f"Session {number}", float(number))
            log.remember(FIGURES + record.id, to_json(FULL))
            log.release(record.id)

        def refuse(*_: object) -> None:
            raise AssertionError("a log was read")

        for name in ("load", "entries"):
            monkeypatch.setattr(LogStore, name, refuse)
        began = time.perf_counter()
        found = await here.sessions.listed(1_000)
        seconds = time.perf_counter() - began
        assert [each.figures for each in found] == [FULL] * 1_000
        assert seconds < 2, f"{seconds:.3f} s"
