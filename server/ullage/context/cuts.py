"""Where a list of messages may be cut in two."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.message import Message


def legal_cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Every legal cut, ascending: a cut at `i` stands before `messages[i]`; 0 and `len(messages)` are cuts too."""
    raise NotImplementedError
