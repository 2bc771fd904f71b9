"""Which prelude and which compactions are in force at a place of the log, and the key that names them.

An epoch keeps the compactions without their texts (`bare`): most of all that were ever made stand behind a later summary. What shows in the
view is read from the log again (`Projection`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ullage.context.blocks import CompactionBlock
from ullage.context.compaction_entries import Cleared, Compaction, CompactionRedone, CompactionUndone, Reworded, Snipped, Summarised
from ullage.context.entries import Logged, Prelude

EXCLUDED_RESULT = "[The user took this result out of the conversation.]"
EXCLUDED_MESSAGE = "[The user took a message out of the conversation here.]"

_NO_BLOCK = '{"type":"compaction","content":""}'
_SAID_SOMETHING = "…"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InForce:
    """The seqs of some active compactions in log order: the last one, and those `before` it. Two keys with the same beginning share it, so
    that a session may have thousands of them."""

    seq: int
    before: InForce | None
    count: int
    mark: int
    """A hash of all these seqs: where two hashes differ, the seqs do."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InForce):
            return NotImplemented
        one: InForce | None = self
        same: InForce | None = other
        while one is not same:
            if one is None or same is None or (one.mark, one.count, one.seq) != (same.mark, same.count, same.seq):
                return False
            one, same = one.before, same.before
        return True

    def __hash__(self) -> int:
        return self.mark

    def __repr__(self) -> str:
        return f"InForce({self.seq}, the last of {self.count})"

    def __iter__(self) -> Iterator[InForce]:
        """Each compaction with those before it, the last one first."""
        each: InForce | None = self
        while each is not None:
            yield each
            each = each.before


@dataclass(frozen=True, slots=True)
class EpochKey:
    """The seq of the prelude in force (0 if there is none), and the active compactions.

    A request is bound to it: what the model thought under one key may only be sent back under the same, or where the API itself put a
    block in the place of what was before (`EpochState.holds`).
    """

    prelude: int = 0
    compactions: InForce | None = None

    @property
    def seqs(self) -> tuple[int, ...]:
        """The seq of the prelude, then those of the active compactions in log order. Takes the longer the more there are."""
        return (self.prelude, *(each.seq for each in reversed(list(self.compactions or ()))))

    @property
    def newest(self) -> int:
        """The seq of the last active compaction; 0 if there is none."""
        return 0 if self.compactions is None else self.compactions.seq

    def has(self, seq: int) -> bool:
        """Whether the compaction with that seq is among the active ones."""
        found = next((each for each in self.compactions or () if each.seq <= seq), None)
        return found is not None and found.seq == seq


def _with_one_more(before: InForce | None, seq: int) -> InForce:
    """The active compactions in `before` and one that was made later."""
    mark, count = (0, 0) if before is None else (before.mark, before.count)
    return InForce(seq, before, count + 1, hash((mark, seq)))


def in_force(known: InForce | None, seqs: Iterable[int]) -> InForce | None:
    """The active compactions with these seqs, which are in log order; it shares the beginning of `known`, as far as that is the same."""
    earlier = {each.count: each for each in known or ()}
    found: InForce | None = None
    for count, seq in enumerate(seqs, 1):
        same = earlier.get(count)
        found = same if same is not None and same.seq == seq and same.before is found else _with_one_more(found, seq)
    return found


def _keeps_thinking(compaction: Compaction, model: str) -> bool:
    """Whether what `model` thought in the turns that a compaction kept is still valid after it (anthropic-api.md 2.4).

    Only where the API wrote the summary on the same model, and nothing else was changed or put in between.
    """
    told = compaction.summarised
    if told is None or told.block is None or told.carried or compaction.cleared or compaction.snipped is not None:
        return False
    return told.block.model == model


@dataclass(frozen=True, slots=True)
class EpochState:
    """Everything that is in force at one place of a log."""

    prelude: Prelude | None = None
    prelude_seq: int = 0
    compactions: dict[int, Compaction] = field(default_factory=dict[int, Compaction])
    """All compactions by seq, in log order, without their texts, also those that were undone."""
    made_under: Mapping[int, EpochKey] = field(default_factory=dict[int, EpochKey])
    """The key that was in force when each of them was made, by its seq."""
    undone_ids: frozenset[str] = frozenset()
    reworded: Mapping[str, tuple[Reworded, ...]] = field(default_factory=dict[str, tuple[Reworded, ...]])
    """The new texts of compactions, by the compaction's id, in log order: those that were there when the key came in force, so that nothing
    changes under it."""
    written: Mapping[str, tuple[Reworded, ...]] = field(default_factory=dict[str, tuple[Reworded, ...]])
    """All new texts of compactions that are there by now, by the compaction's id."""
    key: EpochKey = field(default_factory=EpochKey)

    def after(self, logged: Logged) -> EpochState:
        """What is in force after one more entry: this very object where nothing changed.

        Undoing what is undone, redoing what is not, ids that no compaction has, and the same prelude again change nothing.
        """
        entry = logged.entry
        if isinstance(entry, Reworded):
            versions = (*self.written.get(entry.compaction_id, ()), entry)
            return replace(self, written={**self.written, entry.compaction_id: versions})
        if isinstance(entry, Prelude) and entry != self.prelude:
            changed = replace(self, prelude=entry, prelude_seq=logged.seq)
        elif isinstance(entry, Compaction):
            made_under = {**self.made_under, logged.seq: self.key}
            changed = replace(self, compactions={**self.compactions, logged.seq: bare(entry)}, made_under=made_under)
            if entry.id not in self.undone_ids:
                key = EpochKey(self.prelude_seq, _with_one_more(self.key.compactions, logged.seq))
                return replace(changed, key=key, reworded=changed.written)
        elif isinstance(entry, CompactionUndone) and entry.compaction_id in (each.id for each in self.active.values()):
            changed = replace(self, undone_ids=self.undone_ids | {entry.compaction_id})
        elif isinstance(entry, CompactionRedone) and entry.compaction_id in self.undone_ids:
            changed = replace(self, undone_ids=self.undone_ids - {entry.compaction_id})
        else:
            return self
        key = EpochKey(changed.prelude_seq, in_force(self.key.compactions, changed.active))
        return replace(changed, key=key, reworded=changed.written)

    def holds(self, made_under: EpochKey, seq: int, model: str) -> bool:
        """Whether the thinking of the reply of entry `seq`, made by `model` under the key `made_under`, may be sent back.

        It may where only compactions by the API and by the same model came since, each put in the place of what stood there when it was
        made. A compaction that was undone at that moment and redone later puts something else before the reply or before the block.
        """
        if made_under == self.key:
            return True
        if made_under.prelude != self.key.prelude:
            return False
        then = made_under.compactions
        now = self.key.compactions
        while now is not None and (then is None or now.count > then.count):
            later = now.seq
            if later < seq or not _keeps_thinking(self.compactions[later], model):
                return False
            now = now.before
            if self.made_under[later] != EpochKey(self.key.prelude, now):
                return False
        return now == then

    @property
    def active(self) -> dict[int, Compaction]:
        """The compactions in force, by seq, in log order, without their texts."""
        return {seq: each for seq, each in self.compactions.items() if each.id not in self.undone_ids}

    @property
    def undone(self) -> tuple[Compaction, ...]:
        """The compactions that were undone, in log order, without their texts."""
        return tuple(each for each in self.compactions.values() if each.id in self.undone_ids)


def bare(made: Compaction) -> Compaction:
    """The compaction without its texts: what it does and to which entries. Only those texts are kept that tell what the user took out."""
    return replace(
        made,
        cleared=tuple(map(_cleared, made.cleared)),
        snipped=None if made.snipped is None else _snipped(made.snipped),
        summarised=None if made.summarised is None else _summarised(made.summarised),
        restored=(),
        resume=_SAID_SOMETHING if made.resume else "",
        focus="",
        usage=None,
        skipped=(),
        fetched_again=None,
        checked=None,
        nearby="",
    )


def _cleared(each: Cleared) -> Cleared:
    return Cleared(each.seq, EXCLUDED_RESULT if each.placeholder == EXCLUDED_RESULT else "")


def _snipped(snipped: Snipped) -> Snipped:
    return replace(snipped, marker=EXCLUDED_MESSAGE if snipped.marker == EXCLUDED_MESSAGE else "")


def _summarised(told: Summarised) -> Summarised:
    block = None if told.block is None else CompactionBlock(_NO_BLOCK, told.block.model)
    return replace(told, text="", acknowledgement="", block=block)
