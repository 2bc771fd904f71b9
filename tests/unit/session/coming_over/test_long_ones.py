"""Taking in a long session: it is shown how far that is, it can be stopped at any place, and nothing half-made stays, also after a kill."""

# ruff: noqa: SLF001

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.context.pictures import png
from tests.unit.recorded.readers.recorded import result, text, use
from tests.unit.session.coming_over.there import claude, claude_file, come_over
from tests.unit.session.harness import kept_of, stage
from ullage.context.blocks import Json
from ullage.session.coming_over import course
from ullage.session.coming_over.course import Course, Leavings
from ullage.session.errors import SessionError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def long_one(folder: Path) -> list[Any]:
    """Prompts with images, long results, and a hundred replies."""
    lines = claude()
    picture: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png(8, 8)).decode()}}
    opening: list[Json] = [text("Look"), picture]
    lines.user(opening)
    for number in range(100):
        lines.assistant(f"m{number}", use(f"t{number}", "Read", file_path=str(folder / "dip.py")), stop="tool_use")
        lines.user([result(f"t{number}", f"{number} " * (60_000 if number % 25 == 0 else 10))])
    lines.assistant("last", text("Done."))
    return lines.lines


class Shown:
    """What the user sees, and when they stop it."""

    def __init__(self, stop_at: int = 101) -> None:
        self.title = ""
        self.percents: list[int] = []
        self.ended = 0
        self._stop_at = stop_at
        self._stop: Callable[[], None] = lambda: None
        self.stopped = asyncio.Event()

    def __call__(self, title: str, stop: Callable[[], None]) -> Shown:
        self.title, self._stop = title, stop
        return self

    def report(self, percent: int) -> None:
        self.percents.append(percent)
        if percent >= self._stop_at:
            self._stop()
            self.stopped.set()

    def end(self) -> None:
        self.ended += 1


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told is shown at once."""
    monkeypatch.setattr(course, "TOLD_EVERY", 0.0)
    monkeypatch.setattr(course, "SHOWN_AFTER_SECONDS", -1.0)


def files_of(folder: Path) -> list[str]:
    """What is kept for the workspace beside the log."""
    kept = kept_of(folder)
    places = ("media", "tool-results", course.NOTES)
    return sorted(path.relative_to(kept).as_posix() for place in places for path in (kept / place).rglob("*") if path.is_file())


@pytest.mark.usefixtures("at_once")
async def test_it_is_shown_how_far_it_is(folder: Path) -> None:
    claude_file(folder, long_one(folder))
    async with stage(folder) as here:
        shown = here.sessions._around.show_progress = Shown()
        await come_over(here)
        assert shown.title == "Taking the session over"
        assert shown.percents == sorted(shown.percents)
        assert shown.percents[0] < 10 < 90 < shown.percents[-1]
        assert shown.ended == 1
        over = here.sessions.coming_over
        looking = here.sessions._around.show_progress = Shown()
        await over.look((await over.listed()).sessions[0].id)
        assert (looking.title, looking.ended) == ("Reading the session", 1)


@pytest.mark.usefixtures("at_once")
async def test_a_stop_ends_the_work_in_the_other_thread() -> None:
    shown = Shown(stop_at=20)
    with Course(shown, "Working") as working:
        working.part(0.0, 0.5)
        await asyncio.to_thread(working.at, 0.5)
        await shown.stopped.wait()
        with pytest.raises(SessionError, match="You stopped it"):
            await asyncio.to_thread(working.at, 0.6)
    assert shown.percents[-1] == 25
    assert shown.ended == 1


@pytest.mark.parametrize("calls", [1, 50, 201, 250, 400, 407])
async def test_stopped_at_any_place_nothing_of_it_stays(folder: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    claude_file(folder, long_one(folder))
    async with stage(folder) as here:
        before, left = files_of(folder), calls
        real = Course.at

        def at(self: Course, share: float) -> None:
            nonlocal left
            left -= 1
            if not left:
                self._stopped.set()
            real(self, share)

        monkeypatch.setattr(Course, "at", at)
        with pytest.raises(SessionError, match="You stopped it"):
            await come_over(here)
        assert files_of(folder) == before == []
        assert here.sessions._kept.log.sessions() == []
        monkeypatch.undo()
        session = await come_over(here)
        assert session.title == "Look"
        kept = files_of(folder)
        assert [name.split("/")[0] for name in kept] == ["media", *["tool-results"] * 4]


async def test_what_another_session_shows_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude_file(folder, long_one(folder))
    async with stage(folder) as here:
        await come_over(here)
        before = files_of(folder)
        [picture] = [name for name in before if name.startswith("media/")]
        (kept_of(folder) / picture).unlink()  # so that the next one writes it anew

        def full(*_: object) -> None:
            raise SessionError("invalid", "You stopped it")

        monkeypatch.setattr(type(here.sessions._kept.log), "take_in_beside_others", full)
        with pytest.raises(SessionError, match="You stopped it"):
            await come_over(here)
        assert files_of(folder) == before


async def test_after_a_kill_the_next_list_takes_back_what_was_kept(folder: Path) -> None:
    claude_file(folder, long_one(folder))
    async with stage(folder) as here:
        around = here.sessions._around
        leavings = Leavings(around.store_folder, "0123456789abcdef", around.media, around.outputs)
        leavings.keep_output("toolu_1", "long")
        await here.sessions.coming_over.listed()
        assert "tool-results/toolu_1.txt" in files_of(folder)  # it is being taken in just now
        assert leavings._lock is not None
        leavings._lock.release()  # as the end of a process does
        await here.sessions.coming_over.listed()
        assert files_of(folder) == []


async def test_a_note_leads_to_no_other_file(folder: Path) -> None:
    async with stage(folder) as here:
        kept = here.sessions._around.store_folder
        assert kept is not None
        (kept / course.NOTES).mkdir()
        (kept / "media").mkdir(exist_ok=True)
        (kept / "mine.txt").write_text("mine")
        (kept / course.NOTES / "aa.txt").write_text("media/../mine.txt\n../mine.txt\nmine.txt\n\nmedia/\n")
        await here.sessions.coming_over.listed()
        assert (kept / "mine.txt").read_text() == "mine"
        assert not (kept / course.NOTES / "aa.txt").exists()
