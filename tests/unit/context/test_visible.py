"""Hostile texts in titles and questions are seen as what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.quoting import visible_line

CASES = json.loads((Path(__file__).parents[2] / "protocol" / "visible.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_is_not_seen_stands_as_an_escape(case: dict[str, str]) -> None:
    assert visible_line(case["text"]) == case["shown"]


@given(st.text(st.characters(codec=None)))
def test_every_text_is_one_line_of_characters_that_are_seen(text: str) -> None:
    shown = visible_line(text)
    assert shown.isprintable()
    assert visible_line(shown) == shown


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible_line(text) == text
