"""How many messages a compaction takes out of view: the same number wherever a user reads it, by what the panel shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Call, Hang, Reply, Rule, Say
from tests.unit.session.filling import (
    SUMMARY,
    WINDOW,
    fill,
    fill_to_the_line,
    make_project,
    summaries,
    when_asked_for_a_summary,
)
from tests.unit.session.harness import Stage, calls, compactions, items, stage
from ullage.context.compaction_entries import MessageCounts
from ullage.inspection import run
from ullage.session.history.preview import Preview
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import AssistantItem, UserItem

MESSAGES = ("user", "assistant", "tool")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def counted(preview: Preview) -> MessageCounts:
    """Of the lines that are messages, how many would have which fate."""
    fates = [line.fate for line in preview.lines if line.role in MESSAGES]
    return MessageCounts(fates.count("summarised"), fates.count("cleared"), fates.count("snipped"))


async def compacted(here: Stage, session: Session) -> tuple[Preview, MessageCounts]:
    """What the preview says, and the card of the compaction after it."""
    preview = await session.history.preview()
    session.compact()
    await here.idle(session)
    card = compactions(session)[-1]
    assert card.status == "completed"
    return preview, MessageCounts(card.summarised, card.cleared, card.snipped)


async def test_preview_card_epoch_and_inspect_count_what_the_panel_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 3)
        shown = [item for item in items(session) if isinstance(item, UserItem | AssistantItem)] + calls(session)
        preview, card = await compacted(here, session)
        assert len([line for line in preview.lines if line.role in MESSAGES]) == len(shown)
        assert {line.item_id for line in preview.lines if line.role in MESSAGES} == {item.id for item in shown}
        assert preview.counts == counted(preview) == card
        assert card.summarised
        [_, epoch], _ = await session.history.epochs()
        assert epoch.compaction is not None and epoch.compaction.message_counts == card
        await here.sessions.close()
    assert run("last", folder, "table", messages=False, location=str(folder.parent / f"{folder.name}-state")) == 0
    assert f"{card.summarised} messages summarised" in capsys.readouterr().out


async def test_a_second_compaction_counts_what_it_takes_and_not_what_is_gone(folder: Path) -> None:
    async with stage(folder, window=WINDOW, settings=Settings(summary_engine="digest")) as here:
        session = await here.new()
        await fill(here, session, 3)
        _, first = await compacted(here, session)
        await fill(here, session, 3)
        preview, second = await compacted(here, session)
        assert preview.counts == counted(preview) == second
        shown = [item for item in items(session) if isinstance(item, UserItem | AssistantItem)] + calls(session)
        assert first.summarised + second.summarised < len(shown)


async def test_a_preview_while_a_summary_is_written_in_the_background_counts_what_that_will_take(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(when_asked_for_a_summary(Hang(Reply((Say(f"=== RECORD ===\n{SUMMARY}\n=== END OF RECORD ==="),)))))
        session = await here.new()
        await fill_to_the_line(here, session)
        controller = session._controller  # noqa: SLF001
        controller.prepare()
        await here.fake.until_held()
        here.fake.enqueue(Say("It is the tide."))
        await here.say(session, "Why does it sink?")
        preview = await session.history.preview()
        assert controller.slot.begun and not controller.making.ahead.ready()
        session.compact()
        here.fake.release()
        await here.idle(session)
        card = compactions(session)[-1]
        assert (card.status, card.rung) == ("completed", "model")
        assert preview.counts == counted(preview) == MessageCounts(card.summarised, card.cleared, card.snipped)


async def test_a_preview_while_the_api_writes_one_in_the_background_counts_what_that_will_take(folder: Path) -> None:
    async with stage(folder, window=WINDOW, compaction=True) as here:
        here.fake.add_rules(Rule(lambda body: "compaction" in body, Hang(Reply((Say(SUMMARY),)))))
        session = await here.new()
        await session.learn_model()
        await fill_to_the_line(here, session)
        controller = session._controller  # noqa: SLF001
        controller.prepare()
        await here.fake.until_held()
        here.fake.enqueue([Call("read_file", {"path": "tank.py"})], Say("It is the tide. " * 900))
        await here.say(session, "Why does it sink?")
        preview = await session.history.preview()
        session.compact()
        here.fake.release()
        await here.idle(session)
        card = compactions(session)[-1]
        assert (card.status, card.rung, preview.rung) == ("completed", "api", "api")
        assert preview.counts == counted(preview) == MessageCounts(card.summarised, card.cleared, card.snipped)
        assert [file.path for file in preview.restored] == [file.path for file in card.restored]


async def test_what_an_exclusion_left_is_named_for_what_it_is(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        here.fake.enqueue(Say("The moon is a tank."), Say("Seen."))
        await here.say(session, "Say something odd")
        await here.say(session, "And now?")
        odd = next(item for item in items(session) if isinstance(item, AssistantItem) and item.text == "The moon is a tank.")
        before = await session.history.preview()
        await session.history.exclude(odd.id)
        await session.history.exclude(calls(session)[0].id)
        preview = await session.history.preview()
        left = [line.title for line in preview.lines if line.role == "record"]
        assert left == [f"Placeholder for what you excluded: {calls(session)[0].title}", "Placeholder for what you excluded"]
        assert preview.counts == counted(preview)
        assert preview.counts.summarised < before.counts.summarised


async def test_a_call_without_a_word_and_its_results_are_no_more_messages_than_results(folder: Path) -> None:
    async with stage(folder, window=WINDOW) as here:
        session = await here.new()
        await fill(here, session, 1)
        here.fake.enqueue([Call("read_file", {"path": "a.py"}), Call("read_file", {"path": "b.py"})], Say("There are none."))
        await here.say(session, "Look at both")
        preview = await session.history.preview()
        last = [(line.role, line.item_id is not None) for line in preview.lines[-4:]]
        assert last == [("user", True), ("tool", True), ("tool", True), ("assistant", True)]
        assert abs(sum(line.tokens_before for line in preview.lines) - preview.tokens_before) < preview.tokens_before / 2
