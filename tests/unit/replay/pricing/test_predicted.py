"""Recorded sessions through the cache model: what they must have read and written, beside what was recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.replay.recorded import At, call, compacted, prompt, reply, returned, session, thought, uncounted
from ullage.context.blocks import AssistantBlock, Text, Usage
from ullage.context.counting.prompt_cache import START
from ullage.context.entries import AssistantReply, Entry, Notice, Prelude
from ullage.recorded.transcript import RecordedCompaction, Source, Transcript
from ullage.replay.pricing.cost import Prediction, predict
from ullage.replay.pricing.recorded_requests import HABITS, requests_of

Read = int
Written = int


def check(transcript: Transcript, expected: list[tuple[Read, Written]]) -> Prediction:
    """The predicted reads and writes of each call, and that every call keeps its recorded total."""
    prediction = predict(transcript)
    found = [(call.predicted.cache_read_tokens, written(call.predicted)) for call in prediction.calls]
    assert found == expected
    for each in prediction.calls:
        assert each.predicted.context_tokens == each.recorded.context_tokens
    return prediction


def written(usage: Usage) -> int:
    return usage.cache_write_5m_tokens + usage.cache_write_1h_tokens


def reads(transcript: Transcript) -> list[int]:
    return [call.predicted.cache_read_tokens for call in predict(transcript).calls]


def test_each_request_reads_the_one_before_and_writes_what_is_new():
    check(
        session(
            prompt(),
            reply(written=20_000),
            returned("text " * 100),
            reply(read=20_000, written=700),
            prompt(),
            reply(read=20_700, written=300),
        ),
        [(0, 20_000), (20_000, 700), (20_700, 300)],
    )


def test_what_other_sessions_left_is_taken_from_the_first_request():
    """No entry tells of it; later requests find it too."""
    check(
        session(prompt(), reply(read=15_000, written=5_000), At(3_000, prompt()), reply(written=21_000)),
        [(15_000, 5_000), (0, 21_000)],
    )


@pytest.mark.parametrize(
    ("bought", "gap", "alive"),
    [("5m", 290, True), ("5m", 310, False), ("1h", 310, True), ("1h", 3_590, True), ("1h", 3_610, False)],
)
def test_the_cache_lives_as_long_as_was_bought(bought: str, gap: int, alive: bool):
    """From the start of one request (the entry before the reply) to the start of the next."""
    first = reply(written=20_000) if bought == "5m" else reply(written_1h=20_000)
    rows = [(0, 20_000), (20_000, 500) if alive else (0, 20_500)]
    check(session(At(0, prompt()), At(200, first), At(gap, prompt()), At(gap + 5, reply(input=20_500))), rows)


def test_without_times_everything_is_taken_to_follow_at_once():
    made = session(prompt(), reply(written=20_000), prompt(), reply(read=20_000, written=100))
    timeless = replace(made, entries=tuple(replace(logged, at=0.0) for logged in made.entries))
    check(timeless, [(0, 20_000), (20_000, 100)])


def test_without_times_one_compaction_is_not_taken_for_another():
    first, second = reply(written=40_000), reply(written=50_000)
    made = session(prompt(), reply(15_000, 15_000), first, prompt(), second, compactions=(compacted(2), compacted(3)))
    timeless = replace(made, entries=tuple(replace(logged, at=0.0) for logged in made.entries))
    assert reads(timeless) == [15_000, 15_000, 15_000]


def test_after_a_compaction_only_what_precedes_the_messages_is_read():
    """Its size is what the first request found of other sessions."""
    check(
        session(
            prompt(),
            reply(read=15_000, written=5_000),
            prompt(),
            reply(read=20_000, written=60_000),
            prompt(),
            reply(read=15_000, written=10_000),
            prompt(),
            reply(read=25_000, written=400),
            compactions=(compacted(4, "What was said."),),
        ),
        [(15_000, 5_000), (20_000, 60_000), (15_000, 10_000), (25_000, 400)],
    )


def test_where_nothing_was_found_a_share_of_the_first_request_is_taken_for_the_system_prompt():
    made = session(prompt(), reply(written=20_000), prompt(), reply(written=30_000), compactions=(compacted(2),))
    read = reads(made)[1]
    assert 0 < read < 20_000


def test_old_results_that_were_cleared_without_a_word_cost_the_messages():
    """The request is much shorter than the one before it, so its prefix was changed somewhere."""
    rows = [(15_000, 5_000), (20_000, 80_000), (15_000, 55_000)]
    check(session(prompt(), reply(read=15_000, written=5_000), prompt(), reply(written=100_000), prompt(), reply(written=70_000)), rows)


def test_a_little_that_fell_away_costs_only_the_end():
    """The thinking of the last turn, in models that do not keep it: what precedes it is read where a request had ended there."""
    made = session(
        prompt(),
        reply(written=20_000),
        prompt(),
        reply(read=20_000, written=1_000, blocks=(thought(), Text("Fine."))),
        prompt(),
        reply(read=20_000, written=500),
    )
    check(made, [(0, 20_000), (20_000, 1_000), (20_000, 500)])


def test_a_model_finds_nothing_of_another():
    made = session(
        prompt(), reply(written=20_000), prompt(), reply(written=20_100, model="claude-sonnet-5-5"), prompt(), reply(read=20_300)
    )
    assert reads(made) == [0, 0, 20_000]


def test_below_the_minimum_nothing_is_cached():
    """Opus 4.6 wants 4,096 tokens."""
    old = "claude-opus-4-6"
    check(
        session(prompt(), reply(4_000, model=old), prompt(), reply(5_000, model=old), prompt(), reply(5_100, model=old)),
        [(0, 0), (0, 5_000), (5_000, 100)],
    )


def test_many_results_at_once_are_no_gap():
    """The end of the user's message before is marked again, so that more than twenty new blocks lose nothing."""
    entries: list[Entry] = [prompt(), reply(written=20_000, blocks=tuple(call(f"c{number}") for number in range(30)))]
    entries += [returned("text " * 20, f"c{number}") for number in range(30)]
    check(session(*entries, reply(read=20_000, written=3_000)), [(0, 20_000), (20_000, 3_000)])


def test_a_reply_that_was_not_counted_is_part_of_the_next_request():
    made = session(prompt(), reply(written=20_000), prompt(), uncounted(Text("Cut off")), prompt(), reply(read=20_000, written=900))
    check(made, [(0, 20_000), (20_000, 900)])
    placeholder = session(prompt(), reply(written=20_000), prompt(), reply(model="<synthetic>"), prompt(), reply(read=20_000, written=900))
    check(placeholder, [(0, 20_000), (20_000, 900)])


def test_growth_that_no_entry_explains_is_counted_all_the_same():
    check(session(prompt(), reply(written=20_000, blocks=()), reply(read=20_000, written=5_000)), [(0, 20_000), (20_000, 5_000)])


def test_another_system_prompt_costs_everything():
    """Ullage's own log tells of it."""
    prelude = Prelude((), ())
    made = session(
        prelude, prompt(), reply(written=20_000), prelude, prompt(), reply(written=20_100), prompt(), reply(written=20_200), source="ullage"
    )
    assert reads(made) == [0, 0, 20_100]


def test_what_else_the_log_tells_is_part_of_the_next_request():
    made = session(
        prompt(), reply(written=20_000), returned("text"), Notice("rules", "Be brief."), reply(read=20_000, written=200), source="ullage"
    )
    check(made, [(0, 20_000), (20_000, 200)])


def test_codex_pays_no_writes_and_forgets_its_reasoning_at_the_next_prompt():
    """What the turn before had before its first reasoning is read; the rest is input."""
    made = session(
        prompt(),
        reply(17_000, read=3_000, blocks=(thought(), call())),
        returned("text " * 100),
        reply(1_000, read=20_000, blocks=(thought(), Text("Done."))),
        prompt(),
        reply(1_500, read=20_000),
        prompt(),
        reply(500, read=21_500),
        source="codex",
    )
    check(made, [(3_000, 0), (20_000, 0), (20_000, 0), (21_500, 0)])
    assert predict(made).predicted.cache_read_tokens == predict(made).recorded.cache_read_tokens


def test_codex_keeps_a_turn_without_reasoning():
    check(session(prompt(), reply(20_000), prompt(), reply(500, read=20_000), source="codex"), [(0, 0), (20_000, 0)])


def test_what_was_predicted_stands_beside_what_was_recorded():
    one = predict(session(prompt(), reply(written=20_000), prompt(), reply(read=10_000, written=10_000)))
    two = predict(session(prompt(), reply(written=20_000), prompt(), reply(read=30_000)))
    assert [each.predicted.cache_read_tokens for each in (one, two)] == [20_000, 20_000]
    assert Prediction((*one.calls, *two.calls)).recorded == Usage(0, 200, 40_000, 50_000)


@pytest.mark.parametrize("transcript", [session(), session(prompt()), session(prompt(), uncounted())])
def test_a_session_without_counts_predicts_nothing(transcript: Transcript):
    assert predict(transcript).calls == ()


BLOCKS: list[tuple[AssistantBlock, ...]] = [(), (Text("Yes."),), (thought(), call())]


def reply_of(total: int, read: int, blocks: tuple[AssistantBlock, ...]) -> AssistantReply:
    return reply(max(total - read, 0), min(read, total), blocks=blocks)


ENTRIES = st.lists(
    st.one_of(
        st.builds(prompt, st.text(max_size=50)),
        st.builds(returned, st.text(max_size=200)),
        st.builds(reply_of, st.integers(0, 90_000), st.integers(0, 90_000), st.sampled_from(BLOCKS)),
        st.just(uncounted(Text("Cut"))),
        st.just(Notice("resume", "Go on.")),
        st.just(Prelude((), ())),
    ),
    max_size=25,
)
COMPACTIONS = st.lists(st.builds(compacted, st.integers(0, 25)), max_size=3)
SOURCES = st.sampled_from(list(HABITS))


@settings(deadline=None)
@given(ENTRIES, COMPACTIONS, SOURCES)
def test_any_session_keeps_its_totals(entries: list[Entry], compactions: list[RecordedCompaction], source: Source):
    made = session(*entries, compactions=tuple(compactions), source=source)
    for each in predict(made).calls:
        assert each.predicted.total_input_tokens == each.recorded.total_input_tokens
        assert min(each.predicted.input_tokens, each.predicted.cache_read_tokens, written(each.predicted)) >= 0


@settings(deadline=None)
@given(ENTRIES, COMPACTIONS, SOURCES)
def test_any_session_is_marked_within_its_requests(entries: list[Entry], compactions: list[RecordedCompaction], source: Source):
    for each in requests_of(session(*entries, compactions=tuple(compactions), source=source)):
        prefixes = {id(START), *(id(prefix) for prefix in each.shape.end.backwards())}
        assert {id(mark.prefix) for mark in each.shape.marks} <= prefixes
