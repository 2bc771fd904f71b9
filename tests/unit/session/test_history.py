"""Preview, pins, exclusion, epochs and search, as a front end and the API see them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Hang, Reply, Say
from tests.unit.session.filling import WINDOW, fill, fill_to_the_line, make_project, summaries
from tests.unit.session.harness import Stage, but_for_the_guess, calls, compactions, items, kept_of, stage
from tests.unit.session.test_long_sessions import write
from tests.unit.session.watched_folds import threads_of_folds
from ullage.context.compaction_entries import CompactionUndone
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Entry
from ullage.context.view.projection import Projection
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError
from ullage.session.history.history import History
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem
from ullage.session.timeline.updates import PinnedItems
from ullage.store.folder import session_lock
from ullage.store.shared_files import SystemLock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def messages_of(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


async def next_request(here: Stage, session: Session) -> str:
    """The messages of one more request."""
    here.fake.enqueue(Say("Noted."))
    await here.say(session, "One more thing")
    return messages_of(here.fake.requests[-1].body)


def first_prompt(session: Session) -> UserItem:
    return next(item for item in items(session) if isinstance(item, UserItem))


async def test_a_preview_says_what_would_go_and_changes_nothing(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        before, asked = but_for_the_guess(session), len(here.fake.requests)
        preview = await session.history.preview("the units")
        assert but_for_the_guess(session) == before
        assert len(here.fake.requests) == asked
        assert (preview.policy, preview.rung, preview.nothing) == ("ullage", "model", "")
        assert preview.tokens_before == before.gauge.used
        assert preview.tokens_after < preview.tokens_before
        assert "the units" in preview.summary
        assert {line.fate for line in preview.lines} >= {"summarised"}
        assert {line.item_id for line in preview.lines if line.role == "tool"} == {call.id for call in calls(session)}
        assert all(line.tokens_after == 0 for line in preview.lines if line.fate == "summarised")
        assert preview.cost is not None
        assert preview.cost.later_after < preview.cost.later_before
        assert preview.cost.next_after > preview.cost.later_after


async def test_a_preview_comes_near_to_what_the_compaction_leaves(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        preview = await session.history.preview()
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.tokens_after is not None
        assert abs(preview.tokens_after - card.tokens_after) < 0.1 * card.tokens_before


async def test_the_price_of_a_summary_rests_on_what_earlier_ones_took(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        assumed = (await session.history.preview()).cost
        assert assumed is not None
        assert "2,500 tokens" in assumed.estimate
        session.compact()
        await here.idle(session)
        [made] = here.made(session)
        assert made.usage is not None
        await fill(here, session, 3)
        known = (await session.history.preview()).cost
        assert known is not None
        assert f"{made.usage.output_tokens:,} tokens are assumed for the summary, as earlier ones took in this session" in known.estimate
        assert known.summary < assumed.summary


async def test_a_preview_shows_the_draft_that_would_be_taken(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        controller = session._controller  # noqa: SLF001
        controller.prepare()
        if not controller.making.ahead.ready():
            done = asyncio.Event()
            controller.slot.when_done(done.set)
            await done.wait()
        preview = await session.history.preview()
        assert preview.cost is not None
        assert preview.cost.summary == 0
        assert "millimetres" in preview.summary
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (preview.rung, preview.summary, preview.tokens_after) == (card.rung, card.summary, card.tokens_after)


async def test_with_something_pinned_the_preview_does_not_promise_the_api(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await session.learn_model()
        await fill(here, session, 3)
        assert (await session.history.preview()).rung == "api"
        session.history.pin_item(first_prompt(session).id, pinned=True)
        assert (await session.history.preview()).rung == "model"
        session.compact()
        await here.idle(session)
        assert compactions(session)[0].rung == "model"


async def test_where_there_is_nothing_to_compact_the_preview_says_so(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        preview = await session.history.preview()
        assert "nothing to compact" in preview.nothing
        assert preview.tokens_before == preview.tokens_after


async def test_a_pinned_result_survives_a_compaction_and_an_unpinned_one_the_next_does_not_keep(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        pinned = calls(session)[0]
        session.history.pin_item(pinned.id, pinned=True)
        assert session.snapshot().pins == PinnedItems((pinned.id,))
        session.compact()
        await here.idle(session)
        sent = await next_request(here, session)
        assert json.dumps(pinned.output, ensure_ascii=False)[1:-1] in sent
        assert sent.count('"tool_result"') < len(calls(session))
        session.history.pin_item(pinned.id, pinned=False)
        assert session.snapshot().pins == PinnedItems()


async def test_pins_are_there_after_a_restart(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Remember the datum plate")
        session.history.pin_item(first_prompt(session).id, pinned=True)
        session.history.pin_file("tank.py", pinned=True)
        kept = session.snapshot().pins
        session_id = session.id
    async with stage(folder, window=WINDOW) as here:
        opened = await here.sessions.open(session_id)
        assert opened.snapshot().pins == kept == PinnedItems((first_prompt(opened).id,), ("tank.py",))


async def test_what_is_excluded_the_model_no_longer_sees_until_it_is_undone(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await fill(here, session, 1)
        gone = calls(session)[0]
        words = json.dumps(gone.output, ensure_ascii=False)[1:200]
        assert words in await next_request(here, session)
        compaction_id = await session.history.exclude(gone.id)
        assert words not in await next_request(here, session)
        [card] = compactions(session)
        assert (card.id, card.status, card.cleared) == (compaction_id, "completed", 1)
        await session.history.undo(compaction_id)
        assert words in await next_request(here, session)


async def test_what_is_excluded_stays_so_in_what_became_of_it_when_all_around_it_is_summarised(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        prompt, call = first_prompt(session), calls(session)[1]
        by_hand = {prompt.id: await session.history.exclude(prompt.id), call.id: await session.history.exclude(call.id)}
        session.compact()
        await here.idle(session)
        fates = {fate.item_id: fate for fate in (await session.history.epochs())[1]}
        assert {item_id: fates[item_id].compaction_id for item_id in by_hand} == by_hand
        assert (fates[prompt.id].fate, fates[call.id].fate) == ("snipped", "cleared")
        assert fates[calls(session)[0].id].fate == "summarised"


async def test_what_the_model_does_not_see_any_longer_cannot_be_taken_out(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await fill(here, session, 1)
        await session.history.exclude(calls(session)[0].id)
        for item_id in ("nothing", "p-unknown"):
            with pytest.raises(SessionError) as raised:
                await session.history.exclude(item_id)
            assert raised.value.reason == "no_such_item"


async def test_epochs_and_fates_tell_what_became_of_everything(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        requests = len(here.fake.requests)
        session.compact("the units")
        await here.idle(session)
        await next_request(here, session)
        (first, second), fates = await session.history.epochs()
        assert (first.number, first.compaction, first.current, first.requests) == (1, None, False, requests)
        assert second.compaction is not None
        assert (second.compaction.focus, second.current, second.undone, second.requests) == ("the units", True, False, 1)
        assert first.cost is not None
        gone = {fate.item_id: fate for fate in fates}
        assert gone[calls(session)[0].id].fate == "summarised"
        assert (gone[calls(session)[0].id].role, gone[calls(session)[0].id].title) == ("tool", calls(session)[0].title)
        assert {fate.compaction_id for fate in fates} == {second.compaction.id}
        await session.history.undo()
        (first, second), fates = await session.history.epochs()
        assert (first.current, second.current, second.undone) == (True, False, True)
        assert not fates
        await next_request(here, session)
        (first, second), _ = await session.history.epochs()
        assert (first.requests, second.requests) == (requests + 1, 1)
        await session.history.redo()
        await next_request(here, session)
        (first, second), _ = await session.history.epochs()
        assert (first.requests, second.requests) == (requests + 1, 2)


async def test_a_request_counts_for_the_epoch_before_the_one_that_was_undone(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for _ in range(2):
            await fill(here, session, 2)
            session.compact()
            await here.idle(session)
        before, _ = await session.history.epochs()
        await session.history.undo()
        await next_request(here, session)
        after, _ = await session.history.epochs()
        assert [new.requests - old.requests for old, new in zip(before, after, strict=True)] == [0, 1, 0]


async def test_the_transcript_of_an_epoch_that_was_undone_is_not_written_over(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for _ in range(2):
            await fill(here, session, 2)
            session.compact()
            await here.idle(session)
            await session.history.undo()
        written = sorted(path.name for path in (kept_of(folder) / "transcripts").iterdir())
        assert written == [f"{session.id}-1.jsonl", f"{session.id}-2.jsonl"]


async def test_a_search_finds_what_was_said_in_any_session(folder: Path) -> None:
    async with stage(folder) as here:
        for words in ("Remember the datum plate", "Measure the ullage"):
            session = await here.new()
            here.fake.enqueue(Say("Yes."))
            await here.say(session, words)
        [hit] = await here.sessions.search("datum", 10)
        opened = await here.sessions.open(hit.session_id)
        assert hit.session_title == opened.title
        assert hit.item_id == first_prompt(opened).id
        assert "datum plate" in hit.excerpt


async def test_what_undo_and_redo_make_of_a_long_log_is_not_worked_out_on_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path / "long", 60)
    async with stage(tmp_path / "long", settings=Settings(summary_engine="digest")) as here:
        session = await here.sessions.open(None)
        here.fake.enqueue(Say("Water."))
        await here.say(session, "And now?")
        session.compact()
        await here.idle(session)
        assert len(here.made(session)) == 1
    async with stage(tmp_path / "long") as here:
        session = await here.sessions.open(None)
        folds = threads_of_folds(monkeypatch)
        await session.history.undo()
        await session.history.redo()
        await session.history.undo()
        await session.history.exclude(first_prompt(session).id)
        assert folds
        assert threading.main_thread() not in folds


@pytest.mark.parametrize("fit", [False, True])
async def test_nor_is_what_would_make_an_undo_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fit: bool):
    write(tmp_path / "long", 60)
    async with stage(tmp_path / "long", settings=Settings(summary_engine="digest")) as here:
        session = await here.sessions.open(None)
        here.fake.enqueue(Say("Water."))
        await here.say(session, "And now?")
        whole = session.snapshot().gauge.used
        session.compact()
        await here.idle(session)
        [made] = compactions(session)
        assert made.tokens_after is not None
        model = session._model  # noqa: SLF001
        model.card = replace(model.card, window=(made.tokens_after + whole) // 2)
        folds = threads_of_folds(monkeypatch)
        with nullcontext() if fit else pytest.raises(SessionError, match="fit"):
            await session.history.undo(fit=fit)
        assert folds
        assert threading.main_thread() not in folds
        assert [card.status for card in compactions(session)] == (["undone", "completed"] if fit else ["completed"])


def held_up(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """What an undo would make of the log takes until the second event; the first says that it is being worked out."""
    begun, may_end = asyncio.Event(), asyncio.Event()
    foresee = Conversation.foresee

    async def slow(self: Conversation, entry: Entry, calibration: Calibration) -> Projection:
        view = await foresee(self, entry, calibration)
        if isinstance(entry, CompactionUndone):
            begun.set()
            await may_end.wait()
        return view

    monkeypatch.setattr(Conversation, "foresee", slow)
    return begun, may_end


def when_closing(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set once the past of a session is being closed: whoever waits for it goes on when nothing in it can be changed any more."""
    closing, close = asyncio.Event(), History.close

    async def told(self: History) -> None:
        closing.set()
        await close(self)

    monkeypatch.setattr(History, "close", told)
    return closing


@asynccontextmanager
async def while_an_undo_is_worked_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[Stage, Session, asyncio.Task[str], asyncio.Event]]:
    """A compacted session whose undo, the task, ends once the event is set."""
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 3)
        session.compact()
        await here.idle(session)
        begun, may_end = held_up(monkeypatch)
        undo = asyncio.create_task(session.history.undo())
        await begun.wait()
        yield here, session, undo, may_end


async def test_a_turn_that_begins_while_an_undo_is_worked_out_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch):
    async with while_an_undo_is_worked_out(folder, monkeypatch) as (here, session, undo, may_end):
        here.fake.enqueue(Hang(Reply((Say("Still water."),))))
        await session.prompt("And then?")
        await here.fake.until_held()
        may_end.set()
        with pytest.raises(SessionError) as refused:
            await undo
        assert refused.value.reason == "session_busy"
        here.fake.release()
        await here.idle(session)
        assert await session.history.undo() == here.made(session)[0].id


async def test_what_a_whole_turn_read_while_an_undo_was_worked_out_stays_seen(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "tank.py").write_text("CAPACITY = 100\n")
    async with while_an_undo_is_worked_out(folder, monkeypatch) as (here, session, undo, may_end):
        here.fake.enqueue([Call("read_file", {"path": "tank.py"})], Say("It holds 100."))
        await here.say(session, "How much does it hold?")
        may_end.set()
        await undo
        assert session._reads.saw_whole("tank.py")  # noqa: SLF001


async def test_a_session_that_is_deleted_while_an_undo_is_worked_out_stays_deleted(folder: Path, monkeypatch: pytest.MonkeyPatch):
    async with while_an_undo_is_worked_out(folder, monkeypatch) as (here, session, undo, may_end):
        closing = when_closing(monkeypatch)
        deleting = asyncio.create_task(here.sessions.delete(session.id))
        await closing.wait()
        may_end.set()
        with pytest.raises(SessionError):
            await undo
        await deleting
        SystemLock(session_lock(folder, session.id)).release()  # nobody holds it any more


async def test_fates_are_told_from_an_item_on_without_looking_at_what_is_before(tmp_path: Path):
    write(tmp_path / "long", 60)
    async with stage(tmp_path / "long", settings=Settings(summary_engine="digest")) as here:
        session = await here.sessions.open(None)
        here.fake.enqueue([Call("read_file", {"path": "a.py"}), Call("read_file", {"path": "b.py"})], Say("There are none."))
        await here.say(session, "And now?")
        here.fake.enqueue(Say("Water."))
        await here.say(session, "And then?")
        session.compact()
        await here.idle(session)
        _, every = await session.history.epochs()
        assert len(every) > 100
        told = [fate.item_id for fate in every]
        shown = [item.id for item in items(session) if item.id in told]
        for since in (shown[0], shown[-6], shown[-1]):
            _, some = await session.history.epochs(since)
            assert since in [fate.item_id for fate in some]
            assert some == every[len(every) - len(some) :]
        second = [call.id for call in calls(session)][1]
        assert {call.id for call in calls(session) if call.id in told} <= {
            fate.item_id for fate in (await session.history.epochs(second))[1]
        }
        with pytest.raises(SessionError, match="no item"):
            await session.history.epochs("nothing like it")


async def test_where_an_undo_would_not_fit_and_there_is_nothing_to_clear_the_middle_is_cut_out(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        for number in range(30):
            here.fake.enqueue(Say("I see."))
            await here.say(session, f"Part {number}. " + "word " * 1_450)
        oldest, *newer = [card.id for card in compactions(session)]
        for made in reversed(newer):
            await session.history.undo(made)
        with pytest.raises(SessionError, match=r"With \d+ messages cut from its middle it would fit\.") as refused:
            await session.history.undo(oldest)
        assert refused.value.reason == "fits_only_cut"
        await session.history.undo(oldest, fit=True)
        gauge = session.snapshot().gauge
        assert gauge.used <= 0.95 * gauge.size
        sent = await next_request(here, session)
        assert "Part 0." in sent
        assert "Part 29." in sent
        assert compactions(session)[-1].trigger == "manual", "and it is not compacted at once again"
        assert not here.refused()
