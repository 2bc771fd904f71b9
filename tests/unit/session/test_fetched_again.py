"""What the agent gets again after a compaction, as a front end sees it: on the card, in the timeline, after a restart."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import current_thread, main_thread

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, in_view, summaries
from tests.unit.session.harness import Stage, compactions, rebuilt, stage
from ullage.context.blocks import Json
from ullage.context.compaction import forgotten
from ullage.context.compaction.economy import NONE_YET, Refetched
from ullage.context.compaction_entries import Compaction, FetchedAgain
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged
from ullage.session.compacting.saving import KeptRefetches
from ullage.session.session import Session
from ullage.session.timeline.items import CompactionItem
from ullage.store.log_store import LogStore

FILES = 22
"""More than are put back after a compaction and stay in view beside that."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    for number in range(FILES):
        (made / f"tank{number}.py").write_text("".join(f"dip_{number}_{line} = {line * 7919 % 1009}\n" for line in range(60)))
    return made


async def read(here: Stage, session: Session, *paths: str) -> None:
    """A turn in which the agent reads these files."""
    for path in paths:
        here.fake.enqueue([Call("read_file", {"path": path})])
    here.fake.enqueue(Say("Seen."))
    await here.say(session, f"Look at {len(paths)} of them.")


async def compact(here: Stage, session: Session) -> CompactionItem:
    """By a click; gives the card."""
    session.compact()
    await here.idle(session)
    return compactions(session)[-1]


def shown(session: Session) -> list[FetchedAgain | None]:
    """On the cards, the oldest first."""
    return [card.fetched_again for card in compactions(session)]


@asynccontextmanager
async def compacted(folder: Path) -> AsyncGenerator[tuple[Stage, Session, str, str]]:
    """A session that was compacted once, and a file that was put back and one that was not."""
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await read(here, session, *(f"tank{number}.py" for number in range(FILES)))
        card = await compact(here, session)
        back = {file.path for file in card.restored if file.is_read}
        assert 0 < len(back) < FILES
        seen = in_view(session)
        gone = next(number for number in range(FILES) if f"dip_{number}_30 = " not in seen)
        yield here, session, min(back), f"tank{gone}.py"


async def test_the_card_tells_what_was_read_again_with_its_price(folder: Path) -> None:
    async with compacted(folder) as (here, session, back, gone):
        assert shown(session) == [None]
        await read(here, session, back)
        assert shown(session) == [None], "it was put back"
        await read(here, session, gone)
        [found] = shown(session)
        text = (folder / gone).read_text()
        assert found is not None
        assert (found.files, found.results) == ((gone,), 1)
        assert found.characters == pytest.approx(len(text), abs=1), "the tool says a word about the file, too"
        assert found.tokens == pytest.approx(estimate_text(text), rel=0.3), "but for the ratio that was learned"
        assert found.cost == pytest.approx(found.tokens * 4e-6)
        [card] = [item for item in rebuilt(here.watcher, session) if isinstance(item, CompactionItem)]
        assert card.fetched_again == found, "every client was told"
        epochs, _ = await session.history.epochs()
        assert [epoch.fetched_again for epoch in epochs] == [None, found]


async def test_undo_takes_it_away_and_redo_brings_it_back(folder: Path) -> None:
    async with compacted(folder) as (here, session, _, gone):
        await read(here, session, gone)
        before = shown(session)
        await session.history.undo()
        assert shown(session) == [None]
        epochs, _ = await session.history.epochs()
        assert [epoch.fetched_again for epoch in epochs] == [None, None]
        await session.history.redo()
        assert shown(session) == before != [None]


async def test_the_next_compaction_keeps_what_the_one_before_had_cost(folder: Path) -> None:
    async with compacted(folder) as (here, session, _, gone):
        await read(here, session, gone)
        [first] = shown(session)
        await compact(here, session)
        assert [made.fetched_again for made in here.made(session)] == [None, first]
        assert shown(session) == [first, None]
        await session.history.undo()
        await read(here, session, gone)
        [still, _] = shown(session)
        assert (still and still.characters) == (first and first.characters), "it is in view now"
        await session.history.redo()
        assert shown(session) == [first, None]


@pytest.mark.parametrize("compactions_made", [1, 2], ids=["worked out", "as the next compaction has it"])
async def test_it_is_the_same_after_a_restart(folder: Path, compactions_made: int) -> None:
    async with compacted(folder) as (here, session, _, gone):
        await read(here, session, gone)
        if compactions_made == 2:
            await compact(here, session)
        before, id = shown(session), session.id
        assert before[0] is not None
    async with stage(folder, window=WINDOW) as here:
        after = shown(await here.sessions.open(id))
    assert [found and found.tokens for found in after] == [found and pytest.approx(found.tokens, rel=0.05) for found in before]
    assert _without_tokens(after) == _without_tokens(before), "the ratio has been learned from one more reply, no more"


def _without_tokens(shown: Sequence[FetchedAgain | None]) -> list[FetchedAgain | None]:
    return [found and replace(found, tokens=0, cost=None) for found in shown]


async def test_nobody_waits_while_all_that_went_out_of_view_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_in: list[bool] = []
    look = forgotten._taken_out  # noqa: SLF001

    def taken_out(entries: Sequence[Logged], active: Mapping[int, Compaction], seq: int) -> set[int]:
        looked_in.append(current_thread() is main_thread())
        return look(entries, active, seq)

    monkeypatch.setattr(forgotten, "_taken_out", taken_out)
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for number in range(16):
            here.fake.enqueue(Say("I see."))
            await here.say(session, "It matters to me. " * 400)
            await read(here, session, f"tank{number}.py")
            if number % 4 == 3:
                await compact(here, session)
        await session.history.undo()
        await session.history.redo()
    assert len(looked_in) >= 4
    assert not any(looked_in), "in another thread, ahead"


async def test_what_it_cost_is_known_to_the_other_sessions_of_the_workspace(folder: Path) -> None:
    async with compacted(folder) as (here, session, _, gone):
        await read(here, session, gone)
        [found] = shown(session)
        assert found is not None
        log = session._surroundings.store  # noqa: SLF001
        other = KeptRefetches(log, "another")
        assert other.elsewhere == Refetched(1, found.tokens, 1)
        assert other.missed == {gone}
        assert KeptRefetches(log, session.id).elsewhere == NONE_YET, "its own log tells it that"
        await here.sessions.delete(session.id)
        assert KeptRefetches(log, "another").elsewhere == NONE_YET


@pytest.mark.parametrize("value", [None, 7, [], {}, {"compactions": -1, "tokens": 1, "calls": 1}, {"compactions": 1, "tokens": "2"}])
def test_what_another_version_kept_tells_nothing(value: Json) -> None:
    store = LogStore.open(None)
    store.remember("refetched:one", value)
    store.remember("refetched:two", {"compactions": 3, "tokens": 30, "calls": 2, "files": {"a.py": 2}})
    learned = KeptRefetches(store, "here")
    assert (learned.elsewhere, learned.missed) == (Refetched(3, 30, 2), {"a.py"})


def test_the_same_is_kept_once_and_nothing_before_the_first_compaction() -> None:
    kept: list[Json] = []

    class Values:
        def remember(self, key: str, value: Json) -> None:
            kept.append(value)

        def recalled_all(self, prefix: str) -> dict[str, Json]:
            return {}

    learned = KeptRefetches(Values(), "here")
    for refetched in (NONE_YET, Refetched(1, 5, 1), Refetched(1, 5, 1), Refetched(2, 5, 1)):
        learned.keep(refetched, ())
    assert [each["compactions"] for each in kept if isinstance(each, dict)] == [1, 2]
