"""The names and files that may be needed again: how likely each is, and which name belongs to which file.

Each mention (`mentions.py`) counts by what it stands in and by how long ago it was; nothing else is weighed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ullage.context.record.mentions import CROWD
from ullage.context.record.reading import ReadEntry
from ullage.context.record.words import tail_of

RECENT_ENTRIES = 400
"""What was said longer ago is found by its commands and errors; names of then are rarely needed now."""
FRESH_ENTRIES = 20
"""A mention that many entries ago counts half, twice as many a third."""

FOR_ITS_FILE = 0.05
"""Of what a file weighs, for the names that belong to it. From a third of that to twice as much changes little."""


@dataclass(frozen=True, slots=True)
class NamesInUse:
    """Weights: the larger, the likelier it is needed. Files are known by the last two components of their paths."""

    names: Mapping[str, float]
    """Identifiers, hashes and URLs."""
    files: Mapping[str, float]
    paths: Mapping[str, str]
    """Of each file the path by which it is shown."""
    belonging: Mapping[str, Mapping[str, float]]
    """Of each name the files that it stood in, in calls on them."""
    last_seqs: Mapping[str, int]
    """Where each name was last seen."""


def names_in_use(entries: Sequence[ReadEntry]) -> NamesInUse:
    """The names and files of the last entries."""
    names: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, float] = defaultdict(float)
    belonging: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    paths: dict[str, str] = {}
    last_seqs: dict[str, int] = {}
    recent = entries[-RECENT_ENTRIES:]
    for age, entry in zip(range(len(recent) - 1, -1, -1), recent, strict=True):
        freshness = 1.0 / (1.0 + age / FRESH_ENTRIES)
        for mention in entry.mentions:
            weight = mention.weight * freshness
            for name in mention.words.names:
                names[name] += weight
                last_seqs[name] = entry.seq
            for path in mention.words.paths:
                tail = tail_of(path)
                files[tail] += weight
                paths[tail] = min(paths.get(tail, path), path, key=_shown)
            for path in mention.files:
                tail = tail_of(path)
                files[tail] += 0.0
                paths[tail] = min(paths.get(tail, path), path, key=_shown)
                for name in mention.words.names:
                    belonging[name][tail] += weight
    _raise(names, files, belonging)
    return NamesInUse(names, files, paths, belonging, last_seqs)


def _raise(names: dict[str, float], files: Mapping[str, float], belonging: Mapping[str, Mapping[str, float]]) -> None:
    """A name is the likelier needed, the likelier a file is that it belongs to; the more names a file has, the less that says of each."""
    counts = Counter(tail for belongs in belonging.values() for tail in belongs)
    worth = {tail: FOR_ITS_FILE * files[tail] / (counts[tail] + CROWD) ** 0.5 for tail in counts}
    for name, belongs in belonging.items():
        names[name] += max(worth[tail] for tail in belongs)


def _shown(path: str) -> tuple[bool, bool, int]:
    """Relative before absolute, with its folder before without, short before long."""
    return (path.startswith(("/", "~")) or ":" in path, "/" not in path, len(path))
