"""When the next compaction comes by itself, and why then: the one value that the gauge tells and that the trigger asks.

What goes into it is gathered in `room.py`. Nothing here looks at a clock or a log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Why: TypeAlias = Literal["line", "window", "undone", "grown", "unanswered", "failed", "off"]
"""What decides: the line; the window, as good as full before that; that the user undid the newest compaction; that the newest one left so
much that more has to come; that the model has not answered since the newest one; that several failed and it rests; or it is never made."""
Postponed: TypeAlias = Literal["none", "turn", "session"]
"""For how long the user wants none made to save: not at all, until the next turn has ended, as long as the session is open."""


@dataclass(frozen=True, slots=True)
class EarlySaving:
    """A compaction before the line that would save money. It is made only where this stood at the gauge before."""

    when: Literal["prompt", "pause"]
    """The earliest: with the user's next prompt, or once nobody has asked anything for some minutes, and with the prompt after that."""
    dollars: float
    """About what it saves, with what forgetting costs taken off."""
    postponed: Postponed = "none"


@dataclass(frozen=True, slots=True)
class NextCompaction:
    """The claim: a call that holds `at` tokens or more, as the gauge counts them, is compacted for first, unless `why` says otherwise."""

    why: Why
    at: int | None
    """None where none is made by itself."""
    while_editing: bool = False
    """Whether a pause of the user in typing is enough, since the next turn would usually reach it."""
    saving: EarlySaving | None = None

    def is_due(self, tokens: int) -> bool:
        """Whether a call that will hold so many is compacted for first."""
        return self.at is not None and self.why not in ("unanswered", "failed") and tokens >= self.at


def decided(line: int, window: int, undone: int, grown: int) -> tuple[Why, int]:
    """Why and where, of what may decide (tokens; 0 where it does not): the latest of line, undo and growth, but the window at last."""
    reasons: tuple[tuple[Why, int], ...] = (("line", line), ("grown", grown), ("undone", undone))
    why, at = max(reasons, key=lambda each: each[1])
    return ("window", window) if window < at and why == "line" else (why, min(at, window))


class Postponing:
    """Keeps for how long the user wants nothing compacted to save."""

    def __init__(self) -> None:
        self.until: Postponed = "none"
        self._turn_began = False

    def ask(self, until: Postponed) -> None:
        """The user says so; `none` takes it back."""
        self.until, self._turn_began = until, False

    def turn_begins(self) -> None:
        """A turn that begins now is the one that is waited for."""
        self._turn_began = True

    def turn_ended(self) -> None:
        """A postponement for the turn is over, if it was asked for before that began."""
        if self.until == "turn" and self._turn_began:
            self.until = "none"
        self._turn_began = False
