"""The simple values of the wire that are narrower than their Python type."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import attrs


class NotOfItsType(ValueError):
    """A value that is none of its type. The message says what is wanted, and nothing of the value: that may be anybody's words."""


@attrs.frozen
class AtMost:
    """How many characters a text may have."""

    characters: int


LONGEST_ID = 200
"""Characters. Ours have at most 40, those that a model gives its calls at most 128 (`session/turns/incoming.py`)."""

Id: TypeAlias = Annotated[str, AtMost(LONGEST_ID)]
"""An id that the client gives back."""
