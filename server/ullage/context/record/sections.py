"""Sections of a digest that share a budget of tokens: what must be in them, and what is picked by rank as far as there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from ullage.context.counting.tokens import estimate_text

Fact = TypeVar("Fact")
Placed: TypeAlias = tuple[int, str]
"""A line with its place in its section. Which line is picked first is another matter."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines."""

    heading: str
    lines: tuple[str, ...]

    def markdown(self) -> str:
        """As it stands in the digest."""
        return "\n".join((f"## {self.heading}", *self.lines))


class Focus:
    """What is to be favoured, in words of the user or the model."""

    def __init__(self, focus: str) -> None:
        self._words = [word for word in focus.casefold().replace(",", " ").split() if len(word) > 2]

    def concerns(self, line: str) -> bool:
        """Whether `line` speaks of it."""
        return any(word in line.casefold() for word in self._words)

    def first(self, facts: Sequence[Fact], line: Callable[[Fact], str]) -> list[Placed]:
        """Lines with their places in `facts`; those that speak of the focus first, else as they are."""
        numbered = [(index, line(fact)) for index, fact in enumerate(facts)]
        return sorted(numbered, key=lambda each: not self.concerns(each[1]))

    def newest(self, facts: Sequence[Fact], line: Callable[[Fact], str], later: Callable[[Fact], bool] = lambda _: False) -> list[Placed]:
        """As `first`, but of `facts` in the order in which they happened: the newest first, each in its old place. Those of which `later`
        says so come after all others."""
        numbered = [(index, line(fact), later(fact)) for index, fact in reversed(list(enumerate(facts)))]
        return [(index, text) for index, text, _ in sorted(numbered, key=lambda each: (not self.concerns(each[1]), each[2]))]


@dataclass(slots=True)
class Share:
    """One section while lines are picked for it."""

    heading: str
    share: float
    """Of the budget, as long as others want theirs."""
    required: list[str]
    """Stand in it whatever the budget."""
    wanted: list[Placed]
    """By rank, with the place where they stand."""
    taken: list[Placed] = field(default_factory=list[Placed])

    def take(self, tokens: int) -> int:
        """Takes the next lines that fit; gives what they cost."""
        spent = 0
        while self.wanted:
            cost = estimate_text(self.wanted[0][1]) + 1
            if spent + cost > tokens:
                break
            spent += cost
            self.taken.append(self.wanted.pop(0))
        return spent

    def section(self) -> Section:
        """The section with what was taken; empty where nothing was."""
        lines = [*self.required, *(line for _, line in sorted(self.taken))]
        if self.wanted and lines:
            lines.append(f"- … {len(self.wanted)} more: `recall`")
        return Section(self.heading, tuple(lines))


def spend(shares: Sequence[Share], budget: int) -> int:
    """Picks lines for every section; gives what is left of the budget."""
    left = budget - sum(estimate_text(line) for share in shares for line in share.required)
    for share in shares:
        left -= share.take(min(int(budget * share.share), left))
    for share in shares:
        left -= share.take(left)
    return left


def fitting(lines: Sequence[str], tokens: int) -> int:
    """How many of the first lines take no more than so many tokens together."""
    for index, line in enumerate(lines):
        tokens -= estimate_text(line) + 1
        if tokens < 0:
            return index
    return len(lines)
