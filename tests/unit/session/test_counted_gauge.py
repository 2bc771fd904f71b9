"""The gauge where a tokenizer counts: what it shows before and after, what is learned, and whom it does not concern."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Say
from tests.patience import PATIENCE
from tests.unit.session.harness import MODEL, Stage, stage
from ullage.context.blocks import Json
from ullage.context.entries import Prelude
from ullage.models.choose import choose_model
from ullage.models.counting import CountText, tokenizer
from ullage.models.known_models import card_from_table
from ullage.models.model import TokenizerVersion
from ullage.models.serialise import none_kept
from ullage.session.models_in_use import ModelsInWorkspace
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.updates import Gauge, GaugeChanged
from ullage.session.token_counts import TokenCounts
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.user_state import UserState

LONG = "valve = 17  # the newest one\n" * 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "tank.py").write_text(LONG)
    return made


def thrice(version: TokenizerVersion) -> CountText:
    """A tokenizer to whom every character is three tokens: nobody would estimate that."""
    return lambda text: 3 * len(text)


def shown(here: Stage, session: Session) -> list[Gauge]:
    return [update.gauge for each, _, update in here.watcher.updates if each == session.id and isinstance(update, GaugeChanged)]


async def counted(here: Stage, session: Session, *texts: str) -> None:
    """Waits until those are counted, and all that was asked for before."""
    counts = here.sessions._around.calibration(session._model.card).counts  # noqa: SLF001
    assert isinstance(counts, TokenCounts)
    counts.want(texts)
    await counts.settled()


async def test_the_gauge_of_a_new_session_is_put_right_once_all_is_counted(folder: Path) -> None:
    async with stage(folder) as here:
        estimated = (await here.new()).snapshot().gauge.used
    async with stage(folder, find_tokenizer=thrice) as here:
        session = await here.new()
        await here.watcher.until(lambda: bool(shown(here, session)) and shown(here, session)[-1].used > 5 * estimated)
        gauge = session.snapshot().gauge
        assert gauge.estimated
        assert sum(category.tokens for category in gauge.categories) == gauge.used


async def test_a_result_is_counted_while_the_model_is_asked(folder: Path) -> None:
    async with stage(folder, find_tokenizer=thrice) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), Hang())
        session = await here.new()
        await session.prompt("Read it")
        await here.watcher.until(lambda: bool(shown(here, session)) and shown(here, session)[-1].used > 2 * len(LONG))
        gauge = shown(here, session)[-1]
        assert sum(category.tokens for category in gauge.categories) == gauge.used
        session.cancel()
        await here.idle(session)


async def test_what_is_learned_of_the_tokenizer_is_kept_beside_what_is_learned_of_estimates(folder: Path) -> None:
    async with stage(folder, find_tokenizer=thrice) as here:
        here.fake.enqueue(Say("Yes"))
        session = await here.new()
        await counted(here, session, "Go on")
        await here.say(session, "Go on")
        learned = here.sessions._around.calibrations[MODEL]  # noqa: SLF001
    assert learned.counted_ratio < 1.0
    kept = json.loads((folder.parent / "project-state" / "state.json").read_text("utf-8"))
    assert kept["ratios"] == {MODEL: learned.ratio}
    assert kept["counted_ratios"] == {MODEL: learned.counted_ratio}
    async with stage(folder, find_tokenizer=thrice) as here:
        await here.new()
        assert here.sessions._around.calibrations[MODEL] == learned  # noqa: SLF001


async def test_other_vendors_models_are_not_counted_by_claudes_tokenizer(folder: Path) -> None:
    asked: list[TokenizerVersion] = []

    def find(version: TokenizerVersion) -> CountText:
        asked.append(version)
        return len

    async with stage(folder, find_tokenizer=find) as here:
        session = await here.new()
        await here.sessions.models.choose(session.id, "qwen3-coder")
        asked.clear()
        before = session.snapshot().gauge.used
        here.fake.enqueue(Say("Yes"))
        assert here.sessions._around.calibration(session._model.card).counts is None  # noqa: SLF001
    assert before > 0
    assert asked == []


def thirds(version: TokenizerVersion) -> CountText:
    """A tokenizer to whom three characters are a token."""
    return lambda text: len(text) // 3


def nobody(version: TokenizerVersion) -> None:
    """No tokenizer is installed."""


@pytest.mark.parametrize("find", [thirds, tokenizer, nobody], ids=["stand-in", "installed, if any", "none"])
async def test_a_compaction_and_its_undo_go_on_as_ever(folder: Path, find: Callable[[TokenizerVersion], CountText | None]) -> None:
    async with stage(folder, find_tokenizer=find) as here:
        here.fake.enqueue(*(Say(f"Answer {turn}: {'word ' * 200}") for turn in range(6)), Say("Done"))
        session = await here.new()
        for turn in range(6):
            await here.say(session, f"Question {turn}: {'tank ' * 300}")
        before = session.snapshot().gauge.used
        session.compact("")
        await here.idle(session)
        [made] = here.made(session)
        assert made.estimated_after < made.tokens_before
        await session.history.undo()
        assert session.snapshot().gauge.used == before
        assert here.refused() == []


async def test_one_counts_for_a_model_though_two_threads_ask_for_the_first_time_at_once() -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def slowly(version: TokenizerVersion) -> CountText:
        both.wait()
        return len

    card = card_from_table("claude-opus-5-5")
    assert card is not None
    assert card.tokenizer is not None
    models = ModelsInWorkspace(None, choose_model, none_kept, UserState(None), LogStore.open(None), slowly, lambda: None)
    models.start()
    one, other = await asyncio.gather(asyncio.to_thread(models.counts_of, card), asyncio.to_thread(models.counts_of, card))
    await models.close()
    assert one is other is not None


class Unreadable:
    """What the workspace remembers lies in a log that cannot be read."""

    def remember(self, key: str, value: Json) -> None:
        raise StoreFailed("Cannot remember: it is damaged")

    def recalled(self, key: str) -> Json:
        raise StoreFailed("Cannot recall: it is damaged")


async def test_a_model_is_there_where_nothing_can_be_remembered_of_it() -> None:
    models = ModelsInWorkspace(None, choose_model, none_kept, UserState(None), Unreadable(), lambda version: None, lambda: None)
    models.start()
    model = models.model(MODEL, "default", Settings(provider="practice"))
    card = model.expected()
    assert models.fixed_of(card).of(Prelude((), ())) is None
    await models.close()
