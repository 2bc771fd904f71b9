"""Where the prompt cache is marked.

The API writes a cache entry only at a mark, and reads look back at most 20 blocks from one (anthropic-api.md 2.1). The end of
the system prompt always carries a mark; the other three are placed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.message import Message


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A block that carries a cache mark: everything up to and with it can be read from the prompt cache later."""

    message: int
    block: int


def place(messages: Sequence[Message]) -> tuple[Breakpoint, ...]:
    """At most three marks, in the order of the blocks; looks only at the tail of `messages`."""
    raise NotImplementedError
