"""One message of a request, with where each of its blocks comes from."""

from __future__ import annotations

from dataclasses import dataclass, field

from ullage.context.blocks import Block, Role


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request. `sources[i]` is the seq of the log entry that `blocks[i]` comes from."""

    role: Role
    blocks: tuple[Block, ...]
    sources: tuple[int, ...]
    tokens: int | None = field(default=None, init=False, repr=False, compare=False)
    """What it takes by the estimate, once it was weighed (`counting/tokens.py`): it never changes, and is asked for at every plan."""
