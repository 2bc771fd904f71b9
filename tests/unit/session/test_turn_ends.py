"""How a turn or a compaction ended is told to a client that only listens, and is the same in a second process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fake_api import Call, Fail, Hang, Reply, Say, Think
from tests.unit.session.filling import SUMMARY, WINDOW, fill, make_project, when_asked_for_a_summary
from tests.unit.session.harness import Stage, compactions, items, stage
from ullage.session.session import Session
from ullage.session.timeline.items import Item, NoticeItem
from ullage.session.timeline.updates import EndedTurn, StateChanged

HELD_SUMMARY = Hang(Reply((Say(f"=== RECORD ===\n{SUMMARY}\n=== END OF RECORD ==="),)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def states(here: Stage) -> list[StateChanged]:
    return [update for _, _, update in here.watcher.updates if isinstance(update, StateChanged)]


@pytest.mark.parametrize(
    ("replies", "stop_reason"),
    [
        ([Say("Yes.")], "end_turn"),
        ([Reply((Say("It is"),), stop_reason="max_tokens")], "max_tokens"),
        ([Reply((Say("No."),), stop_reason="refusal")], "refusal"),
        ([Reply((Say("Hm."),), stop_reason="pause_turn")] * 40, "max_turn_requests"),
        ([Fail(400, "invalid_request_error", "not now")], "error"),
    ],
)
async def test_the_end_of_a_turn_has_a_stop_reason_and_its_prompt(
    folder: Path, replies: Sequence[Reply | Say | Fail], stop_reason: str
) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(*replies)
        session = await here.new()
        prompt_id = await session.prompt("Is it full?")
        await here.idle(session)
        last = states(here)[-1]
        assert (last.state, last.ended) == ("idle", EndedTurn(prompt_id, stop_reason))  # pyright: ignore[reportArgumentType]


async def test_a_turn_that_is_stopped_ends_as_cancelled_and_one_that_goes_on_has_the_same_prompt(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Hang(Reply((Say("Late."),))), Say("Here I am."))
        session = await here.new()
        prompt_id = await session.prompt("Are you there?")
        await here.fake.until_held()
        session.cancel()
        await here.idle(session)
        here.fake.release()
        assert states(here)[-1].ended == EndedTurn(prompt_id, "cancelled")
        session.resume()
        await here.idle(session)
        assert states(here)[-1].ended == EndedTurn(prompt_id, "end_turn")


async def test_between_a_compaction_and_queued_prompts_nothing_is_idle_and_each_turn_has_its_end(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(HELD_SUMMARY))
        session = await here.new()
        await fill(here, session, 2)
        before = len(states(here))
        session.compact()
        await here.fake.until_held()
        here.fake.enqueue(Say("One."), Say("Two."))
        prompt_ids = [await session.prompt("And one?"), await session.prompt("And two?")]
        here.fake.release()
        await here.idle(session)
        told = states(here)[before:]
        assert [each.state for each in told] == ["compacting", "running", "running", "idle"]
        assert [each.ended.prompt_id for each in told if each.ended] == prompt_ids


async def again(folder: Path, session_id: str) -> tuple[Item, ...]:
    """What a second process shows, but for what is said of the process itself."""
    async with stage(folder, window=WINDOW) as here:
        return shown(await here.sessions.open(session_id))


def shown(session: Session) -> tuple[Item, ...]:
    return tuple(item for item in items(session) if not (isinstance(item, NoticeItem) and "waiting" in item.text))


async def test_a_compaction_that_was_stopped_keeps_its_item_here_and_in_a_second_process(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(HELD_SUMMARY, times=1))
        session = await here.new()
        await fill(here, session, 2)
        compaction_id = session.compact("the tank")
        await here.fake.until_held()
        session.cancel()
        await here.idle(session)
        here.fake.release()
        [card] = compactions(session)
        assert (card.id, card.status, card.focus) == (compaction_id, "cancelled", "the tank")
        assert card.tokens_before > 0
        before = shown(session)
    assert await again(folder, session.id) == before


async def test_times_and_a_compaction_in_vain_are_the_same_in_a_second_process(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        here.fake.enqueue(Say("Hello."))
        await here.say(session, "Hello")
        compaction_id = session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.id, card.status) == (compaction_id, "cancelled")
        assert "nothing to compact" in card.error
        here.fake.enqueue([Think("Well."), Say("Let me look."), Call("read_file", {"path": "tank.py"})], Say("It is full."))
        await here.say(session, "Is it?")
        before = shown(session)
    assert await again(folder, session.id) == before


async def test_a_call_that_was_written_as_text_is_told_and_the_queue_goes_on(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say('{"name": "read_file", "arguments": {"path": "tank.py"}}'))
        session = await here.new()
        await here.say(session, "Is it full?")
        [notice] = [item for item in items(session) if isinstance(item, NoticeItem)]
        assert (notice.level, notice.action) == ("warning", "settings")
        assert "read_file" in notice.text
        assert "--jinja" in notice.text
        ended = states(here)[-1].ended
        assert ended is not None
        assert ended.stop_reason == "end_turn"


async def test_a_file_in_a_second_folder_is_found_by_its_name_there(folder: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "pump.py").write_text("RATE = 3\n")
    async with stage(folder) as here:
        folders = here.sessions._around.folders  # noqa: SLF001
        folders.roots = (*folders.roots, second.resolve())
        session = await here.new()
        session.history.pin_file("pump.py", pinned=True)
        assert session.snapshot().pins.paths == ((second / "pump.py").resolve().as_posix(),)
