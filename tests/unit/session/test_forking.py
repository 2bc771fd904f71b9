"""Forking a session: the same conversation up to a place, which goes on by itself and costs nothing of what was paid for before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.fake_api import Call, Hang, Say
from tests.fake_api.record import RecordedRequest
from tests.unit.context.logs import calls as calling
from tests.unit.context.logs import prompt, returned
from tests.unit.context.logs import says as saying
from tests.unit.context.strategies import numbered, planned_histories
from tests.unit.session.harness import MODEL, Stage, calls, compactions, items, kept_of, notices, stage
from ullage.context.blocks import Text
from ullage.context.entries import AssistantReply, Clipped, Entry, EntryPinned, Forked, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.view.projection import project
from ullage.session.errors import SessionError
from ullage.session.history.places import LEFT_AT_WORK, fork_place, items_of_entry
from ullage.session.session import Session
from ullage.session.timeline.items import AssistantItem, UserItem
from ullage.session.timeline.shown_entries import title_of_fork
from ullage.session.timeline.updates import ForkOrigin

LONG = "A sounding is taken twice, at slack water, and the mean is written down. " * 200


def texts(session: Session) -> list[str]:
    return [item.text for item in items(session) if isinstance(item, UserItem | AssistantItem)]


def item_of(session: Session, text: str) -> str:
    return next(item.id for item in items(session) if isinstance(item, UserItem | AssistantItem) and item.text == text)


async def told(here: Stage) -> Session:
    """Two turns."""
    session = await here.new()
    here.fake.enqueue([Say("I look."), Call("read_file", {"path": "dip.txt"})], Say("It is long."), Say("It is still long."))
    await here.say(session, "Read the dip")
    await here.say(session, "And now?")
    return session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "dip.txt").write_text(LONG)
    return made


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_marks(each) for key, each in value.items() if key != "cache_control"}  # pyright: ignore[reportUnknownVariableType]
    return [without_marks(each) for each in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def messages(record: RecordedRequest) -> list[Any]:
    return without_marks(record.body["messages"])


async def test_a_fork_reads_the_cache_of_its_original_and_is_told_the_same(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        before = items(session)
        fork = (await here.sessions.fork(session.id, item_of(session, "It is long."))).session
        assert texts(fork) == ["Read the dip", "I look.", "It is long."]
        assert fork.title == "Read the dip (fork)"
        assert fork.snapshot().forked_from == ForkOrigin(session.id, "Read the dip")
        here.fake.enqueue(Say("Twice."))
        await here.say(fork, "How is it taken?")
        of_original, of_fork = here.fake.requests[-2:]
        assert here.refused() == []
        assert messages(of_fork)[:-1] == messages(of_original)[:-1]
        assert without_marks([of_fork.body["system"], of_fork.body["tools"]]) == without_marks(
            [of_original.body["system"], of_original.body["tools"]]
        )
        assert of_fork.input is not None
        assert of_fork.input.read > 0.9 * of_fork.input.total
        assert items(session) == before
        here.fake.enqueue(Say("As before."))
        await here.say(session, "Go on")
        assert messages(here.fake.requests[-1])[: len(messages(of_original))] == messages(of_original)
        assert here.refused() == []


async def test_a_fork_has_paid_nothing_yet_and_its_gauge_is_right_at_once(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        fork = (await here.sessions.fork(session.id)).session
        gauge, of_original = fork.snapshot().gauge, session.snapshot().gauge
        assert (gauge.used, gauge.estimated) == (of_original.used, False)
        assert (gauge.cost, gauge.cache_hit_rate) == (None, None)
        here.fake.enqueue(Say("Yes."))
        await here.say(fork, "Is it?")
        paid = fork.snapshot().gauge.cost
        assert paid == pytest.approx(here.fake.requests[-1].dollars)  # pyright: ignore[reportUnknownMemberType]
        epochs, _ = await fork.history.epochs(None)
        assert [(epoch.requests, epoch.cost) for epoch in epochs] == [(4, paid)]
        assert session.snapshot().gauge.cost == of_original.cost


async def test_from_a_prompt_the_fork_ends_before_it_and_gives_it_back(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        made = await here.sessions.fork(session.id, item_of(session, "And now?"))
        assert made.prompt is not None
        assert made.prompt.text == "And now?"
        assert texts(made.session) == ["Read the dip", "I look.", "It is long."]
        first = await here.sessions.fork(session.id, item_of(session, "Read the dip"))
        assert texts(first.session) == []
        here.fake.enqueue(Say("Otherwise."))
        await here.say(first.session, "Read it otherwise")
        assert first.session.title == "Read the dip (fork 2)"
        assert here.refused() == []


@pytest.mark.parametrize("shown", ["words", "call"])
async def test_a_reply_is_taken_with_the_results_of_its_calls(folder: Path, shown: str) -> None:
    async with stage(folder) as here:
        session = await told(here)
        item_id = item_of(session, "I look.") if shown == "words" else calls(session)[0].id
        fork = (await here.sessions.fork(session.id, item_id)).session
        assert texts(fork) == ["Read the dip", "I look."]
        assert calls(fork) == calls(session)
        assert notices(fork)[-1].text == LEFT_AT_WORK
        here.fake.enqueue(Say("It is very long."))
        fork.resume()
        await here.idle(fork)
        assert texts(fork)[-1] == "It is very long."
        assert messages(here.fake.requests[-1])[:2] == messages(here.fake.requests[1])[:2]
        assert here.refused() == []


async def test_a_fork_of_a_session_at_work_has_what_was_done_by_then(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue([Call("read_file", {"path": "dip.txt"}), Call("bash", {"command": "ls"})], Say("Done."))
        await session.prompt("Read")
        asked = await here.asked(session)
        await session.prompt("Queued")
        fork = (await here.sessions.fork(session.id)).session
        assert [call.status for call in calls(fork)] == ["completed", "failed"]
        assert (fork.state, session.state) == ("idle", "running")
        assert texts(fork) == ["Read"]
        here.fake.enqueue(Say("I go on."), Say("And the queued."))
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        assert texts(session) == ["Read", "Done.", "Queued", "I go on."]
        await here.say(fork, "Go on")
        assert texts(fork)[-1] == "And the queued."
        assert here.refused() == []


async def test_a_fork_while_a_reply_streams_in_asks_for_it_anew(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Hang(), Say("Here I am."))
        await session.prompt("Wait")
        await here.fake.until_held()
        fork = (await here.sessions.fork(session.id)).session
        fork.resume()
        await here.idle(fork)
        assert texts(fork) == ["Wait", "Here I am."]
        session.cancel()
        await here.idle(session)


async def test_a_fork_is_there_after_a_restart_and_when_its_original_is_gone(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Call("bash", {"command": "seq 1 20000"}), Say("Much."))
        await session.prompt("Count")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        fork_id = (await here.sessions.fork(session.id)).session.id
        (original,) = calls(session)
        session_id = session.id
        await here.sessions.delete(session_id)
    async with stage(folder) as here:
        fork = await here.sessions.open(fork_id)
        assert fork.snapshot().forked_from == ForkOrigin(session_id, "Count")
        assert calls(fork) == [original]
        assert original.full_output is not None
        here.fake.enqueue(Call("recall", {"tool_use_id": original.id}), Say("All of it."))
        await here.say(fork, "What was it?")
        assert "\n12345\n" in (folder / (calls(fork)[-1].full_output or "")).read_text()
        again = (await here.sessions.fork(fork_id)).session
        assert again.title == "Count (fork 2)"
        assert again.snapshot().forked_from == ForkOrigin(fork_id, "Count (fork)")
        await here.sessions.delete(fork_id)
        await here.sessions.delete(again.id)
        assert list((kept_of(folder) / "tool-results").iterdir()) == []


async def test_compactions_pins_and_the_model_come_along(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        await here.sessions.models.choose(session.id, "claude-sonnet-5-5")
        session.history.pin_item(item_of(session, "Read the dip"), pinned=True)
        here.fake.enqueue(Say("## Decisions\n- Take the mean."))
        session.compact()
        await here.idle(session)
        fork = (await here.sessions.fork(session.id)).session
        assert fork.snapshot().pins == session.snapshot().pins
        assert fork.snapshot().model.name == "claude-sonnet-5-5"
        (made,) = compactions(fork)
        assert made.status == "completed"
        here.fake.enqueue(Say("Compacted."))
        await here.say(fork, "Go on")
        compacted = len(str(messages(here.fake.requests[-1])))
        await fork.history.undo()
        here.fake.enqueue(Say("Whole."))
        await here.say(fork, "Go on")
        assert len(str(messages(here.fake.requests[-1]))) > compacted
        assert compactions(session)[0].status == "completed"
        assert here.refused() == []


async def test_an_older_compaction_does_not_come_along(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        here.fake.enqueue(Say("## Decisions\n- Take the mean."))
        session.compact()
        await here.idle(session)
        fork = (await here.sessions.fork(session.id, item_of(session, "It is still long."))).session
        assert compactions(fork) == []
        here.fake.enqueue(Say("Yes."))
        await here.say(fork, "Go on")
        sent = messages(here.fake.requests[-1])
        assert sent[: len(messages(here.fake.requests[2]))] == messages(here.fake.requests[2])
        assert here.refused() == []


async def test_recall_takes_what_came_along_for_the_forks_own(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        fork = (await here.sessions.fork(session.id)).session
        here.fake.enqueue(Call("recall", {"query": "slack water"}), Say("Found."))
        await here.say(fork, "Where?")
        output = calls(fork)[-1].output
        assert output.count("result of read_file") == 1
        assert "another session" not in output
        found = await here.sessions.search("slack water", 10)
        assert [(hit.session_id, hit.item_id) for hit in found] == [(session.id, calls(session)[0].id)]


@pytest.mark.parametrize(("item_id", "reason"), [("nothing", "no_such_item"), (None, "unknown_session")])
async def test_what_is_not_there_cannot_be_forked(folder: Path, item_id: str | None, reason: str) -> None:
    async with stage(folder) as here:
        session = await told(here)
        with pytest.raises(SessionError) as refused:
            await here.sessions.fork(session.id if item_id else "nowhere", item_id)
        assert refused.value.reason == reason
        assert len(here.sessions.summaries()) == 1


async def test_a_session_that_is_not_open_is_forked_and_stays_closed(folder: Path) -> None:
    async with stage(folder) as here:
        session = await told(here)
        session_id, item_id = session.id, item_of(session, "It is long.")
    async with stage(folder) as here:
        fork = (await here.sessions.fork(session_id, item_id)).session
        assert texts(fork) == ["Read the dip", "I look.", "It is long."]
        with pytest.raises(SessionError):
            here.sessions.get(session_id)
        assert fork.snapshot().model.name == MODEL


async def test_without_a_folder_a_session_can_be_forked_too() -> None:
    async with stage(None) as here:
        session = await here.new()
        here.fake.enqueue(Say("Here."), Say("There."))
        await here.say(session, "Hello")
        fork = (await here.sessions.fork(session.id)).session
        await here.say(fork, "And?")
        assert texts(fork) == ["Hello", "Here.", "And?", "There."]


# The place

AT_WORK: list[Entry] = [
    prompt("Look"),
    calling("t1", "t2"),
    returned("t2"),
    EntryPinned(2, True),
    returned("t1"),
    Clipped(5, "short", "out.txt"),
    UserPrompt("p2", "And that", steering=True),
    saying("So it is."),
    TurnEnded("end_turn"),
    prompt("More"),
    calling("t3"),
    returned("t3"),
]


@pytest.mark.parametrize(("at", "through"), [(1, 0), (3, 6), (5, 6), (7, 6), (8, 9), (10, 9), (12, 12)])
def test_a_fork_ends_where_a_request_stood(at: int, through: int) -> None:
    entries = numbered(AT_WORK)
    (*_, item_id) = items_of_entry(entries[at - 1].entry)
    place = fork_place(entries, item_id)
    assert place is not None
    assert place.through == through


@given(planned_histories())
def test_no_fork_parts_a_call_from_a_result_that_comes_next(log: list[Logged]) -> None:
    log = [replace(logged, entry=with_own_id(logged)) for logged in log]
    for logged in log:
        for item_id in items_of_entry(logged.entry):
            place = fork_place(log, item_id)
            assert place is not None
            assert place.prompt == (logged.entry if isinstance(logged.entry, UserPrompt) else None)
            open_calls = {call.id for call in project(log[: place.through]).pending_tool_uses}
            following = next((each.entry for each in log[place.through :] if not isinstance(each.entry, EntryPinned)), None)
            assert not (isinstance(following, ToolReturned) and following.tool_use_id in open_calls)


def with_own_id(logged: Logged) -> Entry:
    """As sessions give them; in the drawn ones all prompts have the same id."""
    entry = logged.entry
    return replace(entry, id=f"{entry.id}{logged.seq}") if isinstance(entry, UserPrompt | AssistantReply) else entry


def test_titles_of_forks_are_numbered() -> None:
    assert title_of_fork("", ["a"]) == ""
    assert title_of_fork("Tanks", []) == "Tanks (fork)"
    assert title_of_fork("Tanks (fork)", ["Tanks", "Tanks (fork)"]) == "Tanks (fork 2)"
    assert title_of_fork("Tanks (fork 2)", ["Tanks (fork)", "Tanks (fork 2)"]) == "Tanks (fork 3)"


def test_the_words_of_an_entry_that_says_nothing_are_no_place() -> None:
    assert fork_place(numbered([Forked("a", "Tanks"), AssistantReply("r", (Text("x"),), "m", "end_turn", None)]), "n1") is None
