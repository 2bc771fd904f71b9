"""What the model sees: the log folded into the messages of the next request.

`Projection` does it entry by entry, so that a turn costs what is new; `project` does it for a whole log, and both give
the same view (a property test holds that). Nothing here reads a file, a clock or a wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ullage.context.blocks import ToolUse
from ullage.context.entries import Compaction, Logged, Prelude
from ullage.context.message import Message

EpochKey: TypeAlias = tuple[int, ...]
"""The seq of the prelude in force (0 where there is none), then the seqs of the active compactions in log order."""


class Projection:
    """What the model sees of one log."""

    def __init__(self, entries: Iterable[Logged] = ()) -> None: ...

    def append(self, logged: Logged) -> None:
        """Takes in the next entry."""
        raise NotImplementedError

    def with_appended(self, logged: Logged) -> Projection:
        """A projection of the same log and one more entry; this one stays as it is. Costs one whole fold."""
        raise NotImplementedError

    def key_at(self, seq: int) -> EpochKey:
        """The key under which the reply of entry `seq` was made. Raises `KeyError` where that is no reply."""
        raise NotImplementedError

    @property
    def entries(self) -> Sequence[Logged]:
        """The log so far."""
        raise NotImplementedError

    @property
    def messages(self) -> Sequence[Message]:
        """The messages as they are now; calls that are still running have no result yet."""
        raise NotImplementedError

    @property
    def prelude(self) -> Prelude | None:
        """System prompt and tools in force."""
        raise NotImplementedError

    @property
    def key(self) -> EpochKey:
        """The epoch in force."""
        raise NotImplementedError

    @property
    def active(self) -> tuple[Compaction, ...]:
        """The compactions in force, in log order."""
        raise NotImplementedError

    @property
    def undone(self) -> tuple[Compaction, ...]:
        """The compactions that were undone, in log order."""
        raise NotImplementedError

    @property
    def pending_tool_uses(self) -> tuple[ToolUse, ...]:
        """The calls of the last reply that have no result yet, as they were logged."""
        raise NotImplementedError


def project(entries: Iterable[Logged]) -> Projection:
    """The view of a whole log."""
    return Projection(entries)
