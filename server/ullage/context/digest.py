"""The digest: a summary written by program from the facts of the log. Always available, free, instant."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.entries import Logged


def digest(entries: Sequence[Logged], focus: str, budget_tokens: int = 4_000) -> str:
    """The digest of `entries` as Markdown; `focus` says what to favour."""
    raise NotImplementedError


def brief(entries: Sequence[Logged]) -> str:
    """A few lines on a range of entries, for the marker that stands in its place."""
    raise NotImplementedError
