"""Asking the model for its part of the handoff, and judging what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock
from ullage.context.request import Request


@dataclass(frozen=True, slots=True)
class Rejected:
    """A summary that cannot be used, with the reason in words for the user."""

    reason: str


def summary_request(request: Request, focus: str, earlier: bool) -> Request:
    """`request` with one more user text at its end that asks for the summary."""
    raise NotImplementedError


def accept(blocks: Sequence[AssistantBlock], stop_reason: str, covered_tokens: int) -> str | Rejected:
    """The summary's text, or why it cannot be used."""
    raise NotImplementedError
