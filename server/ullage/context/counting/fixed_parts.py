"""What system prompt, rules and tools take, as it was last counted: it stays that until they change."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.counting.categories import FIXED
from ullage.context.entries import Prelude

KEPT = 4
"""Preludes that are remembered: those of the sessions at hand, which mostly share one."""


class FixedParts:
    """The counts for one model. What the endpoint counted itself goes before what a reply's usage shows."""

    def __init__(self) -> None:
        self._counted: list[tuple[Prelude, Mapping[str, int]]] = []
        self._shown: list[tuple[Prelude, Mapping[str, int]]] = []

    def of(self, prelude: Prelude | None) -> Mapping[str, int] | None:
        """Tokens by category; None where nobody counted it yet."""
        return _found(self._counted, prelude) or _found(self._shown, prelude)

    def is_counted(self, prelude: Prelude | None) -> bool:
        """Whether the endpoint counted it."""
        return _found(self._counted, prelude) is not None

    def take_count(self, prelude: Prelude, tokens: Mapping[str, int]) -> None:
        """The endpoint has counted it."""
        _keep(self._counted, prelude, tokens)

    def take_shown(self, prelude: Prelude, categories: Mapping[str, int]) -> None:
        """What the gauge showed once the first reply had priced it: it stays that from then on."""
        if self.of(prelude) is None:
            _keep(self._shown, prelude, {name: tokens for name, tokens in categories.items() if name in FIXED})


def _found(known: list[tuple[Prelude, Mapping[str, int]]], prelude: Prelude | None) -> Mapping[str, int] | None:
    return next((tokens for each, tokens in known if each is prelude or each == prelude), None)


def _keep(known: list[tuple[Prelude, Mapping[str, int]]], prelude: Prelude, tokens: Mapping[str, int]) -> None:
    known[:] = [(prelude, dict(tokens)), *(each for each in known if each[0] != prelude)][:KEPT]
