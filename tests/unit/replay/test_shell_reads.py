"""The files that a command prints."""

from __future__ import annotations

import pytest

from tests.unit.replay.small_sessions import calls, log
from ullage.context.blocks import Json
from ullage.replay.file_calls import file_calls, files_printed


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
