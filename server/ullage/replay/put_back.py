"""The files that a policy reads again after a compaction, with the texts that the transcript lets one rebuild."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import RestoredFile, ToolReturned
from ullage.context.evidence import likely, signs_in
from ullage.context.policy import RestoreNumbers
from ullage.context.restore import FileEdit, choose, take
from ullage.context.view.projection import Projection
from ullage.context.view.seen import touches_in_view
from ullage.replay.known_files import KnownFiles

CONSIDERED = 20
"""Files that are looked at, the likeliest first, until as many as wanted are read again."""


def put_back(after: Projection, files: KnownFiles, numbers: RestoreNumbers) -> Iterator[RestoredFile]:
    """The files that the policy would take and that `after` does not show whole; none of whose text nothing is known."""
    in_view = {touch.path: touch for touch in touches_in_view(after)}
    budget = numbers.total_tokens
    restored = 0
    for path in _candidates(after, numbers):
        if restored == numbers.files:
            return
        known = files.of(path)
        if known is None and not files.is_gone(path):
            continue
        seen = in_view.get(path)
        if known is not None and seen is not None and seen == known.touch and not seen.partial:
            continue
        lines = [known.near_line] if known is not None and known.near_line else []
        file = take(path, known.text if known is not None else None, lines, numbers, budget)
        budget -= estimate_text(file.text)
        restored += 1
        yield file


def _candidates(after: Projection, numbers: RestoreNumbers) -> Sequence[str]:
    if numbers.by == "last edited":
        return choose(list(_edits(after)), numbers)
    return likely(signs_in(after.entries), CONSIDERED)


def _edits(after: Projection) -> Iterator[FileEdit]:
    """The agent's, newest first, one a file."""
    found: set[str] = set()
    for logged in reversed(after.entries):
        if isinstance(logged.entry, ToolReturned):
            for touch in logged.entry.touched:
                if touch.kind != "read" and touch.path not in found:
                    found.add(touch.path)
                    yield FileEdit(touch.path, float(logged.seq), "agent")
