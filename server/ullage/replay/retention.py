"""What became of the facts that were needed after a compaction: still in view, to be found by a search, shown again, or lost.

Which facts those are is known in `needed_later.py`; whether names stand beside the file that they belong to in `tied.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from ullage.replay.fact_patterns import FACT_KINDS, FactKind
from ullage.replay.kept_text import KeptText
from ullage.replay.needed_later import NeededFact, SessionFacts, needed_after
from ullage.replay.shares import Share
from ullage.replay.transcript import Transcript

Fate: TypeAlias = Literal["in view", "recallable", "seen again", "lost"]
"""The first of these that holds."""

SEARCH_HITS = 5
"""A fact counts as recallable when it is among so many hits of one search with its own words."""


class Search(Protocol):
    """A search as the agent has it."""

    def __call__(self, words: str, through_seq: int, limit: int) -> Sequence[str]:
        """The texts of the best `limit` hits, best first, among the entries up to and with `through_seq`."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """A compaction as retention sees it: after which entry it stands, and all text of before that is in the context after it."""

    after_seq: int
    kept: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A needed fact and what became of it."""

    needed: NeededFact
    fate: Fate


@dataclass(frozen=True, slots=True)
class KindRetention:
    """The needed facts of one kind, by fate. `recallable` is 0 where no search was given; what a search would have found is then
    counted further on."""

    in_view: int = 0
    recallable: int = 0
    seen_again: int = 0
    lost: int = 0

    @property
    def needed(self) -> int:
        """All of them."""
        return self.in_view + self.recallable + self.seen_again + self.lost

    @property
    def kept(self) -> Share:
        """Those in view, of all."""
        return Share(self.in_view, self.needed)

    @property
    def within_reach(self) -> Share:
        """Those in view or recallable, of all."""
        return Share(self.in_view + self.recallable, self.needed)

    def __add__(self, other: KindRetention) -> KindRetention:
        return KindRetention(
            self.in_view + other.in_view,
            self.recallable + other.recallable,
            self.seen_again + other.seen_again,
            self.lost + other.lost,
        )


def recorded_cuts(transcript: Transcript) -> tuple[Cut, ...]:
    """The compactions that a transcript recorded, each with its summary as the text kept: files that were put back are not counted."""
    return tuple(Cut(compaction.after_seq, compaction.summary) for compaction in transcript.compactions)


def judged(facts: SessionFacts, cuts: Sequence[Cut], search: Search | None = None) -> Iterator[Judged]:
    """Every fact that was needed after one of `cuts`, which are all the compactions of a session in their order."""
    previous_seq = 0
    for cut in cuts:
        kept = KeptText(cut.kept)
        for needed in needed_after(facts, cut.after_seq, previous_seq):
            yield Judged(needed, _fate(needed, kept, search))
        previous_seq = cut.after_seq


def by_kind(judgements: Iterable[Judged]) -> dict[FactKind, KindRetention]:
    """How many of each kind met each fate; every kind is there, in the order of reports."""
    totals = dict.fromkeys(FACT_KINDS, KindRetention())
    for judgement in judgements:
        totals[judgement.needed.fact.kind] += _ONE[judgement.fate]
    return totals


_ONE: dict[Fate, KindRetention] = {
    "in view": KindRetention(in_view=1),
    "recallable": KindRetention(recallable=1),
    "seen again": KindRetention(seen_again=1),
    "lost": KindRetention(lost=1),
}


def _fate(needed: NeededFact, kept: KeptText, search: Search | None) -> Fate:
    if kept.holds(needed.fact):
        return "in view"
    if search is not None and _finds(search, needed):
        return "recallable"
    return "seen again" if needed.shown_again else "lost"


def _finds(search: Search, needed: NeededFact) -> bool:
    hits = search(needed.fact.text, needed.after_seq, SEARCH_HITS)
    return any(KeptText(hit).holds(needed.fact) for hit in hits[:SEARCH_HITS])
