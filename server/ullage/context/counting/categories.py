"""Under which name the gauge counts what stands in the context, and how categories are made to add up.

What system prompt, rules and tools were last counted as stays until they change (`FixedParts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from ullage.context.blocks import Block, Document, Image, Text, ToolResult
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.tokens import can_take, estimate_prelude
from ullage.context.entries import Entry, Notice, Prelude, UserPrompt

ORDER = ("system", "rules", "tools", "summary", "files", "user", "assistant")
"""Of the categories; those of tool results follow."""
FIXED = ("system", "rules", "tools")
"""Of the categories: what precedes every message, and changes only where the prelude does."""
RESULTS = "tool results: "

KEPT_PRELUDES = 4
"""Preludes that are remembered: those of the sessions at hand, which mostly share one."""


def category_of(block: Block, source: Entry | None, tools: Mapping[str, str]) -> str:
    """The category of a block that entry `source` brought and the model did not say. `tools` are the names of the calls by id."""
    if isinstance(block, ToolResult):
        return RESULTS + tools.get(block.tool_use_id, "unknown")
    if isinstance(block, Image | Document):
        return "files"
    text = block.text if isinstance(block, Text) else ""
    if isinstance(source, UserPrompt):
        return "user" if text == source.text else "files"
    if isinstance(source, Notice):
        return {"file_changed": "files", "rules": "rules", "resume": "user"}[source.about]
    if isinstance(source, Compaction):
        restored = any(file.text == text for file in source.restored)
        return "files" if restored else "summary"
    return "user"


def shared_out(tokens: int, weights: Mapping[str, float], known: Mapping[str, int] | None = None) -> dict[str, int]:
    """`tokens` by category: those in `known` get what is known, the others share the rest in proportion to their weights.

    The shares add up to `tokens`, by the largest remainder, and none is below zero. Where what is known leaves less than nothing, or
    nothing is left to take the rest, all share in proportion. Without any weight nothing is shared out.
    """
    known = known or {}
    rest = {name: weight for name, weight in weights.items() if name not in known and weight > 0}
    left = tokens - sum(known.values())
    if left < 0 or (left > 0 and not rest):
        return _in_proportion(tokens, {**rest, **known} if sum(known.values()) else weights)
    return {**known, **_in_proportion(left, rest)}


def _in_proportion(tokens: int, weights: Mapping[str, float]) -> dict[str, int]:
    total = sum(weights.values())
    if total <= 0:
        return dict.fromkeys(weights, 0)
    shares = {name: tokens * weight / total for name, weight in weights.items()}
    given = {name: int(share) for name, share in shares.items()}
    left = tokens - sum(given.values())
    for name in sorted(shares, key=lambda name: (given[name] - shares[name], name))[:left]:
        given[name] += 1
    return given


def in_order(categories: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """As the gauge shows them: in a fixed order, results by tool last and largest first; those of nothing are left out."""
    return tuple(sorted(((name, tokens) for name, tokens in categories.items() if tokens), key=_place))


def _place(item: tuple[str, int]) -> tuple[int, int, str]:
    name, tokens = item
    if name in ORDER:
        return ORDER.index(name), 0, name
    return len(ORDER), -tokens, name


class FixedParts:
    """The counts for one model. What the endpoint counted itself goes before what a reply's usage shows.

    `remembered` is what an earlier process knew (`to_remember`). It stands until the endpoint counts anew.
    """

    def __init__(self, remembered: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self._remembered = dict(remembered or {})
        self._looked_up: Prelude | None = None
        self._counted: list[tuple[Prelude, Mapping[str, int]]] = []
        self._shown: list[tuple[Prelude, Mapping[str, int]]] = []

    def of(self, prelude: Prelude | None) -> Mapping[str, int] | None:
        """Tokens by category; None where nobody counted it yet."""
        if self._remembered and prelude is not None and prelude is not self._looked_up:
            self._looked_up = prelude
            tokens = self._remembered.get(_digest(prelude))
            if tokens is not None and can_take(sum(tokens.values()), estimate_prelude(prelude)):
                _keep(self._shown, prelude, tokens)
        return _found(self._counted, prelude) or _found(self._shown, prelude)

    def to_remember(self) -> dict[str, Mapping[str, int]]:
        """What is known, for a later process: tokens by what stands for each prelude, a few of them."""
        here = {_digest(prelude): tokens for prelude, tokens in (*reversed(self._shown), *reversed(self._counted))}
        earlier = {digest: tokens for digest, tokens in self._remembered.items() if digest not in here}
        return dict(list({**earlier, **here}.items())[-KEPT_PRELUDES:])

    def is_counted(self, prelude: Prelude | None) -> bool:
        """Whether the endpoint counted it in this process."""
        return _found(self._counted, prelude) is not None

    def take_count(self, prelude: Prelude, tokens: Mapping[str, int]) -> None:
        """The endpoint has counted it."""
        _keep(self._counted, prelude, tokens)

    def take_shown(self, prelude: Prelude, categories: Mapping[str, int]) -> None:
        """What the gauge showed once the first reply had priced it: it stays that from then on."""
        if self.of(prelude) is None:
            _keep(self._shown, prelude, {name: tokens for name, tokens in categories.items() if name in FIXED})


def _digest(prelude: Prelude) -> str:
    return sha256(repr(prelude).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _found(known: list[tuple[Prelude, Mapping[str, int]]], prelude: Prelude | None) -> Mapping[str, int] | None:
    return next((tokens for each, tokens in known if each is prelude or each == prelude), None)


def _keep(known: list[tuple[Prelude, Mapping[str, int]]], prelude: Prelude, tokens: Mapping[str, int]) -> None:
    known[:] = [(prelude, dict(tokens)), *(each for each in known if each[0] != prelude)][:KEPT_PRELUDES]
