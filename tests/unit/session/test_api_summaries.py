"""Rung 1: summaries that the API writes itself, with what it costs where it cannot be had. The strict fake judges every request, with
"error" for thinking that does not fit what stands before it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Fail, Hang, RecordedRequest, Reply, Rule, Say, Think
from tests.fake_api.script import Scripted
from tests.unit.session.filling import WINDOW, asks_for_summary, fill, fill_to_the_line, make_project, summaries
from tests.unit.session.harness import Stage, compactions, items, stage
from ullage.context.compaction.api_summary import COMPLETES
from ullage.session.settings import Settings
from ullage.session.timeline.items import UserItem

SUMMARY = "## Decisions and why\n- The tank is measured in millimetres, since the dip stick is marked in them; litres were turned down."

SECRET = "sk-ant-" + "api03-" + "Xk9" * 14


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def asks_the_api(body: dict[str, Any]) -> bool:
    return "compaction" in body


def blocks_asked_for(here: Stage) -> list[RecordedRequest]:
    return [record for record in here.fake.requests if asks_the_api(record.body)]


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def thoughts(body: dict[str, Any]) -> int:
    return sum(kinds(message).count("thinking") for message in body["messages"])


def without_marks(body: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(body).replace(', "cache_control": {"type": "ephemeral"}', "")
    return json.loads(text)


async def test_the_api_writes_it_and_the_turns_that_are_kept_keep_their_thinking(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.enqueue_summaries([Think("What mattered?"), Say(SUMMARY)])
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue([Think("Small."), Call("read_file", {"path": "tank.py"})], [Think("Well."), Say("It holds 100.")])
        await here.say(session, "How much does it hold?")
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.status, card.rung, card.skipped) == ("completed", "api", ())
        assert card.summary.startswith(SUMMARY)
        assert card.tokens_after == session.snapshot().gauge.used < card.tokens_before
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Is that all?")
        [asked] = blocks_asked_for(here)
        last = here.fake.requests[-1].body
        assert last["messages"][0] == {"role": "assistant", "content": asked.reply}
        assert thoughts(last) == 2, "of the turn that was kept"
        assert "How much does it hold?" in str(last["messages"][1])
        assert card.cost == pytest.approx(asked.dollars)
        assert asked.input is not None
        assert asked.input.read / asked.input.total >= 0.9
        record = next(block["text"] for block in last["messages"][-1]["content"] if COMPLETES in block.get("text", ""))
        assert "Never change the file" in record
        assert SUMMARY not in record
        assert here.refused() == []


async def test_what_is_wanted_is_said_to_the_api(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        session = await here.new()
        await fill(here, session, 2)
        session.compact("the units " * 4_000)
        await here.idle(session)
        [asked] = blocks_asked_for(here)
        instructions = asked.body["compaction"]["instructions"]
        assert "call no tools" in instructions
        assert "Give most room to this: the units the units" in instructions
        assert len(instructions) == 16_384


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ([Fail(529, "overloaded_error", "Unavailable", error_code="compaction_unavailable")] * 7, "unavailable"),
        ([Fail(400, "invalid_request_error", "not now")], "not now"),
        ([Reply((Say("half of it"),), stop_reason="max_tokens")], "cut off"),
        ([(Call("bash", {"command": "ls"}),)], "called a tool"),
        ([Reply((Say("I cannot"),), stop_reason="refusal")], "declined"),
        ([Reply(())], "empty"),
        ([Say("Short.")], "empty"),
        ([Say(f"{SUMMARY} The key is {SECRET}")], "secret"),
        ([Say(SUMMARY + " far too long" * 3_500)], "not shorter"),
    ],
)
async def test_where_the_api_writes_none_the_model_does(folder: Path, outcomes: list[Scripted], words: str) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.enqueue_summaries(*outcomes)
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 1)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.status, card.rung, len(card.skipped)) == ("completed", "model", 1)
        assert words in card.skipped[0].lower()
        spent = sum(record.dollars for record in here.fake.requests if asks_the_api(record.body) or asks_for_summary(record.body))
        assert card.cost == pytest.approx(spent), "also what was written in vain"


async def test_where_neither_writes_one_the_program_does(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.enqueue_summaries(Reply(()))
        here.fake.add_rules(Rule(asks_for_summary, Reply((Say(""),))))
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.status, card.rung, len(card.skipped)) == ("completed", "digest", 2)


async def test_after_three_failures_in_a_row_the_api_is_not_asked(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(Rule(asks_the_api, Reply(())), summaries())
        session = await here.new()
        for _ in range(4):
            await fill(here, session, 1)
            session.compact()
            await here.idle(session)
        assert [card.rung for card in compactions(session)] == ["model"] * 4
        assert len(blocks_asked_for(here)) == 3


@pytest.mark.parametrize("settings", [Settings(summary_engine="digest"), Settings(policy_name="codex")])
async def test_where_something_else_is_chosen_the_api_is_not_asked(folder: Path, settings: Settings) -> None:
    async with stage(folder, settings=settings, window=WINDOW, compaction=True) as here:
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        assert blocks_asked_for(here) == []


async def test_after_a_refusal_as_too_long_it_is_not_asked(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Fail(400, "invalid_request_error", "prompt is too long: 70000 tokens > 60000 maximum"), Say("Now."))
        await here.say(session, "Go on")
        assert [(card.trigger, card.rung) for card in compactions(session)] == [("reactive", "digest")]
        assert blocks_asked_for(here) == []


async def test_what_is_pinned_cannot_stand_behind_a_block(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        prompt = next(item for item in items(session) if isinstance(item, UserItem))
        session.history.pin_item(prompt.id, pinned=True)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.rung == "model"
        assert "pinned" in card.skipped[0]
        assert blocks_asked_for(here) == []


async def test_prepared_ahead_nobody_waits_and_what_was_thought_meanwhile_is_kept(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(Rule(asks_the_api, Hang(Reply((Say(SUMMARY),)))))
        session = await here.new()
        await fill_to_the_line(here, session)
        await here.fake.until_held()
        here.fake.enqueue([Think("Meanwhile."), Say("Said meanwhile.")])
        await here.say(session, "Anything else?")
        [asked] = blocks_asked_for(here)
        assert compactions(session) == []
        here.fake.release()
        await here.fake.until_ended(len(here.fake.requests))
        here.fake.enqueue([Think("After."), Say("Answered.")])
        await here.say(session, "word " * 12_000)
        [card] = compactions(session)
        assert (card.trigger, card.rung) == ("threshold", "api")
        assert len(blocks_asked_for(here)) == 1
        last = here.fake.requests[-1].body
        assert kinds(last["messages"][0]) == ["compaction"]
        assert "Said meanwhile." in str(last["messages"])
        assert thoughts(last) >= 1
        sent = next(record.body for record in here.fake.requests if len(record.body["messages"]) >= len(asked.body["messages"]))
        assert without_marks(sent)["messages"][: len(asked.body["messages"])] == without_marks(asked.body)["messages"]
        assert asked.input is not None
        assert asked.input.read / asked.input.total >= 0.9
        assert here.refused() == []


async def test_undo_and_redo_give_back_the_very_requests(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        session = await here.new()
        await fill(here, session, 2)

        async def next_request() -> dict[str, Any]:
            here.fake.enqueue(Fail(400, "invalid_request_error", "not now"))
            await here.say(session, "And now?")
            return without_marks(here.fake.requests[-1].body)

        before = await next_request()
        session.compact()
        await here.idle(session)
        compacted = await next_request()
        assert kinds(compacted["messages"][0]) == ["compaction"]
        await session.history.undo()
        undone = await next_request()
        assert undone["messages"][: len(before["messages"]) - 1] == before["messages"][:-1]
        await session.history.redo()
        redone = await next_request()
        assert redone["messages"][: len(compacted["messages"]) - 1] == compacted["messages"][:-1]


async def test_one_after_the_other_and_a_new_life(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.enqueue_summaries(Say(f"First. {SUMMARY}"), Say(f"Second. {SUMMARY}"))
        session = await here.new()
        for _ in range(2):
            await fill(here, session, 2)
            session.compact()
            await here.idle(session)
        assert [card.rung for card in compactions(session)] == ["api", "api"]
        _, second = blocks_asked_for(here)
        assert second.body["messages"][0]["content"][0]["content"] == f"First. {SUMMARY}"
        await here.sessions.close_session(session.id)
        async with stage(folder, fake=here.fake) as again:
            session = await again.sessions.open(session.id)
            again.fake.enqueue([Think("So."), Say("Yes.")])
            await again.say(session, "Still there?")
            last = again.fake.requests[-1].body
            assert last["messages"][0] == {"role": "assistant", "content": second.reply}
            assert str(last).count("'type': 'compaction'") == 1
            again.sessions.configure(Settings(model_name="claude-opus-5-5", base_url=here.fake.base_url, summary_engine="digest"))
            session.compact()
            await again.idle(session)
            assert compactions(session)[-1].rung == "digest"
            assert f"Second. {SUMMARY.splitlines()[0]}" in compactions(session)[-1].summary, "no model's words are lost"
        assert here.refused() == []


async def test_another_model_that_reads_no_blocks_gets_the_summary_as_text(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.enqueue_summaries(Say(SUMMARY))
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        here.sessions.configure(replace(here.settings, model_name="claude-opus-4-5"))
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Is that all?")
        first = here.fake.requests[-1].body["messages"][0]
        assert here.fake.requests[-1].body["model"] == "claude-opus-4-5"
        assert first["role"] == "user"
        assert SUMMARY in first["content"][0]["text"]
        here.sessions.configure(here.settings)
        here.fake.enqueue(Say("It is."))
        await here.say(session, "Sure?")
        assert kinds(here.fake.requests[-1].body["messages"][0]) == ["compaction"], "and the first model its block again"
        assert here.refused() == []


async def test_the_preview_names_the_rung(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        session = await here.new()
        await fill(here, session, 2)
        assert (await session.history.preview()).rung == "api"


async def test_a_block_whose_epoch_has_passed_is_given_up_without_another_call(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        session = await here.new()
        await fill(here, session, 1)
        session.compact()
        await here.idle(session)
        here.fake.add_rules(Rule(asks_the_api, Hang(Reply((Say(SUMMARY),)))), summaries())
        await fill_to_the_line(here, session)
        await here.fake.until_held()
        await session.history.undo()
        here.fake.release()
        await here.fake.until_ended(len(here.fake.requests))
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Still there?")
        assert not any(asks_for_summary(record.body) for record in here.fake.requests)
        assert compactions(session)[0].status == "undone"
        assert here.refused() == []
