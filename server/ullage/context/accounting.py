"""The one number: how many tokens the context holds, by what the model reported and an estimate of what came since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.context.tokens import Calibration

if TYPE_CHECKING:
    from ullage.context.view import Projection


@dataclass(frozen=True, slots=True)
class Priced:
    """A reply whose usage priced the prefix in force: what was estimated for its request and what was reported."""

    seq: int
    model: str
    estimated: int
    reported: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What the gauge shows and the trigger compares (tokens)."""

    used: int
    estimated: bool
    """True where no reply has priced the prefix in force."""
    categories: tuple[tuple[str, int], ...]
    """Name and tokens; they add up to `used`."""
    priced: Priced | None


class Account:
    """Counts one session's context, entry by entry."""

    def count(self, projection: Projection, calibration: Calibration) -> Counted:
        """The context as `projection` has it now; costs what is new since the last call, unless the epoch changed."""
        raise NotImplementedError
