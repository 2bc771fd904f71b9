"""One reply while it streams in: shows it in the timeline, and keeps what there is of it should it be cut off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.models.model import ModelEvent, Reply, Retrying, TextDelta, ThinkingDelta, ToolInputDelta, ToolUseStarted
from ullage.session.call_ids import CallIds
from ullage.session.items import AssistantItem, RetryInfo, ThinkingItem, ToolCallItem
from ullage.session.timeline import Timeline
from ullage.store.unfinished import Piece

MOST_CALLS = 128
"""Of one reply. No model has asked for a quarter of that in recorded sessions; each more costs a result in every later request."""


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
        self._thinks: str | None = None
        """The id of the thinking that comes in now."""
        self._began: dict[int, float] = {}
        self._call_ids = CallIds(lambda id: timeline.get(id) is not None)

    def take(self, event: ModelEvent) -> None:
        """Shows one event."""
        if isinstance(event, Retrying):
            self._retrying = True
            self._on_retry(RetryInfo(event.attempt, self._clock() + event.delay, event.reason))
            return
        if self._retrying:
            self._retrying = False
            self._on_retry(None)
        now = self._clock()
        if not isinstance(event, ThinkingDelta):
            self._end_thinking(now)
        if isinstance(event, TextDelta):
            self._append(self._text, event.index, event.text, now)
        elif isinstance(event, ThinkingDelta):
            self._append(self._thinking, event.index, event.text, now)
        elif isinstance(event, ToolUseStarted) and len(self._calls) < MOST_CALLS:
            call = ToolUse(self._call_ids.of(event.index, event.id), event.name, {})
            self._calls[event.index] = call.id
            self._began[event.index] = now
            shown = self._timeline.call_item(call, now)
            self._timeline.put(ToolCallItem(shown.id, shown.at, shown.name, shown.title, shown.tool_kind, "pending", "", ""))
        elif isinstance(event, ToolInputDelta) and event.index in self._calls:
            self._timeline.append_text(self._calls[event.index], "input", event.partial_json)

    def _end_thinking(self, now: float) -> None:
        """Something else comes: says how long it took."""
        item = None if self._thinks is None else self._timeline.get(self._thinks)
        self._thinks = None
        if isinstance(item, ThinkingItem):
            self._timeline.put(replace(item, seconds=max(0.0, now - item.at)))

    def whole(self, reply: Reply) -> Reply:
        """The whole reply, with the ids under which its calls are shown."""
        return self._call_ids.given_to(reply)

    def _append(self, parts: dict[int, list[str]], index: int, text: str, now: float) -> None:
        item_id = f"{self.reply_id}.{index}"
        if index not in parts:
            parts[index] = []
            if parts is self._thinking:
                self._end_thinking(now)
                self._thinks = item_id
            kind = AssistantItem if parts is self._text else ThinkingItem
            self._began[index] = now
            self._timeline.put(kind(item_id, now, ""))
        parts[index].append(text)
        self._keep(Piece(index, text, parts is self._thinking))
        self._timeline.append_text(item_id, "text", text)

    def began(self, blocks: Sequence[AssistantBlock]) -> tuple[float, ...]:
        """When each of the reply's blocks began to come; of one that was never shown, when the one before it did."""
        times: list[float] = []
        for index in range(len(blocks)):
            times.append(self._began.get(index, times[-1] if times else self._clock()))
        return tuple(times)

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


def cut_to_most_calls(blocks: Sequence[AssistantBlock]) -> tuple[tuple[AssistantBlock, ...], int]:
    """The blocks before the first call that is one too many, and how many calls were left out with it."""
    calls = 0
    for index, block in enumerate(blocks):
        calls += isinstance(block, ToolUse)
        if calls > MOST_CALLS:
            return tuple(blocks[:index]), sum(isinstance(each, ToolUse) for each in blocks[index:])
    return tuple(blocks), 0
