"""Which sentences count as constraints and as decisions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.summary.sentences import (
    ASCII_BOUNDARY,
    BOUNDARY,
    CONSTRAINT,
    DECISION,
    LATIN_CONSTRAINTS,
    LATIN_DECISIONS,
    ORDERED,
    OTHER_CONSTRAINTS,
    OTHER_DECISIONS,
    constraints_in,
    decisions_in,
    is_firm,
    is_heading,
    sentences,
)


@pytest.mark.parametrize(
    "sentence",
    [
        "You must keep the public API.",
        "Never touch the migrations folder.",
        "Please always run the tests first",
        "don't add dependencies",
        "I’d prefer tabs here, but don’t reformat the rest.",
        "Only Python 3.11 and newer.",
        "Use httpx instead of requests.",
        "Use tabs in the Makefile.",
        "Two spaces, not four",
        "Die Schnittstelle darf sich nicht ändern.",
        "Bitte nur deutsche Kommentare.",
        "N'utilise jamais de variables globales.",
        "Il faut répondre uniquement en français.",
        "No cambies la base de datos, usa siempre SQLite.",
        "Não altere o esquema, use sempre SQLite.",
        "Rispondi solo in italiano.",
        "Никогда не меняй схему базы.",
        "不要修改数据库,必须保留接口。",
        "テストは必ず実行してください。",
        "반드시 테스트를 실행하세요.",
    ],
)
def test_constraints(sentence: str):
    assert constraints_in(sentence) != []


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello there, how is it going.",
        "Add a button to the toolbar.",
        "Should we never do this?",
        "Yes",
        "x = foo(never, always) {} []; --only",
        "```\nyou must never see this\n```",
        "must " + "very " * 200 + "long",
    ],
)
def test_no_constraints(sentence: str):
    assert constraints_in(sentence) == []


def test_constraints_are_single_sentences_on_one_line():
    text = "Here is the plan. You must keep\tthe tests  green. Thanks!\n\n- never push\n2. only use `uv`"
    assert constraints_in(text) == ["You must keep the tests green.", "never push", "only use `uv`"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'll use SQLite because it needs no server.", True),
        ("The root cause is the sorted index.", True),
        ("Ich habe mich für SQLite entschieden.", True),
        ("Let me read the file.", False),
        ("We chose this because:", False),
        ("**The problem is exactly this:**", False),
        ("| a.py | chosen because it is small | done |", False),
        ("Should I use SQLite instead of files?", False),
    ],
)
def test_decisions(text: str, expected: bool):
    assert bool(decisions_in(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The Design Decision", False), ("Decision Matrix", False), ("I chose SQLite.", True), ("Decision: SQLite, since it is there", True)],
)
def test_a_heading_is_no_decision(text: str, expected: bool):
    assert bool(decisions_in(text)) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We decided to keep the file.", True),
        ("The root cause is a stale cache.", True),
        ("I look at the log before deciding whether to wait.", False),
        ("I'll use the checklist for this.", False),
        ("Das haben wir so entschieden.", True),
        ("Tests pass because they use new files only.", False),
        ("It is a bullet rather than a table.", False),
    ],
)
def test_which_decisions_say_that_they_are_one(sentence: str, expected: bool):
    assert is_firm(sentence) is expected


def test_blank_lines_cost_no_more_than_others():
    text = "\n" * 200_000  # took minutes when the start of a fence could be any number of lines away
    assert list(sentences(text)) == []


def test_text_after_an_open_fence_is_code():
    assert list(sentences("Look at this sentence.\n```\nand not at that one")) == ["Look at this sentence."]


def test_large_letters_say_the_same():
    assert constraints_in("NEVER TOUCH THE FIXTURES.") == ["NEVER TOUCH THE FIXTURES."]
    assert constraints_in("ÄNDERE NIE die Vorlagen.") == ["ÄNDERE NIE die Vorlagen."]
    assert decisions_in("I'LL USE millimetres.") == ["I'LL USE millimetres."]
    assert decisions_in("Der Grund ist der Tank.") == ["Der Grund ist der Tank."]


ALL_CONSTRAINTS = re.compile(rf"\b(?:{LATIN_CONSTRAINTS})\b|{ORDERED}|{OTHER_CONSTRAINTS}")
ALL_DECISIONS = re.compile(rf"\b(?:{LATIN_DECISIONS})\b|{OTHER_DECISIONS}")
WORDS = [*re.findall(r"\w+", f"{LATIN_CONSTRAINTS} {LATIN_DECISIONS} {OTHER_CONSTRAINTS}"), "n't", "n'est pas", "Use it", ", but not", "İ"]
BETWEEN = [" ", "\n", "  \n", ". ", "! ", "?", "; \t", "。", "！x", ": ", "- ", "\n1. ", "| ", "**", "```\n", "a(b) = {c}"]


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(BETWEEN), st.text(max_size=4)), max_size=20).map("".join))
def test_how_markers_are_looked_for_changes_nothing(text: str):
    said = list(sentences(text))
    assert constraints_in(text) == [each for each in said if not each.endswith("?") and ALL_CONSTRAINTS.search(each.lower())]
    told = [each for each in said if not each.endswith(("?", ":")) and ALL_DECISIONS.search(each.lower())]
    assert decisions_in(text) == [each for each in told if not is_heading(each)]
    assert CONSTRAINT.stand_in(text) == bool(ALL_CONSTRAINTS.search(text.lower()))
    assert DECISION.stand_in(text) == bool(ALL_DECISIONS.search(text.lower()))


@given(
    st.lists(st.one_of(st.sampled_from([each for each in BETWEEN if each.isascii()]), st.characters(codec="ascii")), max_size=30).map(
        "".join
    )
)
def test_text_of_ascii_is_parted_as_any_other(text: str):
    assert ASCII_BOUNDARY.split(text) == BOUNDARY.split(text)
