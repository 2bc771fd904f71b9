"""How much the context holds by the measure of a policy: what it compares with its line."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import CompactionBlock, Document, Image, RedactedThinking, Text, Thinking, ToolResult
from ullage.context.counting.gauge import CHARACTERS_PER_TOKEN
from ullage.context.counting.media import shown_tokens
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.policy import Measure
from ullage.context.view.epoch import EpochKey
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


class Measuring:
    """Measures the context of one session. Keeps what it counted, so that a call costs what is new since the last."""

    def __init__(self) -> None:
        self._of: tuple[str, EpochKey] | None = None
        self._settled = 0
        self._total = 0

    def measured(self, measure: Measure, used: int, projection: Projection, calibration: Calibration) -> int:
        """As `measured`, for the view as it is now."""
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
    """Tokens. `used` is the one number of the whole context, `messages` are those in view. Costs nothing for the measure `usage`."""
    match measure:
        case "usage":
            return used
        case "messages":
            return calibration.apply(sum(estimate_message(message) for message in messages))
        case "characters / 4":
            return sum(characters_of(message) for message in messages) // CHARACTERS_PER_TOKEN


def characters_of(message: Message) -> int:
    """Characters that a program would count in a message: texts, results, thinking and the input of calls; images as if they were text."""
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
