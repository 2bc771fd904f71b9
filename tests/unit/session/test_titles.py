"""A session's title comes from its first prompt."""

from __future__ import annotations

import pytest

from ullage.session.titles import TITLE_CHARACTERS, title_of


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Fix the test", "Fix the test"),
        ("\n\n  Fix the test  \nand more", "Fix the test"),
        ("   ", "New session"),
        ("", "New session"),
    ],
)
def test_takes_the_first_line_that_says_something(prompt: str, title: str) -> None:
    assert title_of(prompt) == title


def test_cuts_a_long_line_at_a_word() -> None:
    title = title_of("word " * 40)
    assert title.endswith("word …")
    assert len(title) <= TITLE_CHARACTERS + 2
