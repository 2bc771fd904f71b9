"""The context view of a live session: it adds up to the gauge, names and finds its parts, and says why requests missed the cache."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fake_api import Call, FakeApi, Say, Think
from tests.unit.session.filling import compact, fill, make_project
from tests.unit.session.harness import MODEL, Stage, all_is_counted, stage
from ullage.context.counting.pieces import Cutter, Piece
from ullage.context.view.projection import Projection
from ullage.session.errors import SessionError
from ullage.session.history import context_view
from ullage.session.history.context_view import ContextPage, Query
from ullage.session.session import Session
from ullage.session.slash_commands import carry_out, typed_command


@dataclass
class Clock:
    now: float = 1_760_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_project(tmp_path)
    (made / "AGENTS.md").write_text("Use millimetres.\n")
    (made / "CLAUDE.md").write_text("Be brief.\n")
    return made


async def whole(session: Session, query: Query | None = None) -> ContextPage:
    """The view, which adds up to the gauge. Nothing is counted in the background meanwhile, so both speak of one moment."""
    await session.context.look(query or Query(limit=10_000))  # it has what is only estimated counted
    await all_is_counted(session)
    page, gauge = await session.context.look(query or Query(limit=10_000)), session.snapshot(0).gauge
    assert page.used == gauge.used == sum(kind.tokens for kind in page.kinds)
    if query is None:
        assert sum(row.part.tokens for row in page.rows) == page.used
    return page


async def test_the_parts_of_a_live_session_add_up_whatever_is_done(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        session = await here.new()
        await whole(session)
        await fill(here, session, 3)
        page = await whole(session)
        titles = {(row.part.kind, row.title) for row in page.rows}
        assert {("rules", "AGENTS.md"), ("rules", "CLAUDE.md"), ("tool", "read_file"), ("system", "")} <= titles
        calls = await whole(session, Query("oldest", "call"))
        assert [row.part.paths for row in calls.rows] == [("readings.csv",), ("readings1.csv",), ("readings2.csv",)]
        assert [row.turns_ago for row in calls.rows] == [2, 1, 0]
        assert [row.is_sent for row in calls.rows] == [True] * 3
        first = calls.rows[0].item_id
        assert first is not None
        session.history.pin_item(first, pinned=True)
        assert [row.item_id for row in (await whole(session, Query(only="pinned"))).rows] == [first]
        await session.history.exclude(first)
        excluded = (await whole(session, Query(only="excluded"))).rows
        assert [row.item_id for row in excluded] == [first]
        assert excluded[0].part.tokens < calls.rows[0].part.tokens / 5
        await compact(here, session)
        assert (await whole(session, Query(kind="summary"))).total >= 1
        await session.history.undo()
        await whole(session)


async def test_a_page_of_what_is_looked_for(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await fill(here, session, 3)
        page = await session.context.look(Query(text="READINGS1"))
        assert [row.part.paths for row in page.rows] == [("readings1.csv",)]
        sizes = [row.part.tokens for row in (await session.context.look(Query())).rows]
        assert sizes == sorted(sizes, reverse=True)
        second = await session.context.look(Query(offset=2, limit=3))
        assert [row.part.tokens for row in second.rows] == sizes[2:5]
        assert (second.total, second.largest, second.misses) == (len(sizes), (), ())


async def say(here: Stage, session: Session, text: str = "Go on") -> None:
    here.fake.enqueue(Say("Yes."))
    await here.say(session, text)


async def test_each_request_that_missed_the_cache_says_why(folder: Path) -> None:
    clock = Clock()
    async with FakeApi(windows={MODEL: 200_000}, clock=clock) as fake, stage(folder, fake=fake, clock=clock) as here:
        session = await here.new()
        await all_is_counted(session)
        await fill(here, session, 2)
        await say(here, session)
        assert (await session.context.look(Query())).missed == 0
        clock.now += 301
        await say(here, session)
        await here.sessions.models.choose_effort(session.id, "low")
        await say(here, session)
        (folder / "AGENTS.md").write_text("Use metres.\n")
        await compact(here, session)  # rules are taken over where the prefix is new anyway
        await say(here, session)
        await session.history.undo()
        await say(here, session)
        fake.state.cache.clear()
        await say(here, session)
        page = await session.context.look(Query())
        reasons = [miss.reasons for miss in reversed(page.misses)]
        assert reasons == [("expired",), ("effort",), ("rules", "compaction"), ("undone",), ("evicted",)]
        assert (page.missed, page.requests) == (5, len(fake.requests) - 1)  # one wrote the summary
        expired, effort, compacted, _, _ = reversed(page.misses)
        assert {"-Use millimetres.", "+Use metres."} <= set(compacted.change.splitlines())
        assert any(line.endswith(" messages") for line in compacted.change.splitlines() if line.startswith("-"))
        assert effort.change.splitlines() == ["-default", "+low"]
        assert (expired.change, expired.idle) == ("", 301.0)
        assert all(miss.item_id is not None and miss.cost is not None and miss.cost > 0 for miss in page.misses)


async def test_the_clock_says_until_when_and_what_the_next_prompt_costs(folder: Path) -> None:
    clock = Clock()
    async with FakeApi(windows={MODEL: 200_000}, clock=clock) as fake, stage(folder, fake=fake, clock=clock) as here:
        session = await here.new()
        await all_is_counted(session)
        before = (await session.context.look(Query())).cache
        assert before.request.started is None
        assert before.warm == before.cold
        fake.enqueue([Think("Look."), Call("read_file", {"path": "readings.csv"})], Say("Seen."))
        await here.say(session, "Look")
        now = (await session.context.look(Query())).cache
        assert (now.request.started, now.request.lives) == (clock.now, 300.0)
        assert now.warm is not None
        assert now.cold is not None
        assert now.warm < now.cold / 5
        text = (await carry_out(_typed("/context"), here.sessions, session)).text
        assert f"The prompt cache is warm for 5:00: the next prompt costs about ${now.warm:.2f}, after that ${now.cold:.2f}." in text
        assert "The largest parts:" in text
        clock.now += 300
        assert "The prompt cache is cold" in (await carry_out(_typed("/context"), here.sessions, session)).text


def _typed(text: str):
    typed = typed_command(text)
    assert typed is not None
    return typed


async def test_the_parts_of_a_long_session_are_counted_before_anybody_looks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And then a look goes through what is new alone, also while the session goes on."""
    cut: list[int] = []
    pieces = Cutter.pieces

    def watched(self: Cutter, view: Projection, index: int) -> Iterator[Piece]:
        cut.append(index)
        return pieces(self, view, index)

    monkeypatch.setattr(Cutter, "pieces", watched)
    monkeypatch.setattr(context_view, "AHEAD_FROM", 4)
    async with stage(folder, window=200_000) as here:
        session = await here.new()
        session.context.look_ahead()
        await fill(here, session, 4)
        await all_is_counted(session)
        assert cut == [], "a short one is not worth it"
        session.context.look_ahead()
        (ahead,) = (task for task in asyncio.all_tasks() if task.get_name() == context_view.COUNTS_AHEAD)
        await ahead
        assert cut == list(range(16))
        cut.clear()
        assert (await whole(session)).used
        assert cut == []
        await say(here, session)
        await whole(session)
        assert cut == [14, 15, 16, 17]


async def test_a_result_is_cleared_for_what_was_said_and_undo_brings_it_back(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        session = await here.new()
        await fill(here, session, 3)
        calls = (await whole(session, Query("oldest", "call"))).rows
        row = calls[0]
        assert row.item_id is not None
        assert row.clearing is not None
        assert (row.clearing.cost or 0) > 0, "what comes after it is sent anew"
        before = (await whole(session)).used
        cleared = await session.history.clear(row.item_id)
        page = await whole(session, Query("oldest", "call"))
        assert before - page.used == pytest.approx(row.clearing.frees, rel=0.25), "what a part takes is its share"
        assert page.rows[0].clearing is None, "it is cleared already"
        here.fake.enqueue(Say("Done."))
        await here.say(session, "And now?")
        sent = str(here.fake.requests[-1].body["messages"])
        assert "Cleared to make room: read_file(path: readings.csv)" in sent
        assert "To see them again: recall" in sent
        with pytest.raises(SessionError):
            await session.history.clear(row.item_id)
        await session.history.undo(cleared)
        assert (await whole(session, Query("oldest", "call"))).rows[0].part.tokens == pytest.approx(row.part.tokens, rel=0.25)


async def test_what_is_pinned_is_not_cleared(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await fill(here, session, 1)
        row = (await session.context.look(Query("oldest", "call"))).rows[0]
        assert row.item_id is not None
        session.history.pin_item(row.item_id, pinned=True)
        assert (await session.context.look(Query("oldest", "call"))).rows[0].clearing is None
        with pytest.raises(SessionError, match="pinned"):
            await session.history.clear(row.item_id)


async def test_whoever_looks_has_the_endpoint_count_what_is_only_estimated(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await fill(here, session, 3)
        await all_is_counted(session)
        await session.history.exclude((await session.context.look(Query("oldest", "call"))).rows[0].item_id or "")
        assert (await session.context.look(Query())).guess > 0
        await all_is_counted(session)
        page = await session.context.look(Query())
        assert page.guess == 0
        assert page.used == sum(kind.tokens for kind in page.kinds)


async def test_what_will_be_told_with_the_next_prompt_is_in_its_price(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await fill(here, session, 1)
        before = (await session.context.look(Query())).cache.request.warm
        (folder / "AGENTS.md").write_text("Use millimetres, and say so. " * 100)
        session.file_changed("AGENTS.md")
        for _ in range(2):  # to look tells nobody
            after = (await session.context.look(Query())).cache.request.warm
            assert after.total_input_tokens - before.total_input_tokens > 500
