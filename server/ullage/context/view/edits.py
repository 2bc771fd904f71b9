"""What the compactions in force, taken together, do to the entries before them.

Every compaction speaks of entries by seq, so it means the same whichever others are in force beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.blocks import CompactionBlock
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Logged
from ullage.context.view.log_places import place_of
from ullage.context.view.taken_out import messages_taken_out, paths_out


@dataclass(frozen=True, slots=True)
class Replacement:
    """A range of entries (both ends included) in whose place `text` stands, which entry `source` brought."""

    first: int
    last: int
    text: str
    source: int
    acknowledgement: str = ""
    """What the assistant is shown to have answered to the text; empty if nothing."""
    carried: frozenset[int] = frozenset()
    """The seqs of entries in the range that stay all the same, after the text."""
    block: CompactionBlock | None = None
    """The API's block that stands in the place of the entries instead of the text; None if there is none."""

    def contains(self, other: Replacement) -> bool:
        """Whether this one covers everything that `other` covers. Of two that cover the same, the one logged later contains the earlier."""
        if (self.first, self.last) == (other.first, other.last):
            return self.source > other.source
        return self.first <= other.first and other.last <= self.last


@dataclass(frozen=True, slots=True)
class Edits:
    """All replacements. `snips` are in the order of their ranges, each reaching further than `summary` and the snip before it."""

    summary: Replacement | None
    snips: tuple[Replacement, ...]
    placeholders: Mapping[int, str]
    """The placeholders, by the seq of the tool result; that of a later compaction wins."""
    paths_out: Mapping[int, frozenset[str]]
    """The files whose texts are taken out of a prompt, a notice or a compaction, by the seq of that entry."""


def edits_of(active: Mapping[int, Compaction]) -> Edits:
    """The edits of `active`, the compactions in force by their seq, in log order.

    No compaction reaches past its own place in the log, whatever it says. A summary that reaches further takes the place
    of those that reach less far, and of every snip that it covers; a snip takes the place of those within it. What the user took out is
    not carried.
    """
    out = frozenset[int]().union(*(messages_taken_out(each) for each in active.values()))
    summary: Replacement | None = None
    snips: list[Replacement] = []
    placeholders: dict[int, str] = {}
    for seq, compaction in active.items():
        if compaction.summarised is not None:
            last = min(compaction.summarised.last_seq, seq - 1)
            told = compaction.summarised
            made = Replacement(0, last, told.text, seq, told.acknowledgement, _within(told.carried, 0, last) - out, told.block)
            summary = made if summary is None or made.contains(summary) else summary
        if compaction.snipped is not None:
            last = min(compaction.snipped.last_seq, seq - 1)
            cut = compaction.snipped
            snips.append(Replacement(cut.first_seq, last, cut.marker, seq, carried=_within(cut.carried, cut.first_seq, last) - out))
        placeholders.update((cleared.seq, cleared.placeholder) for cleared in compaction.cleared)
    covered_to = 0 if summary is None else summary.last
    in_view = (
        snip for snip in snips if snip.first <= snip.last and snip.last > covered_to and not any(other.contains(snip) for other in snips)
    )
    return Edits(summary, tuple(sorted(in_view, key=lambda snip: (snip.first, snip.last))), placeholders, paths_out(active.values()))


def shown(active: Mapping[int, Compaction]) -> frozenset[int]:
    """The seqs of those compactions in `active` whose texts stand in the view, or may."""
    edits = edits_of(active)
    hidden_to, carried = (0, frozenset[int]()) if edits.summary is None else (edits.summary.last, edits.summary.carried)
    found = {snip.source for snip in edits.snips} | ({edits.summary.source} if edits.summary is not None else set[int]())
    for seq, made in active.items():
        if seq > hidden_to or seq in carried or any(each.seq > hidden_to or each.seq in carried for each in made.cleared):
            found.add(seq)
    newest = next((seq for seq in reversed([*active]) if active[seq].summarised is not None), None)
    return frozenset(found if newest is None else found | {newest})


def hidden(edits: Edits) -> tuple[tuple[int, int], ...]:
    """The ranges of seqs that are out of view, both ends included; entries that are carried lie in them, but stay in view."""
    ranges = [] if edits.summary is None else [(0, edits.summary.last)]
    return (*ranges, *((snip.first, snip.last) for snip in edits.snips))


def _within(carried: Iterable[int], first: int, last: int) -> frozenset[int]:
    return frozenset(seq for seq in carried if first <= seq <= last)


def applied(edits: Edits, entries: Sequence[Logged]) -> Iterator[Logged | Replacement]:
    """The entries that stay, and the replacements of the others in their place; the summary comes first of all.

    Entries that the summary covers are not looked at one by one: a fold costs what is left of the log.
    """
    hidden_to = 0
    carried = frozenset[int]()
    if edits.summary is not None:
        yield edits.summary
        hidden_to, carried = edits.summary.last, edits.summary.carried
    to_come = list(reversed(edits.snips))
    for logged in _left(entries, hidden_to, carried, to_come):
        while to_come and to_come[-1].first <= logged.seq:
            snip = to_come.pop()
            yield snip
            hidden_to, carried = snip.last, carried | snip.carried
        if logged.seq > hidden_to or logged.seq in carried:
            yield logged


def _left(entries: Sequence[Logged], hidden_to: int, carried: frozenset[int], snips: Sequence[Replacement]) -> Iterator[Logged]:
    """The entries that a summary up to `hidden_to` does not hide, and all from the first of `snips` on, which may begin before the
    summary's end."""
    start = min((hidden_to + 1, *(snip.first for snip in snips)))
    begin = place_of(entries, start)
    for seq in sorted(carried):
        at = place_of(entries, seq)
        if at < begin and entries[at].seq == seq:
            yield entries[at]
    for index in range(begin, len(entries)):
        yield entries[index]
