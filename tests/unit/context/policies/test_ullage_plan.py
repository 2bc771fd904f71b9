from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.unit.context.logs import (
    calls,
    characters,
    compaction,
    drawn,
    log,
    prompt,
    reply,
    returned,
    says,
    session,
    thought,
    use,
)
from tests.unit.context.strategies import histories
from tests.unit.context.validity import problems
from ullage.context.blocks import Message, SystemPart
from ullage.context.compaction_entries import Compaction, Summarised
from ullage.context.entries import Entry, Logged, Prelude, UserPrompt
from ullage.context.moves.plan import Plan, preview
from ullage.context.policies.ullage import reactive_plan, usual_plan
from ullage.context.policy import ClearOptions, SnipOptions, SummaryOptions, UllageOptions
from ullage.context.view.projection import Projection, project
from ullage.context.view.request import build_request

POLICY = UllageOptions(
    snip=SnipOptions(keep_first=2, keep_last=6),
    clear=ClearOptions(keep_results=1, minimum_characters=120),
    summary=SummaryOptions(tail_tokens=500, tail_share=0.2, user_message_tokens=1_000, output_tokens=600, reactive_keep_messages=3),
    goal_share=0.6,
)
NEVER_CHEAP = replace(POLICY, snip=SnipOptions(1_000, 1_000), clear=ClearOptions(1_000, 1_000))


def no_digest(entries: Sequence[Logged]) -> str:
    return ""


def make(entries: Sequence[Logged], line: int, policy: UllageOptions = POLICY, goal: int | None = None) -> Plan | None:
    return usual_plan(project(entries), policy, line, characters, no_digest, goal=goal)


def talk(count: int, size: int) -> list[Entry]:
    """`count` short prompts with answers of `size` characters each."""
    return [entry for number in range(count) for entry in (prompt(f"q{number}"), says("a" * size))]


def work(count: int, size: int) -> list[Entry]:
    """A turn with `count` calls whose results have `size` characters."""
    steps = (entry for number in range(count) for entry in (calls(f"t{number}"), returned(f"t{number}", "r" * size)))
    return [prompt("go"), *steps, says("done")]


def after(entries: Sequence[Logged], made: Plan, summary: str = "Handoff") -> Projection:
    summarised = None if made.summarise_to is None else Summarised(made.summarise_to, summary, made.covers)
    return preview(project(entries), made.cleared, made.snipped, summarised)


class TestCheapBeforeDear:
    def test_where_all_is_under_the_goal_and_nothing_can_go_there_is_no_plan(self):
        assert make(log(*talk(2, 100)), line=10_000) is None
        assert make([], line=10_000) is None
        assert make([], line=10_000, goal=0) is None

    def test_old_results_are_cleared_first(self):
        made = make(log(*work(3, 1_000)), line=10_000)
        assert made is not None
        assert [cleared.seq for cleared in made.cleared] == [3, 5]
        assert (made.through, made.snipped, made.summarise_to, made.covers) == (8, None, None, 0)

    def test_many_messages_are_snipped(self):
        made = make(log(*talk(6, 400)), line=100_000)
        assert made is not None
        assert made.snipped is not None
        assert (made.snipped.first_seq, made.snipped.last_seq) == (3, 6)
        assert made.summarise_to is None

    def test_only_what_is_left_over_the_goal_is_summarised(self):
        entries = log(*talk(4, 1_000))
        assert make(entries, line=10_000, policy=NEVER_CHEAP) is None
        made = make(entries, line=5_000, policy=NEVER_CHEAP)
        assert made is not None
        assert made.summarise_to is not None

    def test_system_and_tools_count_against_the_goal(self):
        entries = talk(4, 1_000)
        large = Prelude((SystemPart("system", "s" * 3_000),), ())
        assert make(log(*entries), line=7_000, policy=NEVER_CHEAP) is None
        made = make(log(large, *entries), line=7_000, policy=NEVER_CHEAP)
        assert made is not None
        assert made.summarise_to is not None

    def test_a_marker_longer_than_what_it_stands_for_is_no_gain(self):
        assert make(log(*talk(6, 1)), line=100_000) is None
        made = make(log(*talk(3, 1), *work(2, 1_000), *talk(4, 1)), line=100_000)
        assert made is not None
        assert made.snipped is not None
        made = make(log(*work(2, 1_000)[:3], *talk(4, 1)), line=100_000, policy=replace(POLICY, clear=ClearOptions(0, 120)))
        assert made is not None
        assert (made.snipped, [cleared.seq for cleared in made.cleared]) == (None, [3])

    def test_thinking_goes_with_any_compaction_so_that_alone_can_be_a_gain(self):
        entries = session(prompt("go"), reply(thought("long " * 1_000), use("t1")), returned("t1"), says("done"))
        assert make(entries, line=5_000) == Plan(5, (), None, None, 0, characters(project(entries).messages) - 5_000)

    def test_moves_within_the_summary_are_left_to_it(self):
        made = make(log(*work(3, 1_000), *talk(6, 400)), line=100_000, goal=0)
        assert made is not None
        assert made.summarise_to is not None
        assert (made.cleared, made.snipped) == ((), None)

    def test_moves_in_the_tail_are_made(self):
        policy = replace(POLICY, summary=replace(POLICY.summary, tail_tokens=2_000))
        made = make(log(*talk(2, 3_000), *work(3, 1_000)), line=100_000, policy=policy, goal=0)
        assert made is not None
        assert (made.summarise_to, made.snipped) == (4, None)
        assert [cleared.seq for cleared in made.cleared] == [7, 9]


class TestTail:
    @pytest.mark.parametrize(
        ("tail_tokens", "line", "summarise_to"),
        [
            (2_100, 100_000, 4),
            (2_100, 5_100, 6),
            (1_050, 100_000, 6),
            (500, 100_000, 8),
            (0, 100_000, 8),
        ],
        ids=["two answers", "a share of the threshold", "one answer", "not one", "none"],
    )
    def test_it_is_the_newest_whole_messages_within_its_share(self, tail_tokens: int, line: int, summarise_to: int):
        policy = replace(NEVER_CHEAP, summary=replace(POLICY.summary, tail_tokens=tail_tokens))
        made = make(log(*talk(4, 1_000)), line, policy, goal=0)
        assert made is not None
        assert made.summarise_to == summarise_to
        assert made.covers == summarise_to

    @pytest.mark.parametrize(
        ("unanswered", "summarise_to"),
        [
            ([prompt("and now?" * 500)], 8),
            ([prompt("go"), calls("t1"), returned("t1", "r" * 5_000)], 9),
            ([prompt("go"), calls("t1", "t2"), returned("t2", "r" * 5_000)], 9),
        ],
        ids=["a prompt", "a result with its call", "a call that still runs"],
    )
    def test_what_the_model_has_not_answered_stays_whatever_its_size(self, unanswered: Sequence[Entry], summarise_to: int):
        made = make(log(*talk(4, 1_000), *unanswered), 5_000, NEVER_CHEAP, goal=0)
        assert made is not None
        assert made.summarise_to == summarise_to

    def test_a_short_conversation_is_summarised_too_where_that_is_wanted(self):
        policy = replace(NEVER_CHEAP, summary=replace(POLICY.summary, tail_tokens=20_000))
        made = make(log(*talk(4, 1_000)), 200_000, policy, goal=0)
        assert made is not None
        assert made.summarise_to == 8

    def test_nothing_is_summarised_twice(self):
        entries = log(*talk(4, 1_000), compaction("c", summarised=Summarised(8, "Handoff " * 500), resume="Go on."))
        assert make(entries, 1_000, goal=0) is None
        assert make([*entries, Logged(10, 0.0, prompt("on"))], 1_000, goal=0) is None

    def test_where_a_summary_would_not_be_shorter_there_is_none(self):
        assert make(log(prompt("q"), says("a" * 100)), 200_000, goal=0) is None
        assert make(log(prompt("q" * 900), says("a" * 100)), 200_000, goal=0) is None


class TestReactive:
    def test_the_last_messages_and_their_pairs_stay(self):
        entries = log(*work(4, 2_000), prompt("on"))
        made = reactive_plan(project(entries), POLICY, 100_000, characters, no_digest)
        assert made is not None
        assert made.summarise_to == 7
        assert drawn(after(entries, made).messages) == [
            "user: Handoff",
            "assistant: t3()",
            f"user: =t3 {'r' * 2_000}",
            "assistant: done",
            "user: on",
        ]

    def test_fewer_stay_where_they_would_not_fit(self):
        entries = log(*work(4, 2_000), prompt("on"))
        made = reactive_plan(project(entries), POLICY, 1_500, characters, no_digest)
        assert made is not None
        assert made.summarise_to == 9

    def test_also_where_they_are_all_there_is(self):
        entries = log(prompt("go"), says("a" * 5_000), prompt("on"))
        made = reactive_plan(project(entries), POLICY, 1_000, characters, no_digest)
        assert made is not None
        assert made.summarise_to == 2

    def test_a_single_message_cannot_be_helped(self):
        assert reactive_plan(project(log(prompt("go" * 5_000))), POLICY, 1_000, characters, no_digest) is None


def test_after_a_refusal_a_long_first_answer_is_summarised_where_the_short_question_alone_would_gain_nothing():
    made = reactive_plan(project(session(prompt("go"), says("x" * 40_000))), POLICY, 50_000, characters, no_digest)
    assert made is not None
    assert made.summarise_to == 3


def plans_of(projection: Projection, line: int) -> list[Plan]:
    made = [
        usual_plan(projection, POLICY, line, characters, no_digest),
        usual_plan(projection, POLICY, line, characters, no_digest, goal=0),
        reactive_plan(projection, POLICY, line, characters, no_digest),
    ]
    return [each for each in made if each is not None]


lines = st.sampled_from([100, 1_000, 5_000])


@given(histories(), lines)
def test_a_plan_makes_the_messages_fewer_tokens_by_what_it_says(entries: list[Logged], line: int):
    projection = project(entries)
    made_plans = plans_of(projection, line)
    assume(made_plans)
    for made in made_plans:
        tokens = characters(after(entries, made, summary="").messages)
        assert tokens <= made.estimated_after < characters(projection.messages)
        if made.summarise_to is None:
            assert tokens == made.estimated_after


@given(histories(), lines)
def test_after_a_plan_the_next_request_is_valid(entries: list[Logged], line: int):
    for made in plans_of(project(entries), line):
        compacted = after(entries, made)
        last = compacted.entries[-1].seq
        assert problems(build_request(compacted.with_appended(Logged(last + 1, 0.0, prompt("on"))))) == []


@given(histories(), lines)
def test_what_the_user_said_is_in_view_or_in_the_summary_or_behind_a_marker(entries: list[Logged], line: int):
    projection = project(entries)
    in_view_before = sources_of(projection)
    for made in plans_of(projection, line):
        compacted = after(entries, made)
        in_view = sources_of(compacted)
        text = "\n".join(drawn(compacted.messages))
        for logged in entries:
            if isinstance(logged.entry, UserPrompt) and logged.seq in in_view_before - in_view:
                summarised = made.summarise_to is not None and logged.seq <= made.summarise_to
                snipped = made.snipped is not None and made.snipped.first_seq <= logged.seq <= made.snipped.last_seq
                assert (summarised and "Handoff" in text) or (snipped and made.snipped is not None and made.snipped.marker in text)


@given(histories(), lines)
def test_no_plan_parts_a_call_from_its_result(entries: list[Logged], line: int):
    """A log as wild as these may carry a call whose results are cut out: it is pending in the view alone, and may go."""
    projection = project(entries)
    in_view = {call.id for call in projection.pending_tool_uses}
    run = {call.id for call in project([each for each in entries if not isinstance(each.entry, Compaction)]).pending_tool_uses}
    for made in plans_of(projection, line):
        compacted = after(entries, made)
        assert run & in_view <= {call.id for call in compacted.pending_tool_uses} <= in_view
        assert interruptions(compacted) <= interruptions(projection)


stretches = st.one_of(
    st.builds(talk, st.integers(1, 4), st.integers(1, 900)),
    st.builds(work, st.integers(1, 5), st.integers(1, 900)),
)


def nothing(*_: object) -> None:
    """No plan."""


@given(histories(), st.lists(stretches, max_size=12), st.sampled_from([1, 4]), lines, st.integers(0, 2_000))
def test_of_a_long_view_the_newest_messages_tell_the_same_as_all(
    first: list[Logged], then: list[list[Entry]], newest: int, line: int, tail: int
):
    entries = [logged.entry for logged in first]
    more = log(*entries, *(entry for stretch in then for entry in stretch))
    policy = replace(POLICY, goal_share=0.0, summary=replace(POLICY.summary, tail_tokens=tail, user_message_tokens=300, output_tokens=200))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ullage.context.policies.ullage.NEWEST", newest)
        of_the_newest = make(more, line, policy)
        patched.setattr("ullage.context.policies.ullage._from_the_newest", nothing)
        assert make(more, line, policy) == of_the_newest


def test_in_a_very_long_view_what_the_summary_covers_is_not_looked_at():
    policy = replace(POLICY, goal_share=0.0)
    entries = log(*(entry for _ in range(40) for entry in (*talk(4, 200), *work(1, 1_000))))
    counted: list[int] = []

    def watched(messages: Sequence[Message]) -> int:
        counted.append(len(messages))
        return characters(messages)

    made = usual_plan(project(entries), policy, 10_000, watched, no_digest)
    assert made is not None
    assert made.summarise_to is not None
    assert len(counted) < 200 < len(project(entries).messages)


def sources_of(projection: Projection) -> set[int]:
    brought = {logged.seq for logged in projection.entries if isinstance(logged.entry, Compaction)}
    return {source for message in projection.messages for source in message.sources} - brought


def interruptions(projection: Projection) -> int:
    return sum(line.count("Interrupted") for line in drawn(projection.messages))
