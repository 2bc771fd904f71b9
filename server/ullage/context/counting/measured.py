"""How much the context holds by the measure of a policy: what it compares with its line."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.blocks import RedactedThinking, Text, Thinking, ToolResult
from ullage.context.counting.gauge import CHARACTERS_PER_TOKEN
from ullage.context.counting.tokens import Calibration, estimate_message
from ullage.context.policy import Measure
from ullage.context.view.message import Message


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
    """Characters that a program would count in a message: texts, results, thinking and the input of calls."""
    total = 0
    for block in message.blocks:
        match block:
            case Text():
                total += len(block.text)
            case ToolResult():
                total += len(block.content)
            case Thinking():
                total += len(block.thinking)
            case RedactedThinking():
                total += len(block.data)
            case _:
                total += len(block.name) + len(str(dict(block.input)))
    return total
