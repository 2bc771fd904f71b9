"""What a user sees of a session, kept up to date: the log and the live stream folded into items.

The same fold serves a session that is opened again and one that is running: `log` takes an entry once it is durable, the other
methods take what is seen before that (a reply as it streams, a call that waits). Every change is numbered and told to the
listener, so that a snapshot and the updates after it always give the same picture.

Text that streams in comes in pieces, up to thousands a second. They are put together here and told some thirty times a second,
so that a reply costs by its length and not by the number of its pieces.

The newest items are in memory, older ones are made from the log again where somebody asks (`pages.py`).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from ullage.context.blocks import Json, Text, Thinking, ToolUse
from ullage.context.compaction_entries import Compaction, CompactionFailed, CompactionRedone, CompactionUndone, FetchedAgain
from ullage.context.entries import AssistantReply, CameOver, Clipped, Forked, Logged, Notice, ToolReturned, TurnEnded, UserPrompt
from ullage.context.summary.task_list import PROPOSING, steps_of_result
from ullage.session.long_work import weakly
from ullage.session.timeline.items import AssistantItem, CompactionItem, Item, NoticeItem, ThinkingItem, ToolCallItem, UserItem
from ullage.session.timeline.pages import KeptItems, Stretch
from ullage.session.timeline.shown_entries import (
    DROPPED_THINKING,
    FORKED,
    NEW_SESSION,
    FetchedSince,
    Locate,
    UpkeepLines,
    came_over,
    compaction_item,
    done_call,
    failed_compaction_item,
    nowhere,
    of_prompt,
    thought_for,
    what_a_hook_said,
)
from ullage.session.timeline.turn_costs import TurnCosts
from ullage.session.timeline.updates import ItemRemoved, ItemUpdated, PlanChanged, TextAppended, Update
from ullage.tools.todo import plan_of
from ullage.tools.tool import PlanEntry, ToolKind

Describe = Callable[[str, Mapping[str, Json]], tuple[str, ToolKind]]
"""Gives title and kind of a call, from the tool's name and input."""

Field: TypeAlias = Literal["text", "output", "input"]

Later = Callable[[float, Callable[[], None]], object]
"""Calls something after some seconds, as `call_later` of an event loop."""

TOLD_EVERY_SECONDS = 1 / 30
"""How often the user is told of more text: nobody reads faster, and each time costs as much as a piece."""

OPEN = ("pending", "awaiting_permission", "awaiting_answer", "running")
"""States of a call that has no result."""


class Timeline:
    """The items of one session in order, and the task list."""

    def __init__(
        self,
        describe: Describe,
        tell: Callable[[Update], None],
        entries: Iterable[Logged] = (),
        later: Later | None = None,
        locate: Locate = nowhere,
        log: Callable[[], Sequence[Logged]] | None = None,
    ) -> None:
        """`entries` are those of before: they stand in every snapshot, so nobody is told of them one by one.

        Without `later` every piece of text is told at once. `log` gives the whole log, with all entries that this was told of: older items
        are read there. Without it all items stay in memory.
        """
        self._describe = describe
        self._locate = locate
        self._tell = _nobody
        self._later = later
        self._is_pausing = False
        self._pieces: dict[tuple[str, Field], list[str]] = {}
        self._items = KeptItems(self._alone)
        self._log = log
        self._call_of: dict[int, str] = {}
        self._open_calls: dict[str, None] = {}
        """The ids of calls without a result, in their order: what is closed at the end of each turn."""
        self._said: set[str] = set()
        self._upkeep = UpkeepLines()
        self._fetched = FetchedSince()
        self._costs = TurnCosts()
        self._told_of_thinking = False
        self._is_alone = False
        """Whether this shows a stretch of another timeline, which alone knows what turns cost."""
        self.plan: tuple[PlanEntry, ...] = ()
        known = tuple(entries)
        if log is not None:
            self._log = lambda: known  # without the store, as long as it is all in memory
        for logged in known:
            self.log(logged)
        self._log = log
        self._tell = tell

    def newest(self, limit: int) -> tuple[tuple[Item, ...], int]:
        """The newest items, the oldest of them first, and how many there are before them. They are fewer than `limit` if they are long."""
        self._join_pieces()
        return self._items.page(limit)

    def before(self, item_id: str, limit: int) -> tuple[tuple[Item, ...], int]:
        """The items before that one, the oldest first, and how many precede them. They are fewer than `limit` if they are long.

        Raises `KeyError` for an unknown id.
        """
        self._join_pieces()
        return self._items.page_before(item_id, limit)

    def get(self, item_id: str) -> Item | None:
        """The item with that id; None if there is none."""
        self._join_pieces()
        return self._items.get(item_id)

    def title_of_call(self, tool_use_id: str) -> str | None:
        """The title of a call that was made; None if there is none of that id. May be asked from another thread."""
        item = self._items.get(tool_use_id)
        return item.title if isinstance(item, ToolCallItem) else None

    def title_for(self, call: ToolUse) -> str:
        """The title of such a call, whether it is shown or not: looks nothing up. May be asked from another thread."""
        return self._describe(call.name, call.input)[0]

    def put(self, item: Item) -> None:
        """Shows an item, or what has become of it."""
        self._join_pieces()
        if isinstance(item, AssistantItem | ThinkingItem):
            self._said.add(item.id)
        elif isinstance(item, ToolCallItem):
            if item.status in OPEN:
                self._open_calls[item.id] = None
            else:
                self._open_calls.pop(item.id, None)
        self._items.put(item)
        self._tell(ItemUpdated(item))

    def remove(self, item_id: str) -> None:
        """Takes an item away; nothing happens where there is none."""
        self._join_pieces()
        self._open_calls.pop(item_id, None)
        if self._items.remove(item_id):
            self._tell(ItemRemoved(item_id))

    def append_text(self, item_id: str, field: Field, text: str) -> None:
        """Adds text at the end of an item's field. It is told at once if nothing was lately, else with what comes in the next moment."""
        item = self._items.newest[item_id]
        if not isinstance(item, (AssistantItem | ThinkingItem) if field == "text" else ToolCallItem):
            raise TypeError(f"a {type(item).__name__} has no {field} that text can be appended to")
        self._pieces.setdefault((item_id, field), []).append(text)
        if not self._is_pausing:
            self._tell_pieces()

    def _tell_pieces(self) -> None:
        self._is_pausing = self._later is not None and bool(self._pieces)
        self._join_pieces()
        if self._later is not None and self._is_pausing:
            self._later(TOLD_EVERY_SECONDS, weakly(self._tell_pieces))

    def _join_pieces(self) -> None:
        """Puts the text that came lately into its items, and tells of it."""
        if not self._pieces:
            return
        pieces, self._pieces = self._pieces, {}
        for (item_id, field), texts in pieces.items():
            item, text = self._items.newest[item_id], "".join(texts)
            if isinstance(item, AssistantItem | ThinkingItem):
                self._items.newest[item_id] = replace(item, text=item.text + text)
            elif isinstance(item, ToolCallItem) and field == "output":
                self._items.newest[item_id] = replace(item, output=item.output + text)
            elif isinstance(item, ToolCallItem):
                self._items.newest[item_id] = replace(item, input=item.input + text)
            self._tell(TextAppended(item_id, field, text))

    def log(self, logged: Logged) -> None:
        """Shows what a durable entry says. Preludes and notices to the model are not shown."""
        self._join_pieces()
        at, entry = logged.at, logged.entry
        if self._log is not None:
            begins = isinstance(entry, UserPrompt | AssistantReply) and not self._open_calls
            if self._items.told(begins=begins, fixed=self._open_calls, told_of_thinking=self._told_of_thinking):
                self._call_of = {seq: item_id for seq, item_id in self._call_of.items() if item_id in self._items.newest}
        if isinstance(entry, Compaction | CompactionUndone | CompactionRedone):
            self._told_of_thinking = False
        if isinstance(entry, UserPrompt):
            # A queued prompt moves to the end of the timeline, where its turn begins.
            self.remove(entry.id)
            names = tuple(a.title for a in entry.attachments)
            cost = self._costs.of(entry.id)
            self.put(UserItem(entry.id, at, entry.text, names, False, of_prompt(entry), entry.steering, cost))
        elif isinstance(entry, AssistantReply):
            self._log_reply(entry, at)
        elif isinstance(entry, ToolReturned):
            self._call_of[logged.seq] = entry.tool_use_id
            self._log_result(entry, at)
        elif isinstance(entry, Clipped):
            self._log_clipped(entry)
        elif isinstance(entry, Compaction) and entry.trigger == "upkeep":
            self.put(self._upkeep.made(entry, at))
        elif isinstance(entry, Compaction):
            self._upkeep.end()
            self.put(compaction_item(entry, at, self._fetched.since(entry.id)))
            self._tell_fetched(self._fetched.followed(entry))
        elif isinstance(entry, CompactionUndone):
            self._set_compaction_status(entry.compaction_id, "undone")
        elif isinstance(entry, CompactionRedone):
            self._set_compaction_status(entry.compaction_id, "completed")
            self._tell_fetched(self._fetched.redone(entry.compaction_id))
        elif isinstance(entry, CompactionFailed) and not self._is_made(entry.id):
            self.put(failed_compaction_item(entry, at))
        elif isinstance(entry, Forked):
            self.put(NoticeItem(f"n{logged.seq}", at, "info", FORKED.format(entry.title or NEW_SESSION)))
        elif isinstance(entry, CameOver):
            self.put(NoticeItem(f"n{logged.seq}", at, "info", came_over(entry)))
        elif isinstance(entry, Notice) and entry.about in ("hook", "hook_standing"):
            self.put(NoticeItem(f"n{logged.seq}", at, "info", what_a_hook_said(entry)))
        elif isinstance(entry, TurnEnded):
            self._log_end(entry, logged.seq, at)
        if not self._is_alone:
            self._show_cost(self._costs.add(entry))

    def _show_cost(self, prompt_id: str | None) -> None:
        item = None if prompt_id is None else self._items.get(prompt_id)
        if isinstance(item, UserItem):
            self.put(replace(item, turn_cost=self._costs.of(item.id)))

    @property
    def turn(self) -> UserItem | None:
        """The prompt with which the newest turn began; None before the first."""
        item = self.get(self._costs.prompt_id)
        return item if isinstance(item, UserItem) else None

    def _alone(self, stretch: Stretch) -> Mapping[str, Item]:
        """The items that a stretch of the log alone shows, by id."""
        first, stop, told_of_thinking = stretch
        alone = Timeline(self._describe, _nobody, locate=self._locate)
        alone._told_of_thinking = told_of_thinking
        alone._fetched = self._fetched.as_known
        alone._is_alone, alone._costs = True, self._costs
        for logged in (self._log() if self._log is not None else ())[first:stop]:
            alone.log(logged)
        return alone._items.newest

    def stretch_of(self, item_id: str) -> tuple[int, int]:
        """The indices of the log between which the item is told of, the second not included; both 0 if there is no such item."""
        return self._items.stretch_of(item_id)

    @property
    def kept(self) -> int:
        """How many items are in memory."""
        return self._items.kept

    def _is_made(self, compaction_id: str) -> bool:
        """Whether the log has that compaction: then it did not fail, whatever was logged after it."""
        item = self._items.get(compaction_id)
        return isinstance(item, CompactionItem) and item.status in ("completed", "undone")

    def _log_reply(self, reply: AssistantReply, at: float) -> None:
        shown: set[str] = set()
        for index, block in enumerate(reply.blocks):
            item_id = f"{reply.id}.{index}"
            began = reply.began[index] if index < len(reply.began) else at
            if isinstance(block, Text):
                self._put_if_new(AssistantItem(item_id, began, block.text))
            elif isinstance(block, Thinking) and block.thinking:
                self._put_if_new(ThinkingItem(item_id, began, block.thinking, thought_for(reply, index)))
            elif isinstance(block, ToolUse):
                self.put(self.call_item(block, began))
                continue
            else:
                continue
            shown.add(item_id)
        for item_id in self._said - shown:
            if item_id.startswith(f"{reply.id}."):  # it streamed in, and the whole reply has it not
                self.remove(item_id)
        self._said.clear()
        if reply.dropped_thinking and not self._told_of_thinking:
            # The same blocks are dropped from every request of the epoch: once is enough.
            self._told_of_thinking = True
            self.put(NoticeItem(f"{reply.id}.dropped", at, "warning", DROPPED_THINKING.format(reply.dropped_thinking)))

    def _put_if_new(self, item: AssistantItem | ThinkingItem) -> None:
        seen = self._items.get(item.id)
        if isinstance(seen, type(item)) and seen.text == item.text:
            # The same text, of which the log has this copy.
            self._items.put(replace(item, at=seen.at))
        else:
            self.put(item)

    def call_item(self, call: ToolUse, at: float) -> ToolCallItem:
        """The card of a call that has not begun."""
        title, kind = self._describe(call.name, call.input)
        text = json.dumps(dict(call.input), ensure_ascii=False)
        return ToolCallItem(call.id, at, call.name, title, kind, "pending", text, "", locations=self._locate(kind, call.input, None))

    def _log_result(self, result: ToolReturned, at: float) -> None:
        item = self._items.get(result.tool_use_id)
        if not isinstance(item, ToolCallItem):
            item = self.call_item(ToolUse(result.tool_use_id, result.tool, {}), at)
        elif result.tool == "todo" and not result.is_error:
            self._set_plan(plan_of(json.loads(item.input)))
        elif result.tool == PROPOSING and not result.is_error:
            self._set_plan(tuple(PlanEntry(step, "pending") for step in steps_of_result(result.content)))
        # What was read is where it was looked for.
        is_there = not result.touched or (bool(item.locations) and item.tool_kind == "read")
        locations = item.locations if is_there else self._locate(item.tool_kind, {}, result)
        self.put(replace(done_call(item, result, at), locations=locations))

    def _set_plan(self, entries: tuple[PlanEntry, ...]) -> None:
        if entries != self.plan:
            self.plan = entries
            self._tell(PlanChanged(entries))

    def _log_clipped(self, clipped: Clipped) -> None:
        item = self._items.get(self._call_of.get(clipped.seq) or self._call_long_ago(clipped.seq))
        if isinstance(item, ToolCallItem):
            self.put(replace(item, output=clipped.content, full_output=clipped.full_output))

    def _call_long_ago(self, seq: int) -> str:
        """The id of the call whose result is the entry with that seq, where its item has left memory; empty if there is none."""
        log = () if self._log is None else self._log()
        index = bisect_left(log, seq, key=lambda logged: logged.seq)
        entry = log[index].entry if index < len(log) and log[index].seq == seq else None
        return entry.tool_use_id if isinstance(entry, ToolReturned) else ""

    def _set_compaction_status(self, compaction_id: str, status: Literal["completed", "undone"]) -> None:
        item = self._items.get(compaction_id)
        line = self._upkeep.changed(compaction_id, undone=status == "undone")
        if line is not None:
            self.put(line)
        elif isinstance(item, CompactionItem):
            since = self._fetched.since(compaction_id) if status == "completed" else None
            self.put(replace(item, status=status, fetched_again=since))

    def fetched_again(self, found: FetchedAgain, *, told: bool = True) -> None:
        """Shows what the agent got again since a compaction. Without `told` nobody is told, since no snapshot was given yet."""
        if self._fetched.learn(found):
            self._tell_fetched(found.compaction_id, told=told)

    @property
    def all_fetched_again(self) -> Mapping[str, FetchedAgain]:
        """What the agent got again since each compaction, by the id of that."""
        return self._fetched.all

    def _tell_fetched(self, compaction_id: str | None, *, told: bool = True) -> None:
        item = None if compaction_id is None else self._items.get(compaction_id)
        if isinstance(item, CompactionItem) and item.status == "completed":
            now = replace(item, fetched_again=self._fetched.since(item.id))
            if now != item:
                (self.put if told else self._items.put)(now)

    def close_calls(self) -> None:
        """Shows calls that have no result by now as cancelled, since nothing runs any more."""
        self._join_pieces()
        for call_id in reversed(tuple(self._open_calls)):
            item = self._items.newest[call_id]
            if isinstance(item, ToolCallItem):
                self.put(
                    replace(
                        item,
                        status="cancelled",
                        diff=None,
                        permission=(),
                        permission_id="",
                        permission_reason="",
                        document=None,
                        asked=None,
                        questions=(),
                        question_id="",
                        doing="",
                    )
                )

    def _log_end(self, end: TurnEnded, seq: int, at: float) -> None:
        self.close_calls()
        if end.message:
            level = "error" if end.outcome in ("error", "max_turn_requests") else "info" if end.outcome == "cancelled" else "warning"
            self.put(NoticeItem(f"n{seq}", at, level, end.message, end.action))


def _nobody(update: Update) -> None:
    """Tells nobody of an update."""
