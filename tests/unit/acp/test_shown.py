"""What a client of the Agent Client Protocol is told of the items of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp import schema

from ullage.acp.shown import LIVE_OUTPUT, LIVE_SECONDS, ShownSession, fenced, known_updates
from ullage.session.timeline.items import AssistantItem, CompactionItem, NoticeItem, ToolCallItem, UserItem
from ullage.session.timeline.updates import ItemRemoved, ItemUpdated, TextAppended, Update

FOLDER = Path("/work/pumps")


def told(shown: ShownSession, *updates: Update, now: float = 0.0) -> list[Any]:
    return [each for update in updates for each in shown.take(update, now)]


def said(updates: list[Any]) -> str:
    return "".join(each.content.text for each in updates)


def reply(text: str) -> ItemUpdated:
    return ItemUpdated(AssistantItem("r1.0", 0.0, text))


def call(status: Any, output: str = "", **more: Any) -> ToolCallItem:
    return ToolCallItem("t1", 0.0, "bash", "$ make", "execute", status, '{"command": "make"}', output, **more)


def compaction(status: Any, **more: Any) -> CompactionItem:
    fields: dict[str, Any] = {
        "trigger": "manual",
        "rung": None,
        "tokens_before": 9_000,
        "tokens_after": 1_000,
        "summary": "",
        "restored": (),
        "cleared": 0,
        "snipped": 0,
        "summarised": 3,
        "focus": "",
        "skipped": (),
        "cost": None,
        "error": "",
    }
    return CompactionItem("c1", 0.0, status, **{**fields, **more})


def test_a_text_is_told_once_however_it_comes() -> None:
    shown = ShownSession(FOLDER)
    pieces = told(shown, reply("One"), TextAppended("r1.0", "text", " two"), reply("One two three"), reply("One two three"))
    assert [each.content.text for each in pieces] == ["One", " two", " three"]
    assert {each.message_id for each in pieces} == {"r1.0"}


def test_a_reply_that_is_asked_for_again_follows_the_first() -> None:
    shown = ShownSession(FOLDER)
    told(shown, reply("One tw"), ItemRemoved("r1.0"))
    assert said(told(shown, ItemUpdated(AssistantItem("r2.0", 0.0, "One two")))) == "One two"


def test_the_output_of_a_running_call_is_told_now_and_then_and_at_its_end() -> None:
    shown = ShownSession(FOLDER)
    told(shown, ItemUpdated(call("running")))
    assert told(shown, TextAppended("t1", "output", "a"), now=LIVE_SECONDS / 2) == []
    (live,) = told(shown, TextAppended("t1", "output", "b" * LIVE_OUTPUT), now=LIVE_SECONDS)
    assert len(live.content[0].content.text) < LIVE_OUTPUT + 20
    (end,) = told(shown, ItemUpdated(call("completed", "whole")))
    assert (end.status, end.content[0].content.text) == ("completed", "```\nwhole\n```")
    assert told(shown, TextAppended("t1", "output", "late"), now=9.0) == []


def test_input_that_is_being_written_is_no_input_yet() -> None:
    shown = ShownSession(FOLDER)
    (start,) = told(shown, ItemUpdated(ToolCallItem("t1", 0.0, "bash", "bash", "execute", "pending", '{"comm', "")))
    assert isinstance(start, schema.ToolCallStart)
    assert start.raw_input is None
    (change,) = told(shown, ItemUpdated(call("pending")))
    assert isinstance(change, schema.ToolCallProgress)
    assert change.raw_input == {"command": "make"}


def test_a_fence_is_longer_than_those_in_the_text() -> None:
    assert fenced("````\nx\n") == "`````\n````\nx\n`````"


def test_a_compaction_is_a_tool_call_or_an_update_of_its_own() -> None:
    first, last = ItemUpdated(compaction("in_progress", tokens_after=None)), ItemUpdated(compaction("completed", summary="So far."))
    start, end = told(ShownSession(FOLDER), first, last)
    assert (start.status, end.status, end.title) == ("in_progress", "completed", "Compacted the conversation: 9,000 → 1,000 tokens")
    start, end = told(ShownSession(FOLDER, frozenset({"compaction"})), first, last)
    assert (start["sessionUpdate"], start["compactionId"], start["status"]) == ("compaction_update", "c1", "in_progress")
    assert "summary" not in start
    assert end["summary"] == [{"type": "text", "text": "So far."}]
    (failed,) = told(
        ShownSession(FOLDER, frozenset({"compaction"})), ItemUpdated(compaction("failed", error="No room.", summary="So far."))
    )
    assert (failed["error"], "summary" in failed) == ("No room.", False)


def test_what_a_client_announces_beside_the_usual() -> None:
    assert known_updates({"session": {"compaction": {}, "notices": {}, "configOptions": {}}}) == {"compaction", "notices"}
    others: list[dict[str, Any]] = [{}, {"session": {}}, {"session": {"compaction": None}}, {"session": True}]
    for announced in others:
        assert known_updates(announced) == frozenset()


def test_a_notice_is_a_quotation_or_an_update_of_its_own() -> None:
    item = NoticeItem("n5", 0.0, "warning", "No sandbox.\nInstall bubblewrap.")
    assert said([ShownSession(FOLDER).notice(item)]) == "\n\n> No sandbox.\n> Install bubblewrap.\n\n"
    knows = ShownSession(FOLDER, frozenset({"notices"}))
    told = {"sessionUpdate": "notice", "severity": "warning", "title": "No sandbox.", "description": "Install bubblewrap."}
    assert knows.notice(item) == told
    assert list(knows.replay([item])) == []


def test_a_replay_has_prompts_and_leaves_out_what_waits() -> None:
    items = (
        UserItem("p1", 0.0, "mend it", ("pump.py",), queued=False),
        AssistantItem("r1.0", 0.0, "Mended."),
        NoticeItem("n4", 0.0, "info", "Stopped.", "continue"),
        NoticeItem("n5", 0.0, "warning", "No sandbox."),
        UserItem("p2", 0.0, "later", (), queued=True),
    )
    replayed = list(ShownSession(FOLDER).replay(items))
    assert [type(each) for each in replayed] == [schema.UserMessageChunk, schema.AgentMessageChunk, schema.AgentMessageChunk]
    assert said(replayed) == "mend it\n@pump.pyMended.\n\n> No sandbox.\n\n"
