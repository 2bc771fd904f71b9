"""What counts as a path, a name, a hash or a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.summary.words import basename, tail_of, words_in

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see readLevel and tank_level in TankGauge, MAX_LEVEL", {"readLevel", "tank_level", "TankGauge", "MAX_LEVEL"}),
        ("gauge.readLevel() or gauge.read()", {"readLevel"}),
        ("commit 3f2a9c1 and 3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70", {"3f2a9c1", "3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70"}),
        ("comment 2718281828, line 123456", {"2718281828"}),
        (f"session {UUID}.", {UUID}),
        ("at https://example.com/a?b=c.", {"https://example.com/a?b=c"}),
        ("plain words, Capitalised Words, __init__ and deadbeef", set[str]()),
        ("src/tank_level.py and tankLevel.ts are files", set[str]()),
        ("readLevel in src/readLevel.py", {"readLevel"}),
        (r'print("\nYour level\n\tTank_level")', {"Tank_level"}),
    ],
)
def test_names(text: str, names: set[str]):
    assert words_in(text).names == names


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("open src/a.py, b.md. /etc/hosts.conf", {"src/a.py", "b.md", "/etc/hosts.conf"}),
        ("in pkg/data.bin and client.send", {"pkg/data.bin"}),
        ("version 1.2.3, e.g. this ...", set[str]()),
        ("--- a/.github/workflows/ci.yml", {"a/.github/workflows/ci.yml"}),
        ("//example.com/a.html", set[str]()),
    ],
)
def test_paths(text: str, paths: set[str]):
    assert words_in(text).paths == paths


@pytest.mark.parametrize(
    ("path", "tail", "name"),
    [("/a/b/c.py", "b/c.py", "c.py"), ("c.py", "c.py", "c.py"), (r"C:\a\b.py", "a/b.py", "b.py"), ("a//b/", "a/b", "b")],
)
def test_the_end_of_a_path(path: str, tail: str, name: str):
    assert (tail_of(path), basename(path)) == (tail, name)


NAMES_AND_PATHS = st.sampled_from([" ", "\n", "src/tank.py", "handle_case", "handleCase", "./a/b.ts:12", "`Tank`", "(", "é", "…"])


@given(st.text(max_size=300) | st.lists(NAMES_AND_PATHS, min_size=5, max_size=30).map("".join))
def test_all_of_it_stands_in_the_text(text: str):
    words = words_in(text)
    assert all(word in text for word in (*words.names, *words.paths))
