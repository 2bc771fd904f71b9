"""Patterns for files that a workspace brings."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.session.instructions.globs import MOST_PATTERNS, fits, without_braces


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*.ts", ["a.ts", "deep/er/a.ts"], ["a.tsx", "ts", "a.ts.md"]),
        ("src/**", ["src/a", "src/deep/a"], ["a/src/b", "srca"]),
        ("src/*", ["src/a", "src/deep/a"], ["src2/a"]),
        ("**/test_*.py", ["test_a.py", "deep/er/test_a.py"], ["deep/atest_a.py"]),
        ("src/**/a.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "src/b.py"]),
        ("./lib/", ["lib/a"], ["a/lib2"]),
        ("*.{ts,tsx}", ["a.ts", "a.tsx"], ["a.t", "a.ts,tsx"]),
        ("{src,lib}/**/*.{a,b}", ["src/x/y.a", "lib/y.b"], ["app/y.a", "src/y.c"]),
        ("a?c", ["abc", "x/a-c"], ["ac", "abbc"]),
        ("[a-c]x[!0-9]", ["bxy"], ["dxy", "ax1"]),
        ("a\\*", ["a*"], ["ab"]),
        ("[", ["["], ["a"]),
        ("a\\", ["a\\"], ["a"]),
        ("[z-a]", ["z", "-"], ["b"]),
        ("/src/a.py", ["src/a.py"], ["x/src/a.py"]),
        ("", [], ["a"]),
        ("/", [], ["a"]),
    ],
)
def test_what_fits(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [path for path in fitting if not fits([pattern], path)] == []
    assert [path for path in others if fits([pattern], path)] == []


@pytest.mark.parametrize("pattern", ["{a,b}" * 24, "{a}" * 1_200, "{" * 1_000 + "}" * 1_000, "{a,{b,{c,d}}}" * 9, "}{"])
def test_braces_come_to_an_end(pattern: str) -> None:
    assert len(without_braces(pattern)) <= MOST_PATTERNS
    assert not fits([pattern], "x")


@pytest.mark.parametrize("pattern", ["*a" * 100 + "b", "**/" * 100 + "b", "*?" * 150 + "b", "{*a*a*a*b,b}" * 20])
def test_no_pattern_takes_long(pattern: str) -> None:
    began = time.process_time()
    assert not fits([pattern], "a" * 250)
    assert not fits([pattern], "/".join("a" * 100))
    assert time.process_time() - began < 2, "some ten milliseconds; what grows faster takes minutes"


@given(st.lists(st.text(alphabet="ab*?[]!-{},/\\. ", max_size=30), max_size=4), st.text(alphabet="ab/.-", max_size=40))
def test_every_text_is_a_pattern(patterns: list[str], path: str) -> None:
    assert fits(patterns, path) in (True, False)


@given(st.text(alphabet="ab*?", max_size=12), st.text(alphabet="ab", max_size=12))
def test_a_name_fits_as_a_regular_expression_would(pattern: str, name: str) -> None:
    from fnmatch import fnmatchcase

    assert fits([pattern], name) == (bool(pattern) and fnmatchcase(name, pattern))
