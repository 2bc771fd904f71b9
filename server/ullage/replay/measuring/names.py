"""What a summary says of names in code: whether a name stands beside its file, and how many of the names are used later.

A name alone does not say where it is at home. And a summary could keep every name by listing all of them, but nobody could read it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ullage.context.entries import AssistantReply, Logged
from ullage.replay.measuring.file_calls import FileCall
from ullage.replay.measuring.retention import Cut, Share, entries_after, written_text

NEAR_CHARACTERS = 600
"""From the end of the one to the beginning of the other."""

_IN_WORDS = re.compile(r"\w")
_IN_FILE_NAMES = re.compile(r"[\w.-]")

_NAME = re.compile(r"\b(?:[a-z]+[A-Z]\w{5,}|[A-Z][a-z]+[A-Z]\w{4,}|[a-z]+_[a-z]\w{5,}|[A-Z]{2,}_[A-Z_]{4,})\b")
"""A stricter form than in `facts.py`: with an inner capital or an underscore, of some length, whole words."""


def tied(entries: Sequence[Logged], calls: Sequence[FileCall], cuts: Sequence[Cut]) -> Share:
    """Of the identifiers that the assistant writes into a file in the window after a cut, and that stood in a call on that file before it:
    the share that stands near the file's basename in the text kept. `calls` are those of `entries`."""
    return sum((_tied_in(needed_pairs(entries, calls, cut.after_seq), cut.kept) for cut in cuts), Share())


def needed_pairs(entries: Sequence[Logged], calls: Sequence[FileCall], after_seq: int) -> set[tuple[str, str]]:
    """The files (last two components) and identifiers of which it should be known that they belong together."""
    last_seq = max((logged.seq for logged in entries_after(entries, after_seq)), default=after_seq)
    written: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        if after_seq < call.seq <= last_seq and call.written:
            written[call.path] |= call.written
    return {
        (call.path, name)
        for call in calls
        if call.seq <= after_seq and call.path in written
        for name in call.identifiers & written[call.path]
    }


def _tied_in(pairs: set[tuple[str, str]], text: str) -> Share:
    names = {name: _spans(name, text, _IN_WORDS) for _, name in pairs}
    files = {path: _spans(path.rpartition("/")[2], text, _IN_FILE_NAMES) for path, _ in pairs}
    return Share(sum(_near(files[path], names[name]) for path, name in pairs), len(pairs))


def _spans(name: str, text: str, inside: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where `name` stands by itself: with nothing of `inside` before it and no letter, digit or underscore after it."""
    spans: list[tuple[int, int]] = []
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not inside.match(text, start - 1, start) and not _IN_WORDS.match(text, end):
            spans.append((start, end))
        start = text.find(name, end)
    return spans


def _near(files: list[tuple[int, int]], names: list[tuple[int, int]]) -> bool:
    for start, end in names:
        after = bisect_left(files, (start, end))
        if after < len(files) and files[after][0] - end <= NEAR_CHARACTERS:
            return True
        if after > 0 and start - files[after - 1][1] <= NEAR_CHARACTERS:
            return True
    return False


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
