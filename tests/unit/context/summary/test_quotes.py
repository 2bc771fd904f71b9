"""The user's own words within their room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.counting.tokens import estimate_text
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import EntryWords
from ullage.context.summary.quotes import BETWEEN, SHORTENED_LEAST, Quote, quote

LONG = "a sentence of the user that goes on for a while " * 40
LONGEST = SummaryOptions().message_tokens
SHORTER = "a sentence of the user that goes on for a while " * 20


def said(*texts: str) -> list[EntryWords]:
    return [EntryWords(seq, text) for seq, text in enumerate(texts, 1)]


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


def test_of_a_first_message_more_is_quoted_than_of_a_later_one():
    """It is often a plan that was made before."""
    first, _, last = quote(said(LONG * 10, "go on", LONG * 10), 20_000, LONGEST).quotes
    assert estimate_text(first.text) > 1.3 * estimate_text(last.text)


FRAMES = "\n".join(f"    at read (tank.js:{number}:7)" for number in range(40))


def test_of_a_stack_trace_the_frames_are_counted_where_it_does_not_fit():
    (first, last) = quote(said("the task", f"It broke:\nError: no dip\n{FRAMES}\nWhy?"), 300, 100).quotes
    assert (first.whole, last.whole) == (True, False)
    assert last.text == ("It broke:\nError: no dip\n    at read (tank.js:0:7)\n    at read (tank.js:1:7)\n    … (38 frames left out)\nWhy?")


def test_a_stack_trace_that_fits_is_quoted_as_it_is():
    text = f"It broke:\n{FRAMES}"
    assert quote(said("the task", text), 4_000, LONGEST).quotes[1] == Quote(2, text, True)


def test_of_a_plan_that_is_too_long_the_lines_that_say_why_are_quoted():
    why = "- Litres, because the dip counts them."
    plan = "# Plan\n" + "- Read one more tank.\n" * 80 + why + "\n" + "- Paint one more tank.\n" * 80 + "Then report."
    (quoted,) = quote(said(plan), 300, LONGEST).quotes
    assert quoted.text.startswith("# Plan\n- Read")
    assert f"\n{why}\n…\n" in quoted.text
    assert quoted.text.endswith("Then report.")


@given(
    st.lists(st.sampled_from(["- Never paint it.", "x", "    at a (b)", "It is so because it was.", ""]), max_size=80), st.integers(1, 200)
)
def test_all_that_is_quoted_was_said_and_what_was_left_out_is_counted(lines: list[str], tokens: int):
    for each in quote(said("\n".join(lines)), tokens, LONGEST).quotes:
        assert all(
            line in lines or "left out" in line or line == "…" or any(line in whole for whole in lines) for line in each.text.splitlines()
        )


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
