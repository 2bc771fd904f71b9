"""The files that a policy reads again after a compaction, with the texts that the transcript lets one rebuild.

They are chosen as in the agent, by the signs that the log holds; what the editor and git would tell is in no transcript.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged, RestoredFile, ToolReturned
from ullage.context.evidence import Sign, likely, signs_in
from ullage.context.policy import RestoreNumbers
from ullage.context.restore import FileEdit, choose, take
from ullage.context.view.projection import Projection
from ullage.context.view.seen import whole_in_view
from ullage.replay.known_files import KnownFiles

CONSIDERED = 20
"""Files that are looked at, the likeliest first, as in the agent."""


def put_back(after: Projection, files: KnownFiles, numbers: RestoreNumbers) -> Iterator[RestoredFile]:
    """The files that `after` does not show whole, as many as `numbers` say; none of whose text nothing is known."""
    in_view = whole_in_view(after)
    edited = {edit.path for edit in _edits(after.entries)}
    budget, count = numbers.total_tokens, 0
    for path in _candidates(after.entries, numbers):
        if count == numbers.files:
            return
        known = files.of(path)
        if known is None and not (files.is_gone(path) and path in edited):
            continue
        if known is not None and known.touch is not None and in_view.get(path) == known.touch.sha256:
            continue
        lines = [known.near_line] if known is not None and known.near_line else []
        file = take(path, known.text if known is not None else None, lines, numbers, budget)
        budget -= estimate_text(file.text)
        count += 1
        yield file


def _candidates(entries: Sequence[Logged], numbers: RestoreNumbers) -> Sequence[str]:
    if numbers.by == "last edited":
        return choose(list(_edits(entries)), numbers)
    return likely(by_one_name(list(signs_in(entries))), CONSIDERED)


def by_one_name(signs: Sequence[Sign]) -> Iterator[Sign]:
    """The signs with each file under one name: a command may name by its whole path, or as `./a.py`, what a tool calls `a.py`."""
    named = {sign.path for sign in signs}
    shorter = {path: _shorter(path, named) for path in named}
    return (replace(sign, path=shorter[sign.path]) for sign in signs)


def _shorter(path: str, named: Collection[str]) -> str:
    """The shortest end of a path that is a name by itself."""
    parts = path.removeprefix("./").split("/")
    if len(parts) > 1 and not parts[0]:
        ends = ("/".join(parts[first:]) for first in range(len(parts) - 1, 0, -1))
        return next((end for end in ends if "/" in end and end in named), path)
    return "/".join(parts)


def _edits(entries: Sequence[Logged]) -> Iterator[FileEdit]:
    """The agent's, newest first, one a file."""
    found: set[str] = set()
    for logged in reversed(entries):
        if isinstance(logged.entry, ToolReturned):
            for touch in logged.entry.touched:
                if touch.kind != "read" and touch.path not in found:
                    found.add(touch.path)
                    yield FileEdit(touch.path, float(logged.seq), "agent")
