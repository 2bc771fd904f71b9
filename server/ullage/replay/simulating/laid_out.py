"""A view as the prompt cache sees it: its blocks one after another, each with its size, as prefixes that requests share.

A block that stands as it was recorded has its recorded size; a new text (a placeholder, a summary, a restored file) is estimated,
with the ratio of the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ullage.context.blocks import Block, Message, Text, ToolResult, ToolUse
from ullage.context.counting.tokens import estimate_block
from ullage.context.entries import AssistantReply, Compaction, Entry, Notice, ToolReturned, UserPrompt
from ullage.context.view.projection import EpochKey, Projection
from ullage.replay.pricing.prompt_cache import START, Prefix
from ullage.replay.pricing.recorded_requests import OPENING, SYSTEM
from ullage.replay.pricing.recorded_sizes import RecordedSizes, Size
from ullage.replay.simulating.carried import Carried

EstimateOf: TypeAlias = Callable[[Block], int]
"""Tokens of a block, without any ratio."""


class LaidOut:
    """The requests of one log, laid out; what was laid out before is kept as long as it stands."""

    def __init__(self, carried: Carried, sizes: RecordedSizes, estimate: EstimateOf = estimate_block) -> None:
        self._carried = carried
        self._sizes = sizes
        self._estimate = estimate
        self._known: dict[str, Size] = {}
        self._key: EpochKey | None = None
        self._start = START
        self._ends: list[Prefix] = []
        """Where each message ends that will not change."""
        self.system: Prefix = START
        """Where system prompt and tools end in the view that was laid out last."""

    def learn(self, sizes: Mapping[str, Size], *, changes: bool) -> None:
        """Sizes that a recorded request tells. `changes`: also of blocks that were laid out already."""
        self._known.update(sizes)
        if changes:
            self._key = None

    def end(self, projection: Projection) -> Prefix:
        """The whole view, as the next request would send it."""
        messages = projection.complete_messages
        if projection.key != self._key:
            self._begin(projection)
        del self._ends[max(len(messages) - 1, 0) :]
        end = self._ends[-1] if self._ends else self._start
        for index in range(len(self._ends), len(messages)):
            end = self._with(end, messages[index], projection)
            self._ends.append(end)
        if self._ends:
            self._ends.pop()  # the last message may still change
        return end

    def tokens(self, view: Projection) -> int:
        """The size of another view of the same log; what is laid out stays."""
        other = LaidOut(self._carried, self._sizes, self._estimate)
        other._known = self._known
        return other.end(view).tokens

    def _begin(self, projection: Projection) -> None:
        """From the start: the system prompt, then what is said before the first prompt, anew wherever a summary took its place."""
        self._key = projection.key
        self._ends = []
        system, opening = self._sizes.of(SYSTEM, self._known), self._sizes.of(OPENING, self._known)
        self.system = START.then(_versioned(SYSTEM, system), system.tokens)
        summaries = [seq for seq, each in projection.active_by_seq.items() if each.summarised is not None]
        told = f"{OPENING} after {summaries[-1]}" if summaries else OPENING
        self._start = self.system.then(_versioned(told, opening), opening.tokens)

    def _with(self, end: Prefix, message: Message, projection: Projection) -> Prefix:
        for identity, tokens in self._pieces(message, projection):
            end = end.then(identity, tokens)
        return end

    def _pieces(self, message: Message, projection: Projection) -> Iterator[tuple[str, int]]:
        last = 0
        place = 0
        for block, source in zip(message.blocks, message.sources, strict=True):
            is_same, last = source == last, source
            entry = projection.entries[source - 1].entry
            recorded = self._carried.origin.get(source)
            if isinstance(entry, Compaction) or recorded is None:
                yield self._new(block, source)
            elif isinstance(entry, UserPrompt | Notice):
                if not is_same:
                    yield self._recorded(str(recorded.seq))
            elif isinstance(entry, AssistantReply):
                if isinstance(block, ToolResult):
                    continue  # what is said of an interrupted call; its size is in that of its neighbours
                place = _place_of(block, entry, place if is_same else 0)
                yield self._recorded(f"{recorded.seq}.{place}")
                place += 1
            elif _is_whole(block, recorded.entry):
                yield self._recorded(str(recorded.seq))
            else:
                yield self._new(block, source)

    def _recorded(self, identity: str) -> tuple[str, int]:
        size = self._sizes.of(identity, self._known)
        return _versioned(identity, size), size.tokens

    def _new(self, block: Block, source: int) -> tuple[str, int]:
        text = block.text if isinstance(block, Text) else block.content if isinstance(block, ToolResult) else ""
        return f"{source} says {hash(text)}", round(self._estimate(block) * self._sizes.ratio)


def _versioned(identity: str, size: Size) -> str:
    return f"{identity} changed {size.version}" if size.version else identity


def _place_of(block: Block, reply: AssistantReply, start: int) -> int:
    """Which block of the reply is shown; `start` is after the one before."""
    for place in range(start, len(reply.blocks)):
        logged = reply.blocks[place]
        if logged is block or (isinstance(block, ToolUse) and isinstance(logged, ToolUse) and logged.input is block.input):
            return place
    return start


def _is_whole(block: Block, recorded: Entry) -> bool:
    """Whether a result is shown as the transcript has it (what stands for an empty one counts as it)."""
    if not isinstance(block, ToolResult) or not isinstance(recorded, ToolReturned):
        return False
    return block.content == recorded.content or not recorded.content.strip()
