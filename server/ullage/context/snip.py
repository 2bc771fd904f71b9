"""Snip: the middle of a long conversation gives way to a marker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ullage.context.entries import Logged, Snipped
from ullage.context.policy import SnipNumbers
from ullage.context.view import Projection


def snip(projection: Projection, numbers: SnipNumbers, digest: Callable[[Sequence[Logged]], str]) -> Snipped | None:
    """The range that can go; None where the conversation is too short. `digest` says in a few lines what is in a range."""
    raise NotImplementedError
