"""The texts of files, rebuilt from what a transcript shows of them."""

from __future__ import annotations

import pytest

from tests.unit.replay.small_sessions import calls, log, returned
from ullage.context.blocks import Json
from ullage.context.entries import Entry, FileTouch, TouchKind
from ullage.replay.simulating.known_files import KnownFiles, without_numbers

PATH = "src/app/a.py"


def touched(kind: TouchKind, *, partial: bool = False) -> tuple[FileTouch, ...]:
    return (FileTouch(PATH, kind, "", partial),)


def did(tool: str, kind: TouchKind, input: dict[str, Json], shown: str = "Done.", *, partial: bool = False) -> tuple[Entry, Entry]:
    return calls(tool, input, "t"), returned(shown, "t", touched(kind, partial=partial))


def known(*steps: tuple[Entry, Entry]) -> KnownFiles:
    files = KnownFiles()
    for logged in log(*(entry for step in steps for entry in step)):
        files.take(logged)
    return files


def text_after(*steps: tuple[Entry, Entry]) -> str:
    file = known(*steps).of(PATH)
    assert file is not None
    return file.text


READ = did("Read", "read", {"file_path": PATH}, "     1→def old():\n     2→    return 1\n\n<system-reminder>Careful.</system-reminder>")
PATCH = f"*** Begin Patch\n*** Update File: /home/x/{PATH}\n@@\n def old():\n-    return 1\n+    return 3\n*** End Patch"


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([READ], "def old():\n    return 1"),
        ([did("Write", "created", {"file_path": PATH, "content": "x = 1\n"})], "x = 1\n"),
        ([READ, did("Edit", "edited", {"file_path": PATH, "old_string": "old", "new_string": "new"})], "def new():\n    return 1"),
        ([READ, did("edit_file", "edited", {"path": PATH, "old_text": "return 1", "new_text": "return 2"})], "def old():\n    return 2"),
        (
            [
                READ,
                did(
                    "MultiEdit",
                    "edited",
                    {"file_path": PATH, "edits": [{"old_string": "old", "new_string": "mid"}, {"old_string": "mid", "new_string": "new"}]},
                ),
            ],
            "def new():\n    return 1",
        ),
        (
            [
                did("Write", "created", {"file_path": PATH, "content": "a a"}),
                did("Edit", "edited", {"file_path": PATH, "old_string": "a", "new_string": "b", "replace_all": True}),
            ],
            "b b",
        ),
        ([READ, did("apply_patch", "edited", {"input": PATCH})], "def old():\n    return 3"),
        (
            [did("apply_patch", "created", {"input": f"*** Begin Patch\n*** Add File: {PATH}\n+x = 1\n+y = 2\n*** End Patch"})],
            "x = 1\ny = 2",
        ),
        ([did("Edit", "edited", {"file_path": PATH, "old_string": "old", "new_string": "new"})], "new"),
        (
            [
                did("Read", "read", {"file_path": PATH}, "     1→first", partial=True),
                did("Read", "read", {"file_path": PATH}, "     9→ninth", partial=True),
            ],
            "first\nninth",
        ),
    ],
)
def test_reads_writes_and_edits(steps: list[tuple[Entry, Entry]], text: str):
    assert text_after(*steps) == text


def test_a_file_that_was_deleted_is_gone():
    files = known(READ, did("apply_patch", "deleted", {"input": f"*** Begin Patch\n*** Delete File: {PATH}\n*** End Patch"}))
    assert files.of(PATH) is None
    assert files.is_gone(PATH)
    assert not files.is_gone("src/app/other.py")


def test_what_a_command_printed_is_known_in_part():
    files = known((calls("bash", {"command": f"cat {PATH}"}, "t"), returned("x = 1", "t")))
    file = files.of(PATH)
    assert file is not None
    assert (file.text, file.whole) == ("x = 1", False)


def test_text_without_numbers_stays_as_it_is():
    assert without_numbers("one\ntwo: 2\nthree") == "one\ntwo: 2\nthree"


def test_parts_of_a_file_that_overlap_are_put_together_once() -> None:
    lines = [f"the valve {number} is open" for number in range(30)]
    head = "Chunk ID: 24449d\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n"
    printed = [(0, 12), (8, 20), (3, 9), (20, 30)]
    steps = [
        (calls("exec_command", {"cmd": f"sed -n '{a},{b}p' {PATH}"}, "t"), returned(head + "\n".join(lines[a:b]), "t")) for a, b in printed
    ]
    assert text_after(*steps) == "\n".join(lines)
