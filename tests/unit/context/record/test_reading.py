"""What was read before is kept, and changes nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import log
from tests.unit.context.strategies import histories
from tests.unit.context.work import asked, ran, work
from ullage.context.entries import Logged, TurnEnded
from ullage.context.policy import SummaryNumbers
from ullage.context.record.handoff import handoff
from ullage.context.record.reading import MENTIONS_KEPT, Reading


@given(histories(), st.lists(st.integers(0, 40), max_size=4))
def test_a_kept_reading_gives_what_a_new_one_gives(entries: list[Logged], ends: list[int]):
    reading = Reading()
    for end in ends:
        kept = handoff(entries[:end], None, "", SummaryNumbers(), reading=reading)
        assert kept == handoff(entries[:end], None, "", SummaryNumbers())


@given(histories(), histories())
def test_another_log_is_read_anew(one: list[Logged], other: list[Logged]):
    reading = Reading()
    reading.of(one)
    assert [read.logged for read in reading.of(other)] == other
    assert handoff(other, None, "", SummaryNumbers(), reading=reading) == handoff(other, None, "", SummaryNumbers())


def test_an_entry_is_read_once():
    entries = work(asked("Go"), ran("make"))
    reading = Reading()
    first = reading.of(entries[:2])
    assert [read is again for read, again in zip(first, reading.of(entries), strict=False)] == [True, True]


def test_the_result_of_a_call_knows_its_input():
    call = Reading().of(work(ran("make test")))[1].call
    assert call is not None
    assert call.command == "make test"


def test_mentions_of_long_ago_are_forgotten_and_can_be_read_again():
    entries = log(*(asked(f"name_{number}") for number in range(10)), *(TurnEnded("end_turn") for _ in range(MENTIONS_KEPT)))
    reading = Reading()
    first = reading.of(entries[:10])[0]
    known = first.mentions
    reading.of(entries)
    assert "mentions" not in vars(first)
    assert first.mentions == known
