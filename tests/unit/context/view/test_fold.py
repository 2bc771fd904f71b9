from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.unit.context.logs import (
    PRELUDE,
    calls,
    compaction,
    drawn,
    log,
    prompt,
    reply,
    returned,
    says,
    thought,
)
from ullage.context.blocks import AssistantBlock, RedactedThinking, Text, Thinking
from ullage.context.compaction_entries import Cleared, Compaction, CompactionFailed
from ullage.context.entries import Attachment, Clipped, Entry, Logged, Notice, TurnEnded, UserPrompt
from ullage.context.view.epoch import EpochKey
from ullage.context.view.fold import Fold, Folds, GrownSequence
from ullage.context.view.projection import project

INTERRUPTED = "! Interrupted: this call did not finish, and it is not known what it did."


def check(entries: Sequence[Entry], expected: Sequence[str]) -> None:
    """The messages as they can be sent, drawn one a line."""
    assert drawn(project(log(*entries)).complete_messages) == list(expected)


class TestMessages:
    def test_a_turn(self):
        check(
            [prompt("fix it"), calls("t1"), returned("t1"), says("fixed"), TurnEnded("end_turn")],
            ["user: fix it", "assistant: t1()", "user: =t1 text of t1", "assistant: fixed"],
        )

    def test_neighbours_of_a_role_are_one_message(self):
        check(
            [prompt("one"), Notice("rules", "two"), prompt("three"), says("four"), says("five")],
            ["user: one | two | three", "assistant: four | five"],
        )

    def test_results_come_in_the_order_of_their_calls_and_before_all_texts(self):
        check(
            [prompt("go"), calls("t1", "t2", "t3"), returned("t3"), returned("t1"), returned("t2"), Notice("file_changed", "a.py changed")],
            ["user: go", "assistant: t1() | t2() | t3()", "user: =t1 text of t1 | =t2 text of t2 | =t3 text of t3 | a.py changed"],
        )

    def test_a_steering_prompt_follows_the_results(self):
        steering = replace(prompt("not there"), steering=True)
        check(
            [prompt("go"), calls("t1"), returned("t1"), steering, says("ok")],
            ["user: go", "assistant: t1()", "user: =t1 text of t1 | not there", "assistant: ok"],
        )

    def test_attachments_come_before_the_words_one_text_each(self):
        asked = UserPrompt("p", "what is it?", (Attachment("a.py", "x = 1"), Attachment("b.py", "y = 2")))
        check(
            [asked],
            ['user: <attachment name="a.py">\nx = 1\n</attachment> | <attachment name="b.py">\ny = 2\n</attachment> | what is it?'],
        )

    def test_what_is_for_the_user_alone_is_not_in_view(self):
        check(
            [PRELUDE, prompt("go"), CompactionFailed("c", "threshold", "no network"), TurnEnded("error", "no network"), prompt("again")],
            ["user: go | again"],
        )

    def test_every_block_says_which_entry_it_comes_from(self):
        projection = project(log(prompt("go"), calls("t1", "t2"), returned("t2"), TurnEnded("cancelled"), prompt("on")))
        assert [message.sources for message in projection.messages] == [(1,), (2, 2), (2, 3, 5)]


class TestRepair:
    def test_a_call_without_a_result_gets_one_that_says_so(self):
        check(
            [prompt("go"), calls("t1", "t2"), returned("t2"), prompt("what happened?")],
            ["user: go", "assistant: t1() | t2()", f"user: =t1 {INTERRUPTED} | =t2 text of t2 | what happened?"],
        )

    def test_also_where_the_next_entry_is_a_reply(self):
        check(
            [prompt("go"), calls("t1"), says("never mind")],
            ["user: go", "assistant: t1()", f"user: =t1 {INTERRUPTED}", "assistant: never mind"],
        )

    def test_also_where_nothing_follows(self):
        check(
            [prompt("go"), calls("t1", "t2"), returned("t2")],
            ["user: go", "assistant: t1() | t2()", f"user: =t1 {INTERRUPTED} | =t2 text of t2"],
        )

    def test_a_result_that_comes_after_words_were_said_is_dropped_since_a_request_may_have_gone_without_it(self):
        check(
            [prompt("go"), calls("t1"), prompt("stop"), returned("t1")],
            ["user: go", "assistant: t1()", f"user: =t1 {INTERRUPTED} | stop"],
        )

    def test_the_end_of_a_turn_is_no_words(self):
        check(
            [prompt("go"), calls("t1"), TurnEnded("cancelled"), returned("t1")],
            ["user: go", "assistant: t1()", "user: =t1 text of t1"],
        )

    def test_a_result_without_its_call_is_dropped(self):
        check([returned("t0"), prompt("go"), returned("t1"), says("ok"), returned("t2")], ["user: go", "assistant: ok"])

    def test_a_second_result_is_dropped(self):
        check(
            [prompt("go"), calls("t1"), returned("t1", "first"), returned("t1", "second")],
            ["user: go", "assistant: t1()", "user: =t1 first"],
        )

    def test_a_tool_use_id_that_comes_again_is_told_apart_with_its_result(self):
        check(
            [prompt("go"), calls("t1"), returned("t1", "first"), calls("t1"), returned("t1", "second")],
            ["user: go", "assistant: t1()", "user: =t1 first", "assistant: t1_4()", "user: =t1_4 second"],
        )

    def test_also_within_one_reply_where_results_are_taken_in_turn(self):
        check(
            [prompt("go"), calls("t1", "t1", "t1"), returned("t1", "first"), returned("t1", "second")],
            ["user: go", "assistant: t1() | t1_2() | t1_2_1()", f"user: =t1 first | =t1_2 second | =t1_2_1 {INTERRUPTED}"],
        )

    @pytest.mark.parametrize(("logged", "shown"), [("call:6.x", "call_6_x"), ("", "call")])
    def test_a_tool_use_id_that_the_api_does_not_take_is_mended(self, logged: str, shown: str):
        check([prompt("go"), calls(logged), returned(logged, "done")], ["user: go", f"assistant: {shown}()", f"user: ={shown} done"])

    def test_empty_texts_and_empty_replies_are_dropped(self):
        check(
            [prompt(" \n"), prompt("go"), Notice("rules", ""), reply(Text(""), Text("ok"), Text("\n")), prompt("and?"), reply(), says(" ")],
            ["user: go", "assistant: ok", "user: and?"],
        )

    def test_an_empty_result_says_that_it_is_empty(self):
        check([prompt("go"), calls("t1"), returned("t1", "")], ["user: go", "assistant: t1()", "user: =t1 (no output)"])

    def test_what_the_model_said_before_any_user_is_dropped(self):
        check([says("hello"), calls("t1"), returned("t1"), prompt("go"), says("ok")], ["user: go", "assistant: ok"])

    @pytest.mark.parametrize(
        "blocks",
        [
            (Thinking("cut off", ""), Text("ok")),
            (thought("one"), Thinking("cut off", ""), Text("ok")),
            (thought("one"), Text("ok"), thought("two")),
            (RedactedThinking(""), Text("ok")),
        ],
    )
    def test_thinking_of_which_a_part_cannot_go_back_does_not_go_back_at_all(self, blocks: Sequence[AssistantBlock]):
        check([prompt("go"), reply(*blocks)], ["user: go", "assistant: ok"])

    def test_a_reply_of_thinking_alone_is_dropped(self):
        check([prompt("go"), reply(thought("hm")), prompt("well?")], ["user: go | well?"])


class TestClipped:
    """A result that is shortened once its siblings are there."""

    def test_it_takes_the_place_of_the_result(self):
        check(
            [prompt("go"), calls("t1", "t2"), returned("t1"), returned("t2"), Clipped(3, "head and tail", "t1.txt"), says("ok")],
            ["user: go", "assistant: t1() | t2()", "user: =t1 head and tail | =t2 text of t2", "assistant: ok"],
        )

    def test_what_may_have_been_sent_stays(self):
        check(
            [prompt("go"), calls("t1"), returned("t1"), says("ok"), Clipped(3, "head and tail", "t1.txt")],
            ["user: go", "assistant: t1()", "user: =t1 text of t1", "assistant: ok"],
        )

    def test_it_shows_at_once(self):
        projection = project(log(prompt("go"), calls("t1"), returned("t1")))
        assert drawn(projection.messages)[-1] == "user: =t1 text of t1"
        projection.append(Logged(4, 0.0, Clipped(3, "head and tail", "t1.txt")))
        assert drawn(projection.messages)[-1] == "user: =t1 head and tail"

    def test_a_cleared_result_stays_cleared(self):
        clipped = [prompt("go"), calls("t1"), returned("t1"), Clipped(3, "head and tail", "t1.txt"), says("ok")]
        check(
            [*clipped, compaction("c", cleared=[Cleared(3, "[cleared]")])],
            ["user: go", "assistant: t1()", "user: =t1 [cleared]", "assistant: ok"],
        )


class TestPendingToolUses:
    @pytest.mark.parametrize(
        ("entries", "pending"),
        [
            ([prompt("go")], []),
            ([prompt("go"), calls("t1", "t2")], ["t1", "t2"]),
            ([prompt("go"), calls("t1", "t2"), returned("t1")], ["t2"]),
            ([prompt("go"), calls("t1", "t2"), returned("t2"), returned("t1")], []),
            ([prompt("go"), calls("t1"), TurnEnded("interrupted")], ["t1"]),
            ([prompt("go"), calls("t1"), prompt("on")], []),
            ([prompt("go"), calls("t1"), returned("t1"), calls("t1")], ["t1"]),
        ],
    )
    def test_they_are_the_calls_that_may_still_get_a_result(self, entries: Sequence[Entry], pending: Sequence[str]):
        assert [call.id for call in project(log(*entries)).pending_tool_uses] == pending

    def test_messages_have_the_results_that_there_are(self):
        projection = project(log(prompt("go"), calls("t1", "t2"), returned("t2")))
        assert drawn(projection.messages) == ["user: go", "assistant: t1() | t2()", "user: =t2 text of t2"]


CLEARING = compaction("c1", cleared=[Cleared(3, "gone")])


@pytest.mark.parametrize(
    ("now", "serves"),
    [
        ({5: CLEARING}, True),
        ({5: replace(CLEARING, cost=0.5)}, True),
        ({5: replace(CLEARING, cleared=(Cleared(3, "other"),))}, False),
        ({5: replace(CLEARING, resume="Go on.")}, False),
        ({6: CLEARING}, False),
        ({5: CLEARING, 6: CLEARING}, False),
        ({}, False),
    ],
)
def test_a_fold_is_gone_on_with_only_where_its_compactions_still_make_the_same_of_the_view(now: dict[int, Compaction], serves: bool):
    folds, key = Folds(), EpochKey(1)
    folds.set_aside(key, Fold(), 7, {5: CLEARING})
    assert (folds.take(key, now) is not None) is serves


def test_it_is_a_sequence_of_what_had_grown_and_the_rest():
    snapshot = GrownSequence(["a", "b", "c"], 2, ("x", "y"))
    assert list(snapshot) == ["a", "b", "x", "y"]
    assert len(snapshot) == 4
    assert [snapshot[index] for index in range(-4, 4)] == ["a", "b", "x", "y"] * 2
    assert snapshot[1:3] == ["b", "x"]
    assert snapshot[-3:] == ["b", "x", "y"]
    assert snapshot[::-1] == ["y", "x", "b", "a"]


@pytest.mark.parametrize("index", [4, -5])
def test_beyond_its_ends_there_is_nothing(index: int):
    with pytest.raises(IndexError):
        GrownSequence(["a", "b", "c"], 2, ("x", "y"))[index]


def test_it_stays_as_it_is_while_what_it_looks_at_grows():
    grown = ["a", "b"]
    snapshot = GrownSequence(grown, 2, ("x",))
    grown.append("c")
    assert list(snapshot) == ["a", "b", "x"]


def test_it_is_equal_to_any_sequence_with_equal_items():
    snapshot = GrownSequence([1, 2, 3], 2, (4,))
    assert snapshot == [1, 2, 4]
    assert snapshot == GrownSequence([1], 1, (2, 4))
    assert snapshot != [1, 2]
    assert snapshot != [1, 2, 5]
    assert snapshot != 7
