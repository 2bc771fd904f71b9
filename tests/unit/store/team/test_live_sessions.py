"""Whole sessions over a team's database: two machines, a real one behind them, and the API of the tests before the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Reply, Rule, Say
from tests.forking import forking
from tests.patience import PATIENCE
from tests.postgres import Postgres
from tests.unit.session.harness import Stage, items, notices, stage
from tests.unit.store.team.killed_session import run
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import TurnEnded
from ullage.session.conversation import WAITS
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import AssistantItem

Machine = Callable[[str], AbstractAsyncContextManager[Stage]]


@pytest.fixture
def machine(tmp_path: Path, postgres: Postgres, workspace: str) -> Machine:
    """A machine of that name, whose workspace is the same one."""

    def make(name: str) -> AbstractAsyncContextManager[Stage]:
        folder = tmp_path / name / "project"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tank.py").write_text("CAPACITY = 100\n")
        return stage(folder, settings=Settings(store_url=postgres.url("ann"), store_workspace=workspace))

    return make


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 (it looks at what other threads and the database do)
            await asyncio.sleep(0.01)


def ending(session: Session) -> TurnEnded | None:
    ends = [logged.entry for logged in session.entries if isinstance(logged.entry, TurnEnded)]
    return ends[-1] if ends else None


def said(session: Session) -> list[str]:
    return [item.text for item in items(session) if isinstance(item, AssistantItem)]


async def test_a_colleague_goes_on_where_another_stopped(machine: Machine) -> None:
    async with machine("ann") as ann:
        ann.fake.enqueue(Call("read_file", {"path": "tank.py"}), Say("It holds 100."))
        session = await ann.new()
        await ann.say(session, "How much does the tank hold?")
    async with machine("bob") as bob:
        await until(lambda: [each.title for each in bob.sessions.summaries()] == ["How much does the tank hold?"])
        (hit,) = [each for each in await bob.sessions.search("tank hold", 5) if each.what == "user"]
        opened = await bob.sessions.open(hit.session_id)
        assert said(opened) == ["It holds 100."]
        bob.fake.enqueue(Say("Still 100."))
        await bob.say(opened, "And now?")
        sent = bob.fake.requests[-1].body["messages"]
        assert "How much does the tank hold?" in str(sent[0]) and "CAPACITY = 100" in str(sent)
        assert bob.refused() == []


async def test_a_container_that_dies_in_mid_turn_is_gone_on_with(
    tmp_path: Path, machine: Machine, postgres: Postgres, workspace: str
) -> None:
    folder = tmp_path / "container" / "project"
    folder.mkdir(parents=True)
    (folder / "tank.py").write_text("CAPACITY = 100\n")
    here, there = forking().Pipe(duplex=False)
    process = forking().Process(target=run, args=(folder, postgres.url("ann"), workspace, there), daemon=True)
    process.start()
    there.close()
    try:
        assert await asyncio.to_thread(here.poll, PATIENCE)
        session_id = here.recv()
    finally:
        process.kill()
        process.join()
        here.close()
    async with machine("bob") as bob:
        await until(lambda: [each.session_id for each in bob.sessions.summaries()] == [session_id])
        with pytest.raises(SessionError, match="A colleague"):
            await bob.sessions.open(session_id)
        # half a minute later
        postgres.sql("UPDATE ullage.lease SET valid_until = clock_timestamp() WHERE workspace = %s", workspace)
        opened = await bob.sessions.open(session_id)
        ended = ending(opened)
        assert ended is not None and ended.outcome == "interrupted"
        bob.fake.enqueue(Say("It holds 100."))
        opened.resume()
        await bob.idle(opened)
        assert said(opened) == ["I look.", "It holds 100."]
        assert "CAPACITY = 100" in str(bob.fake.requests[-1].body["messages"]) and bob.refused() == []


async def test_a_session_that_another_machine_writes_is_not_opened(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.store.team.team_list.LIST_SECONDS", 0.05)
    async with machine("ann") as ann, machine("bob") as bob:
        ann.fake.enqueue(Say("Yes."))
        session = await ann.new()
        await ann.say(session, "Are you there?")
        await until(lambda: [each.open_elsewhere for each in bob.sessions.summaries()] == [True])
        with pytest.raises(SessionError, match="A colleague, or another of your machines"):
            await bob.sessions.open(session.id)


async def test_the_database_goes_away_in_mid_turn(machine: Machine, postgres: Postgres) -> None:
    async with machine("ann") as ann:
        ann.fake.enqueue(Hang(Reply((Call("read_file", {"path": "tank.py"}),))), Say("It holds 100."))
        session = await ann.new()
        await session.prompt("How much does it hold?")
        await until(lambda: ann.fake.requests)
        await asyncio.to_thread(postgres.kill)
        ann.fake.release()
        try:
            await until(lambda: any(each.id == WAITS for each in notices(session)))
            assert ann.watcher.warnings and "Nothing is lost" in ann.watcher.warnings[-1]
            assert len(ann.fake.requests) == 1, "nothing depends on what is not there"
        finally:
            await asyncio.to_thread(postgres.start)
        await ann.idle(session)
        assert ending(session) == TurnEnded("end_turn")
        assert said(session)[-1] == "It holds 100." and not any(each.id == WAITS for each in notices(session))
        await until(lambda: ann.watcher.well)
        assert "is back" in ann.watcher.well[0]


async def test_a_summary_is_written_meanwhile_and_comes_behind_what_it_tells_of(
    machine: Machine, postgres: Postgres, workspace: str
) -> None:
    async with machine("ann") as ann:
        ann.fake.enqueue(Say("It holds 100. " * 600), Say("And 200. " * 600))
        session = await ann.new()
        for prompt in ("How much does it hold?", "And the other?"):
            await ann.say(session, prompt)
        await asyncio.to_thread(postgres.kill)
        try:
            ann.fake.add_rules(Rule("=== RECORD ===", Say("=== RECORD ===\nThe tanks hold 100 and 200.\n=== END OF RECORD ===")))
            session.compact()
            await until(lambda: any(isinstance(logged.entry, Compaction) for logged in session.entries))
            asked = len(ann.fake.requests)
            await session.prompt("Are you sure?")
            await until(lambda: any(each.id == WAITS for each in notices(session)))
            assert len(ann.fake.requests) == asked, "the next request waits for both"
        finally:
            await asyncio.to_thread(postgres.start)
        seqs = [seq for (seq,) in postgres.sql("SELECT seq FROM ullage.entry WHERE workspace = %s ORDER BY seq", workspace)]
        assert seqs == list(range(1, len(seqs) + 1)), "none without those before it"
        ann.fake.enqueue(Say("Yes."))
        await ann.idle(session)
        assert said(session)[-1] == "Yes."
    made = postgres.sql("SELECT count(*) FROM ullage.entry WHERE workspace = %s", workspace)
    assert made == [(len(session.entries),)]


async def test_a_turn_that_waits_can_be_stopped(machine: Machine, postgres: Postgres) -> None:
    async with machine("ann") as ann:
        session = await ann.new()
        await asyncio.to_thread(postgres.stop)
        try:
            await session.prompt("How much does it hold?")
            await until(lambda: any(each.id == WAITS for each in notices(session)))
            session.cancel()
            await ann.idle(session)
            assert ann.fake.requests == []
            ended = ending(session)
            assert ended is not None and ended.outcome == "cancelled"
        finally:
            await asyncio.to_thread(postgres.start)
        ann.fake.enqueue(Say("100."))
        await ann.say(session, "And now?")
        assert said(session) == ["100."]


async def test_a_database_that_is_down_at_the_start(machine: Machine, postgres: Postgres) -> None:
    await asyncio.to_thread(postgres.stop)
    try:
        async with machine("ann") as ann:
            session = await ann.new()
            await until(lambda: ann.watcher.warnings)
            assert "nothing answers there" in ann.watcher.warnings[0]
            ann.fake.enqueue(Say("Yes."))
            await session.prompt("Are you there?")
            await until(lambda: any(each.id == WAITS for each in notices(session)))
            await asyncio.to_thread(postgres.start)
            await ann.idle(session)
            assert said(session) == ["Yes."]
    finally:
        await asyncio.to_thread(postgres.start)


async def test_an_address_that_cannot_be_used_keeps_sessions_here(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    settings = Settings(store_url="postgresql://me:s3cret@db.example.com/x?sslmode=disable")
    async with stage(folder, settings=settings) as here:
        here.fake.enqueue(Say("Yes."))
        session = await here.new()
        await here.say(session, "Are you there?")
        assert said(session) == ["Yes."]
        (told,) = here.watcher.warnings
        assert "could be read on the way" in told and "s3cret" not in told
