"""What it would do to clear one tool result from the context: the tokens that it frees, and what the next request then costs more.

How a result is cleared: `History.clear`. The prompt cache keeps what stands before the result, but for thinking: that goes back only under
the prefix it was made for. So a changed prefix drops it all, and everything from the first of it on is sent anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from ullage.context.blocks import RedactedThinking, Thinking
from ullage.context.counting.parts import ContextPart
from ullage.context.counting.tokens import estimate_block, estimate_text
from ullage.context.entries import ToolReturned
from ullage.context.moves.cheap import PLACEHOLDER_TOKENS
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection


@dataclass(frozen=True, slots=True)
class Clearing:
    """What it would do to clear one result. `frees` are tokens, about. `cost` is what the next request then takes more while the cache is
    warm (dollars; None if the prices are not known)."""

    frees: int
    cost: float | None


class Clears:
    """Says what it would do to clear the results of one view."""

    def __init__(
        self,
        view: Projection,
        parts: Sequence[ContextPart],
        is_sent: Callable[[ContextPart], bool],
        prices: tuple[float | None, float | None],
    ) -> None:
        """`parts` are all of the view, in its order. `prices` are those of a token read from the cache and of one sent anew (dollars; None
        if they are not known)."""
        self._view = view
        self._parts = parts
        self._is_sent = is_sent
        self._read, self._write = prices

    def of(self, part: ContextPart) -> Clearing | None:
        """What it would do to clear the result of a part; None if it has none that can be cleared."""
        if part.kind not in ("call", "report") or part.excluded or part.call is None or part.seq in self._view.pinned_entries:
            return None
        result = entry_at(self._view.entries, part.seq)
        if not isinstance(result, ToolReturned) or result.answers or part.seq in self._cleared:
            return None
        text = estimate_text(result.content)
        share = (text - PLACEHOLDER_TOKENS) / (text + estimate_block(part.call))
        frees = int(part.tokens * share)
        if frees <= 0:
            return None
        return Clearing(frees, self._cost(part, frees))

    @cached_property
    def _cleared(self) -> frozenset[int]:
        return frozenset(each.seq for compaction in self._view.active for each in compaction.cleared)

    def _cost(self, part: ContextPart, frees: int) -> float | None:
        if self._read is None or self._write is None:
            return None
        start = min(self._starts[part.seq], self._first_thinking)
        anew = self._sent - start - frees if self._is_sent(part) else 0
        return max(0, anew) * (self._write - self._read)

    @cached_property
    def _starts(self) -> Mapping[int, int]:
        """How many tokens stand before the first part that an entry brought, by the entry's seq."""
        starts: dict[int, int] = {}
        for part, end in zip(self._parts, accumulate(part.tokens for part in self._parts), strict=True):
            starts.setdefault(part.seq, end - part.tokens)
        return starts

    @cached_property
    def _sent(self) -> int:
        """How many tokens all parts have that the newest request held as they are now."""
        return sum(part.tokens for part in self._parts if self._is_sent(part))

    @cached_property
    def _first_thinking(self) -> int:
        """How many tokens stand before the first reply whose thinking the model still sees; `_sent` if there is none."""
        thinks = (
            source
            for message in self._view.messages
            for block, source in zip(message.blocks, message.sources, strict=True)
            if isinstance(block, Thinking | RedactedThinking)
        )
        first = next(thinks, None)
        if first is None:
            return self._sent
        return next((start for seq, start in self._starts.items() if seq >= first), self._sent)
