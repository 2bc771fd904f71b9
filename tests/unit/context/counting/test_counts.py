"""What a tokenizer counted takes the place of estimates, and has a ratio of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import PRELUDE, calls, compaction, prompt, returned, says, session
from tests.unit.context.strategies import histories
from tests.unit.context.work import priced
from ullage.context.blocks import Text, Thinking
from ullage.context.compaction_entries import Summarised
from ullage.context.counting.accounting import Account
from ullage.context.counting.tokens import Calibration, TokenParts, countable, counted, estimate_message
from ullage.context.entries import AssistantReply, Logged
from ullage.context.view.projection import Projection

TEXT = "one two three " * 100


class WordCounts:
    """A tokenizer to whom every word is a token. It counts what it was asked for when it is told to."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}
        self.wanted: set[str] = set()
        self.looked_up = 0

    @property
    def version(self) -> int:
        return len(self._counted)

    def known(self, text: str) -> int | None:
        self.looked_up += 1
        return self._counted.get(text)

    def want(self, texts: Sequence[str]) -> None:
        self.wanted.update(text for text in texts if text)

    def count(self) -> None:
        self._counted.update((text, len(text.split())) for text in self.wanted)
        self.wanted.clear()


def test_parts_are_known_once_all_their_texts_are():
    counts = WordCounts()
    parts = TokenParts(24, ("a b", "", "c"))
    counts.want(["a b"])
    counts.count()
    assert counted(parts, counts) is None
    counts.want(["c"])
    counts.count()
    assert counted(parts, counts) == 24 + 3


def test_what_came_since_a_priced_reply_is_estimated_until_it_is_counted():
    counts = WordCounts()
    view = Projection(session(prompt("Hello"), priced("Yes?", 5_000, 70), prompt(TEXT)))
    account, calibration = Account(), Calibration(1.5, 1.1, counts)
    estimated = estimate_message(view.messages[-1])
    assert account.count(view, calibration).used == 5_070 + round(1.5 * estimated - 0.4 * 4)
    assert counts.wanted == {TEXT}
    counts.count()
    assert account.count(view, calibration).used == 5_070 + round(1.1 * (300 + 4))
    assert not counts.wanted


def test_only_what_came_since_the_newest_priced_reply_is_asked_for():
    counts = WordCounts()
    entries = session(prompt("An old one"), priced("b", 5_000, 70), calls("t1"), returned("t1", "An old result"), priced("d", 6_000, 10))
    Account().count(Projection(entries), Calibration(counts=counts))
    assert not counts.wanted


def test_after_a_compaction_all_is_asked_for():
    counts = WordCounts()
    before = session(prompt("Hello"), priced("Yes?", 5_000, 70))
    entries = [*before, Logged(4, 4.0, compaction("c", summarised=Summarised(3, "They said hello.")))]
    account, calibration, view = Account(), Calibration(counts=counts), Projection(entries)
    first = account.count(view, calibration)
    assert any("They said hello." in text for text in counts.wanted)
    assert {part.text for part in PRELUDE.system} <= counts.wanted
    counts.count()
    then = account.count(view, calibration)
    assert then.estimated
    assert then.used != first.used


def test_thinking_stays_an_estimate():
    assert countable(Thinking("Well, well", "x" * 4_000)) is None
    counts = WordCounts()
    thinks = AssistantReply("r", (Thinking("Well", "x" * 4_000), Text("Yes")), "m", "end_turn", None)
    view = Projection(session(prompt("Hello"), thinks))
    account = Account()
    account.count(view, Calibration(counts=counts))
    counts.count()
    assert account.count(view, Calibration(1.0, 1.0, counts)).used > 900


def test_what_was_counted_is_held_against_what_was_reported_for_it():
    counts = WordCounts()
    account, calibration = Account(), Calibration(counts=counts)
    view = Projection(session(prompt(TEXT)))
    for logged in (Logged(3, 3.0, priced("Yes?", 5_000, 70)), Logged(4, 4.0, prompt(TEXT * 2)), Logged(5, 5.0, priced("No", 5_700, 9))):
        account.count(view, calibration)
        counts.count()
        view.append(logged)
        new = account.count(view, calibration).priced
        if logged.seq == 3:
            assert new is not None
            assert new.counted is not None
            assert new.counted[1] == 5_000
        if logged.seq == 5:
            assert new is not None
            assert new.counted == (600 + 4, 5_700 - 5_070)


def test_a_request_that_was_not_counted_whole_teaches_nothing_of_the_tokenizer():
    entries = session(prompt("Hello"), priced("Yes?", 5_000, 70), prompt(TEXT), priced("No", 5_700, 9))
    result = Account().count(Projection(entries), Calibration(counts=WordCounts()))
    assert result.priced is not None
    assert result.priced.counted is None


def test_another_model_teaches_nothing_by_the_growth_of_its_first_request():
    counts = WordCounts()
    counts.want([TEXT])
    counts.count()
    other = AssistantReply("r9", says("No").blocks, "another", "end_turn", priced("No", 5_700, 9).usage)
    entries = session(prompt("Hello"), priced("Yes?", 5_000, 70), prompt(TEXT), other)
    result = Account().count(Projection(entries), Calibration(counts=counts))
    assert result.priced is not None
    assert result.priced.counted is None


def test_another_tokenizer_counts_anew():
    account, old, new = Account(), WordCounts(), WordCounts()
    view = Projection(session(prompt(TEXT)))
    account.count(view, Calibration(counts=old))
    old.count()
    counted_by_old = account.count(view, Calibration(counts=old)).used
    assert account.count(view, Calibration(counts=new)).used != counted_by_old
    assert TEXT in new.wanted
    assert account.count(view, Calibration()).used == Account().count(view, Calibration()).used


def test_each_ratio_is_learned_by_itself():
    calibration = Calibration(0.8, 1.0).observe_counted(30_000, 33_000)
    assert (calibration.ratio, calibration.counted_ratio) == (0.8, pytest.approx(1.02))
    again = calibration.observe(1_000, 900)
    assert (again.ratio, again.counted_ratio) == (pytest.approx(0.82), pytest.approx(1.02))


@pytest.mark.parametrize(("counts", "reported", "bound"), [(20_000, 600_000, 2.5), (60_000, 60, 0.5)])
def test_the_ratio_of_what_is_counted_is_clamped(counts: int, reported: int, bound: float):
    calibration = Calibration()
    for _ in range(100):
        calibration = calibration.observe_counted(counts, reported)
    assert calibration.counted_ratio == bound


def test_the_less_was_counted_the_less_it_teaches():
    learned = [Calibration().observe_counted(counts, 2 * counts).counted_ratio - 1 for counts in (20, 2_000, 20_000, 200_000)]
    assert learned == pytest.approx([0.0002, 0.02, 0.15, 0.15])


@pytest.mark.parametrize(("counts", "reported"), [(0, 90), (-5, 90), (90, 0), (90, -10)])
def test_what_cannot_be_teaches_nothing(counts: int, reported: int):
    assert Calibration().observe_counted(counts, reported) == Calibration()


@given(histories(), st.data())
def test_counting_at_any_time_comes_to_the_same_and_adds_up(entries: list[Logged], data: st.DataObject):
    counts = WordCounts()
    calibration = Calibration(0.8, 1.3, counts)
    account, view = Account(), Projection()
    for logged in entries:
        view.append(logged)
        result = account.count(view, calibration)
        assert sum(tokens for _, tokens in result.categories) == result.used
        if data.draw(st.booleans()):
            counts.count()
    account.count(view, calibration)
    counts.count()
    now = account.count(view, calibration)
    at_once = Account().count(view, calibration)
    assert (now.used, now.categories, now.estimated) == (at_once.used, at_once.categories, at_once.estimated)


def test_what_is_not_counted_yet_is_not_looked_up_again_and_again():
    counts = WordCounts()
    view = Projection(session(*(entry for turn in range(500) for entry in (prompt(f"Question {turn}"), says(f"Answer {turn}")))))
    account, calibration = Account(), Calibration(counts=counts)
    account.count(view, calibration)
    assert counts.looked_up < 3_000
    assert len(counts.wanted) > 1_000
    counts.looked_up = 0
    counts.wanted.clear()
    account.count(view, calibration)
    assert counts.looked_up < 10
    assert len(counts.wanted) < 10
