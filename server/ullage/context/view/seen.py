"""Which files' texts the model still has in view: the ground for "never overwrite what it has not seen"."""

from __future__ import annotations

from ullage.context.entries import Compaction, FileTouch, ToolReturned
from ullage.context.view.projection import Projection


def touches_in_view(projection: Projection) -> list[FileTouch]:
    """What the tool results and restored files that the next request holds say of files, in the order of the log."""
    in_view = {source for message in projection.messages for source in message.sources}
    cleared = {each.seq for compaction in projection.active for each in compaction.cleared}
    touches: list[FileTouch] = []
    for logged in projection.entries:
        if logged.seq not in in_view or logged.seq in cleared:
            continue
        if isinstance(logged.entry, ToolReturned):
            touches.extend(logged.entry.touched)
        elif isinstance(logged.entry, Compaction):
            restored = (file for file in logged.entry.restored if file.sha256)
            touches.extend(FileTouch(file.path, "read", file.sha256, not file.whole) for file in restored)
    return touches
