"""What a session tells its front ends, in the words of the protocol: pure, but for what each item was last told.

A front end of Ullage gets items that change. A client of this protocol gets pieces of messages, and tool calls that change. Compactions and
notices have updates of their own, for clients that say that they know them. The package has no types for these yet, so they are plain
objects. For other clients a compaction is a tool call, and a notice a quotation in the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from acp import schema

from ullage.context.summary.task_list import PROPOSING
from ullage.session.timeline import items, updates
from ullage.tools.tool import PlanEntry

LIVE_OUTPUT = 10_000
"""How many characters of a running call's output are shown, counted from its end. Each update sends them all again."""

LIVE_SECONDS = 0.3
"""The time between two updates of the output of a running call."""

Update: TypeAlias = Any
"""One of the package's session updates."""

_STATUS: dict[items.ToolStatus, Literal["pending", "in_progress", "completed", "failed"]] = {
    "pending": "pending",
    "awaiting_permission": "pending",
    "awaiting_answer": "in_progress",
    "running": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "failed",
}

_COMPACTION_STATUS: dict[items.CompactionStatus, Literal["in_progress", "completed", "failed"]] = {
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "failed",
    "undone": "completed",
}


@dataclass(slots=True)
class _Call:
    item: items.ToolCallItem
    told_at: float


class ShownSession:
    """One session, as its client was told of it. `folder` is where relative paths begin."""

    def __init__(self, folder: Path | None, known: frozenset[str] = frozenset()) -> None:
        """`known` are the updates that the client knows beside those of every client: `compaction`, `notices`."""
        self.folder = folder
        self._known = known
        self._texts: dict[str, items.AssistantItem | items.ThinkingItem] = {}
        """The items whose texts grow, with empty texts, by id."""
        self._told: dict[str, int] = {}
        """How many characters of each of these texts were told."""
        self._calls: dict[str, _Call] = {}
        """The calls that have not ended, by id."""
        self._started: set[str] = set()
        """The ids of calls and compactions that the client knows."""
        self._terminals: dict[str, str] = {}
        """The terminals of the client that show calls, by call."""
        self._usage: tuple[int, int, float | None] | None = None

    @property
    def knows_notices(self) -> bool:
        """Whether the client shows a notice beside the conversation."""
        return "notices" in self._known

    def take(self, update: updates.Update, now: float) -> Iterator[Update]:
        """The updates that the client is to be told for a change of the session; `now` in seconds of any clock."""
        match update:
            case updates.ItemUpdated(item):
                yield from self._item(item, now)
            case updates.TextAppended():
                yield from self._appended(update, now)
            case updates.GaugeChanged(gauge):
                yield from self.usage(gauge)
            case updates.PlanChanged(entries):
                yield plan_update(entries)
            case updates.TitleChanged(title):
                yield schema.SessionInfoUpdate(session_update="session_info_update", title=title)
            case updates.ModeChanged(mode):
                yield schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode)
            case _:
                return

    def replay(self, shown: Iterable[items.Item]) -> Iterator[Update]:
        """The updates that tell the client of a conversation from before."""
        for item in shown:
            if isinstance(item, items.UserItem) and not item.queued:
                names = "".join(f"\n@{name}" for name in item.attachments)
                yield schema.UserMessageChunk(session_update="user_message_chunk", content=_text(f"{item.text}{names}"), message_id=item.id)
            elif isinstance(item, items.NoticeItem):
                if not says_what_the_client_knows(item) and "notices" not in self._known:
                    yield notice_chunk(item)  # a client that knows notices takes them for what happens now
            else:
                yield from self._item(item, 0.0)

    def notice(self, item: items.NoticeItem) -> Update:
        """The update that tells the user something that they should know now."""
        if "notices" not in self._known:
            return notice_chunk(item)
        title, _, more = item.text.partition("\n")
        told = {"sessionUpdate": "notice", "severity": item.level, "title": title or item.level}
        return {**told, "description": more.strip()} if more.strip() else told

    def usage(self, gauge: updates.Gauge) -> Iterator[Update]:
        """The update that says how full the context is; none if the client knows that already."""
        now = gauge.used, gauge.size, gauge.cost
        if now == self._usage:
            return
        self._usage = now
        cost = None if gauge.cost is None else schema.Cost(amount=gauge.cost, currency="USD")
        more = {"ullage": {"threshold": gauge.threshold, "estimated": gauge.estimated, "frees": gauge.frees}}
        yield schema.UsageUpdate(session_update="usage_update", used=gauge.used, size=gauge.size, cost=cost, field_meta=more)

    def in_terminal(self, item: items.ToolCallItem, terminal: str | None) -> Update:
        """The update that shows the output of that call in that terminal of the client from now on; without a terminal, as text."""
        if terminal is None:
            self._terminals.pop(item.id, None)
        else:
            self._terminals[item.id] = terminal
        return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=item.id, content=self._content(item))

    def _content(self, item: items.ToolCallItem) -> list[Any]:
        return call_content(item, self.folder, self._terminals.get(item.id))

    def _item(self, item: items.Item, now: float) -> Iterator[Update]:
        match item:
            case items.AssistantItem() | items.ThinkingItem():
                told = self._told.get(item.id, 0)
                self._texts[item.id] = replace(item, text="")
                self._told[item.id] = max(told, len(item.text))
                if len(item.text) > told:
                    yield _chunk(item, item.text[told:])
            case items.ToolCallItem():
                yield from self._call(item, now)
            case items.CompactionItem():
                if "compaction" in self._known:
                    yield compaction_update(item)
                else:
                    yield self._start_or_change(item.id, compaction_fields(item))
            case _:
                return  # the client shows its own prompts; notices are told by who knows whether a prompt waits

    def _appended(self, update: updates.TextAppended, now: float) -> Iterator[Update]:
        call = self._calls.get(update.item_id)
        if call is None:
            item = self._texts.get(update.item_id)
            if update.field == "text" and item is not None:
                self._told[item.id] += len(update.text)
                yield _chunk(item, update.text)
        elif update.field == "output":
            call.item = replace(call.item, output=(call.item.output + update.text)[-LIVE_OUTPUT:])
            if now - call.told_at >= LIVE_SECONDS and call.item.id not in self._terminals:
                call.told_at = now
                content = self._content(call.item)
                yield schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=call.item.id, content=content)

    def _call(self, item: items.ToolCallItem, now: float) -> Iterator[Update]:
        ended = item.status in ("completed", "failed", "cancelled")
        if ended:
            self._calls.pop(item.id, None)
        else:
            self._calls[item.id] = _Call(item, now)
        yield self._start_or_change(item.id, {**call_fields(item, self.folder), "content": self._content(item)})

    def _start_or_change(self, call_id: str, fields: dict[str, Any]) -> Update:
        if call_id in self._started:
            return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=call_id, **fields)
        self._started.add(call_id)
        return schema.ToolCallStart(session_update="tool_call", tool_call_id=call_id, **fields)


def call_fields(item: items.ToolCallItem, folder: Path | None) -> dict[str, Any]:
    """The fields of a call, as its start or a change of it carries them."""
    fields: dict[str, Any] = {
        "title": item.title,
        "kind": "switch_mode" if item.name == PROPOSING else item.tool_kind,
        "status": _STATUS[item.status],
        "content": call_content(item, folder),
    }
    if item.locations:
        fields["locations"] = [schema.ToolCallLocation(path=each.path, line=each.line) for each in item.locations]
    with suppress(ValueError):  # while it is being written
        fields["raw_input"] = json.loads(item.input)
    return fields


def call_content(item: items.ToolCallItem, folder: Path | None, terminal: str | None = None) -> list[Any]:
    """The content of a call: its change, what is asked, and else the output or the terminal that shows it. Some clients look for a change
    in the first place alone."""
    content: list[Any] = []
    if item.diff is not None:
        before = item.diff.old_text or None
        content.append(
            schema.FileEditToolCallContent(
                type="diff", path=_path_of(item, item.diff.path, folder), old_text=before, new_text=item.diff.new_text
            )
        )
    if item.agent is not None and item.doing:
        content.append(_content(f"{item.agent.name}: {item.doing}"))
    if item.permission_reason:
        content.append(_content(item.permission_reason))
    if item.name == PROPOSING and item.permission:
        content.append(_content(_plan_in(item.input)))
    if terminal is not None:
        content.append(schema.TerminalToolCallContent(type="terminal", terminal_id=terminal))
    elif item.output and (item.diff is None or item.status == "failed"):
        content.append(_content(fenced(item.output)))
    return content


def _plan_in(text: str) -> str:
    """The plan in the input of a call that proposes one, to be read before it is accepted; empty if there is none to be read."""
    try:
        plan: object = json.loads(text).get("plan")
    except (AttributeError, ValueError):
        return ""
    return plan if isinstance(plan, str) else ""


def _path_of(item: items.ToolCallItem, path: str, folder: Path | None) -> str:
    """The absolute path of the file that a call changes, as the protocol wants it."""
    if len(item.locations) == 1:
        return item.locations[0].path
    return path if folder is None else str(folder / path)


def compaction_fields(item: items.CompactionItem) -> dict[str, Any]:
    """The fields of a compaction, as the start or a change of a tool call carries them."""
    sizes = "" if item.tokens_after is None else f": {item.tokens_before:,} → {item.tokens_after:,} tokens"
    undone = " (undone)" if item.status == "undone" else ""
    content = [_content(text) for text in (item.error, item.summary) if text]
    return {
        "title": f"Compacted the conversation{sizes}{undone}" if item.status in ("completed", "undone") else "Compacting the conversation",
        "kind": "think",
        "status": _COMPACTION_STATUS[item.status],
        "content": content,
        "field_meta": {"ullage": {"compaction": item.id, "trigger": item.trigger, "policy": item.policy}},
    }


def known_updates(announced: dict[str, Any]) -> frozenset[str]:
    """The updates that a client with these capabilities knows, beside those of every client."""
    session: object = announced.get("session")
    if not isinstance(session, dict):
        return frozenset()
    said = cast("dict[str, Any]", session)
    return frozenset(name for name in ("compaction", "notices") if isinstance(said.get(name), dict))


def compaction_update(item: items.CompactionItem) -> dict[str, Any]:
    """The update of a compaction, for a client that knows compactions. A summary belongs to one that was made, an error to one that
    failed."""
    status = "completed" if item.status == "undone" else item.status
    sizes = {"tokensBefore": item.tokens_before, "tokensAfter": item.tokens_after}
    more = {"undone": item.status == "undone", "trigger": item.trigger, "policy": item.policy, **sizes}
    update: dict[str, Any] = {
        "sessionUpdate": "compaction_update",
        "compactionId": item.id,
        "status": status,
        "_meta": {"ullage": more},
    }
    if item.summary and status == "completed":
        update["summary"] = [{"type": "text", "text": item.summary}]
    if item.error and status == "failed":
        update["error"] = item.error
    return update


def plan_update(entries: Iterable[PlanEntry]) -> Update:
    """The update of the task list. Ullage's list has no priorities."""
    told = [schema.PlanEntry(content=each.content, priority="medium", status=each.status) for each in entries]
    return schema.AgentPlanUpdate(session_update="plan", entries=told)


def notice_chunk(item: items.NoticeItem) -> Update:
    """A notice as a message of the agent, quoted to set it apart from what the agent says."""
    quoted = item.text.replace("\n", "\n> ")
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=_text(f"\n\n> {quoted}\n\n"), message_id=item.id)


def says_what_the_client_knows(item: items.NoticeItem) -> bool:
    """Whether a notice only tells that the user stopped something, and offers to go on: the client shows the first itself and has no way to
    do the second."""
    return item.level == "info" and item.action == "continue"


def words_chunk(text: str, message_id: str) -> Update:
    """Words of Ullage itself, such as the answer to a command, as a message of the agent."""
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=_text(text), message_id=message_id)


def fenced(text: str) -> str:
    """The text in a fence of Markdown, so that it is shown as it is."""
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _chunk(item: items.AssistantItem | items.ThinkingItem, text: str) -> Update:
    if isinstance(item, items.ThinkingItem):
        return schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=_text(text), message_id=item.id)
    return words_chunk(text, item.id)


def _content(text: str) -> schema.ContentToolCallContent:
    return schema.ContentToolCallContent(type="content", content=_text(text))


def _text(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=text)
