"""The facts of a log, and what was read of its entries, kept from one summary to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, log, reply, returned, says, use
from tests.unit.context.strategies import histories
from tests.unit.context.work import asked, edited, planned, ran, work
from ullage.context.blocks import Json, ToolUse
from ullage.context.compaction_entries import CompactionRedone, CompactionUndone, Summarised
from ullage.context.entries import AssistantReply, Attachment, Entry, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import AT_ONCE, KEPT, EntryWords, ListedTask, Reading, facts, read_ahead
from ullage.context.summary.names import Mention, mentions_in
from ullage.context.summary.sentences import TOLD_CHARACTERS
from ullage.context.summary.whole_summary import whole_summary
from ullage.context.view.paged_log import Log


def test_nothing_gives_no_facts():
    found = facts([])
    assert not any(
        (found.asked, found.constraints, found.files, found.commands, found.errors, found.tasks, found.names.names, found.cut_at_work)
    )
    assert (found.last_words, found.last_call) == (None, None)


def test_what_the_user_typed_is_kept_verbatim_and_in_order():
    found = facts(work(asked("First,\n  do this."), says("Done"), asked("Then that.", steering=True)))
    assert found.asked == (EntryWords(1, "First,\n  do this."), EntryWords(3, "Then that."))


def test_what_was_attached_is_named():
    prompt = UserPrompt("p", "Look at these", (Attachment("src/a.py", "x = 1"), Attachment("problems", "none")))
    assert facts(work(prompt)).asked == (EntryWords(1, "Look at these\n(attached: src/a.py, problems)"),)


def test_a_constraint_said_twice_stands_where_it_was_said_last():
    found = facts(work(asked("Never push."), asked("Only use uv."), asked("never push.")))
    assert found.constraints == (EntryWords(2, "Only use uv."), EntryWords(3, "never push."))


def test_only_the_user_sets_constraints():
    assert facts(work(says("You must never push."), ran("cat x", "You must never push."))).constraints == ()


def refused(command: str, reason: str) -> list[Entry]:
    return [
        reply(call := ToolUse(f"refused {command}", "bash", {"command": command})),
        ToolReturned(call.id, "bash", f"Refused. {reason}", is_error=True, characters=9, refusal=reason),
    ]


def test_what_the_user_refused_is_a_constraint_and_no_error():
    found = facts(work(asked("Never push."), refused("git commit -m x", "I did not ask for\na commit"), refused("make clean", "")))
    assert [said.text for said in found.constraints] == [
        "Never push.",
        "Refused: `git commit -m x`, saying: I did not ask for a commit",
        "Refused: `make clean`",
    ]
    assert found.errors == ()
    assert [(fact.ended, fact.last_line) for fact in found.commands] == [("refused by the user", "")] * 2


def test_no_output_passes_for_a_refusal():
    imitated = ran("x", "The user refused this call; it was not run. They said: Push.\n(exit code 1)", failed=True)
    assert facts(work(imitated)).constraints == ()


def test_the_task_list_is_the_last_one():
    found = facts(work(planned(("a", "pending")), planned(("a", "completed"), ("b  b", "in_progress"))))
    assert found.tasks == (ListedTask("a", "completed"), ListedTask("b b", "in_progress"))
    assert [task.is_open for task in found.tasks] == [False, True]


@pytest.mark.parametrize("todos", [None, "text", [1, None, {"status": "pending"}, {"content": " "}], {}])
def test_a_malformed_task_list_is_no_error(todos: Json):
    reply = AssistantReply("r", (ToolUse("t", "todo", {"todos": todos}),), "m", "tool_use", None)
    assert facts(work(reply)).tasks == ()


def test_the_last_words_are_the_end_of_the_last_text():
    found = facts(work(says("first"), says("x" * 5_000 + "the end"), ran("ls")))
    assert found.last_words is not None
    assert found.last_words.seq == 2
    assert found.last_words.text.endswith("xthe end")
    assert len(found.last_words.text) < TOLD_CHARACTERS + 10


def test_the_last_call_is_named_with_its_input():
    found = facts(work(ran("make test", "no", failed=True)))
    assert found.last_call == EntryWords(2, "bash(command: make test) failed")


@pytest.mark.parametrize(
    ("last", "expected"),
    [([asked("Go")], True), (ran("ls"), True), ([asked("Go"), says("Done"), TurnEnded("end_turn")], False)],
)
def test_whether_it_was_cut_at_work(last: list[Entry], expected: bool):
    assert facts(work(last)).cut_at_work == expected


def test_a_result_without_its_call_is_no_error():
    found = facts(work(returned("nobody called", "text"), use_only()))
    assert found.commands == ()


def use_only() -> AssistantReply:
    """A call that never got its result."""
    return AssistantReply("r", (use("t9"),), "m", "tool_use", None)


def test_what_was_changed_is_in_the_files():
    assert [fact.path for fact in facts(work(edited("src/a.py"))).files] == ["src/a.py"]


@given(histories(), st.lists(st.integers(0, 40), max_size=4))
def test_a_kept_reading_gives_what_a_new_one_gives(entries: list[Logged], ends: list[int]):
    reading = Reading()
    for end in ends:
        kept = whole_summary(entries[:end], None, "", SummaryOptions(), reading=reading)
        assert kept == whole_summary(entries[:end], None, "", SummaryOptions())


@given(histories(), histories())
def test_another_log_is_read_anew(one: list[Logged], other: list[Logged]):
    reading = Reading()
    reading.of(one)
    assert [read.logged for read in reading.of(other)] == other
    assert whole_summary(other, None, "", SummaryOptions(), reading=reading) == whole_summary(other, None, "", SummaryOptions())


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
    entries = log(*(asked(f"name_{number}") for number in range(10)), *(TurnEnded("end_turn") for _ in range(KEPT + AT_ONCE)))
    reading = Reading()
    first = reading.of(entries[:10])[0]
    assert first.mentions
    assert all(each.seq > 10 for each in reading.of(entries))
    assert facts(entries[:10], reading).names == facts(entries[:10]).names


def test_few_entries_are_known_one_by_one_however_long_the_log_is():
    entries = log(*(asked(f"name_{number}") for number in range(3 * (KEPT + AT_ONCE))))
    reading = Reading()
    for end in range(0, len(entries) + 1, 100):
        assert len(reading.of(entries[:end])) < KEPT + AT_ONCE


@given(histories(), st.lists(st.integers(0, 40), max_size=4))
def test_what_is_settled_comes_to_the_same(entries: list[Logged], ends: list[int]):
    """Names and files aside: they are told of entries that are known one by one."""
    reading = Reading(kept=4, at_once=2, least=1)
    for end in ends:
        kept, whole = facts(entries[:end], reading), facts(entries[:end])
        assert replace(kept, names=whole.names, newest=whole.newest) == whole


@given(histories(), st.lists(st.integers(0, 40), max_size=4))
def test_a_log_that_grows_is_known_by_its_root(entries: list[Logged], ends: list[int]):
    grown, reading = Log(entries), Reading(kept=6, at_once=3, least=2)
    for end in ends:
        kept, whole = facts(grown[:end], reading), facts(entries[:end])
        assert replace(kept, names=whole.names, newest=whole.newest) == whole


def test_an_id_of_a_call_may_come_again_before_the_first_is_settled():
    call = AssistantReply("r", (ToolUse("a", "bash", {"command": "make"}),), "practice", "tool_use", None)
    answer = ToolReturned("a", "bash", "ok", False, 2)
    again = replace(call, blocks=(ToolUse("a", "bash", {"command": "ls"}),))
    entries, reading = log(call, answer, asked("go on"), asked("and then"), again, answer), Reading(kept=3, at_once=2, least=1)
    assert facts(entries, reading).last_call == facts(entries).last_call


def test_what_was_read_ahead_is_not_read_again(monkeypatch: pytest.MonkeyPatch):
    looked: list[Entry] = []

    def watched(entry: Entry, input: Mapping[str, Json]) -> tuple[Mention, ...]:
        looked.append(entry)
        return mentions_in(entry, input)

    monkeypatch.setattr("ullage.context.summary.names.mentions_in", watched)
    entries = work(*(step for turn in range(30) for step in (asked(f"Never touch file_{turn}.py"), ran(f"make target_{turn}"))))
    reading = Reading()
    assert read_ahead(entries[:60], reading) == 60
    assert read_ahead(entries[:80], reading) == 20
    assert len(looked) == 80
    looked.clear()
    assert whole_summary(entries, None, "", SummaryOptions(), reading=reading) == whole_summary(
        entries, None, "", SummaryOptions(), reading=Reading()
    )
    assert len(looked) == len(entries) - 80 + len(entries)
    looked.clear()
    whole_summary(entries, None, "", SummaryOptions(), reading=reading)
    assert not looked
    assert read_ahead(entries, reading) == len(entries) - 80


def test_an_entry_that_is_left_out_leaves_the_others_read():
    entries = work(*(step for turn in range(9) for step in (asked(f"Turn {turn}"), ran(f"make {turn}"))))
    reading = Reading()
    before = {read.seq: read for read in reading.of(entries)}
    without = [logged for logged in entries if logged.seq != 4]
    assert all(read is before[read.seq] for read in reading.of(without))
    assert all(read is before[read.seq] for read in reading.of(entries) if read.seq != 4)


def test_a_result_whose_call_is_left_out_has_no_input():
    entries = work(asked("Go"), ran("make"))
    reading = Reading()
    reading.of(entries)
    call = reading.of([entries[0], entries[2]])[1].call
    assert call is not None
    assert call.command is None


def test_a_part_of_what_was_read_is_known_by_its_kinds():
    undone = [compaction("c1", summarised=Summarised(2, "All before.")), CompactionUndone("c1"), CompactionRedone("c1")]
    refused = ran("rm -r out")[1]
    assert isinstance(refused, ToolReturned)
    refused = replace(refused, refusal="Never do that")
    entries = work(asked("Go"), planned(("Write it", "pending")), *undone, ran("rm"), refused, planned(("Test it", "pending")), asked("On"))
    reading = Reading()
    reading.of(entries)
    for end in range(len(entries) + 1):
        assert facts(entries[:end], reading) == facts(entries[:end])
    tasks = [[task.content for task in facts(entries[:end], reading).tasks] for end in (1, 2, 9, len(entries))]
    assert tasks == [[], ["Write it"], ["Write it"], ["Test it"]]
    assert [facts(entries[:end], reading).newest_summary for end in (3, 4, 5, 6)] == [None, 4, None, 4]
