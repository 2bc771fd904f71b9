"""Where the context counts as full, how full it is by the measure of a policy, and how much a turn usually adds.

How many tokens the context holds by the model's own count: `accounting.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal, TypeAlias

from ullage.context.blocks import CompactionBlock, Document, Image, Message, RedactedThinking, Text, Thinking, ToolResult
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone
from ullage.context.counting.media import shown_tokens
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.entries import AssistantReply, Logged, TurnEnded, UserPrompt
from ullage.context.policy import (
    LARGEST_HEADROOM_SHARE,
    BelowWindow,
    FixedCharacters,
    FixedTokens,
    Measure,
    Never,
    ShareOfWindow,
    ThresholdOptions,
)
from ullage.context.view.epoch import EpochKey
from ullage.context.view.projection import Projection

Level: TypeAlias = Literal["normal", "warning", "error"]

CHARACTERS_PER_TOKEN = 4
"""Characters that count as one token for the measure `characters / 4` (`Measure`)."""

RECENT_TURNS = 8
USUAL_GROWTH = 8_000
"""Tokens that a turn is taken to add where the session has no history yet."""


def threshold_of(window: int, options: ThresholdOptions, cap: int | None = None) -> int:
    """Tokens from which on the context counts as full and is compacted. At least 1.

    `cap` is the user's (tokens): it takes the place of the policy's own, where that has one. Reserve and margin leave at least half of a
    window. Where nothing is compacted by itself, it is the whole window.
    """
    match options.full_at:
        case BelowWindow(reserve, margin, own_cap):
            headroom = min(reserve + margin, int(window * LARGEST_HEADROOM_SHARE))
            at_most = own_cap if own_cap is None or cap is None else cap
            full = window - headroom if at_most is None else min(window - headroom, at_most)
        case ShareOfWindow(share, at_most, at_least):
            full = max(int(window * share) if at_most is None else min(int(window * share), at_most), at_least)
        case FixedTokens(tokens):
            full = tokens
        case FixedCharacters(characters):
            full = characters // CHARACTERS_PER_TOKEN
        case Never():
            full = window
    return max(1, full)


def level(used: int, threshold: int, options: ThresholdOptions) -> Level:
    """The colour of the gauge at `used` tokens."""
    share = used / threshold
    if share >= options.error_share:
        return "error"
    return "warning" if share >= options.warn_share else "normal"


def growth(entries: Sequence[Logged]) -> int:
    """Tokens that a turn of this session usually adds: the median of the last turns by reported usage.

    A turn in which the context was compacted, or that was not priced, says nothing and is left out.
    """
    grown: list[int] = []
    start: int | None = None
    latest: int | None = None
    for logged in _recent(entries):
        entry = logged.entry
        if isinstance(entry, AssistantReply) and entry.usage is not None and entry.usage.can_be:
            latest = entry.usage.context_tokens
        elif isinstance(entry, Compaction) and entry.trigger == "upkeep":
            pass  # the growth of a turn includes what the policy takes away before each call
        elif isinstance(entry, Compaction | CompactionUndone | CompactionRedone):
            start = latest = None
        elif latest is not None and (isinstance(entry, TurnEnded) or (isinstance(entry, UserPrompt) and not entry.steering)):
            if start is not None:
                grown.append(latest - start)
            start, latest = latest, None
    grown = [tokens for tokens in grown if tokens > 0]
    return round(median(grown)) if grown else USUAL_GROWTH


def _recent(entries: Sequence[Logged]) -> Sequence[Logged]:
    turns = 0
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index].entry
        if isinstance(entry, UserPrompt) and not entry.steering:
            turns += 1
            if turns > RECENT_TURNS:
                return entries[index:]
    return entries


class Measuring:
    """Measures the context of one session. It keeps what it counted, so that a call costs only what is new since the last."""

    def __init__(self) -> None:
        self._of: tuple[str, EpochKey] | None = None
        self._settled = 0
        self._total = 0

    def measured(self, measure: Measure, used: int, projection: Projection, calibration: Calibration) -> int:
        """The tokens of the view as it is now, as the function `measured` gives them."""
        if measure == "usage":
            return used
        if self._of != (measure, projection.key):
            self._of, self._settled, self._total = (measure, projection.key), 0, 0
        of_one = estimate_message if measure == "messages" else characters_of
        messages = projection.messages
        settled = max(self._settled, len(messages) - 1)  # only the last message may still change
        self._total += sum(of_one(message) for message in messages[self._settled : settled])
        self._settled = settled
        total = self._total + sum(of_one(message) for message in messages[settled:])
        return calibration.apply(total) if measure == "messages" else total // CHARACTERS_PER_TOKEN


def measured(measure: Measure, used: int, messages: Sequence[Message], calibration: Calibration) -> int:
    """The tokens of the context by that measure. `used` are those of the whole context, `messages` those in view. `usage` costs nothing."""
    match measure:
        case "usage":
            return used
        case "messages":
            return calibration.apply(sum(estimate_message(message) for message in messages))
        case "characters / 4":
            return sum(characters_of(message) for message in messages) // CHARACTERS_PER_TOKEN


def characters_of(message: Message) -> int:
    """Characters that a program would count in a message: texts, results, thinking and the input of calls, and images as if they were
    text."""
    total = 0
    for block in message.blocks:
        total += shown_tokens(block) * CHARACTERS_PER_TOKEN
        match block:
            case Text():
                total += len(block.text)
            case ToolResult() | CompactionBlock():
                total += len(block.content)
            case Thinking():
                total += len(block.thinking)
            case RedactedThinking():
                total += len(block.data)
            case Image() | Document():
                pass
            case _:
                total += len(block.name) + len(str(dict(block.input)))
    return total
