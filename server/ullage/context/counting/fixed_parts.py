"""What system prompt, rules and tools were last counted as, by category: it stays until they change.

So these parts of the gauge do not drift while messages come. How the rest is shared out: `categories.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from ullage.context.counting.categories import FIXED
from ullage.context.counting.tokens import can_take, estimate_prelude
from ullage.context.entries import Prelude

KEPT_PRELUDES = 4
"""Preludes that are remembered: those of the sessions at hand, which mostly share one."""


class FixedParts:
    """The counts for one model. The endpoint's own count takes precedence over what a reply's usage shows.

    `remembered` is what an earlier process knew (`to_remember`). It stands until the endpoint counts anew.
    """

    def __init__(self, remembered: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self._remembered = dict(remembered or {})
        self._looked_up: Prelude | None = None
        self._counted: list[tuple[Prelude, Mapping[str, int]]] = []
        self._shown: list[tuple[Prelude, Mapping[str, int]]] = []

    def of(self, prelude: Prelude | None) -> Mapping[str, int] | None:
        """The tokens of the prelude by category; None if nobody counted it yet. If only a part of it has changed, those of the other
        parts."""
        whole = self._of_just(prelude)
        return whole if whole is not None or prelude is None else self._of_parts(prelude)

    def _of_parts(self, prelude: Prelude) -> Mapping[str, int] | None:
        """The tokens of those categories that are the same in other known preludes; None if none are."""
        found: dict[str, int] = {}
        for other, tokens in (*self._counted, *self._shown):
            for category in tokens.keys() - found.keys():
                same = other.tools == prelude.tools if category == "tools" else _texts(other, category) == _texts(prelude, category)
                if same:
                    found[category] = tokens[category]
        return found or None

    def _of_just(self, prelude: Prelude | None) -> Mapping[str, int] | None:
        if self._remembered and prelude is not None and prelude is not self._looked_up:
            self._looked_up = prelude
            tokens = self._remembered.get(_digest(prelude))
            if tokens is not None and can_take(sum(tokens.values()), estimate_prelude(prelude)):
                _keep(self._shown, prelude, tokens)
        return _found(self._counted, prelude) or _found(self._shown, prelude)

    def to_remember(self) -> dict[str, Mapping[str, int]]:
        """The counts for a later process: tokens by category, by the hash of each prelude; at most `KEPT_PRELUDES` preludes."""
        here = {_digest(prelude): tokens for prelude, tokens in (*reversed(self._shown), *reversed(self._counted))}
        earlier = {digest: tokens for digest, tokens in self._remembered.items() if digest not in here}
        return dict(list({**earlier, **here}.items())[-KEPT_PRELUDES:])

    def is_counted(self, prelude: Prelude | None) -> bool:
        """Whether the endpoint counted this prelude in this process."""
        return _found(self._counted, prelude) is not None

    def take_count(self, prelude: Prelude, tokens: Mapping[str, int]) -> None:
        """Takes in the endpoint's own count of a prelude."""
        _keep(self._counted, prelude, tokens)

    def take_shown(self, prelude: Prelude, categories: Mapping[str, int]) -> None:
        """Takes in what the gauge showed of a prelude once the first reply had priced it. It stays that from then on."""
        if self._of_just(prelude) is None:
            _keep(self._shown, prelude, {name: tokens for name, tokens in categories.items() if name in FIXED})


def _texts(prelude: Prelude, category: str) -> list[str]:
    return [part.text for part in prelude.system if part.category == category]


def _digest(prelude: Prelude) -> str:
    return sha256(repr(prelude).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _found(known: list[tuple[Prelude, Mapping[str, int]]], prelude: Prelude | None) -> Mapping[str, int] | None:
    return next((tokens for each, tokens in known if each is prelude or each == prelude), None)


def _keep(known: list[tuple[Prelude, Mapping[str, int]]], prelude: Prelude, tokens: Mapping[str, int]) -> None:
    known[:] = [(prelude, dict(tokens)), *(each for each in known if each[0] != prelude)][:KEPT_PRELUDES]
