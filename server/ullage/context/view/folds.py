"""Folds of epochs that are not in force, kept for when they are again: undo and redo cost what was logged since, and not the whole log.

A key names the prelude and the compactions in force, and no compaction reaches past its own place. So what a fold under a key holds of the
entries up to some place stays true as long as these read as they did; when the key is in force again, the entries after that place follow.
A fold may also be made before its key is in force, in another thread.
"""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.entries import Compaction
from ullage.context.view.epoch import EpochKey
from ullage.context.view.fold import Fold

KEPT = 2
"""Of undo and redo, each leads back to one. A fold holds its messages and no texts of its own: some 200 bytes a message."""


class Folds:
    """The newest folds of one log that were given up."""

    def __init__(self) -> None:
        self._kept: dict[EpochKey, tuple[Fold, int, Mapping[int, Compaction]]] = {}

    def set_aside(self, key: EpochKey, fold: Fold, entries: int, active: Mapping[int, Compaction]) -> None:
        """Keeps the fold of so many entries under that key, with the compactions in force. Nobody may add to it any more."""
        self._kept.pop(key, None)
        self._kept[key] = fold, entries, active
        while len(self._kept) > KEPT + 1:  # the one that is asked for next may be the oldest
            del self._kept[next(iter(self._kept))]

    def take(self, key: EpochKey, active: Mapping[int, Compaction]) -> tuple[Fold, int] | None:
        """A fold to go on with, and how many entries it holds; None where none is kept, or the compactions in force read otherwise now."""
        known = self._kept.pop(key, None)
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        return None if known is None or not _show_alike(known[2], active) else (known[0].copy(), known[1])

    def copy(self) -> Folds:
        """Another one that keeps the same folds and goes on by itself."""
        other = Folds()
        other._kept = self._kept.copy()
        return other


def _show_alike(one: Mapping[int, Compaction], other: Mapping[int, Compaction]) -> bool:
    """Whether these compactions make the same of the view; what they cost, say, shows nowhere in it."""
    return one.keys() == other.keys() and all(each is other[seq] or _shown(each) == _shown(other[seq]) for seq, each in one.items())


def _shown(made: Compaction) -> tuple[object, ...]:
    return made.cleared, made.snipped, made.summarised, made.restored, made.resume, made.without_files
