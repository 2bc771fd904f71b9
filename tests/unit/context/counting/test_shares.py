"""What each category of the gauge takes: it adds up, stays as it was counted, and goes by what an endpoint says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, log, prompt, says
from tests.unit.context.strategies import histories
from tests.unit.context.work import priced, ran
from ullage.context.blocks import SystemPart, ToolSpec
from ullage.context.compaction_entries import Summarised
from ullage.context.counting.accounting import Account, Counted, Stated
from ullage.context.counting.categories import FIXED, in_order, shared_out
from ullage.context.counting.fixed_parts import KEPT_PRELUDES, FixedParts
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Entry, Logged, Prelude
from ullage.context.view.projection import Projection

PRELUDE = Prelude(
    (SystemPart("system", "You are an agent. " * 200), SystemPart("rules", "Be brief. " * 100)),
    (ToolSpec("read_file", "Reads. " * 200, {}),),
)
NUMBERS = "17,291 40,233 90,812 33,105\n" * 200

names = st.sampled_from(["system", "rules", "tools", "user", "assistant", "files"])
weights = st.dictionaries(names, st.floats(0, 1e6), max_size=6)


@given(st.integers(0, 10**7), weights, st.dictionaries(names, st.integers(0, 10**6), max_size=3))
def test_shares_add_up_and_none_is_below_zero(tokens: int, weights: dict[str, float], known: dict[str, int]) -> None:
    shares = shared_out(tokens, weights, known)
    assert all(share >= 0 for share in shares.values())
    if any(weights.values()) or any(known.values()):
        assert sum(shares.values()) == tokens
    if sum(known.values()) <= tokens and any(weight > 0 for name, weight in weights.items() if name not in known):
        assert {name: shares[name] for name in known} == known


def fixed(counted: Counted) -> dict[str, int]:
    return {name: tokens for name, tokens in counted.categories if name in FIXED}


def whole(counted: Counted) -> None:
    assert sum(tokens for _, tokens in counted.categories) == counted.used
    assert all(tokens > 0 for _, tokens in counted.categories)
    assert 0 <= counted.guess <= counted.used


turns = st.lists(st.tuples(st.sampled_from(["word ", NUMBERS, "x = 1\n"]), st.integers(1, 20), st.integers(0, 9_000), st.integers(1, 900)))


def talk(turns: Sequence[tuple[str, int, int, int]], first: int = 3_000) -> list[Entry]:
    """Turns whose replies report any growth of the context whatever."""
    entries: list[Entry] = [PRELUDE, prompt("Hello"), priced("Yes?", first, 20)]
    held = first + 20
    for text, times, growth, said in turns:
        entries += [prompt(text * times), priced("word " * times, held + growth, said)]
        held += growth + said
    return entries


@given(turns)
def test_the_fixed_parts_stay_what_they_were_whatever_replies_report(turns: list[tuple[str, int, int, int]]) -> None:
    account, view = Account(), Projection()
    shown: list[dict[str, int]] = []
    for logged in log(*talk(turns)):
        view.append(logged)
        now = account.count(view, Calibration(0.8))
        if now.priced is not None:
            whole(now)
            shown.append(fixed(now))
    assert all(each == shown[0] for each in shown)
    assert sum(shown[0].values()) < 3_000


def test_a_smaller_request_takes_from_what_is_no_fixed_part() -> None:
    entries = [*talk([("word ", 9, 4_000, 10)]), prompt("Go on"), priced("Yes", 5_000, 9)]
    before, after = (Account().count(Projection(log(*each)), Calibration()) for each in (entries[:-2], entries))
    whole(after)
    assert (after.used, fixed(after)) == (5_009, fixed(before))


def test_what_grew_is_that_which_is_new() -> None:
    entries = [PRELUDE, prompt("Hello"), priced("Yes?", 3_000, 20), *ran("make", NUMBERS), priced("Done", 9_020, 30)]
    before = dict(Account().count(Projection(log(*entries[:3])), Calibration()).categories)
    after = dict(Account().count(Projection(log(*entries)), Calibration()).categories)
    assert 0 <= after["user"] - before["user"] < 20, "the frame of the result's message"
    assert sum(tokens for name, tokens in after.items() if name.startswith("tool results")) > 5_000


def test_what_the_endpoint_counted_of_the_fixed_parts_stands_before_and_after_a_price() -> None:
    parts = FixedParts()
    parts.take_count(PRELUDE, {"system": 900, "rules": 300, "tools": 1_100})
    calibration = Calibration(0.7, fixed=parts)
    for entries in (talk([]), [PRELUDE], [PRELUDE, prompt("Hello")], talk([("word ", 9, 600, 10)])):
        now = Account().count(Projection(log(*entries)), calibration)
        whole(now)
        assert fixed(now) == {"system": 900, "rules": 300, "tools": 1_100}
    assert Account().count(Projection(log(PRELUDE)), calibration).guess == 0


def test_the_fixed_parts_stay_what_they_were_through_a_compaction() -> None:
    parts = FixedParts()
    calibration = Calibration(0.7, fixed=parts)
    view = Projection(log(*talk([("word ", 9, 600, 10)])))
    account = Account()
    before = account.count(view, calibration)
    parts.take_shown(PRELUDE, dict(before.categories))
    view.append(Logged(99, 0.0, compaction("c", summarised=Summarised(3, "They said hello."))))
    after = account.count(view, calibration)
    whole(after)
    assert fixed(after) == fixed(before)
    assert after.guess < after.used - sum(fixed(after).values()) + 1


def test_the_endpoints_own_count_goes_before_what_a_usage_showed_and_few_are_kept() -> None:
    parts = FixedParts()
    parts.take_shown(PRELUDE, {"system": 1, "user": 9})
    parts.take_shown(PRELUDE, {"system": 2})
    assert (parts.of(PRELUDE), parts.is_counted(PRELUDE)) == ({"system": 1}, False)
    parts.take_count(PRELUDE, {"system": 3})
    assert (parts.of(PRELUDE), parts.is_counted(PRELUDE)) == ({"system": 3}, True)
    for number in range(KEPT_PRELUDES):
        parts.take_count(replace(PRELUDE, tools=(ToolSpec(f"tool {number}", "", {}),)), {"system": number})
    assert not parts.is_counted(PRELUDE)


def test_another_process_knows_what_was_counted_and_shown_until_the_endpoint_counts_anew() -> None:
    parts = FixedParts()
    others = [replace(PRELUDE, tools=(ToolSpec(f"tool {number}", "", {}),)) for number in range(KEPT_PRELUDES)]
    parts.take_shown(others[0], {"system": 5, "user": 9})
    parts.take_count(PRELUDE, {"system": 3})
    later = FixedParts(parts.to_remember())
    unlike = Prelude((SystemPart("system", "Something else."),), ())
    assert (later.of(PRELUDE), later.of(others[0]), later.of(unlike)) == ({"system": 3}, {"system": 5}, None)
    later.take_shown(PRELUDE, {"system": 8})
    assert (later.of(PRELUDE), later.is_counted(PRELUDE)) == ({"system": 3}, False)
    later.take_count(PRELUDE, {"system": 4})
    assert FixedParts(later.to_remember()).of(PRELUDE) == {"system": 4}
    for other in others:
        later.take_count(other, {"system": 1})
    assert len(later.to_remember()) == KEPT_PRELUDES
    assert FixedParts(later.to_remember()).of(others[-1]) == {"system": 1}


def stated_at_the_end(view: Projection, now: Counted, tokens: int, parts: FixedParts | None = None) -> Stated:
    return Stated(view.key, view.entries[-1].seq, tokens, now.categories, parts)


def test_what_an_endpoint_says_of_a_request_stands_until_more_comes() -> None:
    view, account = Projection(log(*talk([]), prompt(NUMBERS))), Account()
    before = account.count(view, Calibration())
    account.state(stated_at_the_end(view, before, 7_000))
    now = account.count(view, Calibration())
    whole(now)
    assert (now.used, now.guess, now.estimated) == (7_000, 0, False)
    view.append(Logged(5, 0.0, prompt(NUMBERS)))
    later = account.count(view, Calibration(1.3))
    whole(later)
    assert later.used == 7_000 + later.guess
    assert later.estimated
    view.append(Logged(6, 0.0, priced("Yes", 12_345, 5)))
    assert account.count(view, Calibration(1.3)).used == 12_350


def test_what_is_said_of_an_older_request_or_of_another_view_is_nothing_to_the_newer() -> None:
    view, account = Projection(log(*talk([]), prompt(NUMBERS))), Account()
    now = account.count(view, Calibration())
    newer = stated_at_the_end(view, now, 7_000)
    account.state(newer)
    account.state(replace(newer, seq=2, tokens=50))
    assert account.count(view, Calibration()).used == 7_000
    assert account.copy().count(view, Calibration()).used == 7_000
    assert account.count(view, Calibration(fixed=FixedParts())).used == now.used, "another model"
    view.append(Logged(5, 0.0, compaction("c", summarised=Summarised(4, "All."))))
    assert account.count(view, Calibration()).used < 3_000


@given(histories(), st.integers(1, 50_000), st.data())
def test_whatever_is_said_and_whenever_the_categories_add_up(entries: list[Logged], tokens: int, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    parts = FixedParts() if data.draw(st.booleans()) else None
    calibration = Calibration(data.draw(st.floats(0.5, 2.5)), fixed=parts)
    view, account = Projection(entries[:cut]), Account()
    if cut:
        account.state(stated_at_the_end(view, account.count(view, calibration), tokens, parts))
    if parts is not None and view.prelude is not None:
        parts.take_count(view.prelude, data.draw(st.dictionaries(st.sampled_from(list[str](FIXED)), st.integers(0, 9_000))))
    for logged in entries[cut:]:
        view.append(logged)
        now = account.count(view, calibration)
        assert sum(tokens for _, tokens in now.categories) == now.used
        assert all(tokens >= 0 for _, tokens in now.categories)


def test_categories_stand_in_a_fixed_order() -> None:
    assert [name for name, _ in in_order({"tool results: a": 1, "user": 2, "tool results: b": 3, "system": 4, "files": 0})] == [
        "system",
        "user",
        "tool results: b",
        "tool results: a",
    ]


@pytest.mark.parametrize("tokens", [0, 1, 7])
def test_without_a_weight_nothing_is_shared_out(tokens: int) -> None:
    assert shared_out(tokens, {}) == {}
    assert set(shared_out(tokens, {"user": 0.0}).values()) <= {0}


def test_an_unpriced_reply_is_estimated_with_what_it_answers() -> None:
    now = Account().count(Projection(log(PRELUDE, prompt("Hello"), says("word " * 300))), Calibration())
    whole(now)
    assert now.guess == now.used


def test_of_one_that_is_partly_another_the_rest_is_known() -> None:
    tools = (ToolSpec("read_file", "Reads.", {}),)
    own = SystemPart("system", "You are an agent.")
    parts = FixedParts()
    parts.take_count(Prelude((own, SystemPart("rules", "Be brief.")), tools), {"system": 7, "rules": 4, "tools": 9})
    assert parts.of(Prelude((own, SystemPart("rules", "Be exact.")), tools)) == {"system": 7, "tools": 9}
    assert parts.of(Prelude((own, SystemPart("rules", "Be brief.")), ())) == {"system": 7, "rules": 4}
    parts.take_shown(Prelude((own,), tools), {"system": 6, "tools": 8})
    assert parts.of(Prelude((own,), tools)) == {"system": 6, "tools": 8}, "of just this one goes before"
