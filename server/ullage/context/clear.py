"""Clear: old tool results that the model has answered give way to a placeholder."""

from __future__ import annotations

from ullage.context.entries import Cleared
from ullage.context.policy import ClearNumbers
from ullage.context.view import Projection


def clear(projection: Projection, numbers: ClearNumbers) -> tuple[Cleared, ...]:
    """The results that can go, in log order."""
    raise NotImplementedError
