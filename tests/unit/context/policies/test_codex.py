"""Codex: the user's own words and a memo."""

from __future__ import annotations

import pytest

from tests.unit.context.logs import log as numbered
from tests.unit.context.logs import prompt, says
from tests.unit.context.policies.steps import after, arrived, carried_out, full_at, planned, results, talk, texts
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry, Logged
from ullage.context.policies.codex import CODEX, PREFACE


@pytest.mark.parametrize(("window", "line"), [(200_000, 180_000), (272_000, 244_800)])
def test_it_is_full_at_90_percent_of_the_window(window: int, line: int):
    assert full_at(CODEX, window) == line


def test_a_result_keeps_40_000_characters_of_head_and_tail():
    assert arrived(CODEX, 40_000, 90_000) == [40_000, 40_000]


def test_all_becomes_the_users_messages_in_their_order_and_the_memo():
    assert texts(after(CODEX, talk(3, words=200))) == [
        "\n\n".join([*(f"question {n}" + " why" * 200 for n in range(3)), PREFACE, "What the model wrote."])
    ]


def said(*tokens: int) -> list[Entry]:
    """Messages of the user that take about so many tokens, each answered at length."""
    steps: list[Entry] = []
    for number, size in enumerate(tokens):
        words = f"message {number} begins. " + "abc " * int(size / estimate_text("abc " * 1_000) * 1_000) + f"message {number} ends."
        steps += [prompt(words), says("so " * 60_000)]
    return steps


def test_the_newest_20_000_tokens_of_the_users_messages_stay():
    [text] = texts(after(CODEX, numbered(*said(6_000, 9_000, 9_000))))
    mine = text.partition(PREFACE)[0]
    assert "message 2 begins" in mine and "message 2 ends" in mine
    assert "message 1 begins" in mine and "message 1 ends" in mine
    assert "message 0 begins" in mine and "message 0 ends" in mine
    assert "characters left out" in mine  # the oldest lost its middle
    assert 19_000 < estimate_text(mine) < 20_200


def test_older_messages_are_left_out():
    [text] = texts(after(CODEX, numbered(*said(300, 12_000, 12_000))))
    assert "message 0" not in text


def test_the_memo_is_asked_for_on_the_warm_prefix():
    asked = planned(CODEX, results(9_000)).asked
    assert asked is not None and asked.text is None


@pytest.mark.parametrize("trigger", ["threshold", "reactive"])
def test_where_the_memo_would_not_fit_the_oldest_goes_first(trigger: str):
    log = numbered(prompt("the first words"), *[says(f"answer {n} " + "so " * 4_000) for n in range(12)], prompt("the last words"))
    asked = planned(CODEX, log, "reactive" if trigger == "reactive" else "threshold", window=30_000).asked
    assert asked is not None and asked.text is not None
    assert "the first words" not in asked.text
    assert asked.text.endswith("the last words")
    assert estimate_text(asked.text) + asked.output_tokens < 30_000


def test_a_second_memo_takes_the_place_of_the_first_and_the_users_words_stay():
    log = talk(2, words=200)
    log = carried_out(CODEX, log, planned(CODEX, log), "THE FIRST MEMO")
    more = [Logged(log[-1].seq + number, 0.0, entry) for number, entry in enumerate([prompt("and now"), says("so " * 2_000)], 1)]
    [text] = texts(after(CODEX, [*log, *more]))
    assert [words in text for words in ("question 0", "question 1", "and now", "What the model wrote.", "THE FIRST MEMO")] == [True] * 4 + [
        False
    ]
