"""Which files' texts the model still has in view: the ground for "never overwrite what it has not seen"."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.entries import Clipped, Compaction, FileTouch, Notice, ToolReturned
from ullage.context.view.projection import Projection


def touches_in_view(projection: Projection) -> list[FileTouch]:
    """What the tool results and restored files that the next request holds say of files, in the order of the log."""
    in_view = {source for message in projection.messages for source in message.sources}
    cleared = {each.seq for compaction in projection.active for each in compaction.cleared}
    clipped = {logged.entry.seq for logged in projection.entries if isinstance(logged.entry, Clipped)}
    touches: list[FileTouch] = []
    for logged in projection.entries:
        if logged.seq not in in_view or logged.seq in cleared:
            continue
        if isinstance(logged.entry, ToolReturned):
            is_clipped = logged.entry.full_output is not None or logged.seq in clipped
            touches.extend(_of_a_part(touch) if is_clipped else touch for touch in logged.entry.touched)
        elif isinstance(logged.entry, Notice):
            touches.extend(logged.entry.touched)
        elif isinstance(logged.entry, Compaction):
            restored = (file for file in logged.entry.restored if file.sha256)
            touches.extend(FileTouch(file.path, "read", file.sha256, not file.whole) for file in restored)
    return touches


def _of_a_part(touch: FileTouch) -> FileTouch:
    """What a clipped result says of a file: of a read it shows only a part, while the model knows what it wrote itself."""
    return replace(touch, partial=True) if touch.kind == "read" else touch
