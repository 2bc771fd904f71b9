"""The files that a policy reads again after a compaction, with the texts that the transcript lets one rebuild.

They are chosen as in the agent, by the signs that the log holds; what the editor and git would tell is in no transcript.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged, RestoredFile, ToolReturned
from ullage.context.evidence import likely, signs_in
from ullage.context.policy import RestoreNumbers
from ullage.context.restore import FileEdit, choose, take
from ullage.context.view.projection import Projection
from ullage.context.view.seen import touches_in_view
from ullage.replay.known_files import KnownFiles

CONSIDERED = 20
"""Files that are looked at, the likeliest first, as in the agent."""


def put_back(after: Projection, files: KnownFiles, numbers: RestoreNumbers) -> Iterator[RestoredFile]:
    """The files that `after` does not show whole, as many as `numbers` say; none of whose text nothing is known."""
    in_view = {touch.path: touch for touch in touches_in_view(after)}
    edited = {edit.path for edit in _edits(after.entries)}
    budget, count = numbers.total_tokens, 0
    for path in _candidates(after.entries, numbers):
        if count == numbers.files:
            return
        known = files.of(path)
        if known is None and not (files.is_gone(path) and path in edited):
            continue
        seen = in_view.get(path)
        if known is not None and seen is not None and seen == known.touch and not seen.partial:
            continue
        lines = [known.near_line] if known is not None and known.near_line else []
        file = take(path, known.text if known is not None else None, lines, numbers, budget)
        budget -= estimate_text(file.text)
        count += 1
        yield file


def _candidates(entries: Sequence[Logged], numbers: RestoreNumbers) -> Sequence[str]:
    if numbers.by == "last edited":
        return choose(list(_edits(entries)), numbers)
    return likely(signs_in(entries), CONSIDERED)


def _edits(entries: Sequence[Logged]) -> Iterator[FileEdit]:
    """The agent's, newest first, one a file."""
    found: set[str] = set()
    for logged in reversed(entries):
        if isinstance(logged.entry, ToolReturned):
            for touch in logged.entry.touched:
                if touch.kind != "read" and touch.path not in found:
                    found.add(touch.path)
                    yield FileEdit(touch.path, float(logged.seq), "agent")
