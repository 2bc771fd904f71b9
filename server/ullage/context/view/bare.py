"""Compactions without their texts: what an epoch keeps of all that were ever made, most of which stand behind a later summary.

What shows in the view is read in the log again (`Projection`).
"""

from __future__ import annotations

from dataclasses import replace

from ullage.context.blocks import CompactionBlock
from ullage.context.entries import Cleared, Compaction, Snipped, Summarised

EXCLUDED_RESULT = "[The user took this result out of the conversation.]"
EXCLUDED_MESSAGE = "[The user took a message out of the conversation here.]"

_NO_BLOCK = '{"type":"compaction","content":""}'
_SAID_SOMETHING = "…"


def bare(made: Compaction) -> Compaction:
    """What it does and to which entries. Texts are empty, but for those by which it is known what the user took out."""
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
    )


def _cleared(each: Cleared) -> Cleared:
    return Cleared(each.seq, EXCLUDED_RESULT if each.placeholder == EXCLUDED_RESULT else "")


def _snipped(snipped: Snipped) -> Snipped:
    return replace(snipped, marker=EXCLUDED_MESSAGE if snipped.marker == EXCLUDED_MESSAGE else "")


def _summarised(told: Summarised) -> Summarised:
    block = None if told.block is None else CompactionBlock(_NO_BLOCK, told.block.model)
    return replace(told, text="", acknowledgement="", block=block)
