"""Entries laid one after the other into messages that the API takes (anthropic-api.md 2.7).

Whatever comes in, in whatever order, what comes out is valid: neighbours of the same role are one message; a user message has
the results of the calls before it first, in the order of the calls, then texts; every call has one result; ids are
unique, names such as tools can have; nothing is empty; the first message is the user's, unless it is a compaction block. Only the last
message ever changes.

It is also said here which blocks a reply and a prompt with its attachments become, and folds under keys that are not in force are kept for
when they are again (`Folds`).

The messages of a growing fold as they are at one moment are a `GrownSequence`, which costs no copy.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from typing import TypeVar, cast, overload

from ullage.context.blocks import (
    SEALED_REASONING,
    AssistantBlock,
    Block,
    CompactionBlock,
    Message,
    RedactedThinking,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UserBlock,
    valid_id,
    valid_name,
)
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AssistantReply, Attachment, UserPrompt
from ullage.context.view.epoch import EpochKey

T = TypeVar("T")


INTERRUPTED = "Interrupted: this call did not finish, and it is not known what it did."
"""The text that the model gets for a call without a result."""
NO_OUTPUT = "(no output)"
"""The text in the place of an empty result."""

_CLOSING_TAG = re.compile(r"<(?=\s*/\s*attachment)", re.IGNORECASE)

KEPT_FOLDS = 2
"""Folds that are kept: undo and redo lead back to one each. A fold holds its messages: some 200 bytes each, and the texts of what has left
memory."""


@dataclass(slots=True)
class _Call:
    """A call of the last reply: as it was logged, the id under which it is shown, and its result once there is one."""

    logged: ToolUse
    shown_id: str
    seq: int
    result: ToolResult | None = None
    result_seq: int = 0


class Fold:
    """The messages that the entries so far make. What is added comes after everything that was added before."""

    def __init__(self) -> None:
        self._closed: list[Message] = []
        self._ends: list[int] = []
        self._role: Role | None = None
        self._blocks: list[Block] = []
        self._sources: list[int] = []
        self._end = 0
        self._calls: list[_Call] = []
        self._waiting: dict[str, deque[int]] = {}
        """The indexes in `_calls` of the calls without a result, by the id that they were logged with."""
        self._ids: set[str] = set()
        self._shown: GrownSequence[Message] | None = None

    def copy(self) -> Fold:
        """A copy that goes on by itself; costs copies of lists, no folding."""
        other = Fold()
        other._closed, other._ends = self._closed.copy(), self._ends.copy()
        other._role, other._end = self._role, self._end
        other._blocks, other._sources = self._blocks.copy(), self._sources.copy()
        other._calls = [replace(call) for call in self._calls]
        other._waiting = {logged_id: places.copy() for logged_id, places in self._waiting.items()}
        other._ids = self._ids.copy()
        return other

    def add_reply(self, seq: int, blocks: Sequence[AssistantBlock]) -> None:
        """Adds a reply of the model. Calls that have no result by now never get one. The reply is dropped if nothing stands before it."""
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
        """Adds the API's block for entries up to `end`, in a message of its own, as the API gave it. It comes before anything else."""
        self._shown = None
        self._closed.append(Message("assistant", (block,), (source,)))
        self._ends.append(end)
        self._end = end

    def add_result(self, seq: int, result: ToolResult) -> None:
        """Adds the result of a call of the last reply. It is dropped if no such call waits for one."""
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
        """Replaces the text of the result of entry `seq`, unless something has come after the results."""
        for call in self._calls:
            if call.result is not None and call.result_seq == seq and content.strip():
                call.result = replace(call.result, content=content)
                self._shown = None

    def add_words(self, seq: int, blocks: Iterable[UserBlock]) -> None:
        """Adds what the user or the program says and shows in the course of things. Calls that have no result by now never get one."""
        self._settle_calls()
        for block in blocks:
            if not isinstance(block, Text) or block.text.strip():
                self._turn_to("user")
                self._put(seq, block, seq)

    def add_text(self, source: int, text: str, end: int) -> None:
        """Adds the text that a compaction brings. It stands for entries up to `end`; running calls may still get their results."""
        if text.strip():
            self._turn_to("user")
            self._put(source, Text(text), end)

    def add_acknowledgement(self, source: int, text: str, end: int) -> None:
        """Adds what the assistant is shown to have answered to the text before. It is dropped if no user spoke before, or a call waits."""
        if text.strip() and self._role is not None and not self._calls:
            self._turn_to("assistant")
            self._put(source, Text(text), end)

    @property
    def messages(self) -> GrownSequence[Message]:
        """The messages, with those results that there are."""
        if self._shown is None:
            answered = [call for call in self._calls if call.result is not None]
            self._shown = self._with_last(answered if self._role == "user" else [])
        return self._shown

    @property
    def complete_messages(self) -> GrownSequence[Message]:
        """The messages, with a result for every call."""
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

    def _with_last(self, answered: Sequence[_Call], *more: Message) -> GrownSequence[Message]:
        last = () if self._role is None else (self._message(self._role, answered),)
        return GrownSequence(self._closed, len(self._closed), (*last, *more))

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
    """A result for each call, and the seq of the entry that it comes from. An interrupted call's comes from the reply that called."""
    results = tuple(call.result or ToolResult(call.shown_id, INTERRUPTED, is_error=True) for call in calls)
    return results, tuple(call.result_seq if call.result else call.seq for call in calls)


def replayed(reply: AssistantReply) -> tuple[AssistantBlock, ...]:
    """The reply with all of its thinking; without any of it if one block of it cannot go back."""
    blocks = tuple(block for block in reply.blocks if not _is_blank(block))
    if not blocks or _is_open_thinking(blocks[-1]) or not all(_is_signed(block) for block in blocks):
        return spoken(reply)
    return blocks


def spoken(reply: AssistantReply) -> tuple[AssistantBlock, ...]:
    """What the model said and called, without its thinking."""
    return tuple(block for block in reply.blocks if not _is_blank(block) and not _is_thinking(block))


def _is_blank(block: AssistantBlock) -> bool:
    return isinstance(block, Text) and not block.text.strip()


def _is_thinking(block: AssistantBlock) -> bool:
    return isinstance(block, Thinking | RedactedThinking)


def _is_open_thinking(block: AssistantBlock) -> bool:
    """Whether it is thinking with which no message may end. What came sealed over Chat Completions is beside all blocks, and may stand
    last."""
    return _is_thinking(block) and not (isinstance(block, RedactedThinking) and block.data.startswith(SEALED_REASONING))


def _is_signed(block: AssistantBlock) -> bool:
    if isinstance(block, Thinking):
        return bool(block.signature)
    return not isinstance(block, RedactedThinking) or bool(block.data)


def prompt_blocks(prompt: UserPrompt) -> tuple[UserBlock, ...]:
    """The blocks of a prompt, in the order in which they are sent. Texts may be empty."""
    return (*(block for attachment in prompt.attachments for block in blocks_of(attachment)), Text(prompt.text))


def blocks_of(attachment: Attachment) -> tuple[UserBlock, ...]:
    """The blocks of an attachment."""
    told = Text(_enclosed(attachment))
    return (told,) if attachment.media is None else (told, attachment.media)


def _enclosed(attachment: Attachment) -> str:
    """The attachment between tags that nothing inside it can close, so that a file cannot pass for the user's words."""
    text = _CLOSING_TAG.sub("&lt;", attachment.text)
    name = escape(" ".join(attachment.title.split()))
    return f'<attachment name="{name}">\n{text}\n</attachment>'


class Folds:
    """The newest folds of one log that are no longer in use. Each is kept for when its key is in force again."""

    def __init__(self) -> None:
        self._kept: dict[EpochKey, tuple[Fold, int, Mapping[int, Compaction]]] = {}

    def set_aside(self, key: EpochKey, fold: Fold, entries: int, active: Mapping[int, Compaction]) -> None:
        """Keeps the fold of the first `entries` entries under that key, with the compactions in force. Nobody may add to the fold any
        more."""
        self._kept.pop(key, None)
        self._kept[key] = fold, entries, active
        while len(self._kept) > KEPT_FOLDS + 1:  # the fold that is asked for next may be the oldest
            del self._kept[next(iter(self._kept))]

    def take(self, key: EpochKey, active: Mapping[int, Compaction]) -> tuple[Fold, int] | None:
        """The fold to go on with under that key, and the number of entries that it holds; None if none is kept, or the compactions in force
        read otherwise now."""
        known = self._kept.pop(key, None)
        while len(self._kept) > KEPT_FOLDS:
            del self._kept[next(iter(self._kept))]
        return None if known is None or not _show_alike(known[2], active) else (known[0].copy(), known[1])

    def copy(self) -> Folds:
        """A copy that keeps the same folds and goes on by itself."""
        other = Folds()
        other._kept = self._kept.copy()
        return other


def _show_alike(one: Mapping[int, Compaction], other: Mapping[int, Compaction]) -> bool:
    """Whether these compactions do the same to the view; their costs, say, make no difference there."""
    return one.keys() == other.keys() and all(each is other[seq] or _shown(each) == _shown(other[seq]) for seq, each in one.items())


def _shown(made: Compaction) -> tuple[object, ...]:
    return made.cleared, made.snipped, made.summarised, made.restored, made.nearby, made.resume, made.without_files


class GrownSequence(Sequence[T]):
    """The first `length` items of `grown`, then `rest`.

    Making one costs nothing however long `grown` is. It never changes as long as `grown` is only appended to. Equal to
    every sequence with equal items.
    """

    __slots__ = ("_grown", "_length", "_rest")

    def __init__(self, grown: Sequence[T], length: int, rest: tuple[T, ...]) -> None:
        self._grown = grown
        self._length = length
        self._rest = rest

    def __len__(self) -> int:
        return self._length + len(self._rest)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self._grown[at] if at < self._length else self._rest[at - self._length]

    def __iter__(self) -> Iterator[T]:
        yield from islice(self._grown, self._length)
        yield from self._rest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        others = cast("Sequence[object]", other)
        return len(self) == len(others) and all(mine == theirs for mine, theirs in zip(self, others, strict=True))

    def __repr__(self) -> str:
        return f"Snapshot({list(self)!r})"
