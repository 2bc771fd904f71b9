"""Which files count as standing in view after a compaction."""

from __future__ import annotations

from tests.unit.context.logs import compaction
from tests.unit.replay.small_sessions import calls, log, prompt, returned, says
from ullage.context.compaction_entries import RestoredFile
from ullage.context.entries import FileTouch
from ullage.context.view.projection import Projection
from ullage.recorded.retention import Acquired, HitShare
from ullage.recorded.transcript import Transcript
from ullage.replay.measuring.files_and_names import NamedInSummaries
from ullage.replay.measuring.retaining import Left, Needed, left_by

RESTORED = RestoredFile("src/back.py", "x = 1", "whole", "aa")


def test_a_file_is_in_view_where_it_was_put_back_read_whole_or_made_and_not_where_it_had_no_room():
    made = compaction("c1", restored=[RESTORED, RestoredFile("src/none.py", "<file/>", "no room", "ab", whole=False)])
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
    assert left.put_back == RESTORED.text


def test_what_stands_in_a_file_that_was_put_back_is_in_view_with_the_files_alone():
    entries = log(prompt("Go"), says("See fullTankLevel."), prompt("On"), says("It is fullTankLevel."))
    needed = Needed(Transcript("s", "claude-code", entries, (), (), ()))
    kept = needed.retained([Left.of(3, "kept", "the summary", (), "fullTankLevel = 1")])
    assert kept.kinds["identifier"].kept == HitShare(0, 1)
    assert kept.with_files["identifier"].kept == HitShare(1, 1)
    assert kept.named == NamedInSummaries(1, len("the summary"), HitShare(0, 0))


def test_text_that_was_put_back_or_stands_in_what_was_kept_is_not_lost_when_it_is_read_again():
    text = "\n".join(f"the valve {number} is open" for number in range(6))
    entries = log(prompt("Go"), returned(text), says("On."), returned(text))
    needed = Needed(Transcript("s", "claude-code", entries, (), (), ()))
    size = len(text) + 1
    assert needed.retained([Left.of(2, "kept", "", (), text)]).acquired == Acquired(1, size, HitShare(size, size), len(text) + 4)
    assert needed.retained([Left.of(2, f"told {text}", "told ", (), "")]).acquired.again == HitShare(
        size - len(text.split("\n")[0]) - 1, size
    )
