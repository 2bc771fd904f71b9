"""Entries laid one after the other into messages that the API takes (anthropic-api.md 2.7).

Whatever comes in, in whatever order, what comes out is valid: neighbours of the same role are one message; a user message has
the results of the calls before it first, in the order of the calls, then texts; every call has one result; ids are
unique, names such as tools can have; nothing is empty; the first message is the user's, unless it is a compaction block. Only the last
message ever changes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ullage.context.blocks import AssistantBlock, Block, CompactionBlock, Role, Text, ToolResult, ToolUse, UserBlock
from ullage.context.valid_calls import valid_id, valid_name
from ullage.context.view.message import Message
from ullage.context.view.snapshot import Snapshot

INTERRUPTED = "Interrupted: this call did not finish, and it is not known what it did."
"""What the model is told of a call without a result."""
NO_OUTPUT = "(no output)"
"""Stands for an empty result."""


@dataclass(slots=True)
class _Call:
    """A call of the last reply: as logged, under the id it is shown with, and its result once there is one."""

    logged: ToolUse
    shown_id: str
    seq: int
    result: ToolResult | None = None
    result_seq: int = 0


class Fold:
    """The messages so far. What is added comes after everything that was added before."""

    def __init__(self) -> None:
        self._closed: list[Message] = []
        self._ends: list[int] = []
        self._role: Role | None = None
        self._blocks: list[Block] = []
        self._sources: list[int] = []
        self._end = 0
        self._calls: list[_Call] = []
        self._waiting: dict[str, deque[int]] = {}
        """Places in `_calls` of those without a result, by the id that they were logged with."""
        self._ids: set[str] = set()
        self._shown: Snapshot[Message] | None = None

    def copy(self) -> Fold:
        """Another one that goes on from here by itself; costs copies of lists, no folding."""
        other = Fold()
        other._closed, other._ends = self._closed.copy(), self._ends.copy()
        other._role, other._end = self._role, self._end
        other._blocks, other._sources = self._blocks.copy(), self._sources.copy()
        other._calls = [replace(call) for call in self._calls]
        other._waiting = {logged_id: places.copy() for logged_id, places in self._waiting.items()}
        other._ids = self._ids.copy()
        return other

    def add_reply(self, seq: int, blocks: Sequence[AssistantBlock]) -> None:
        """A reply of the model. Calls that have no result by now never get one. Dropped where nothing stands before."""
        self._settle_calls()
        if not blocks or (self._role is None and not self._closed):
            return
        self._turn_to("assistant")
        for block in blocks:
            shown: Block = block
            if isinstance(block, ToolUse):
                shown = replace(block, id=self._unique_id(block.id, seq), name=valid_name(block.name))
                self._waiting.setdefault(block.id, deque()).append(len(self._calls))
                self._calls.append(_Call(block, shown.id, seq))
            self._put(seq, shown, seq)

    def add_block(self, source: int, block: CompactionBlock, end: int) -> None:
        """The API's block for entries up to `end`, in a message of its own, as the API gave it. Comes before anything else."""
        self._shown = None
        self._closed.append(Message("assistant", (block,), (source,)))
        self._ends.append(end)
        self._end = end

    def add_result(self, seq: int, result: ToolResult) -> None:
        """The result of a call of the last reply. Dropped where no such call waits for one."""
        waiting = self._waiting.get(result.tool_use_id)
        if not waiting:
            return
        call = self._calls[waiting.popleft()]
        self._turn_to("user")
        content = result.content if result.content.strip() else NO_OUTPUT
        call.result = ToolResult(call.shown_id, content, result.is_error, result.media)
        call.result_seq = seq
        self._end = max(self._end, seq)

    def shorten_result(self, seq: int, content: str) -> None:
        """Another text for the result of entry `seq`, where nothing has come after the results yet."""
        for call in self._calls:
            if call.result is not None and call.result_seq == seq and content.strip():
                call.result = replace(call.result, content=content)
                self._shown = None

    def add_words(self, seq: int, blocks: Iterable[UserBlock]) -> None:
        """What the user or the program says and shows in the course of things. Calls that have no result by now never get one."""
        self._settle_calls()
        for block in blocks:
            if not isinstance(block, Text) or block.text.strip():
                self._turn_to("user")
                self._put(seq, block, seq)

    def add_text(self, source: int, text: str, end: int) -> None:
        """Text that a compaction brings. It stands for entries up to `end`; running calls may still get their results."""
        if text.strip():
            self._turn_to("user")
            self._put(source, Text(text), end)

    def add_acknowledgement(self, source: int, text: str, end: int) -> None:
        """What the assistant is shown to have answered to the text before. Dropped where no user spoke before, or a call waits."""
        if text.strip() and self._role is not None and not self._calls:
            self._turn_to("assistant")
            self._put(source, Text(text), end)

    @property
    def messages(self) -> Snapshot[Message]:
        """The messages with the results that there are."""
        if self._shown is None:
            answered = [call for call in self._calls if call.result is not None]
            self._shown = self._with_last(answered if self._role == "user" else [])
        return self._shown

    @property
    def complete_messages(self) -> Snapshot[Message]:
        """The messages with a result for every call."""
        if not self._calls:
            return self.messages
        if self._role == "user":
            return self._with_last(self._calls)
        return self._with_last([], Message("user", *_answers(self._calls)))

    @property
    def pending(self) -> tuple[ToolUse, ...]:
        """The calls of the last reply that may still get a result, as they were logged."""
        return tuple(call.logged for call in self._calls if call.result is None)

    def end_of(self, index: int) -> int:
        """The seq of the last entry that the messages up to and with message `index` stand for."""
        return self._ends[index] if index < len(self._ends) else self._last_end()

    def _with_last(self, answered: Sequence[_Call], *more: Message) -> Snapshot[Message]:
        last = () if self._role is None else (self._message(self._role, answered),)
        return Snapshot(self._closed, len(self._closed), (*last, *more))

    def _message(self, role: Role, answered: Sequence[_Call]) -> Message:
        results, sources = _answers(answered)
        return Message(role, (*results, *self._blocks), (*sources, *self._sources))

    def _put(self, source: int, block: Block, end: int) -> None:
        self._shown = None
        self._blocks.append(block)
        self._sources.append(source)
        self._end = max(self._end, end)

    def _turn_to(self, role: Role) -> None:
        self._shown = None
        if self._role == role:
            return
        if self._role is not None:
            self._closed.append(self._message(self._role, []))
            self._ends.append(self._last_end())
        self._role = role
        self._blocks, self._sources, self._end = [], [], 0

    def _settle_calls(self) -> None:
        if not self._calls:
            return
        self._turn_to("user")
        results, sources = _answers(self._calls)
        self._blocks[:0] = results
        self._sources[:0] = sources
        self._end = max(self._end, *sources)
        self._calls, self._waiting = [], {}

    def _last_end(self) -> int:
        # What a compaction carried over stands after its text, and is older than what the text stands for.
        return max(self._end, self._ends[-1]) if self._ends else self._end

    def _unique_id(self, logged_id: str, seq: int) -> str:
        wanted = valid_id(logged_id)
        unique = wanted
        copies = 0
        while unique in self._ids:
            unique = f"{wanted}_{seq}" if copies == 0 else f"{wanted}_{seq}_{copies}"
            copies += 1
        self._ids.add(unique)
        return unique


def _answers(calls: Sequence[_Call]) -> tuple[tuple[ToolResult, ...], tuple[int, ...]]:
    """A result for each call, and where each comes from; what was interrupted comes from the reply that called."""
    results = tuple(call.result or ToolResult(call.shown_id, INTERRUPTED, is_error=True) for call in calls)
    return results, tuple(call.result_seq if call.result else call.seq for call in calls)
