"""Which prelude and which compactions are in force at a place of the log, and the key that names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ullage.context.entries import Compaction, CompactionRedone, CompactionUndone, Logged, Prelude, Reworded

EpochKey: TypeAlias = tuple[int, ...]
"""The seq of the prelude in force (0 where there is none), then the seqs of the active compactions in log order.

A request is bound to it: what the model thought under one key may only be sent back under the same, or where the API itself put a
block in the place of what was before (`Epoch.holds`).
"""


def keeps_thinking(compaction: Compaction, model: str) -> bool:
    """Whether what `model` thought in the turns that a compaction kept is still valid after it (anthropic-api.md 2.4).

    Only where the API wrote the summary on the same model, and nothing else was changed or put in between.
    """
    told = compaction.summarised
    if told is None or told.block is None or told.carried or compaction.cleared or compaction.snipped is not None:
        return False
    return told.block.model == model


@dataclass(frozen=True, slots=True)
class Epoch:
    """What is in force at one place of a log."""

    prelude: Prelude | None = None
    prelude_seq: int = 0
    compactions: dict[int, Compaction] = field(default_factory=dict[int, Compaction])
    """All of them by seq, in log order."""
    made_under: Mapping[int, EpochKey] = field(default_factory=dict[int, EpochKey])
    """What was in force when each of them was made."""
    undone_ids: frozenset[str] = frozenset()
    reworded: Mapping[str, tuple[Reworded, ...]] = field(default_factory=dict[str, tuple[Reworded, ...]])
    """By the id of the compaction, in log order: those that were there when the key came in force, so that nothing changes under it."""
    written: Mapping[str, tuple[Reworded, ...]] = field(default_factory=dict[str, tuple[Reworded, ...]])
    """All that there are by now."""
    key: EpochKey = (0,)

    def after(self, logged: Logged) -> Epoch:
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
            changed = replace(self, compactions={**self.compactions, logged.seq: entry}, made_under=made_under)
        elif isinstance(entry, CompactionUndone) and entry.compaction_id in (each.id for each in self.active.values()):
            changed = replace(self, undone_ids=self.undone_ids | {entry.compaction_id})
        elif isinstance(entry, CompactionRedone) and entry.compaction_id in self.undone_ids:
            changed = replace(self, undone_ids=self.undone_ids - {entry.compaction_id})
        else:
            return self
        return replace(changed, key=(changed.prelude_seq, *changed.active), reworded=changed.written)

    def holds(self, made_under: EpochKey, seq: int, model: str) -> bool:
        """Whether the thinking of the reply of entry `seq`, made by `model` under that key, may be sent back.

        It may where nothing but compactions by the API and by the same model came since, each of what stood there when it was made. One
        that is undone at that moment and redone later stands for something else, before the reply or before the block.
        """
        if made_under == self.key:
            return True
        if self.key[: len(made_under)] != made_under:
            return False
        before = made_under
        for later in self.key[len(made_under) :]:
            if later < seq or self.made_under[later] != before or not keeps_thinking(self.compactions[later], model):
                return False
            before = (*before, later)
        return before == self.key

    @property
    def active(self) -> dict[int, Compaction]:
        """The compactions in force, by seq, in log order."""
        return {seq: each for seq, each in self.compactions.items() if each.id not in self.undone_ids}

    @property
    def undone(self) -> tuple[Compaction, ...]:
        """The compactions that were undone, in log order."""
        return tuple(each for each in self.compactions.values() if each.id in self.undone_ids)
