"""Which files' texts the model still has in view: the ground for "never overwrite what it has not seen"."""

from __future__ import annotations

from ullage.context.blocks import ToolResult
from ullage.context.entries import Compaction, FileTouch, ToolReturned
from ullage.context.view import Projection


def touches_in_view(projection: Projection) -> list[FileTouch]:
    """What the tool results and restored files that the next request holds say of files, in the order of the log."""
    in_view = {
        source
        for message in projection.messages
        for block, source in zip(message.blocks, message.sources, strict=True)
        if isinstance(block, ToolResult)
    }
    cleared = {each.seq for compaction in projection.active for each in compaction.cleared}
    active = {compaction.id for compaction in projection.active}
    touches: list[FileTouch] = []
    for logged in projection.entries:
        entry = logged.entry
        if isinstance(entry, ToolReturned) and logged.seq in in_view and logged.seq not in cleared:
            touches.extend(entry.touched)
        elif isinstance(entry, Compaction) and entry.id in active:
            touches.extend(FileTouch(file.path, "read", file.sha256, not file.whole) for file in entry.restored if file.sha256)
    return touches
