from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.unit.context.logs import (
    PRELUDE,
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
from ullage.context.blocks import SystemPart, Text
from ullage.context.compaction_entries import Cleared, CompactionRedone, CompactionUndone, RestoredFile, Snipped, Summarised
from ullage.context.entries import Entry, Logged, Prelude
from ullage.context.view.projection import Projection, project

OTHER_PRELUDE = Prelude((SystemPart("system", "You are another agent."),), ())


def check(entries: Sequence[Entry], expected: Sequence[str]) -> None:
    """The messages as they can be sent, drawn one a line."""
    assert drawn(project(log(*entries)).complete_messages) == list(expected)


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
        keys = [project(entries[:length]).key.seqs for length in range(len(entries) + 1)]
        assert keys == [(0,), *[(1,)] * 7, (1, 8), (1, 8, 9), (1, 9), (11, 9)]

    def test_a_reply_keeps_the_key_it_was_made_under(self):
        projection = project(session(prompt("one"), says("two"), compaction("c"), prompt("three"), says("four")))
        assert projection.key_at(3).seqs == (1,)
        assert projection.key_at(6).seqs == (1, 4)

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
