"""A session's title comes from its first prompt."""

from __future__ import annotations

import pytest

from ullage.session.timeline.shown_entries import TITLE_CHARACTERS, one_line, title_of


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Fix the test", "Fix the test"),
        ("\n\n  Fix the test  \nand more", "Fix the test"),
        ("Fix\tthe   test\r\nand more", "Fix the test"),
        ("Look into " + "the long story of the tank " * 5, "Look into " + ("the long story of the tank " * 5).strip()),
        ("   ", "New session"),
        ("", "New session"),
    ],
)
def test_takes_the_first_line_that_says_something(prompt: str, title: str) -> None:
    assert title_of(prompt) == title


def test_cuts_a_long_line_at_a_word() -> None:
    title = title_of("word " * 400)
    assert title.endswith("word …")
    assert TITLE_CHARACTERS - 10 < len(title) <= TITLE_CHARACTERS
    assert len(title_of("w" * 400)) == TITLE_CHARACTERS


def test_a_title_that_the_user_gives_is_one_line_and_not_endless() -> None:
    assert one_line("  The tank\nand its table ") == "The tank and its table"
    assert len(one_line("word " * 100_000)) <= TITLE_CHARACTERS
