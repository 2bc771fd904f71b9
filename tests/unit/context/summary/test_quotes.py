"""The user's own words within their room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.counting.tokens import estimate_text
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import Said
from ullage.context.summary.sections import BETWEEN, SHORTENED_LEAST, Quote, quote

LONG = "a sentence of the user that goes on for a while " * 40
LONGEST = SummaryOptions().message_tokens
SHORTER = "a sentence of the user that goes on for a while " * 20


def said(*texts: str) -> list[Said]:
    return [Said(seq, text) for seq, text in enumerate(texts, 1)]


def test_all_is_quoted_where_there_is_room():
    quotes = quote(said("one", "two", "three"), 1_000, LONGEST)
    assert quotes.quotes == (Quote(1, "one", True), Quote(2, "two", True), Quote(3, "three", True))
    assert quotes.left_out == 0


def test_the_newest_and_the_first_are_kept_and_the_middle_is_shortened():
    room = 3 * estimate_text(LONG)
    quotes = quote(said("the task", *(f"{number} {SHORTER}" for number in range(9)), "the last"), room, LONGEST).quotes
    whole = [each.seq for each in quotes if each.whole]
    assert whole[0] == 1
    assert whole[1:] == list(range(12 - len(whole[1:]), 12))
    assert all(len(each.text) <= 200 for each in quotes if not each.whole)


def test_of_a_pasted_text_the_ends_are_quoted_however_much_room_there_is():
    quotes = quote(said("the task", "begin " + LONG * 50 + " end", "do that", "begin " + LONG * 50 + " end"), 20_000, LONGEST).quotes
    assert [each.whole for each in quotes] == [True, False, True, False]
    between, last = (quotes[index].text for index in (1, 3))
    assert estimate_text(between) < 1.2 * LONGEST * BETWEEN
    assert estimate_text(last) < 1.2 * LONGEST
    assert last.startswith("begin ")
    assert last.endswith(" end")


def test_a_first_message_that_is_too_long_keeps_its_ends():
    quotes = quote(said("begin " + LONG * 20 + " end"), 500, LONGEST).quotes
    assert not quotes[0].whole
    assert quotes[0].text.startswith("begin ")
    assert quotes[0].text.endswith(" end")
    assert "characters left out" in quotes[0].text


def test_nobody_spoke():
    assert quote([], 1_000, LONGEST).quotes == ()


@given(st.lists(st.sampled_from(["short", LONG, LONG * 10, "好的" * 50]), max_size=60), st.integers(400, 20_000))
def test_the_room_is_kept_and_every_message_is_accounted_for(texts: list[str], room: int):
    quotes = quote(said(*texts), room, LONGEST)
    assert len(quotes.quotes) + quotes.left_out == len(texts)
    assert sum(estimate_text(each.text) for each in quotes.quotes) <= room * 1.1 + SHORTENED_LEAST + 200
    assert [each.seq for each in quotes.quotes] == sorted({each.seq for each in quotes.quotes})


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=20))
def test_what_is_quoted_whole_is_verbatim(texts: list[str]):
    for each in quote(said(*texts), 200, LONGEST).quotes:
        if each.whole:
            assert each.text == texts[each.seq - 1]
