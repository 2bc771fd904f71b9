"""The handoff: the whole text that takes the place of the messages that were summarised."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.entries import Logged
from ullage.context.policy import SummaryNumbers


def handoff(
    entries: Sequence[Logged],
    model_text: str | None,
    focus: str,
    earlier_handoff: str | None,
    numbers: SummaryNumbers,
) -> str:
    """The text that replaces all of `entries`, which begin with the session's first and end with the last covered."""
    raise NotImplementedError
