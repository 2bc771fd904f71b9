"""The files that a command prints, those that were read again after a compaction, and those of them that had been put back."""

from __future__ import annotations

import pytest

from tests.unit.replay.small_sessions import calls, log, prompt, returned, says
from ullage.context.blocks import Json
from ullage.replay.measuring.file_calls import file_calls, files_printed, files_read_again, restoring
from ullage.replay.measuring.retention import Share


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/app.py", ["src/app.py"]),
        ("sed -n '1,80p' src/app.py && sed -n '5,9p' /w/lib/io.py", ["lib/io.py", "src/app.py"]),
        ("nl -ba src/app.py | sed -n '1,80p'", ["src/app.py"]),
        ("head -n 20 a.py; tail b.py", ["a.py", "b.py"]),
        ("test -f a.json && cat a.json || true", ["a.json"]),
        (["bash", "-lc", "cat src/app.py"], ["src/app.py"]),
        (["cat", "src/app.py"], ["src/app.py"]),
        ("cd src\ncat app.py", ["app.py"]),
        ("git show main:src/app.py | sed -n '1,80p'", []),
        ("cat a.py > b.py", []),
        ("cat a.py 2>/dev/null", ["a.py"]),
        ("cat <<'EOF' > a.py", []),
        ("sed -i 's/a/b/' src/app.py", []),
        ("rm src/app.py", []),
        ("concat a.py", []),
        ("", []),
    ],
)
def test_files_printed(command: Json, expected: list[str]) -> None:
    assert files_printed({"command": command}) == expected
    assert files_printed({"cmd": command, "workdir": "/w"}) == expected


def test_a_call_without_a_command_prints_nothing() -> None:
    assert files_printed({"pattern": "cat a.py"}) == []


def test_a_printed_file_is_read() -> None:
    (call,) = file_calls(log(calls("exec_command", {"cmd": "cat src/app.py"})))
    assert (call.path, call.reads, call.written) == ("src/app.py", True, frozenset())


SESSION = log(
    calls("Read", {"file_path": "/w/src/app.py"}),  # 1
    calls("read_file", {"path": "src/io.py"}),  # 2
    calls("Write", {"file_path": "/w/src/new.py", "content": "x"}),  # 3
    prompt("on"),  # 4
    calls("Read", {"file_path": "/w/src/app.py", "offset": 10}),  # 5
    returned("text"),  # 6
    calls("Read", {"file_path": "/w/src/first.py"}),  # 7
    calls("Edit", {"file_path": "/w/src/io.py", "old_string": "a", "new_string": "b"}),  # 8
    calls("Read", {"file_path": "/w/src/new.py"}),  # 9
    calls("Read", {"file_path": "/w/src/app.py"}),  # 10
)


@pytest.mark.parametrize(
    ("after_seq", "expected"),
    [(0, set[str]()), (4, {"src/app.py"}), (7, {"src/app.py"}), (10, set[str]())],
)
def test_read_again_is_what_was_read_before_and_after(after_seq: int, expected: set[str]) -> None:
    assert files_read_again(SESSION, file_calls(SESSION), after_seq) == expected


def test_what_is_read_beyond_the_window_is_not_counted() -> None:
    read = calls("Read", {"file_path": "a.py"})
    session = log(read, *(says("on") for _ in range(60)), read)
    assert files_read_again(session, file_calls(session), 1) == set()
    assert files_read_again(session, file_calls(session), 2) == {"a.py"}


@pytest.mark.parametrize(
    ("in_view", "expected"),
    [
        (["/somewhere/else/src/app.py", "src/unused.py"], Share(1, 2)),
        (["src/app.py", "src/io.py"], Share(2, 2)),
        (["app.py"], Share(0, 2)),
        ([], Share(0, 2)),
    ],
)
def test_the_share_that_was_put_in_view(in_view: list[str], expected: Share) -> None:
    assert restoring({"src/app.py", "src/io.py"}, in_view) == expected


def test_shares_add_up() -> None:
    assert Share(1, 2) + Share(2, 2) == Share(3, 4)
    assert Share(3, 4).value == 0.75
    assert restoring([], ["a.py"]).value is None
