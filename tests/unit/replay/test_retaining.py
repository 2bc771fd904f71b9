"""Which files count as standing in view after a compaction."""

from __future__ import annotations

from tests.unit.context.logs import compaction
from tests.unit.replay.small_sessions import calls, log, prompt, returned
from ullage.context.entries import FileTouch, RestoredFile
from ullage.context.view.projection import Projection
from ullage.replay.retaining import left_by

RESTORED = RestoredFile("src/back.py", "x = 1", "whole", "aa")


def test_a_file_is_in_view_where_it_was_put_back_read_whole_or_made():
    made = compaction("c1", restored=[RESTORED])
    touches = (
        FileTouch("src/read.py", "read", "bb"),
        FileTouch("src/part.py", "read", "", partial=True),
        FileTouch("src/made.py", "created", "cc"),
        FileTouch("src/edited.py", "edited", "dd"),
        FileTouch("src/gone.py", "deleted", ""),
    )
    entries = log(prompt("Go"), calls("Any", {}, id="t1"), returned("text", id="t1", touched=touches), made)
    left = left_by(made, 3, 4, Projection(entries))
    assert set(left.restored) == {"src/back.py", "src/read.py", "src/made.py"}
