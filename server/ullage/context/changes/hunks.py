"""The open changes of one text: what the agent changed and the user has neither kept nor undone, in the text as it is now.

Three texts are compared. The *baseline* is what the user has accepted. The *agent's* is what the agent last left. The text *now* has
what the user changed since. A hunk is a change from the baseline to the agent's. One in which the user typed is `edited`: it is theirs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from ullage.context.changes.merging import Region, Span, joined, lines_of, merged, regions


@dataclass(frozen=True, slots=True)
class OpenHunk:
    """One open change. `id` stays the same while the user types elsewhere, and while other hunks are kept or undone."""

    id: str
    old: Span
    """The hunk's lines in the left text (`OpenText.left`)."""
    new: Span
    """The hunk's lines in the text now."""
    edited: bool
    region: Region
    """The hunk's lines in the agent's text (base), the baseline (ours) and the text now (theirs)."""


@dataclass(frozen=True, slots=True)
class OpenText:
    """The open hunks of one text, in order, and the text to show beside it: the baseline with what the user changed elsewhere."""

    hunks: tuple[OpenHunk, ...]
    left: str
    added: int
    removed: int
    _baseline: tuple[str, ...]
    _agents: tuple[str, ...]
    _now: tuple[str, ...]

    def keep(self, ids: Collection[str] | None = None) -> str:
        """The baseline after the hunks with these ids (None: all) are kept."""
        taken = self._regions(ids)
        return _exchanged(self._baseline, [(region.ours, self._agents[region.base.start : region.base.end]) for region in taken])

    def undo(self, ids: Collection[str] | None = None) -> tuple[str, str]:
        """The text now, and the agent's text, after the hunks with these ids (None: all) are taken back. Hunks that the user edited
        stay."""
        taken = [hunk.region for hunk in self.hunks if not hunk.edited and (ids is None or hunk.id in ids)]
        back = [(region, self._baseline[region.ours.start : region.ours.end]) for region in taken]
        now = _exchanged(self._now, [(region.theirs, lines) for region, lines in back])
        return now, _exchanged(self._agents, [(region.base, lines) for region, lines in back])

    def _regions(self, ids: Collection[str] | None) -> list[Region]:
        return [hunk.region for hunk in self.hunks if ids is None or hunk.id in ids]


def open_text(baseline: str, agents: str, now: str) -> OpenText:
    """Compares the three texts; gives what is open."""
    old, base, new = lines_of(baseline), lines_of(agents), lines_of(now)
    found = regions(base, old, new)
    left = lines_of(merged(base, old, new, found, lambda region: region.by in ("ours", "conflict")))
    hunks: list[OpenHunk] = []
    seen: Counter[str] = Counter()
    at, left_at = 0, 0
    for region in found:
        left_at += region.base.start - at
        at = region.base.end
        taken = region.ours if region.by in ("ours", "conflict") else region.theirs
        span = Span(left_at, left_at + len(taken))
        left_at = span.end
        if region.by in ("ours", "conflict"):
            name = _name_of(old[region.ours.start : region.ours.end], base[region.base.start : region.base.end])
            seen[name] += 1
            hunks.append(OpenHunk(f"{name}.{seen[name]}", span, region.theirs, region.by == "conflict", region))
    added = sum(len(hunk.new) for hunk in hunks)
    removed = sum(len(hunk.old) for hunk in hunks)
    return OpenText(tuple(hunks), joined([left]), added, removed, old, base, new)


def carried(baseline: str, agents: str, now: str) -> str:
    """The baseline with what the user changed since the agent's text. A hunk in which they typed counts as theirs from now on."""
    old, base, new = lines_of(baseline), lines_of(agents), lines_of(now)
    return merged(base, old, new, regions(base, old, new), lambda region: region.by == "ours")


def _name_of(old: tuple[str, ...], new: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(("".join(old), "".join(new))).encode("utf-8", errors="surrogatepass")).hexdigest()[:12]


def _exchanged(lines: tuple[str, ...], parts: list[tuple[Span, tuple[str, ...]]]) -> str:
    pieces: list[tuple[str, ...]] = []
    at = 0
    for span, instead in parts:
        pieces += [lines[at : span.start], instead]
        at = span.end
    return joined([*pieces, lines[at:]])
