"""The timeline shows the log and the live stream alike, and its updates rebuild its snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.work import check_linear, work_of
from ullage.context.blocks import Json, Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionFailed, CompactionRedone, CompactionUndone, Summarised
from ullage.context.entries import AssistantReply, Clipped, Entry, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.session.timeline.items import AssistantItem, CompactionItem, Item, NoticeItem, ThinkingItem, ToolCallItem, UserItem
from ullage.session.timeline.timeline import Timeline
from ullage.session.timeline.updates import ItemRemoved, ItemUpdated, PlanChanged, TextAppended, Update
from ullage.tools.tool import PlanEntry, ToolKind


def describe(name: str, input: Mapping[str, Json]) -> tuple[str, ToolKind]:
    return f"{name} {' '.join(str(value) for value in input.values())}".strip(), "read"


class Panel:
    """A front end: rebuilds the items from the updates alone."""

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}

    def take(self, update: Update) -> None:
        if isinstance(update, ItemUpdated):
            self.items[update.item.id] = update.item
        elif isinstance(update, ItemRemoved):
            del self.items[update.item_id]
        elif isinstance(update, TextAppended):
            item = self.items[update.item_id]
            self.items[update.item_id] = replace(item, **{update.field: getattr(item, update.field) + update.text})


def shown(entries: Sequence[Entry]) -> list[Item]:
    """The items of a log, after checking that the updates alone give the same ones in the same order."""
    panel = Panel()
    timeline = Timeline(describe, panel.take)
    for seq, entry in enumerate(entries, start=1):
        timeline.log(Logged(seq, float(seq), entry))
    items, earlier = timeline.newest(1_000)
    assert earlier == 0
    assert list(panel.items.values()) == list(items)
    return list(items)


CALL = AssistantReply("r1", (Text("Looking."), ToolUse("t1", "read_file", {"path": "a.py"})), "m", "tool_use", None)
RESULT = ToolReturned("t1", "read_file", "text", is_error=False, characters=4)
COMPACTION = Compaction("c1", "manual", "digest", 3, (), None, Summarised(2, "handoff", 4), (), "", "", "ullage", 900, 300)


def test_a_turn_is_shown_in_order() -> None:
    user, said, call = shown([UserPrompt("p1", "Look"), CALL, RESULT, TurnEnded("end_turn")])
    assert isinstance(user, UserItem)
    assert not user.queued
    assert isinstance(said, AssistantItem)
    assert said.id == "r1.0"
    assert isinstance(call, ToolCallItem)
    assert (call.status, call.title, call.output) == ("completed", "read_file a.py", "text")


@pytest.mark.parametrize(
    ("then", "status"),
    [
        ([], "pending"),
        ([RESULT], "completed"),
        ([replace(RESULT, is_error=True)], "failed"),
        ([TurnEnded("interrupted", "Gone.", "continue")], "cancelled"),
    ],
)
def test_what_became_of_a_call(then: list[Entry], status: str) -> None:
    call = shown([UserPrompt("p1", "Look"), CALL, *then])[2]
    assert isinstance(call, ToolCallItem)
    assert call.status == status


def test_a_result_that_was_shortened_before_it_was_sent_shows_what_the_model_gets() -> None:
    call = shown([UserPrompt("p1", "Look"), CALL, RESULT, Clipped(3, "te…", "out/t1.txt")])[2]
    assert isinstance(call, ToolCallItem)
    assert (call.output, call.full_output) == ("te…", "out/t1.txt")


@pytest.mark.parametrize(
    ("then", "status"),
    [
        ([], "completed"),
        ([CompactionUndone("c1")], "undone"),
        ([CompactionUndone("c1"), CompactionRedone("c1")], "completed"),
    ],
)
def test_what_became_of_a_compaction(then: list[Entry], status: str) -> None:
    item = shown([UserPrompt("p1", "Look"), CALL, RESULT, COMPACTION, *then])[-1]
    assert isinstance(item, CompactionItem)
    assert (item.status, item.summary, item.summarised, item.tokens_before, item.tokens_after) == (status, "handoff", 4, 900, 300)


def test_of_thinking_that_the_api_drops_the_user_is_told_once_an_epoch() -> None:
    dropped = replace(CALL, dropped_thinking=2)
    happened = [UserPrompt("p1", "Look"), dropped, RESULT, replace(dropped, id="r2"), COMPACTION, replace(dropped, id="r3")]
    told = [item for item in shown(happened) if isinstance(item, NoticeItem)]
    assert [notice.id for notice in told] == ["r1.dropped", "r3.dropped"]
    assert "2 blocks" in told[0].text


def test_a_failed_compaction_says_why() -> None:
    item = shown([CompactionFailed("c1", "threshold", "the disk is full")])[-1]
    assert isinstance(item, CompactionItem)
    assert (item.status, item.error) == ("failed", "the disk is full")


def test_an_end_with_a_message_is_a_notice() -> None:
    notice = shown([UserPrompt("p1", "Look"), TurnEnded("error", "No network.", "settings")])[-1]
    assert notice == NoticeItem("n2", 2.0, "error", "No network.", "settings")


def test_a_queued_prompt_moves_to_where_its_turn_begins() -> None:
    panel = Panel()
    timeline = Timeline(describe, panel.take)
    timeline.put(UserItem("p2", 1.0, "Second", (), queued=True))
    timeline.log(Logged(1, 2.0, UserPrompt("p1", "First")))
    timeline.log(Logged(2, 3.0, UserPrompt("p2", "Second")))
    assert list(panel.items) == ["p1", "p2"]
    assert [item.id for item in timeline.newest(10)[0]] == ["p1", "p2"]


def test_what_streamed_is_not_told_twice_and_what_was_dropped_goes() -> None:
    updates: list[Update] = []
    timeline = Timeline(describe, updates.append)
    timeline.put(AssistantItem("r1.0", 1.0, ""))
    timeline.append_text("r1.0", "text", "Looking.")
    timeline.put(AssistantItem("r1.1", 1.0, "half a"))
    updates.clear()
    timeline.log(Logged(1, 2.0, AssistantReply("r1", (Text("Looking."), Thinking("", "sig")), "m", "end_turn", None)))
    assert updates == [ItemRemoved("r1.1")]


@pytest.mark.parametrize(("before", "limit", "ids", "earlier"), [("p5", 2, ["p3", "p4"], 2), ("p2", 5, ["p1"], 0), ("p1", 5, [], 0)])
def test_older_items_come_page_by_page(before: str, limit: int, ids: list[str], earlier: int) -> None:
    timeline = Timeline(describe, lambda update: None)
    for seq in range(1, 6):
        timeline.log(Logged(seq, float(seq), UserPrompt(f"p{seq}", "x")))
    items, left = timeline.before(before, limit)
    assert ([item.id for item in items], left) == (ids, earlier)


def test_an_unknown_item_is_refused() -> None:
    with pytest.raises(KeyError):
        Timeline(describe, lambda update: None).before("nothing", 5)


def test_the_task_list_is_what_the_last_todo_call_said() -> None:
    updates: list[Update] = []
    timeline = Timeline(describe, updates.append)
    call = ToolUse("t1", "todo", {"todos": [{"content": "Read", "status": "completed"}, {"content": "Fix", "status": "pending"}]})
    timeline.log(Logged(1, 1.0, AssistantReply("r1", (call,), "m", "tool_use", None)))
    assert timeline.plan == ()
    timeline.log(Logged(2, 2.0, ToolReturned("t1", "todo", "2 tasks", is_error=False, characters=7)))
    assert timeline.plan == (PlanEntry("Read", "completed"), PlanEntry("Fix", "pending"))
    assert PlanChanged(timeline.plan) in updates


def test_what_was_there_before_is_shown_and_told_to_nobody():
    updates: list[Update] = []
    entries = [Logged(seq, 1.0, UserPrompt(f"p{seq}", "Go")) for seq in range(1, 6)]
    timeline = Timeline(describe, updates.append, entries)
    assert [item.id for item in timeline.newest(10)[0]] == ["p1", "p2", "p3", "p4", "p5"]
    assert updates == []
    timeline.log(Logged(6, 1.0, UserPrompt("p6", "Go")))
    assert [update.item.id for update in updates if isinstance(update, ItemUpdated)] == ["p6"]


@pytest.mark.parametrize("limit", [1, 2, 5, 9])
def test_pages_of_older_items_lead_back_to_the_first(limit: int):
    timeline = Timeline(describe, lambda update: None, [Logged(seq, 1.0, UserPrompt(f"p{seq}", "Go")) for seq in range(7)])
    items, earlier = timeline.newest(limit)
    while earlier:
        page, earlier = timeline.before(items[0].id, limit)
        items = (*page, *items)
    assert [item.id for item in items] == [f"p{seq}" for seq in range(7)]


def test_pieces_of_text_are_told_a_few_times_and_are_all_there() -> None:
    panel, told, waiting = Panel(), list[Update](), list[Callable[[], None]]()

    def tell(update: Update) -> None:
        told.append(update)
        panel.take(update)

    timeline = Timeline(describe, tell, later=lambda seconds, call: waiting.append(call))
    timeline.put(AssistantItem("r1.0", 1.0, ""))
    timeline.put(ThinkingItem("r1.1", 1.0, ""))
    told.clear()
    for number in range(1_000):
        timeline.append_text("r1.0", "text", f"{number} ")
        timeline.append_text("r1.1", "text", f"{number}, ")
    assert len(told) == 1  # the first piece; the others wait
    waiting.pop()()
    assert len(told) == 3
    assert list(panel.items.values()) == list(timeline.newest(10)[0])
    timeline.append_text("r1.0", "text", "last")
    assert timeline.get("r1.0") == AssistantItem("r1.0", 1.0, "".join(f"{number} " for number in range(1_000)) + "last")
    waiting.pop()()
    assert waiting == []  # nothing came: nobody looks again
    timeline.append_text("r1.0", "text", "!")
    assert told[-1] == TextAppended("r1.0", "text", "!")


def test_a_reply_costs_by_its_length_and_not_by_the_number_of_its_pieces() -> None:
    def of(pieces: int) -> Callable[[], object]:
        timeline = Timeline(describe, lambda update: None, later=lambda seconds, call: None)
        timeline.put(AssistantItem("r1.0", 1.0, ""))

        def run() -> None:
            for _ in range(pieces):
                timeline.append_text("r1.0", "text", "word ")
            timeline.newest(1)

        return run

    check_linear(of, 1_000)


@pytest.mark.parametrize(("item_id", "field"), [("r1.0", "output"), ("t1", "text")])
def test_text_goes_only_where_it_belongs(item_id: str, field: Any) -> None:
    timeline = Timeline(describe, lambda update: None)
    timeline.put(AssistantItem("r1.0", 1.0, ""))
    timeline.put(timeline.call_item(ToolUse("t1", "read_file", {}), 1.0))
    with pytest.raises(TypeError):
        timeline.append_text(item_id, field, "more")


def test_the_end_of_a_turn_closes_its_calls_however_much_came_since_and_costs_no_more_for_that() -> None:
    def with_items(count: int) -> Timeline:
        timeline = Timeline(describe, lambda update: None)
        timeline.log(Logged(1, 1.0, CALL))
        for number in range(count):
            timeline.put(NoticeItem(f"n{number}", 1.0, "info", "meanwhile"))
        return timeline

    def work(count: int) -> int:
        timeline = with_items(count)
        return work_of(lambda: timeline.log(Logged(2, 2.0, TurnEnded("cancelled"))))

    timeline = with_items(1_000)
    timeline.log(Logged(2, 2.0, TurnEnded("cancelled")))
    call = timeline.get("t1")
    assert isinstance(call, ToolCallItem)
    assert call.status == "cancelled"
    assert work(1_000) == work(1)
