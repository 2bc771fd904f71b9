"""What a compaction now would free, as the gauge says it: near to what a preview shows, and the very same once one was looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import Stage, stage
from ullage.session.session import Session
from ullage.session.timeline.updates import GaugeChanged


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def source(number: int) -> str:
    """A source text of some 2,500 tokens."""
    return "\n".join(f"def reading_{number}_{line}(dip: int) -> int:\n    return dip + {line * 7919 % 1000}\n" for line in range(90))


async def read_files(here: Stage, session: Session, options: range) -> None:
    """A turn for each, in which it is read."""
    for number in options:
        (here.folder / f"part_{number}.py").write_text(source(number))
        here.fake.enqueue(Call("read_file", {"path": f"part_{number}.py"}), Say(f"Part {number} adds {number} to the dip."))
        await here.say(session, f"Explain part_{number}.py")


def told(here: Stage, session: Session) -> int:
    """What the front end knows of it."""
    gauges = [update.gauge for each, _, update in here.watcher.updates if each == session.id and isinstance(update, GaugeChanged)]
    return gauges[-1].frees


async def test_once_a_preview_was_looked_at_the_gauge_says_the_same(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        preview = await session.history.preview()
        gauge = session.snapshot().gauge
        assert gauge.frees == preview.tokens_before - preview.tokens_after == told(here, session)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Was that all?")
        later = session.snapshot().gauge
        assert gauge.frees <= later.frees <= gauge.frees + later.used - gauge.used


@pytest.mark.parametrize("files", [5, 12, 30])
async def test_the_guess_before_a_preview_counts_the_files_that_are_read_again(folder: Path, files: int) -> None:
    async with stage(folder) as here:
        session = await here.new()
        await read_files(here, session, range(files))
        guessed = session.snapshot().gauge
        preview = await session.history.preview()
        freed = preview.tokens_before - preview.tokens_after
        assert len(preview.restored) >= 3
        assert abs(guessed.frees - freed) < 0.15 * guessed.used


async def test_right_after_a_compaction_another_frees_nothing(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        session.compact()
        await here.idle(session)
        assert session.snapshot().gauge.frees == 0


async def test_what_a_preview_said_holds_for_its_epoch_alone(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        await session.history.preview()
        before = session.snapshot().gauge.frees
        session.compact()
        await here.idle(session)
        assert session.snapshot().gauge.frees == 0
        await session.history.undo()
        assert session.snapshot().gauge.frees == before


async def test_where_a_preview_found_nothing_to_do_nothing_is_promised(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Say("Good morning."))
        await here.say(session, "Hello")
        assert (await session.history.preview()).nothing
        assert session.snapshot().gauge.frees == told(here, session) == 0
