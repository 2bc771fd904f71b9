"""What one session spent: each call and compaction under its week, project, policy and model, priced as `ullage replay` prices it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import PRELUDE, compaction, prompt, says
from tests.unit.replay.recorded import At, call, compacted, reply, returned, session, uncounted
from tests.unit.replay.recorded import prompt as asked
from tests.unit.replay.working import working_session
from ullage.context.compaction_entries import FetchedAgain, Summarised
from ullage.recorded.readers.own_log import read
from ullage.replay.pricing.cost import cost_of
from ullage.replay.spending.spent import NOT_COMPACTED, OWN_WAY, spent_in, week_of
from ullage.replay.spending.sums import sums_of, together
from ullage.store.folder import database
from ullage.store.log_store import LogStore

MONDAY = 1_767_571_200.0
"""2026-01-05, midnight in UTC."""
DAY = 86_400.0


@pytest.mark.parametrize(
    ("at", "expected"),
    [(0.0, ""), (MONDAY, "2026-01-05"), (MONDAY - 1, "2025-12-29"), (MONDAY + 7 * DAY - 1, "2026-01-05"), (MONDAY + 7 * DAY, "2026-01-12")],
)
def test_weeks_begin_on_monday(at: float, expected: str):
    assert week_of(at) == expected


@given(
    turns=st.integers(1, 6),
    reads=st.integers(1, 3),
    seconds=st.sampled_from([1.0, 400.0, DAY]),
    model=st.sampled_from(["claude-opus-4-5", "who"]),
)
def test_the_calls_cost_what_replay_says(turns: int, reads: int, seconds: float, model: str):
    transcript = working_session(turns, reads, 400, seconds=seconds, model=model, compacted_after=(5,) if turns > 2 else ())
    whole = sums_of("s", spent_in(transcript)).whole
    assert whole.dollars.total == pytest.approx(cost_of(transcript).dollars.total)
    assert whole.calls == len([each for each in transcript.replies if each.usage])
    assert whole.compactions.summaries == pytest.approx(cost_of(transcript).summaries_warm.total)
    assert whole.missed.dollars <= whole.dollars.total + 1e-9


def test_a_model_without_prices_is_counted_and_not_priced():
    (one,) = spent_in(session(asked(), reply(100, model="unheard-of"))).calls
    assert (one.dollars, one.whose.model, one.usage.input_tokens) == (None, "unheard-of", 100)


def test_replies_without_a_count_are_told():
    spent = spent_in(session(asked(), uncounted(), asked(), reply(10)))
    assert (len(spent.calls), spent.uncounted) == (1, 1)


def test_since_leaves_out_what_was_before_and_what_has_no_time():
    before, after = At(MONDAY - 2_000, reply(1)), At(MONDAY, reply(2))
    told = session(At(MONDAY - 3_000, asked()), before, At(MONDAY - 1_500, asked()), after)
    assert [each.usage.input_tokens for each in spent_in(told, date(2026, 1, 5)).calls] == [2]
    timeless = replace(told, entries=tuple(replace(each, at=0.0) for each in told.entries))
    assert spent_in(timeless, date(2026, 1, 5)).calls == ()
    assert len(spent_in(timeless).calls) == 2


TEXT = "\n".join(f"def handle_case_{line}(value): return combine(value, {line})" for line in range(40))


def test_what_other_programs_got_again_is_the_most_that_it_can_be():
    entries = (
        asked(),
        reply(10, blocks=(call("a"),)),
        returned(TEXT, "a"),
        reply(5_000),
        asked(),
        reply(900, blocks=(call("b"),)),
        returned(TEXT, "b"),
        reply(6_000),
    )
    (made,) = spent_in(session(*entries, compactions=(compacted(4, "Looked at it."),))).compactions
    assert made.again is not None
    assert made.again.at_most
    assert made.again.requests == 1
    assert made.again.tokens == pytest.approx(len(TEXT) / 2.9, rel=0.05)
    assert made.again.dollars is not None
    (kept,) = spent_in(session(*entries, compactions=(compacted(4, TEXT),))).compactions
    assert kept.again is not None
    assert (kept.again.tokens, kept.again.requests) == (0, 0)


def test_a_sealed_summary_tells_nothing_of_what_was_got_again():
    made = replace(compacted(2, "the user's words"), sealed=True)
    (found,) = spent_in(session(asked(), reply(10), asked(), reply(10), compactions=(made,))).compactions
    assert found.summary_characters is None


def of_ullage(folder: Path, *entries: object) -> list[tuple[str, int | None]]:
    """Policy of each call and compaction of a log with these entries; of compactions with the tokens that were got again."""
    store = LogStore.open(folder)
    made = store.create_session("Looking", 5.0)
    for entry in entries:
        store.append(made.id, entry, 6.0)  # type: ignore[arg-type] # entries of a log
    store.close()
    (transcript,) = read(database(folder))
    spent = spent_in(transcript)
    return [
        *((each.whose.policy, None) for each in spent.calls),
        *((each.whose.policy, each.again.tokens if each.again is not None else None) for each in spent.compactions),
    ]


def test_a_session_of_ullage_is_told_by_its_policy(tmp_path: Path):
    counted = reply(1_000)
    first = replace(compaction("c1", summarised=Summarised(3, "So far")), policy="ullage")
    second = replace(
        compaction("c2", summarised=Summarised(6, "More")), policy="codex", fetched_again=FetchedAgain("c1", ("a.py",), 900, 321, 2, 4)
    )
    told = of_ullage(tmp_path, PRELUDE, prompt("Look"), counted, first, prompt("Go on"), counted, second, prompt("On"), counted)
    assert [policy for policy, _ in told] == ["ullage", "codex", "codex", "ullage", "codex"]
    assert told[3] == ("ullage", 321)


def test_a_session_of_ullage_without_a_compaction(tmp_path: Path):
    assert of_ullage(tmp_path, PRELUDE, prompt("Look"), reply(10), says("no count")) == [(NOT_COMPACTED, None)]


def test_other_programs_go_their_own_way():
    assert {each.whose.policy for each in spent_in(working_session(2)).calls} == {OWN_WAY}


@given(parts=st.lists(st.integers(1, 4), min_size=1, max_size=5), cut=st.integers(0, 5))
def test_sums_are_the_same_however_the_work_is_split(parts: list[int], cut: int):
    sums = [sums_of(f"s{index}", spent_in(working_session(turns, 1, 200, compacted_after=(4,)))) for index, turns in enumerate(parts)]
    whole, split = together(sums), together([together(sums[:cut]), together(sums[cut:])])
    assert whole.sessions == split.sessions
    assert whole.by_whose.keys() == split.by_whose.keys()
    assert whole.whole.usage == split.whole.usage
    assert whole.whole.total == pytest.approx(split.whole.total)
