"""The names and files that may be needed again: how likely each is, and which name belongs to which file.

Each mention (`reading.py`) counts by what it stands in and by how long ago it was; nothing else is weighed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ullage.context.summary.mentions import CROWD, ReadEntry
from ullage.context.summary.words import basename, tail_of

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
    last_seqs: dict[str, int] = {}
    recent = entries[-RECENT_ENTRIES:]
    paths = _Paths(recent)
    for age, entry in zip(range(len(recent) - 1, -1, -1), recent, strict=True):
        freshness = 1.0 / (1.0 + age / FRESH_ENTRIES)
        for mention in entry.mentions:
            weight = mention.weight * freshness
            for name in mention.words.names:
                names[name] += weight
                last_seqs[name] = entry.seq
            for path in mention.words.paths:
                files[paths.file_of[path]] += weight
            for path in mention.files:
                tail = paths.file_of[path]
                files[tail] += 0.0
                for name in mention.words.names:
                    belonging[name][tail] += weight
    _raise(names, files, belonging)
    return NamesInUse(names, files, paths.shown, belonging, last_seqs)


class _Paths:
    """Which paths are of the same file, and how each file is shown."""

    def __init__(self, entries: Sequence[ReadEntry]) -> None:
        mentions = [mention for entry in entries for mention in entry.mentions]
        times = Counter(path for mention in mentions for path in (*mention.words.paths, *mention.files))
        absolute: dict[str, str] = {}
        self.shown: dict[str, str] = {}
        self.file_of = {path: tail_of(path) for path in times}
        for path, tail in self.file_of.items():
            self.shown[tail] = min(self.shown.get(tail, path), path, key=_outlandish)
            if _is_absolute(path):
                absolute[tail] = path
        self._show_from_the_root(absolute)
        self._join_bare_names(times, {path for mention in mentions for path in mention.files})

    def _show_from_the_root(self, absolute: Mapping[str, str]) -> None:
        """Files named both from the root of the system and from that of the work tell where the latter is; all are shown from there."""
        roots = Counter(
            path.removesuffix(shown)
            for tail, path in absolute.items()
            if path.endswith(f"/{(shown := self.shown[tail]).removeprefix('./')}")
        )
        root = max(roots, key=lambda root: (roots[root], root), default="")
        self.shown = {tail: path.removeprefix(root) if root else path for tail, path in self.shown.items()}

    def _join_bare_names(self, times: Mapping[str, int], called: Collection[str]) -> None:
        """A name without a folder is taken for the file of that name that is spoken of most, unless it is a file of its own in calls."""
        most: dict[str, tuple[int, str]] = {}
        for path, tail in self.file_of.items():
            if "/" in tail:
                most[basename(tail)] = max(most.get(basename(tail), (0, "")), (times[path], tail))
        for path, tail in self.file_of.items():
            if tail in most and tail not in called:
                self.file_of[path] = most[tail][1]
                self.shown.pop(tail, None)


def _raise(names: dict[str, float], files: Mapping[str, float], belonging: Mapping[str, Mapping[str, float]]) -> None:
    """A name is the likelier needed, the likelier a file is that it belongs to; the more names a file has, the less that says of each."""
    counts = Counter(tail for belongs in belonging.values() for tail in belongs)
    worth = {tail: FOR_ITS_FILE * files[tail] / (counts[tail] + CROWD) ** 0.5 for tail in counts}
    for name, belongs in belonging.items():
        names[name] += max(worth[tail] for tail in belongs)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or ":" in path


def _outlandish(path: str) -> tuple[bool, bool, int, str]:
    """Relative before absolute, with its folder before without, short before long."""
    return _is_absolute(path), "/" not in path, len(path), path
