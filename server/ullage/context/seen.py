"""Which files' texts the model still has in view, by content hash: the ground for "never overwrite what it has not seen"."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.blocks import ToolResult
from ullage.context.entries import Compaction, FileTouch, ToolReturned
from ullage.context.view import Projection


@dataclass(frozen=True, slots=True)
class Seen:
    """A text in view. `whole` is False where only a part of it was read."""

    sha256: str
    whole: bool


def seen_files(projection: Projection) -> dict[str, Seen]:
    """The files whose text the next request holds, by path, with the newest text that it holds of each."""
    in_view = {
        source
        for message in projection.messages
        for block, source in zip(message.blocks, message.sources, strict=True)
        if isinstance(block, ToolResult)
    }
    cleared = {each.seq for compaction in projection.active for each in compaction.cleared}
    active = {compaction.id for compaction in projection.active}
    seen: dict[str, Seen] = {}
    for logged in projection.entries:
        entry = logged.entry
        if isinstance(entry, ToolReturned) and logged.seq in in_view and logged.seq not in cleared:
            for touch in entry.touched:
                _take(seen, touch)
        elif isinstance(entry, Compaction) and entry.id in active:
            for file in entry.restored:
                seen[file.path] = Seen(file.sha256, file.whole)
    return seen


def _take(seen: dict[str, Seen], touch: FileTouch) -> None:
    if touch.kind == "deleted":
        seen.pop(touch.path, None)
        return
    before = seen.get(touch.path)
    known_whole = before is not None and before.whole and before.sha256 == touch.sha256
    seen[touch.path] = Seen(touch.sha256, known_whole or not touch.partial)
