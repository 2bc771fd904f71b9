"""How many tokens a text takes, without a tokenizer: estimates by kind of text and a ratio learned from real usage."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.blocks import Block
from ullage.context.entries import Prelude
from ullage.context.request import Message


def estimate_text(text: str) -> int:
    """Tokens of `text` (new tokenizer); 0 only for the empty text."""
    raise NotImplementedError


def estimate_block(block: Block) -> int:
    """Tokens of one content block with its framing."""
    raise NotImplementedError


def estimate_message(message: Message) -> int:
    """Tokens of one message with its framing."""
    raise NotImplementedError


def estimate_prelude(prelude: Prelude) -> int:
    """Tokens of system prompt, rules and tools."""
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Calibration:
    """What real usage taught about the estimates for one model: multiply an estimate by `ratio`."""

    ratio: float = 1.0

    def observe(self, estimated: int, reported: int) -> Calibration:
        """The ratio after one more response."""
        raise NotImplementedError

    def apply(self, estimated: int) -> int:
        """A calibrated estimate, in tokens."""
        raise NotImplementedError
