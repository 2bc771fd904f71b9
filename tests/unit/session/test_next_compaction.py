"""What the gauge says of the next compaction, held against what then happens; and what one that is to save leaves alone."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.fake_api import Fail, Say
from tests.unit.session.filling import make_project, more_readings, summaries, when_asked_for_a_summary
from tests.unit.session.harness import Stage, compactions, stage
from ullage.context.compaction import economy
from ullage.context.compaction.decide import NextCompaction, decided
from ullage.context.compaction.draft import WantedCompaction
from ullage.context.compaction.economy import Economy
from ullage.context.compaction.making import Making
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import UserPrompt
from ullage.session.compacting.controller import CompactionController
from ullage.session.compacting.saving import Postponing
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.updates import Gauge, GaugeChanged

WINDOW = 40_000
Step = Literal[
    "chat", "look", "look long", "pause", "undo", "redo", "not now", "not in this session", "allow", "off", "on", "failing", "cold"
]
STEPS: tuple[Step, ...] = (
    "chat",
    "look",
    "look long",
    "pause",
    "undo",
    "redo",
    "not now",
    "not in this session",
    "allow",
    "off",
    "on",
    "failing",
    "cold",
)


@dataclass
class Boundary:
    """A boundary before a call, or a pause: what the user had been shown, what the call was to hold, and what was compacted."""

    shown: Gauge
    held: int
    at: Literal["prompt", "call", "pause"]
    triggers: list[str] = field(default_factory=list[str])


@contextmanager
def watched(here: Stage) -> Generator[list[Boundary]]:
    """Notes each boundary before a call, and each compaction that is made by itself at no such boundary."""
    boundaries: list[Boundary] = []
    at_one: list[Boundary] = []
    before_call, attempt = CompactionController.before_call, Making.attempt

    def shown() -> Gauge | None:
        told = (update.gauge for _, _, update in reversed(here.watcher.updates) if isinstance(update, GaugeChanged))
        return next(told, None)

    async def noting_boundary(self: CompactionController, *, more: int = 0) -> None:
        if (gauge := shown()) is not None:
            at_one.append(Boundary(gauge, gauge.used + more, "prompt" if more else "call"))
            boundaries.append(at_one[0])
        try:
            await before_call(self, more=more)
        finally:
            at_one.clear()

    async def noting_attempt(self: Making, wanted: WantedCompaction, *, at_work: bool, must: bool = False) -> Compaction | None:
        if at_one:
            at_one[0].triggers.append(wanted.trigger)
        elif (gauge := shown()) is not None:
            boundaries.append(Boundary(gauge, gauge.used, "pause", [wanted.trigger]))
        return await attempt(self, wanted, at_work=at_work, must=must)

    with patch.object(CompactionController, "before_call", noting_boundary), patch.object(Making, "attempt", noting_attempt):
        yield boundaries


def is_true(boundary: Boundary) -> bool:
    """Whether what was shown is what happened."""
    claim, triggers = boundary.shown.next, boundary.triggers
    announced = claim.saving is not None and claim.saving.postponed == "none"
    if boundary.at == "pause":
        return (triggers == ["economy"] and announced) or (triggers == ["idle"] and claim.while_editing) or triggers == ["reactive"]
    if claim.is_due(boundary.held):
        return "threshold" in triggers
    if announced and boundary.at == "prompt" and claim.saving is not None and claim.saving.when == "prompt":
        return triggers == ["economy"]
    return triggers == []


@contextmanager
def small() -> Generator[None]:
    """Sizes of a test: a compaction leaves little, little is worth gaining, and little is fetched again."""
    names = {
        "USUAL_LEFT": 2_000,
        "SMALLEST_GAIN": 2_000,
        "SUMMARY_OUTPUT_TOKENS": 100,
        "FETCHED_AGAIN_TOKENS": 100,
        "FETCHED_AGAIN_CALLS": 1,
    }
    with pytest.MonkeyPatch.context() as patched:
        for name, value in names.items():
            patched.setattr(economy, name, value)
        yield


async def pause(here: Stage, session: Session) -> None:
    """Nobody asks anything for four minutes."""
    session._cooling._cooled()  # noqa: SLF001
    work = session._controller.slot._task  # noqa: SLF001
    if work is not None:
        await asyncio.wait({work})
        await asyncio.sleep(0)  # whoever waits for it is called in the next round
    await here.idle(session)


async def take(here: Stage, session: Session, step: Step, patched: pytest.MonkeyPatch) -> None:
    match step:
        case "chat":
            here.fake.enqueue(Say("Yes."))
            await here.say(session, "Still there?")
        case "look":
            here.fake.enqueue(*more_readings(here.folder, 1, 150), Say("Seen."))
            await here.say(session, "Look at the first readings.")
        case "look long":
            here.fake.enqueue(*more_readings(here.folder, 1), Say("Seen."))
            await here.say(session, "Look at the readings. " + "It matters to me. " * 300)
        case "pause":
            await pause(here, session)
        case "undo" | "redo":
            with suppress(SessionError):
                await (session.history.undo() if step == "undo" else session.history.redo())
        case "not now":
            session.postpone_compaction("turn")
        case "not in this session":
            session.postpone_compaction("session")
        case "allow":
            session.postpone_compaction("none")
        case "off" | "on":
            here.sessions.configure(replace(here.settings, auto_compact=step == "on"))
        case "failing":
            here.fake.add_rules(when_asked_for_a_summary(Fail(400, "invalid_request_error", "not now"), times=1))
        case "cold":
            patched.setattr(economy, "CACHE_SECONDS", -1.0 if economy.CACHE_SECONDS > 0 else 300.0)
            session.settings_changed()  # time has passed: the gauge is shown anew


@given(steps=st.lists(st.sampled_from(STEPS), max_size=14), mode=st.sampled_from(["cheapest", "balanced", "fullest"]))
@settings(max_examples=many(9, deep=400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_gauge_says_of_the_next_compaction_is_what_happens(steps: list[Step], mode: Economy) -> None:
    async def live() -> list[Boundary]:
        with tempfile.TemporaryDirectory() as temporary, small(), pytest.MonkeyPatch.context() as patched:
            folder = make_project(Path(temporary).resolve())
            async with stage(folder, window=WINDOW, settings=Settings(economy=mode)) as here:
                here.fake.add_rules(summaries())
                with watched(here) as boundaries:
                    session = await here.new()
                    for step in steps:
                        await take(here, session, step, patched)
                return boundaries

    for boundary in asyncio.run(live()):
        assert is_true(boundary), boundary


async def look(here: Stage, session: Session, turns: int) -> None:
    for turn in range(turns):
        here.fake.enqueue(*more_readings(here.folder, 1), Say(f"Seen {turn}."))
        await here.say(session, f"Look at the readings, round {turn}.")


async def chat(here: Stage, session: Session, turns: int) -> None:
    for turn in range(turns):
        here.fake.enqueue(Say(f"Yes, {turn}."))
        await here.say(session, f"Still there? {turn}")


@pytest.mark.parametrize("mode", ["cheapest", "balanced"])
async def test_in_a_pause_it_compacts_to_save_and_leaves_the_newest_turn_alone(tmp_path: Path, mode: Economy) -> None:
    with small():
        async with stage(make_project(tmp_path), settings=Settings(economy=mode)) as here:
            here.fake.add_rules(summaries())
            session = await here.new()
            await look(here, session, 4)
            saving = session.snapshot().gauge.next.saving
            assert saving is not None
            assert saving.dollars > 0
            await pause(here, session)
            [made] = here.made(session)
            entries = session._conversation.entries  # noqa: SLF001
            newest = [each.seq for each in entries if isinstance(each.entry, UserPrompt)][-1]
            assert made.trigger == "economy"
            assert made.summarised is not None
            assert made.summarised.last_seq < newest


async def test_a_turn_that_is_all_there_is_is_never_compacted_to_save(tmp_path: Path) -> None:
    with small():
        async with stage(make_project(tmp_path), settings=Settings(economy="cheapest")) as here:
            here.fake.add_rules(summaries())
            session = await here.new()
            await look(here, session, 1)
            await pause(here, session)
            assert not compactions(session)


@pytest.mark.parametrize("until", ["turn", "session"])
async def test_what_was_put_off_is_not_made_and_the_gauge_says_so(tmp_path: Path, until: Literal["turn", "session"]) -> None:
    with small():
        async with stage(make_project(tmp_path), settings=Settings(economy="cheapest")) as here:
            here.fake.add_rules(summaries())
            session = await here.new()
            await look(here, session, 3)
            session.postpone_compaction(until)
            saving = session.snapshot().gauge.next.saving
            assert saving is not None
            assert saving.postponed == until
            await pause(here, session)
            await chat(here, session, 1)
            assert not compactions(session)
            await pause(here, session)
            assert bool(compactions(session)) is (until == "turn")
            session.postpone_compaction("none")
            await pause(here, session)
            assert compactions(session)


async def test_by_default_nothing_is_compacted_before_the_line(tmp_path: Path) -> None:
    with small():
        async with stage(make_project(tmp_path)) as here:
            here.fake.add_rules(summaries())
            session = await here.new()
            await look(here, session, 3)
            assert session.snapshot().gauge.next == NextCompaction("threshold", session.snapshot().gauge.threshold)
            await pause(here, session)
            await chat(here, session, 20)
            assert not compactions(session)


@pytest.mark.parametrize(
    ("line", "window", "undone", "grown", "expected"),
    [
        (100, 200, 0, 0, ("threshold", 100)),
        (300, 200, 0, 0, ("window", 200)),
        (100, 200, 150, 0, ("undone", 150)),
        (100, 200, 250, 0, ("undone", 200)),
        (100, 200, 0, 120, ("grown", 120)),
        (100, 200, 90, 80, ("threshold", 100)),
    ],
)
def test_the_latest_decides_but_the_window_at_last(line: int, window: int, undone: int, grown: int, expected: tuple[str, int]) -> None:
    assert decided(line, window, undone, grown) == expected


def test_a_postponement_for_the_turn_lasts_until_a_turn_that_began_after_it_has_ended() -> None:
    postponing = Postponing()
    postponing.turn_begins()
    postponing.ask("turn")
    postponing.turn_ended()
    assert postponing.until == "turn"
    postponing.turn_begins()
    postponing.turn_ended()
    assert postponing.until == "none"
