"""The view as it would be after a compaction that nobody has logged yet, and what its messages would take.

The view costs a whole fold. The sizes are worked out without one, since planning tries several moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from ullage.context.blocks import Message, RedactedThinking, Thinking, ToolResult
from ullage.context.compaction_entries import Cleared, Compaction, FileTakenOut, Snipped, Summarised
from ullage.context.entries import Logged
from ullage.context.moves.cuts import Count
from ullage.context.view.projection import Projection


def preview(
    projection: Projection,
    cleared: tuple[Cleared, ...] = (),
    snipped: Snipped | None = None,
    summarised: Summarised | None = None,
    without_files: tuple[FileTakenOut, ...] = (),
) -> Projection:
    """`projection` with these moves made in one compaction; it stays as it is itself. Costs one whole fold."""
    last = projection.entries[-1] if projection.entries else None
    through = last.seq if last else 0
    compaction = Compaction(
        id=f"preview after {through}",
        trigger="manual",
        rung="moves",
        through=through,
        cleared=cleared,
        snipped=snipped,
        summarised=summarised,
        restored=(),
        resume="",
        focus="",
        policy="",
        tokens_before=0,
        estimated_after=0,
        without_files=without_files,
    )
    return projection.with_appended(Logged(through + 1, last.at if last else 0.0, compaction))


class Sizes:
    """Tokens of messages, by their place; `before[i]` is all before message `i`."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.before = [0, *accumulate(tokens)]

    @property
    def total(self) -> int:
        """Of all messages."""
        return self.before[-1]

    def between(self, first: int, last: int) -> int:
        """Of the messages from `first` up to and without `last`."""
        return self.before[last] - self.before[first]

    def start_of_tail(self, tokens: int) -> int:
        """The first message of the longest tail that takes no more than `tokens`."""
        start = len(self.before) - 1
        while start > 0 and self.total - self.before[start - 1] <= tokens:
            start -= 1
        return start


def sizes_now(messages: Sequence[Message], count: Count) -> list[int]:
    """Tokens of each message as it is."""
    return [count((message,)) for message in messages]


def sizes_after(messages: Sequence[Message], now: Sequence[int], cleared: Iterable[Cleared], count: Count) -> list[int]:
    """Tokens of each message after a compaction that clears these results: their placeholders, and no thinking any more."""
    placeholders = {each.seq: each.placeholder for each in cleared}
    after = (_after(message, placeholders) for message in messages)
    return [size if left is message else count((left,)) for message, left, size in zip(messages, after, now, strict=True)]


def _after(message: Message, placeholders: Mapping[int, str]) -> Message:
    if message.role == "assistant":
        kept = [index for index, block in enumerate(message.blocks) if not isinstance(block, Thinking | RedactedThinking)]
        if len(kept) == len(message.blocks):
            return message
        return Message(message.role, tuple(message.blocks[index] for index in kept), tuple(message.sources[index] for index in kept))
    if placeholders.keys().isdisjoint(message.sources):
        return message
    blocks = (
        ToolResult(block.tool_use_id, placeholders[source], block.is_error)
        if isinstance(block, ToolResult) and source in placeholders
        else block
        for block, source in zip(message.blocks, message.sources, strict=True)
    )
    return Message(message.role, tuple(blocks), message.sources)
