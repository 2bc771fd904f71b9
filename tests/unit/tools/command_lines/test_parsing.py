"""What is read of a line is what a shell does: the shell itself is asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.unit.tools.command_lines.sites import make_site
from ullage.tools.command_lines.judge import Unknown, judge
from ullage.tools.command_lines.parsing import ParsedLine, follow


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls  -l\ta", [["ls", "-l", "a"]]),
        ("ls 'a b'\"c d\"e", [["ls", "a bc de"]]),
        ("ls '' \"\"", [["ls", "", ""]]),
        ("a && b || c | d; e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a 2>&1 b >/dev/null", None),
        ("a b 2>&1 >/dev/null", [["a", "b"]]),
        ("a HEAD~1 x^", [["a", "HEAD~1", "x^"]]),
        ("a '$x `y` \\ > ; |'", [["a", "$x `y` \\ > ; |"]]),
        ("a $x", None),
        ('a "$x"', None),
        ("a\nb", None),
        ("", None),
    ],
)
def test_plain_words(line: str, words: list[list[str]] | None) -> None:
    read = follow(line)
    assert ([[word.text for word in command] for command in read.commands] if isinstance(read, ParsedLine) else None) == words


@pytest.mark.parametrize(("word", "has_glob"), [("a*", True), ("*a", True), ("'*'a", False), ("?", True), ("a", False)])
def test_globs(word: str, has_glob: bool) -> None:
    read = follow(word)
    assert isinstance(read, ParsedLine)
    assert read.commands[0][0].has_glob is has_glob


@given(st.text(max_size=40))
def test_reading_never_fails_and_leaves_nothing_out(text: str) -> None:
    """Between the pieces there is nothing but blanks."""
    read = follow(text)
    if isinstance(read, ParsedLine):
        place = 0
        for _, start, end in read.spans:
            assert not text[place:start].strip(" \t")
            place = end
        assert not text[place:].strip(" \t")


PIECES = [
    "pytest", "ls", "other", "echo", "cat", "src", "a", "-l", "-q", "--", "x=1", "1", "2", "EOF", "cd", "touch", "made", "-", ".",
    " ", " ", " ", "\t", "\n", ";", "&", "&&", "|", "||", ">", ">>", "<", "2>&1", ">/dev/null", "(", ")", "{", "}", "[", "]",
    "$", "`", "'", '"', "\\", "*", "?", "~", "#", "!", "^", "%", "@", ",", ":", "=", "/",
]  # fmt: skip


@settings(
    max_examples=many(150, deep=5_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join))
def test_bash_runs_nothing_but_what_was_read(folder_with_programs: Path, line: str) -> None:
    """The shell itself is asked: no program but those named runs, and nothing is written."""
    work = folder_with_programs / "work"
    judged = judge(f"ls {line}", make_site(work, search_path=f"{folder_with_programs}/bin"))
    if isinstance(judged, Unknown):
        return
    names = {command.name for command in judged}
    before = sorted(path.name for path in work.iterdir())
    ran = subprocess.run(
        ["/bin/bash", "-c", f"ls {line}"],
        cwd=work,
        env={"PATH": str(folder_with_programs / "bin"), "RAN": str(folder_with_programs / "ran"), "HOME": "/nowhere"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert b"syntax error" not in ran.stderr
    assert b"not found" not in ran.stderr
    log = folder_with_programs / "ran"
    assert set(log.read_text().split()) <= names if log.exists() else True
    log.unlink(missing_ok=True)
    assert sorted(path.name for path in work.iterdir()) == before


@pytest.fixture
def folder_with_programs(tmp_path: Path) -> Path:
    """Programs that only say that they ran, and a folder to run them in."""
    for name in ("pytest", "ls", "cat", "other", "touch", "a", "made"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho {name} >> "$RAN"\n')
        program.chmod(0o755)
    (tmp_path / "work" / "src").mkdir(parents=True)
    return tmp_path
