"""How the compactions in force read once the user has taken out something that their texts speak of.

The texts are in the log, written before they were needed (`engines/rewording.py`); here one is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ullage.context.entries import Compaction, Reworded
from ullage.context.view.epoch import Epoch
from ullage.context.view.file_texts import without_texts
from ullage.context.view.taken_out import Gone, file_parts, gone_by, paths_out, seq_of


def spoken_of(epoch: Epoch) -> Mapping[int, frozenset[Gone]]:
    """By seq of each compaction in force whose texts may tell of it: what was taken out since it was made."""
    out = {seq: gone for seq, each in epoch.active.items() if (gone := gone_by(each))}
    found: dict[int, frozenset[Gone]] = {}
    for seq, each in epoch.active.items() if out else ():
        if not _has_words(each):
            continue
        then = epoch.made_under[seq]
        since = [gone for taking, gone in out.items() if taking != seq and taking not in then]
        if told := frozenset(at for gone in since for at in gone if seq_of(at) <= each.through):
            found[seq] = told
    return found


def _has_words(made: Compaction) -> bool:
    """Whether it says anything; what policies do before every call mostly says nothing, and there may be thousands of it."""
    return made.summarised is not None or made.snipped is not None or bool(made.resume)


def as_they_read(epoch: Epoch) -> Mapping[int, Compaction]:
    """The compactions in force by their seq, in log order, with the texts that leave out what was taken out."""
    told, active = spoken_of(epoch), epoch.active
    if told:
        active = {seq: _reads(each, epoch.reworded.get(each.id, ()), told.get(seq)) for seq, each in active.items()}
    if parts := paths_out(active.values()):
        active = {seq: without_texts(each, parts.get(seq, ())) for seq, each in active.items()}
    return active


def is_written(epoch: Epoch, compaction_id: str, without: frozenset[Gone]) -> bool:
    """Whether the log has its texts without just this."""
    return any(_without(each) == without for each in epoch.written.get(compaction_id, ()))


def _without(told: Reworded) -> frozenset[Gone]:
    return frozenset(told.without) | file_parts(told.without_files)


def _reads(compaction: Compaction, versions: tuple[Reworded, ...], without: frozenset[Gone] | None) -> Compaction:
    fitting = [each for each in versions if without is not None and without <= _without(each)]
    if not fitting:
        return compaction
    told = min(reversed(fitting), key=lambda each: len(_without(each)))
    return replace(
        compaction,
        summarised=replace(compaction.summarised, text=told.record) if compaction.summarised else None,
        snipped=replace(compaction.snipped, marker=told.marker) if compaction.snipped else None,
        resume=told.resume,
    )
