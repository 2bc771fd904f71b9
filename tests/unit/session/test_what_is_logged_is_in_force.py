"""Something goes wrong while a compaction is made: before its log entry nothing has changed, after it nothing is taken back."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import ullage.session.compacting.means as means_module
import ullage.session.prelude as prelude_module
from tests.deep import diagonal, sampled
from tests.fake_api import Say
from tests.unit.session.filling import WINDOW, fill, fill_to_the_line, make_project, summaries
from tests.unit.session.harness import Stage, compactions, stage
from ullage.context.compaction_entries import CompactionFailed, SpentInVain
from ullage.context.view.fates import fates
from ullage.context.view.request import request_so_far
from ullage.session.compacting.ahead import LiveSlot, ReadingAhead
from ullage.session.compacting.means import SessionMeans
from ullage.session.compacting.restoring import Restoring
from ullage.session.session import Session
from ullage.session.timeline.display import Spending
from ullage.session.timeline.timeline import Timeline
from ullage.store.errors import StoreFailed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def breaks(*_: object, **__: object) -> None:
    raise RuntimeError("broken")


def cannot_be_stored(*_: object, **__: object) -> None:
    raise StoreFailed("The disk is full")


AFTER = {
    "what counts as seen": (Restoring, "after"),
    "the rules": (prelude_module, "make_prelude"),
    "what it cost": (Spending, "add"),
    "the draft ahead": (LiveSlot, "drop"),
    "the record ahead": (ReadingAhead, "look"),
    "the timeline": (Timeline, "log"),
}

BEFORE = {
    "the transcript": (means_module, "write_transcript"),
    "the files": (Restoring, "files"),
    "the sizes": (SessionMeans, "weigh"),
}


def logged(session: Session, kind: type) -> list[object]:
    entries = session._conversation.entries  # noqa: SLF001
    return [each.entry for each in entries if isinstance(each.entry, kind)]


def gone(session: Session) -> set[str]:
    become = fates(session._conversation.projection)  # noqa: SLF001
    return {fate.kind for fate in become.values() if fate.kind not in ("kept", "clipped")}


async def filled(here: Stage) -> Session:
    here.fake.add_rules(summaries())
    session = await here.new()
    await fill(here, session, 3)
    return session


FAILURES = [breaks, cannot_be_stored]


@sampled(("what", "failure"), product(AFTER, FAILURES), keep=diagonal(list(AFTER), FAILURES).__contains__)
async def test_what_fails_after_the_entry_is_logged_is_no_failed_compaction(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str, failure: object
) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await filled(here)
        with monkeypatch.context() as broken:
            broken.setattr(*AFTER[what], failure)
            session.compact()
            await here.idle(session)
        [made] = here.made(session)
        assert gone(session) == {"summarised"}
        assert not logged(session, CompactionFailed)
        assert not logged(session, SpentInVain)  # what it cost stands in its entry
        assert [card.status for card in compactions(session) if card.id == made.id] == ["completed"]
        here.fake.enqueue(Say("Still here."))
        await here.say(session, "And now?")
        assert here.refused() == []
        id = session.id
        await here.sessions.close()
    async with stage(folder, window=WINDOW) as here:
        session = await here.sessions.open(id)
        assert [card.status for card in compactions(session)] == ["completed"]


@sampled(("what", "failure"), product(BEFORE, FAILURES), keep=diagonal(list(BEFORE), FAILURES).__contains__)
async def test_what_fails_before_has_changed_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, what: str, failure: object) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await filled(here)
        before = request_so_far(session._conversation.projection)  # noqa: SLF001
        with monkeypatch.context() as broken:
            broken.setattr(*BEFORE[what], failure)
            session.compact()
            await here.idle(session)
        assert here.made(session) == []
        assert gone(session) == set()
        assert request_so_far(session._conversation.projection) == before  # noqa: SLF001
        assert [card.status for card in compactions(session)] == ["failed"]
        assert len(logged(session, CompactionFailed)) == 1


async def test_a_turn_goes_on_after_a_compaction_at_the_line_that_could_not_be_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await fill_to_the_line(here, session)
        monkeypatch.setattr(Restoring, "after", breaks)
        here.fake.add_rules(summaries())
        await fill(here, session, 2)
        assert here.made(session)
        assert not logged(session, CompactionFailed)
