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
    session,
    thought,
    use,
)
from ullage.context.blocks import AssistantBlock, RedactedThinking, SystemPart, Text, Thinking
from ullage.context.entries import (
    Attachment,
    Cleared,
    Clipped,
    CompactionFailed,
    CompactionRedone,
    CompactionUndone,
    Entry,
    Logged,
    Notice,
    Prelude,
    RestoredFile,
    Snipped,
    Summarised,
    TurnEnded,
    UserPrompt,
)
from ullage.context.view import Projection, project

OTHER_PRELUDE = Prelude((SystemPart("system", "You are another agent."),), ())
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


CONVERSATION = [
    prompt("one"),  # 1
    reply(thought("hm"), use("t1")),  # 2
    returned("t1"),  # 3
    reply(thought("aha"), Text("two")),  # 4
    prompt("three"),  # 5
    reply(thought("so"), Text("four")),  # 6
]
WITHOUT_THINKING = ["user: one", "assistant: t1()", "user: =t1 text of t1", "assistant: two", "user: three", "assistant: four"]
WITH_THINKING = [
    "user: one",
    "assistant: (hm) | t1()",
    "user: =t1 text of t1",
    "assistant: (aha) | two",
    "user: three",
    "assistant: (so) | four",
]


class TestCompactions:
    def test_a_summary_stands_at_the_head_for_all_before_it(self):
        check([*CONVERSATION, compaction("c", summarised=Summarised(4, "Handoff"))], ["user: Handoff | three", "assistant: four"])

    def test_what_is_restored_stands_where_the_compaction_does_after_what_came_since_it_was_planned(self):
        restored = [RestoredFile("a.py", "a.py again", "whole", ""), RestoredFile("b.py", "b.py again", "whole", "")]
        check(
            [*CONVERSATION, prompt("five"), compaction("c", summarised=Summarised(5, "Handoff"), restored=restored, resume="Go on.")],
            ["user: Handoff", "assistant: four", "user: five | a.py again | b.py again | Go on."],
        )

    def test_a_snipped_range_gives_way_to_its_marker(self):
        check(
            [*CONVERSATION, compaction("c", snipped=Snipped(2, 4, "[snipped]"))],
            ["user: one | [snipped] | three", "assistant: four"],
        )

    def test_a_cleared_result_is_its_placeholder(self):
        expected = [line.replace("text of t1", "[cleared]") for line in WITHOUT_THINKING]
        check([*CONVERSATION, compaction("c", cleared=[Cleared(3, "[cleared]")])], expected)

    def test_a_later_summary_takes_the_place_of_an_earlier_one_and_of_what_that_restored(self):
        first = compaction("c1", summarised=Summarised(4, "Handoff 1"), restored=[RestoredFile("a.py", "a.py again", "", "")])
        second = compaction("c2", summarised=Summarised(9, "Handoff 2"))
        check([*CONVERSATION, first, prompt("five"), says("six"), prompt("seven"), second], ["user: Handoff 2 | seven"])

    def test_of_two_summaries_the_one_that_reaches_further_stands_so_that_nothing_between_them_is_lost(self):
        further = compaction("c1", summarised=Summarised(5, "Handoff up to three"))
        less_far = compaction("c2", summarised=Summarised(2, "Handoff up to one"))
        check([*CONVERSATION, further, less_far], ["user: Handoff up to three", "assistant: four"])

    def test_snips_that_overlap_both_stand(self):
        check(
            [*CONVERSATION, compaction("c1", snipped=Snipped(1, 4, "[first]")), compaction("c2", snipped=Snipped(2, 5, "[second]"))],
            ["user: [first] | [second]", "assistant: four"],
        )

    def test_what_was_restored_after_the_range_of_a_later_summary_stays(self):
        first = compaction("c1", summarised=Summarised(4, "Handoff 1"), restored=[RestoredFile("a.py", "a.py again", "", "")])
        second = compaction("c2", summarised=Summarised(6, "Handoff 2"))
        check([*CONVERSATION, first, prompt("five"), second], ["user: Handoff 2 | a.py again | five"])

    def test_a_summary_covers_the_snips_within_it(self):
        snipped = compaction("c1", snipped=Snipped(2, 3, "[snipped]"))
        check([*CONVERSATION, snipped, compaction("c2", summarised=Summarised(4, "Handoff"))], ["user: Handoff | three", "assistant: four"])

    def test_a_wider_snip_covers_a_narrower_one(self):
        narrow = compaction("c1", snipped=Snipped(2, 3, "[narrow]"))
        wide = compaction("c2", snipped=Snipped(2, 4, "[wide]"))
        check([*CONVERSATION, narrow, wide], ["user: one | [wide] | three", "assistant: four"])
        check(
            [*CONVERSATION, narrow, wide, CompactionUndone("c2")],
            ["user: one | [narrow]", "assistant: two", "user: three", "assistant: four"],
        )

    def test_no_compaction_reaches_past_its_own_place(self):
        check([*CONVERSATION, compaction("c", summarised=Summarised(99, "Handoff")), prompt("five")], ["user: Handoff | five"])

    def test_a_cut_between_a_call_and_its_result_still_makes_a_valid_view(self):
        check(
            [*CONVERSATION, compaction("c", summarised=Summarised(2, "Handoff"))],
            ["user: Handoff", "assistant: two", "user: three", "assistant: four"],
        )


class TestUndoAndRedo:
    COMPACTED = (*CONVERSATION, compaction("c1", summarised=Summarised(4, "Handoff")))

    def test_undo_gives_back_what_there_was_with_its_thinking(self):
        check(CONVERSATION, WITH_THINKING)
        check([*self.COMPACTED, CompactionUndone("c1")], WITH_THINKING)

    def test_redo_takes_the_undo_back(self):
        check([*self.COMPACTED, CompactionUndone("c1"), CompactionRedone("c1")], ["user: Handoff | three", "assistant: four"])

    def test_what_was_thought_in_between_goes_back_only_where_it_was_thought(self):
        later = (*self.COMPACTED, prompt("five"), reply(thought("later"), Text("six")))
        check(later, ["user: Handoff | three", "assistant: four", "user: five", "assistant: (later) | six"])
        check([*later, CompactionUndone("c1")], [*WITH_THINKING, "user: five", "assistant: six"])
        check(
            [*later, CompactionUndone("c1"), CompactionRedone("c1")],
            ["user: Handoff | three", "assistant: four", "user: five", "assistant: (later) | six"],
        )

    def test_an_earlier_compaction_can_be_undone_while_a_later_stays(self):
        later = compaction("c2", cleared=[Cleared(3, "[cleared]")])
        expected = [line.replace("text of t1", "[cleared]") for line in WITHOUT_THINKING]
        check([*self.COMPACTED, later, CompactionUndone("c1")], expected)

    def test_an_undo_before_there_is_such_a_compaction_does_nothing(self):
        check([*CONVERSATION, CompactionUndone("c1"), compaction("c1", summarised=Summarised(6, "Handoff"))], ["user: Handoff"])

    def test_what_is_undone_and_what_is_active_is_told(self):
        projection = project(log(*self.COMPACTED, compaction("c2"), CompactionUndone("c1")))
        assert [each.id for each in projection.active] == ["c2"]
        assert [each.id for each in projection.undone] == ["c1"]

    @pytest.mark.parametrize(
        "entry",
        [CompactionUndone("no such"), CompactionRedone("c1"), CompactionRedone("no such"), PRELUDE],
        ids=lambda entry: str(entry)[:40],
    )
    def test_what_changes_nothing_keeps_the_key(self, entry: Entry):
        before = [PRELUDE, *self.COMPACTED]
        assert project(log(*before, entry)).key == project(log(*before)).key


class TestKeys:
    def test_a_key_names_the_prelude_and_the_compactions_in_force(self):
        entries = session(*CONVERSATION, compaction("c1"), compaction("c2"), CompactionUndone("c1"), OTHER_PRELUDE)
        keys = [project(entries[:length]).key for length in range(len(entries) + 1)]
        assert keys == [(0,), *[(1,)] * 7, (1, 8), (1, 8, 9), (1, 9), (11, 9)]

    def test_a_reply_keeps_the_key_it_was_made_under(self):
        projection = project(session(prompt("one"), says("two"), compaction("c"), prompt("three"), says("four")))
        assert projection.key_at(3) == (1,)
        assert projection.key_at(6) == (1, 4)

    @pytest.mark.parametrize("seq", [1, 2, 99])
    def test_what_is_no_reply_has_no_key(self, seq: int):
        with pytest.raises(KeyError):
            project(session(prompt("one"), says("two"))).key_at(seq)

    def test_a_changed_prelude_takes_all_thinking_out(self):
        check([PRELUDE, *CONVERSATION, OTHER_PRELUDE], WITHOUT_THINKING)
        check([PRELUDE, *CONVERSATION, PRELUDE], WITH_THINKING)

    def test_the_newest_prelude_is_in_force(self):
        assert project([]).prelude is None
        assert project(log(PRELUDE, prompt("one"), OTHER_PRELUDE)).prelude == OTHER_PRELUDE


class TestProjection:
    def test_entries_out_of_order_are_refused(self):
        projection = project(log(prompt("one"), prompt("two")))
        with pytest.raises(ValueError, match="entry 2 comes after entry 2"):
            projection.append(Logged(2, 0.0, prompt("three")))

    def test_a_cut_is_turned_into_the_seq_that_it_is_at(self):
        snipped = compaction("c1", snipped=Snipped(3, 4, "[snipped]"))
        projection = project(
            log(*CONVERSATION, prompt("five"), says("six"), snipped, compaction("c2", summarised=Summarised(2, "Handoff")))
        )
        assert drawn(projection.messages) == ["user: Handoff | [snipped] | three", "assistant: four", "user: five", "assistant: six"]
        assert [projection.last_seq_before(cut) for cut in range(5)] == [0, 5, 6, 7, 8]

    def test_a_turn_costs_what_is_new(self):
        """Appending and asking touches no old message: they are the very same objects as before."""
        entries = session(*(entry for number in range(200) for entry in (prompt(str(number)), says("ok"))))
        projection = Projection(entries)
        before = list(projection.messages)
        projection.append(Logged(len(entries) + 1, 0.0, prompt("new")))
        after = projection.messages
        assert len(after) == len(before) + 1
        assert all(mine is theirs for mine, theirs in zip(before[:-1], after, strict=False))
