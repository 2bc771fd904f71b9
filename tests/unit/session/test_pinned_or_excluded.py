"""What the user pins and excludes, in whatever order: nothing is told to be pinned that the model does not see."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.unit.session.filling import fill, make_project
from tests.unit.session.harness import Stage, calls, stage
from ullage.context.view.quotations import excluded, files_out
from ullage.session.errors import SessionError
from ullage.session.session import Session

Act: TypeAlias = tuple[Literal["pin", "unpin", "exclude", "pin file", "unpin file", "exclude file", "undo", "redo", "read"], int]

acts = st.lists(
    st.tuples(
        st.sampled_from(["pin", "unpin", "exclude", "pin file", "unpin file", "exclude file", "undo", "redo", "read"]),
        st.integers(0, 3),
    ),
    min_size=2,
    max_size=8,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


async def begun(here: Stage) -> Session:
    session = await here.new()
    await fill(here, session, 2)
    return session


async def test_what_is_excluded_is_no_longer_pinned(folder: Path) -> None:
    async with stage(folder) as here:
        session = await begun(here)
        result = calls(session)[0]
        session.history.pin_item(result.id, pinned=True)
        taken_out = await session.history.exclude(result.id)
        assert session.snapshot().pins.item_ids == ()
        await session.history.undo(taken_out)
        session.history.pin_item(result.id, pinned=True)
        assert session.snapshot().pins.item_ids == (result.id,)
        await session.history.redo(taken_out)
        assert session.snapshot().pins.item_ids == ()


async def test_what_is_excluded_has_to_come_back_before_it_is_pinned(folder: Path) -> None:
    async with stage(folder) as here:
        session = await begun(here)
        result = calls(session)[0]
        await session.history.exclude(result.id)
        with pytest.raises(SessionError, match="You excluded this"):
            session.history.pin_item(result.id, pinned=True)
        assert session.snapshot().pins.item_ids == ()


async def test_a_file_that_is_excluded_is_no_longer_pinned_nor_are_its_results(folder: Path) -> None:
    async with stage(folder) as here:
        session = await begun(here)
        session.history.pin_file("readings.csv", pinned=True)
        session.history.pin_item(calls(session)[0].id, pinned=True)
        await session.history.exclude_file("readings.csv")
        pins = session.snapshot().pins
        assert (pins.item_ids, pins.paths) == ((), ())


async def live(happenings: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        async with stage(make_project(Path(temporary).resolve())) as here:
            session = await begun(here)
            shown = [call.id for call in calls(session)]
            for what, number in happenings:
                with suppress(SessionError):  # it cannot be done in this state, and is not
                    await act(here, session, what, shown[number % len(shown)])
                projection = session._conversation.projection  # noqa: SLF001
                assert not projection.pins.seqs & excluded(projection), what
                assert not projection.pins.paths & files_out(projection), what


async def act(here: Stage, session: Session, what: str, item_id: str) -> None:
    match what:
        case "pin" | "unpin":
            session.history.pin_item(item_id, pinned=what == "pin")
        case "exclude":
            await session.history.exclude(item_id)
        case "pin file" | "unpin file":
            session.history.pin_file("readings.csv", pinned=what == "pin file")
        case "exclude file":
            await session.history.exclude_file("readings.csv")
        case "undo":
            await session.history.undo()
        case "redo":
            await session.history.redo()
        case _:
            await fill(here, session, 1)


@pytest.mark.deep
@given(acts)
@settings(max_examples=many(9, deep=500))
def test_nothing_is_pinned_and_excluded_at_once(happenings: list[Act]) -> None:
    asyncio.run(live(happenings))
