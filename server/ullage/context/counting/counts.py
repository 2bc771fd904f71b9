"""What texts really take, where somebody counts them: the seam to a tokenizer, of which `context/` knows no more than this.

Counting takes long (seconds for a megabyte), so it is asked for, and what is known by then is used. Until it is known the estimate of
`tokens.py` stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Counts(Protocol):
    """What a model's tokenizer counted so far. May be asked from any thread."""

    @property
    def version(self) -> int:
        """Another number where it may know more than before."""
        ...

    def known(self, text: str) -> int | None:
        """Tokens of `text`; None where it was not counted (yet)."""
        ...

    def want(self, texts: Sequence[str]) -> None:
        """They are counted soon, if they can be."""
        ...


class Parts(NamedTuple):
    """What something in a request is made of."""

    framing: int
    """Tokens of tags, roles and ids around the texts: a guess."""
    texts: tuple[str, ...]


def counted(parts: Parts, counts: Counts) -> int | None:
    """Tokens of `parts`, of their framing too; None where one of the texts was not counted."""
    total = parts.framing
    for text in parts.texts:
        known = counts.known(text) if text else 0
        if known is None:
            return None
        total += known
    return total
