"""Keeping, undoing and going back of many files: in batches, shown while it goes on, stopped without loss."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.unit.session.changes.changing import changes, run, turn
from tests.unit.session.harness import Stage, stage
from ullage.session.changes import progress
from ullage.session.changes.progress import STOPPED, ShownProgress
from ullage.session.changes.shown import DecidedFile
from ullage.session.session import Session

FILES = 25
BATCH = 10


class Watched:
    """A progress that somebody looks at, and stops after so many reports."""

    def __init__(self, stops_after: int = 1_000) -> None:
        self.stops_after = stops_after
        self.titles: list[str] = []
        self.percents: list[int] = []
        self.ends = 0
        self._stop: Callable[[], None] = lambda: None

    def show(self, title: str, stop: Callable[[], None]) -> ShownProgress:
        self.titles.append(title)
        self._stop = stop
        return self

    def report(self, percent: int) -> None:
        self.percents.append(percent)
        if len(self.percents) == self.stops_after:
            self._stop()

    def end(self) -> None:
        self.ends += 1


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BATCH", BATCH)
    monkeypatch.setattr(progress, "SHOWN_AFTER_SECONDS", -1.0)


@asynccontextmanager
async def many_changed(tmp_path: Path, watched: Watched) -> AsyncGenerator[tuple[Stage, Session]]:
    """A command has changed each of the files."""
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:02}.py").write_text(f"tank = {number}\n")
    async with stage(folder) as here:
        here.sessions._around.show_progress = watched.show  # noqa: SLF001
        session = await here.new()
        [changed] = await turn(here, session, run("for file in *.py; do echo more >> $file; done"))
        assert len(changed.files) == FILES
        yield here, session


def as_before(folder: Path) -> int:
    """How many files have their text from before."""
    return sum("more" not in path.read_text() for path in folder.glob("*.py"))


async def keep(session: Session) -> list[DecidedFile]:
    return await session.reviewing.keep()


async def undo(session: Session) -> list[DecidedFile]:
    return await session.reviewing.undo()


async def undo_turn(session: Session) -> list[DecidedFile]:
    [only] = await session.reviewing.turns()
    return await session.reviewing.undo(turn_id=only.turn_id)


async def go_back(session: Session) -> list[DecidedFile]:
    return await session.restore((await session.going_back.checkpoints())[0].id)


Do = Callable[[Session], Awaitable[list[DecidedFile]]]


@pytest.mark.parametrize("do", [keep, undo, undo_turn, go_back])
async def test_it_is_shown_and_a_few_entries_tell_of_it(tmp_path: Path, do: Do) -> None:
    watched = Watched()
    async with many_changed(tmp_path, watched) as (here, session):
        entries = len(session.entries)
        assert [each.outcome for each in await do(session)] == ["done"] * FILES
        assert as_before(here.folder) == (0 if do is keep else FILES)
        assert len(session.entries) - entries <= 2 * -(-FILES // BATCH)
        assert len(watched.titles) == watched.ends == 1
        assert watched.percents == sorted(watched.percents)
        assert await session.reviewing.open_files() == []


@pytest.mark.parametrize("do", [keep, undo, undo_turn, go_back])
async def test_what_was_stopped_can_be_gone_on_with(tmp_path: Path, do: Do) -> None:
    async with many_changed(tmp_path, Watched(stops_after=5 if do is go_back else 1)) as (here, session):
        decided = await do(session)
        done = sum(each.outcome == "done" for each in decided)
        assert 0 < done < FILES == len(decided)
        assert {each.why for each in decided if each.outcome == "conflict"} == {STOPPED}
        assert as_before(here.folder) == (0 if do is keep else done)
        assert len(await session.reviewing.open_files()) == FILES - done
    async with stage(here.folder) as here:
        session = await here.sessions.open(session.id)
        assert len(await session.reviewing.open_files()) == FILES - done
        await do(session)
        assert as_before(here.folder) == (0 if do is keep else FILES)
        assert await session.reviewing.open_files() == []


async def test_forward_again_after_a_way_back_that_was_stopped(tmp_path: Path) -> None:
    async with many_changed(tmp_path, Watched(stops_after=5)) as (here, session):
        await go_back(session)
        assert 0 < as_before(here.folder) < FILES
        [forward] = [each for each in await session.going_back.checkpoints() if each.forward]
        await session.restore(forward.id)
        assert as_before(here.folder) == 0


async def test_an_open_document_among_many_is_changed_in_the_editor(tmp_path: Path) -> None:
    async with many_changed(tmp_path, Watched()) as (here, session):
        here.editor.texts[here.folder / "07.py"] = "tank = 7\nmore\n"
        here.editor.texts[here.folder / "08.py"] = "tank = 8\nmore\nmine\n"
        assert len(await undo(session)) == FILES
        assert here.editor.texts[here.folder / "07.py"] == (here.folder / "07.py").read_text() == "tank = 7\n"
        assert here.editor.texts[here.folder / "08.py"] == "tank = 8\nmine\n"
        assert as_before(here.folder) == FILES - 1, "what was unsaved stays so"
        assert len(changes(session)) == 1 + -(-FILES // BATCH)
