"""One reply while it streams in: shows it in the timeline, and keeps what there is of it should it be cut off."""

from __future__ import annotations

from collections.abc import Callable

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.models.model import ModelEvent, Retrying, TextDelta, ThinkingDelta, ToolInputDelta, ToolUseStarted
from ullage.session.items import AssistantItem, RetryInfo, ThinkingItem, ToolCallItem
from ullage.session.timeline import Timeline
from ullage.store.unfinished import Piece


class Incoming:
    """Takes the events of one model call."""

    def __init__(
        self,
        reply_id: str,
        timeline: Timeline,
        clock: Callable[[], float],
        on_retry: Callable[[RetryInfo | None], None],
        keep: Callable[[Piece], None],
    ) -> None:
        self.reply_id = reply_id
        self._timeline = timeline
        self._clock = clock
        self._on_retry = on_retry
        self._keep = keep
        self._retrying = False
        self._text: dict[int, list[str]] = {}
        self._thinking: dict[int, list[str]] = {}
        self._calls: dict[int, str] = {}

    def take(self, event: ModelEvent) -> None:
        """Shows one event."""
        if isinstance(event, Retrying):
            self._retrying = True
            self._on_retry(RetryInfo(event.attempt, self._clock() + event.delay, event.reason))
            return
        if self._retrying:
            self._retrying = False
            self._on_retry(None)
        if isinstance(event, TextDelta):
            self._append(self._text, event.index, event.text)
        elif isinstance(event, ThinkingDelta):
            self._append(self._thinking, event.index, event.text)
        elif isinstance(event, ToolUseStarted):
            self._calls[event.index] = event.id
            call = ToolUse(event.id, event.name, {})
            shown = self._timeline.call_item(call, self._clock())
            self._timeline.put(ToolCallItem(shown.id, shown.at, shown.name, shown.title, shown.tool_kind, "pending", "", ""))
        elif isinstance(event, ToolInputDelta):
            self._timeline.append_text(self._calls[event.index], "input", event.partial_json)

    def _append(self, parts: dict[int, list[str]], index: int, text: str) -> None:
        item_id = f"{self.reply_id}.{index}"
        if index not in parts:
            parts[index] = []
            kind = AssistantItem if parts is self._text else ThinkingItem
            self._timeline.put(kind(item_id, self._clock(), ""))
        parts[index].append(text)
        self._keep(Piece(index, text, parts is self._thinking))
        self._timeline.append_text(item_id, "text", text)

    def partial(self) -> tuple[AssistantBlock, ...]:
        """What was said before the reply was cut off: text, and thinking without a signature (for the user only).

        Calls that had begun go: nobody ran them. Their items leave the timeline.
        """
        for call_id in self._calls.values():
            self._timeline.remove(call_id)
        blocks: dict[int, AssistantBlock] = {
            **{index: Text("".join(parts)) for index, parts in self._text.items()},
            **{index: Thinking("".join(parts), "") for index, parts in self._thinking.items()},
        }
        return tuple(blocks[index] for index in sorted(blocks))
