"""What the agent has seen: current, stale or unseen, and each change told once."""

from __future__ import annotations

from ullage.context.entries import FileTouch
from ullage.workspace.touched import FileReads


def read(sha256: str, *, partial: bool = False, path: str = "a.py") -> FileTouch:
    return FileTouch(path, "read", sha256, partial)


def test_standing_follows_the_text() -> None:
    reads = FileReads()
    assert reads.standing("a.py", "1") == "unseen"
    reads.saw(read("1"))
    assert reads.standing("a.py", "1") == "current"
    assert reads.standing("a.py", "2") == "stale"
    reads.saw(FileTouch("a.py", "edited", "2"))
    assert reads.standing("a.py", "2") == "current"
    reads.saw(FileTouch("a.py", "deleted", ""))
    assert reads.standing("a.py", "2") == "unseen"


def test_whole_is_whole_only_of_the_same_text() -> None:
    reads = FileReads()
    reads.saw(read("1", partial=True))
    assert not reads.saw_whole("a.py")
    reads.saw(read("1"))
    reads.saw(read("1", partial=True))
    assert reads.saw_whole("a.py")
    reads.saw(read("2", partial=True))
    assert not reads.saw_whole("a.py")


def test_each_change_is_told_once() -> None:
    reads = FileReads()
    assert reads.news_of("a.py", "1") is None
    reads.saw(read("1"))
    told: list[str | None] = []
    for sha256 in ("1", "2", "2", "3", "", "", "1", "2"):
        told.append(reads.news_of("a.py", sha256))
        reads.tell("a.py", sha256)
    assert told == [None, "changed", None, "changed", "changed", None, "back", "changed"]


def test_after_a_compaction_only_what_is_in_view_counts() -> None:
    reads = FileReads()
    reads.saw(read("1"))
    reads.saw(read("1", path="b.py"))
    reads.keep_only([read("1", path="b.py"), read("2", path="b.py")])
    assert reads.paths() == ("b.py",)
    assert reads.standing("b.py", "2") == "current"
