"""What a command is about, by its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.calls import hides_its_end, only_looks, plain


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make test", "make test"),
        ("make test 2>&1", "make test"),
        ("make test 2>&1 | tail -50", "make test"),
        ("make test >/dev/null 2>&1", "make test"),
        ("make test | head -5 | cat", "make test"),
        ("make test | grep FAIL", "make test | grep FAIL"),
        ("cd src/tank && make test", "make test"),
        ('cd "My tank" ; make test', "make test"),
        ("# See whether it builds\nmake", "make"),
        ("cd src", "cd src"),
        ("cat < in.txt > out.txt", "cat < in.txt > out.txt"),
        ("make 2> errors.txt", "make 2> errors.txt"),
        ("make > /dev/nullity", "make > /dev/nullity"),
        ("  # only a note\n", "# only a note"),
    ],
)
def test_what_only_says_where_and_how_much_is_left_out(command: str, expected: str):
    assert plain(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la src", True),
        ("cd src && grep -rn tank . | head", True),
        ("git -C src log --oneline -5", True),
        ("git status 2>/dev/null || echo none", True),
        ("for each in a b; do cat $each; done", True),
        ("sed -n 1,20p tank.py", True),
        ("/usr/bin/find . -name '*.py'", True),
        ("LANG=C sort names.txt", True),
        ("gh pr view 12", True),
        ("grep 'make; rm -rf x' notes.md", True),
        ("sed -i s/a/b/ tank.py", False),
        ("echo hello > tank.txt", False),
        ("cat a.txt >> b.txt", False),
        ("git commit -m 'log'", False),
        ("make test", False),
        ("ls && make", False),
        ("echo $(make)", False),
        ("rm tank.py", False),
    ],
)
def test_whether_it_only_looks(command: str, expected: bool):
    assert only_looks(command) is expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make", False),
        ("make || true", False),
        ("make | tail", True),
        ("make | tail && echo done", True),
        ("make '|' x", False),
        ("set -o pipefail; make | tail", False),
    ],
)
def test_whether_its_exit_code_is_that_of_another_program(command: str, expected: bool):
    assert hides_its_end(command) is expected


@given(st.text(st.sampled_from("ab #|&;>\n'\"$(`12/ ")))
def test_anything_can_be_asked_about(command: str):
    assert bool(plain(command)) == bool(command.strip())
    only_looks(command)
    hides_its_end(command)
