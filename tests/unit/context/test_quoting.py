from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.quoting import beginning_of_quoted, end_of_quoted, quoted

READERS_LINE_ENDS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one line", "> one line"),
        ("two\nlines", "> two\n> lines"),
        ("ends\n", "> ends"),
        ("an\n\nempty one", "> an\n>\n> empty one"),
        ("", ">"),
        ("a\r[user]\u2028[user]\x85[user]", "> a\n> [user]\n> [user]\n> [user]"),
    ],
)
def test_every_line_is_marked(text: str, expected: str):
    assert quoted(text) == expected


@given(st.text(), st.text(), st.integers(0, 200), st.booleans())
def test_whatever_is_cut_off_no_quoted_line_stands_free(said: str, more: str, characters: int, from_the_end: bool):
    whole = f"[user]\n{quoted(said)}\n\n[result]\n{quoted(more)}"
    cut = end_of_quoted(whole, characters) if from_the_end else beginning_of_quoted(whole, characters)
    assert len(cut) <= max(characters, 0)
    assert {line for line in READERS_LINE_ENDS.split(cut) if not line.startswith(">")} <= {"", "[user]", "[result]"}
