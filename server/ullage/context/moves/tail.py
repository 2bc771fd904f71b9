"""The tail: which of the newest messages stay beside what takes the place of the older ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.news import has_news
from ullage.context.moves.turns import begins_turn, start_of_turns
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection

Count: TypeAlias = Callable[[Sequence[Message]], int]
"""How many tokens messages take."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What stays: all that any of the numbers asks for, and no more than the limit allows. The default: only what is unanswered."""

    messages: int = 0
    """So many of the newest; more where a call would be parted from its result."""
    turns: int = 0
    """So many of the user's newest turns, each whole."""
    tokens: int = 0
    """The newest that take no more than this together."""
    share_of_line: float = 0.0
    """The newest that take no more than this share of the line."""
    share_of_view: float = 0.0
    """The newest that take no more than this share of all messages in view."""
    limit: TokenRange | None = None
    """However much the other numbers ask for, no more than this stays."""
    with_summary: bool = False
    """Whether the summary that stands before it counts for it."""
    at_prompts: bool = False
    """Whether it begins with a message in which the user asks for something, so that turns stay whole."""
    unanswered: bool = True
    """Whether what the model has not answered yet stays in any case."""


@dataclass(frozen=True, slots=True)
class TokenRange:
    """A share of the line, but at least and at most so many tokens."""

    share_of_line: float
    least: int
    most: int

    def of(self, line: int) -> int:
        """Tokens."""
        return min(self.most, max(self.least, int(line * self.share_of_line)))


def cut_before(tail: Tail, projection: Projection, line: int, count: Count) -> int:
    """The legal cut before the tail; everything is tail at 0. `line` in tokens."""
    messages = projection.messages
    cuts = possible_cuts(tail, projection)
    if tail.at_prompts:
        cuts = [cut for cut in cuts if cut in (0, len(messages)) or begins_turn(projection, messages[cut])]
    by_number = min(len(messages) - tail.messages, start_of_turns(projection, tail.turns) if tail.turns else len(messages))
    tokens = max(tail.tokens, int(line * tail.share_of_line), int(count(messages) * tail.share_of_view) if tail.share_of_view else 0)
    if tail.with_summary and not has_news(projection, messages[:1]):
        tokens -= count(messages[:1])
    by_number = max(cut for cut in cuts if cut <= max(by_number, 0))
    cut = min(by_number, _first_from(cuts, _start_within(messages, tokens, count)))
    if tail.limit is None:
        return cut
    return max(cut, _first_from(possible_cuts(tail, projection), _start_within(messages, tail.limit.of(line), count)))


def possible_cuts(tail: Tail, projection: Projection) -> list[int]:
    """The cuts that leave the conversation valid, ascending; where the unanswered may go too, the one after all is among them."""
    messages = projection.messages
    cuts = list(legal_cuts(messages))
    if not tail.unanswered and not projection.pending_tool_uses and cuts[-1] != len(messages) and messages[-1].role == "user":
        cuts.append(len(messages))
    return cuts


def _first_from(cuts: Sequence[int], start: int) -> int:
    return next((cut for cut in cuts if cut >= start), cuts[-1])


def _start_within(messages: Sequence[Message], tokens: int, count: Count) -> int:
    """Where the newest messages begin that take no more than `tokens` together."""
    start = len(messages)
    while start > 0:
        tokens -= count(messages[start - 1 : start])
        if tokens < 0:
            break
        start -= 1
    return start
