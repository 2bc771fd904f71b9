"""How many of the names that a summary lists are then used: a summary could keep every name by naming all, and nobody could read it.

Names are known here by a stricter form than in `fact_patterns.py`, the one in which the figure is asked for: with an inner capital or an
underscore, of some length, whole words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ullage.context.entries import AssistantReply, Logged
from ullage.replay.retention import Cut
from ullage.replay.shares import Share
from ullage.replay.windows import entries_after, written_text

_NAME = re.compile(r"\b(?:[a-z]+[A-Z]\w{5,}|[A-Z][a-z]+[A-Z]\w{4,}|[a-z]+_[a-z]\w{5,}|[A-Z]{2,}_[A-Z_]{4,})\b")


@dataclass(frozen=True, slots=True)
class Named:
    """Summaries together: how many there were, how long they were, and of the names in them those that the agent then wrote."""

    summaries: int = 0
    characters: int = 0
    names: Share = field(default_factory=Share)

    @property
    def mean_characters(self) -> float | None:
        """Of a summary; None where there is none."""
        return self.characters / self.summaries if self.summaries else None

    def __add__(self, other: Named) -> Named:
        return Named(self.summaries + other.summaries, self.characters + other.characters, self.names + other.names)


def named(entries: Sequence[Logged], summaries: Sequence[Cut]) -> Named:
    """`summaries` are those of one session in their order, `kept` their texts; empty ones and those after which nothing comes are not
    counted. A name is used where the agent writes it, in text or in a call, in the window after it, and before the next summary."""
    found = Named()
    for index, cut in enumerate(summaries):
        until = summaries[index + 1].after_seq if index + 1 < len(summaries) else None
        window = [logged for logged in entries_after(entries, cut.after_seq) if until is None or logged.seq <= until]
        if not window or not cut.kept:
            continue
        used = {name for logged in window if isinstance(logged.entry, AssistantReply) for name in _NAME.findall(written_text(logged.entry))}
        names = set(_NAME.findall(cut.kept))
        found += Named(1, len(cut.kept), Share(len(names & used), len(names)))
    return found
