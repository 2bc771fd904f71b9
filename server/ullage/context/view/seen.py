"""Which files' texts the model still has in view: the ground for "never overwrite what it has not seen"."""

from __future__ import annotations

from dataclasses import replace

from ullage.context.entries import Compaction, FileTouch, Notice, ToolReturned
from ullage.context.view.file_texts import without_texts
from ullage.context.view.log_places import clipped_to, entry_at
from ullage.context.view.projection import Projection


def touches_in_view(projection: Projection) -> list[FileTouch]:
    """What the tool results and restored files that the next request holds say of files, in the order of the log.

    Costs what is in view, however long the log is.
    """
    entries = projection.entries
    in_view = {source for message in projection.messages if message.role == "user" for source in message.sources}
    cleared = {each.seq for compaction in projection.active for each in compaction.cleared}
    touches: list[FileTouch] = []
    for seq in sorted(in_view - cleared):
        entry = entry_at(entries, seq)
        if entry is not None:
            entry = without_texts(entry, projection.paths_out.get(seq, ()))
        if isinstance(entry, ToolReturned):
            if entry.touched and not entry.media:  # a picture of a file is not its text
                is_clipped = entry.full_output is not None or clipped_to(entries, seq) is not None
                touches.extend(_of_a_part(touch) if is_clipped else touch for touch in entry.touched)
        elif isinstance(entry, Notice):
            touches.extend(entry.touched)
        elif isinstance(entry, Compaction):
            restored = (file for file in entry.restored if file.sha256)
            touches.extend(FileTouch(file.path, "read", file.sha256, not file.whole) for file in restored)
    return touches


def whole_in_view(projection: Projection) -> dict[str, str]:
    """The files whose whole text the next request holds, with its hash: read whole or made in a message that is there, and the edits since.

    A file of which only an edit is in view is not among them: the model knows that part alone.
    """
    whole: dict[str, str] = {}
    for touch in touches_in_view(projection):
        if touch.kind == "deleted":
            whole.pop(touch.path, None)
        elif touch.path in whole if touch.kind == "edited" else not touch.partial:
            whole[touch.path] = touch.sha256
    return whole


def _of_a_part(touch: FileTouch) -> FileTouch:
    """What a clipped result says of a file: of a read it shows only a part, while the model knows what it wrote itself."""
    return replace(touch, partial=True) if touch.kind == "read" else touch
