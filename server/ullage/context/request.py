"""A request as it leaves for the model: what precedes the messages, the messages, and where the cache is marked.

Serialising it is the business of `models/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import Block, Role, SystemPart, ToolSpec


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request. `sources[i]` is the seq of the log entry that `blocks[i]` comes from."""

    role: Role
    blocks: tuple[Block, ...]
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A block that carries a cache mark: everything up to and with it can be read from the prompt cache later."""

    message: int
    block: int


@dataclass(frozen=True, slots=True)
class Request:
    """One request. The end of `system` always carries a cache mark; with `breakpoints` at most 4 in all."""

    system: tuple[SystemPart, ...]
    tools: tuple[ToolSpec, ...]
    messages: Sequence[Message]
    breakpoints: tuple[Breakpoint, ...]
