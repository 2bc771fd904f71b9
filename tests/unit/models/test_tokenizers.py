"""Counting by Claude's tokenizers, where they are installed: the cases are those there are."""

from __future__ import annotations

import sys
from typing import get_args

import pytest

from ullage.context.counting.tokens import estimate_text
from ullage.models.counting import tokenizer
from ullage.models.known_models import card_from_table, expected_card
from ullage.models.model import TokenizerVersion

INSTALLED = {version: count for version in get_args(TokenizerVersion) if (count := tokenizer(version)) is not None}

PROSE = "The tank is filled to the mark, and the pump stops by itself. What is left above is called ullage.\n" * 20
CODE = 'def fill(tank: Tank, litres: float) -> None:\n    """Fills it."""\n    tank.level = min(tank.level + litres, tank.size)\n' * 20


def test_they_are_installed_from_python_3_12_on():
    assert len(INSTALLED) == (3 if sys.version_info >= (3, 12) else 0)


def test_the_frame_of_a_message_is_not_counted():
    for version, count in INSTALLED.items():
        assert (count(""), count("a"), count("hello, world") < 7) == (0, 1, True), version


def test_counts_are_near_what_is_estimated_by_kind_of_text():
    shares = {"3.0": 0.78, "4.7": 1.0, "4.8": 1.0}
    for version, count in INSTALLED.items():
        for text in (PROSE, CODE):
            assert count(text) == pytest.approx(shares[version] * estimate_text(text), rel=0.2), version


def test_odd_texts_are_counted():
    for count in INSTALLED.values():
        assert all(count(text) > 0 for text in ("\ud800", "\0", " ", "\n\n", "e\u0301", "\U0001f6e2"))


@pytest.mark.parametrize(
    ("model", "version"),
    [
        ("claude-haiku-4-5-20251001", "3.0"),
        ("claude-opus-4-6", "3.0"),
        ("claude-opus-4-7", "4.7"),
        ("claude-opus-4-8", "4.8"),
        ("claude-fable-5-2", "4.8"),
    ],
)
def test_which_model_has_which(model: str, version: str):
    card = card_from_table(model)
    assert card is not None
    assert card.tokenizer == version


@pytest.mark.parametrize(("anthropic", "version"), [(True, "4.8"), (False, None)])
def test_a_model_that_is_not_known_has_the_newest_where_it_is_anthropics(anthropic: bool, version: str | None):
    assert expected_card("qwen3-coder" if not anthropic else "claude-novel-9", anthropic=anthropic).tokenizer == version
