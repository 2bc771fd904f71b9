"""Tool use ids of the practice model: they say which step of what made them, so that the next request tells where it stands."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

_ID = re.compile(r"toolu_practice_(?P<play>[a-z0-9-]+)_(?P<step>\d+)_[0-9a-z]+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A step (counted from 0) of a scenario or of looking around, by the play's name."""

    play: str
    step: int

    def new_id(self) -> str:
        """An id for a call of this step that no other call has."""
        return f"toolu_practice_{self.play}_{self.step}_{secrets.token_hex(6)}"


def mark_of(tool_use_id: str) -> Mark | None:
    """The step that made the id; None for ids of other makers."""
    found = _ID.match(tool_use_id)
    return Mark(found["play"], int(found["step"])) if found else None


def marks_in(text: str) -> list[Mark]:
    """The steps whose ids a text mentions, in its order."""
    return [Mark(found["play"], int(found["step"])) for found in _ID.finditer(text)]
