"""How the compactions in force read once the user has taken out something that their texts speak of.

The texts are in the log, written before they were needed (`engines/rewording.py`); here one is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ullage.context.entries import Compaction, Reworded
from ullage.context.view.epoch import Epoch
from ullage.context.view.taken_out import taken_out


def spoken_of(epoch: Epoch) -> Mapping[int, frozenset[int]]:
    """By seq of each compaction in force whose texts may tell of it: what was taken out since it was made."""
    out = {seq: gone for seq, each in epoch.active.items() if (gone := taken_out(each))}
    found: dict[int, frozenset[int]] = {}
    for seq, each in epoch.active.items() if out else ():
        if not _has_words(each):
            continue
        then = epoch.made_under[seq]
        since = [gone for taking, gone in out.items() if taking != seq and taking not in then]
        if told := frozenset(at for gone in since for at in gone if at <= each.through):
            found[seq] = told
    return found


def _has_words(made: Compaction) -> bool:
    """Whether it says anything; what policies do before every call mostly says nothing, and there may be thousands of it."""
    return made.summarised is not None or made.snipped is not None or bool(made.resume)


def as_they_read(epoch: Epoch) -> Mapping[int, Compaction]:
    """The compactions in force by their seq, in log order, with the texts that leave out what was taken out."""
    told = spoken_of(epoch)
    if not told:
        return epoch.active
    return {seq: _reads(each, epoch.reworded.get(each.id, ()), told.get(seq)) for seq, each in epoch.active.items()}


def is_written(epoch: Epoch, compaction_id: str, without: frozenset[int]) -> bool:
    """Whether the log has its texts without just these entries."""
    return any(frozenset(each.without) == without for each in epoch.written.get(compaction_id, ()))


def _reads(compaction: Compaction, versions: tuple[Reworded, ...], without: frozenset[int] | None) -> Compaction:
    fitting = [each for each in versions if without is not None and without.issubset(each.without)]
    if not fitting:
        return compaction
    told = min(reversed(fitting), key=lambda each: len(each.without))
    return replace(
        compaction,
        summarised=replace(compaction.summarised, text=told.record) if compaction.summarised else None,
        snipped=replace(compaction.snipped, marker=told.marker) if compaction.snipped else None,
        resume=told.resume,
    )
