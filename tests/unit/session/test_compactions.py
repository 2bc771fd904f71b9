"""Compactions as a front end and the API see them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.fake_api import Call, Fail, Hang, HoldsAfter, Reply, Say
from tests.unit.session.filling import (
    SUMMARY,
    WINDOW,
    fill,
    fill_to_the_line,
    make_project,
    more_readings,
    summaries,
    when_asked_for_a_summary,
)
from tests.unit.session.harness import compactions, items, kept_of, notices, stage
from ullage.context.compaction_entries import Compaction
from ullage.session.errors import SessionError
from ullage.session.settings import Settings
from ullage.session.timeline.items import AssistantItem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def texts_of(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


async def test_a_click_compacts_and_the_number_falls(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        before = session.snapshot().gauge
        session.compact("the units")
        await here.idle(session)
        [card] = compactions(session)
        after = session.snapshot().gauge
        assert (card.status, card.trigger, card.rung, card.focus) == ("completed", "manual", "model", "the units")
        assert card.tokens_before == before.used
        assert card.tokens_after is not None
        assert after.used == card.tokens_after < before.used
        assert after.estimated
        assert not before.estimated
        assert "millimetres" in card.summary
        assert "Never change the file" in card.summary
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Still there?")
        assert "millimetres" in texts_of(here.fake.requests[-1].body)
        assert not session.snapshot().gauge.estimated


async def test_the_summary_is_asked_for_on_the_warm_prefix(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        usage = here.fake.requests[-1].input
        assert usage is not None
        assert usage.read / usage.total >= 0.9


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Fail(529, "overloaded_error", "Overloaded"), "overloaded"),
        (Reply((Say(""),)), "empty"),
        (Reply((Say("half of it"),), stop_reason="max_tokens"), "cut off"),
        ((Call("bash", {"command": "ls"}),), "tool"),
        (Say("=== RECORD ===\n" + "far too long " * 2_400 + "\n=== END OF RECORD ==="), "not shorter"),
        (Say("```json\n" + '{"Decisions": "none", "Next step": "none"}' + "\n```"), "form that was asked for"),
        (Say("=== RECORD ===\n" + "## Decisions\nnone\n\n" * 7 + "=== END OF RECORD ==="), "nothing under them"),
    ],
)
async def test_a_summary_that_cannot_be_used_gives_way_to_the_digest(folder: Path, outcome: Any, words: str) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(outcome))
        session = await here.new()
        await fill(here, session, 1)
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.status, card.rung) == ("completed", "digest")
        assert words in " ".join(card.skipped).lower()
        assert "Never change the file" in card.summary


async def test_it_compacts_by_itself_between_tool_calls_at_the_line(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        reads = more_readings(folder, 4)
        here.fake.enqueue(*reads, Say("Done."))
        await here.say(session, "Read it four times")
        assert {card.trigger for card in compactions(session)} == {"threshold"}
        gauge = session.snapshot().gauge
        assert gauge.used < gauge.threshold
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "Done."


async def test_with_auto_off_calls_are_held_at_the_window_with_a_word(folder: Path) -> None:
    async with stage(folder, settings=Settings(auto_compact=False), window=WINDOW) as here:
        session = await here.new()
        reads = more_readings(folder, 12)
        here.fake.enqueue(*reads)
        await here.say(session, "Read it")
        assert compactions(session) == []
        [notice] = notices(session)
        assert "The context is full" in notice.text
        here.fake.add_rules(summaries())
        session.compact()
        await here.idle(session)
        assert compactions(session)[0].status == "completed"


async def test_while_editing_it_compacts_and_the_next_request_holds_the_unsaved_text(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        assert compactions(session) == []
        path = (folder / "tank.py").resolve()
        here.editor.texts[path] = "CAPACITY = 321  # unsaved\n"
        here.sessions.document_changed(path, "opened")
        here.sessions.document_changed(path, "changed", 1)
        await here.watcher.until(lambda: [card.status for card in compactions(session)] == ["completed"])
        await here.idle(session)
        [card] = compactions(session)
        assert card.trigger == "idle"
        assert "tank.py" in [file.path for file in card.restored]
        here.fake.enqueue(Say("321."))
        await here.say(session, "How much now?")
        assert "CAPACITY = 321  # unsaved" in texts_of(here.fake.requests[-1].body)


async def test_what_the_user_typed_on_after_a_compaction_is_sent_too(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill_to_the_line(here, session)
        path = (folder / "tank.py").resolve()
        here.editor.texts[path] = "CAPACITY = 321\n"
        here.sessions.document_changed(path, "changed", 1)
        await here.watcher.until(lambda: [card.status for card in compactions(session)] == ["completed"])
        await here.idle(session)
        here.editor.texts[path] = "CAPACITY = 654\n"
        here.sessions.document_changed(path, "changed", 1)
        here.fake.enqueue(Say("654."), Call("edit_file", {"path": "tank.py", "old_text": "654", "new_text": "7"}), Say("Done."))
        await here.say(session, "How much now?")
        assert "CAPACITY = 654" in texts_of(here.fake.requests[-1].body)
        await session.prompt("Make it 7")
        session.answer_permission((await here.asked(session)).id, "allow_once")
        await here.idle(session)
        assert here.editor.texts[path] == "CAPACITY = 7\n"


async def test_a_prompt_during_a_background_summary_does_not_wait_for_it(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(Hang(Reply((Say(SUMMARY),)))))
        session = await here.new()
        await fill_to_the_line(here, session)
        path = (folder / "tank.py").resolve()
        here.sessions.document_changed(path, "changed", 1)
        await here.fake.until_held()
        here.fake.enqueue(Say("At once."))
        await here.say(session, "Are you there?")
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "At once."
        here.fake.release()


async def test_a_prompt_that_is_too_long_is_compacted_once_and_asked_again(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Fail(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), Say("Here."))
        await here.say(session, "More")
        [card] = compactions(session)
        assert (card.trigger, card.status, card.rung) == ("reactive", "completed", "digest")
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "Here."


async def test_the_gauge_takes_the_window_that_a_refusal_names(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(
            Fail(400, "exceed_context_size_error", "request (30000 tokens) exceeds the available context size (24576 tokens)")
        )
        await here.say(session, "More")
        gauge = session.snapshot(1).gauge
        assert (gauge.size, gauge.threshold) == (24_576, 12_288)


async def test_a_conversation_of_long_prompts_is_compacted_in_a_small_window_too(folder: Path) -> None:
    """The record quotes the user only as far as a small window allows, so there is something to gain."""
    async with stage(folder, window=27_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        for number in range(8):
            here.fake.enqueue(Say(f"Noted: {number}."))
            await here.say(session, f"Reading {number}: " + "the tank holds what it holds. " * 250)
        assert notices(session) == []
        assert {card.status for card in compactions(session)} == {"completed"}
        gauge = session.snapshot().gauge
        assert gauge.used < gauge.threshold


@pytest.mark.parametrize("length", range(25, 225, 25))
async def test_what_a_click_leaves_is_never_more_than_there_was(folder: Path, length: int) -> None:
    async with stage(folder) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        here.fake.enqueue(Say("It holds what it holds. " * length))
        await here.say(session, "What does it hold?")
        here.fake.enqueue(Say("As I said."))
        await here.say(session, "Is that so?")
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.status == "failed" or (card.tokens_after or 0) < card.tokens_before


async def test_a_prompt_that_stays_too_long_ends_with_a_word_and_no_loop(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        too_long = Fail(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
        here.fake.enqueue(too_long, too_long)
        await here.say(session, "More")
        assert len(compactions(session)) == 1
        assert notices(session)[-1].level == "error"


async def test_a_reply_that_fills_the_window_is_compacted_and_goes_on(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Reply((Say("Half a"),), stop_reason="model_context_window_exceeded"), Say(" sentence."))
        await here.say(session, "Say it")
        assert [card.trigger for card in compactions(session)] == ["reactive"]
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == " sentence."


async def test_a_click_while_a_reply_fills_the_window_leaves_the_model_at_work(folder: Path) -> None:
    async with stage(folder, window=200_000) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        filled = Reply((Say("Half a"),), stop_reason="model_context_window_exceeded", interruption=HoldsAfter(1), chunk_size=4)
        here.fake.enqueue(filled, Say(" sentence."))
        await session.prompt("Say it")
        await here.watcher.until(lambda: any(isinstance(item, AssistantItem) and item.text == "Half" for item in items(session)))
        session.compact("")
        here.fake.release()
        await here.idle(session)
        clicked = next(each.entry for each in session.entries if isinstance(each.entry, Compaction) and each.entry.trigger == "manual")
        assert "You were at work" in clicked.resume


async def test_undo_gives_back_exactly_the_request_there_was_and_redo_the_other(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Say("One."))
        await here.say(session, "One?")
        plain = here.fake.requests[-1].body["messages"]
        session.compact()
        await here.idle(session)
        here.fake.enqueue(Say("Two."))
        await here.say(session, "Two?")
        compacted = here.fake.requests[-1].body["messages"]
        await session.history.undo()
        assert compactions(session)[0].status == "undone"
        here.fake.enqueue(Say("Three."))
        await here.say(session, "Three?")
        undone = here.fake.requests[-1].body["messages"]
        assert without_marks(undone)[: len(plain)] == without_marks(plain)
        await session.history.redo()
        here.fake.enqueue(Say("Four."))
        await here.say(session, "Four?")
        redone = here.fake.requests[-1].body["messages"]
        assert without_marks(redone)[: len(compacted)] == without_marks(compacted)
        with pytest.raises(SessionError):
            await session.history.redo()


def without_marks(value: Any) -> Any:
    """The JSON without its cache marks."""
    if isinstance(value, dict):
        return {key: without_marks(each) for key, each in cast("dict[str, Any]", value).items() if key != "cache_control"}
    if isinstance(value, list):
        return [without_marks(each) for each in cast("list[Any]", value)]
    return value


async def test_the_model_compacts_by_its_tool_after_all_results_are_in(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue([Call("compact", {"focus": "units"}), Call("read_file", {"path": "tank.py"})], Say("Compacted."))
        await here.say(session, "Compact yourself")
        [card] = compactions(session)
        assert (card.trigger, card.focus, card.status) == ("tool", "units", "completed")
        last = items(session)[-1]
        assert isinstance(last, AssistantItem)
        assert last.text == "Compacted."


async def test_a_transcript_that_cannot_be_written_means_no_compaction(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        before = session.snapshot().gauge
        transcripts = kept_of(folder) / "transcripts"
        transcripts.write_text("in the way")
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.status == "failed"
        assert card.error
        after = session.snapshot().gauge
        assert after.cost is not None and before.cost is not None and after.cost > before.cost  # the summary was written in vain
        assert replace(after, cost=before.cost, cache_hit_rate=before.cache_hit_rate) == before


async def test_nothing_to_compact_says_so(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.enqueue(Say("Hello."))
        session = await here.new()
        await here.say(session, "Hello")
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert card.status == "cancelled", "nothing went wrong"
        assert "nothing to compact" in card.error


async def test_an_empty_session_has_nothing_to_compact(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        with pytest.raises(SessionError, match="nothing to compact") as refused:
            session.compact()
        assert refused.value.reason == "nothing_to_compact"
        assert compactions(session) == []


async def test_before_a_summary_the_messages_are_written_down(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        [file] = (kept_of(folder) / "transcripts").iterdir()
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert lines[0]["role"] == "user"
        assert "round 0" in json.dumps(lines[0])


async def test_a_session_that_is_opened_again_is_the_same(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as first:
        first.fake.add_rules(summaries())
        session = await first.new()
        await fill(first, session, 2)
        session.compact()
        await first.idle(session)
        first.fake.enqueue(Say("One."))
        await first.say(session, "One?")
        shown = items(session)
        sent = first.fake.requests[-1].body
        await first.sessions.close()
        async with stage(folder, fake=first.fake) as second:
            again = await second.sessions.open(None)
            assert again.id == session.id
            assert items(again) == shown
            second.fake.enqueue(Say("Two."))
            await second.say(again, "Two?")
            body = second.fake.requests[-1].body
            assert body["system"] == sent["system"]
            assert without_marks(body["messages"])[: len(sent["messages"])] == without_marks(sent["messages"])


async def test_a_compaction_that_was_asked_for_in_a_turn_that_is_stopped_is_told_not_to_be_made(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 3)
        here.fake.enqueue(Hang(Reply((Say("Late."),))))
        await session.prompt("Take your time")
        await here.fake.until_held()
        asked = session.compact()
        session.cancel()
        await here.idle(session)
        here.fake.release()
        [card] = compactions(session)
        assert (card.id, card.status) == (asked, "cancelled")
        assert "stopped" in card.error
        assert here.made(session) == []
