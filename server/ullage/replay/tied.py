"""Whether the names in a text stand beside the file that they belong to: a name alone does not say where it is at home."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from ullage.context.entries import Logged
from ullage.replay.file_calls import FileCall
from ullage.replay.retention import Cut
from ullage.replay.shares import Share
from ullage.replay.windows import entries_after

NEAR_CHARACTERS = 600
"""From the end of the one to the beginning of the other."""

_IN_WORDS = re.compile(r"\w")
_IN_FILE_NAMES = re.compile(r"[\w.-]")


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
