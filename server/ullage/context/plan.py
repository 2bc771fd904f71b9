"""What one compaction will do: cheap moves before dear ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ullage.context.entries import Cleared, Logged, Snipped
from ullage.context.message import Message
from ullage.context.policy import Policy
from ullage.context.view import Projection


@dataclass(frozen=True, slots=True)
class Plan:
    """The moves of one compaction; the summary itself is still to be written."""

    through: int
    """The seq of the last entry when it was planned."""
    cleared: tuple[Cleared, ...]
    snipped: Snipped | None
    summarise_to: int | None
    """The summary stands for everything up to and with this seq; None where none is needed."""
    covers: int
    """How many messages the summary stands for."""
    estimated_after: int
    """Tokens of the messages afterwards."""


def plan(
    projection: Projection,
    policy: Policy,
    line: int,
    count: Callable[[Sequence[Message]], int],
    digest: Callable[[Sequence[Logged]], str],
    *,
    goal: int | None = None,
) -> Plan | None:
    """The moves that bring the messages under `goal` tokens; None where there is nothing to gain."""
    raise NotImplementedError


def reactive_plan(
    projection: Projection,
    policy: Policy,
    line: int,
    count: Callable[[Sequence[Message]], int],
    digest: Callable[[Sequence[Logged]], str],
) -> Plan | None:
    """The moves after the API refused the prompt as too long; None where there is nothing to gain."""
    raise NotImplementedError
