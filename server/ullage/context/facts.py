"""What a program knows of a session from its log alone: the facts that no summary may lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.entries import Logged


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the digest is written from."""


def facts(entries: Sequence[Logged]) -> Facts:
    """Reads the facts out of `entries`, which must begin with the session's first."""
    raise NotImplementedError
