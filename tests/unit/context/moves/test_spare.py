"""What is pinned stays, whatever is planned."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, characters, compaction, drawn, prompt, returned, says, session
from tests.unit.context.strategies import planned_histories
from tests.unit.context.validity import problems
from ullage.context.compaction_entries import Cleared, Snipped, Summarised
from ullage.context.entries import AssistantReply, EntryPinned, Logged, ToolReturned, UserPrompt
from ullage.context.moves.plan import Plan, spare
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT

HISTORY = session(
    prompt("first"), calls("t1"), returned("t1", "a result"), says("done"), prompt("second"), says("done too"), EntryPinned(4, True)
)
EMPTY = Plan(8, (), None, None, 0, 0)


def test_a_pinned_result_is_not_cleared():
    view = Projection(HISTORY)
    assert spare(replace(EMPTY, cleared=(Cleared(4, "gone"),)), view, characters) is None


def test_a_pinned_result_stands_after_the_summary_that_covers_it():
    view = Projection(HISTORY)
    planned = spare(replace(EMPTY, summarise_to=5, covers=4), view, characters)
    assert planned is not None
    assert planned.carried == (3, 4)
    view.append(Logged(9, 0.0, compaction("c", summarised=Summarised(5, "The record", 4, carried=planned.carried))))
    assert drawn(view.messages) == ["user: The record", "assistant: t1()", "user: =t1 a result | second", "assistant: done too"]


def test_a_pinned_message_stands_after_the_marker_of_a_snip():
    view = Projection([*HISTORY[:-1], Logged(8, 0.0, EntryPinned(6, True))])
    planned = spare(replace(EMPTY, snipped=Snipped(3, 6, "[cut]")), view, characters)
    assert planned is not None
    assert planned.snipped is not None
    view.append(Logged(9, 0.0, compaction("c", snipped=planned.snipped)))
    assert drawn(view.messages) == ["user: first | [cut] | second", "assistant: done too"]


def test_of_what_is_pinned_a_result_that_was_taken_out_is_still_told_to_be_and_its_call_is_not_left_alone():
    out = compaction("x", cleared=[Cleared(4, EXCLUDED_RESULT)])
    view = Projection([*HISTORY, Logged(9, 0.0, out)])
    planned = spare(replace(EMPTY, summarise_to=6, cleared=(Cleared(4, "gone"),)), view, characters)
    assert planned is not None
    assert (planned.carried, planned.cleared) == ((3, 4), ())
    view.append(Logged(10, 0.0, compaction("c", summarised=Summarised(6, "The record", 4, carried=planned.carried))))
    assert drawn(view.messages) == ["user: The record", "assistant: t1()", f"user: =t1 {EXCLUDED_RESULT}", "assistant: done too"]


def test_of_what_is_pinned_a_message_that_was_taken_out_stays_out():
    out = compaction("x", snipped=Snipped(3, 4, EXCLUDED_MESSAGE))
    view = Projection([*HISTORY, Logged(9, 0.0, out)])
    planned = spare(replace(EMPTY, summarise_to=6), view, characters)
    assert planned is not None
    assert planned.carried == ()


def test_with_nothing_pinned_a_plan_stays_as_it_is():
    planned = replace(EMPTY, summarise_to=5, cleared=(Cleared(4, "gone"),))
    assert spare(planned, Projection(HISTORY[:-1]), characters) is planned


@given(planned_histories(), st.data())
def test_pinned_entries_in_view_are_in_view_after_any_summary(history: list[Logged], data: st.DataObject):
    last = history[-1].seq
    candidates = [each.seq for each in history if isinstance(each.entry, UserPrompt | AssistantReply | ToolReturned)]
    pinned = data.draw(st.sets(st.sampled_from(candidates), max_size=3)) if candidates else set[int]()
    entries = [*history, *(Logged(last + number, 0.0, EntryPinned(seq, True)) for number, seq in enumerate(sorted(pinned), 1))]
    before = Projection(entries)
    shown = {source for message in before.messages for source in message.sources}
    planned = spare(Plan(entries[-1].seq, (), None, data.draw(st.integers(1, last)), 1, 0), before, characters)
    assert planned is not None
    summary = Summarised(planned.summarise_to or 0, "The record", 1, carried=planned.carried)
    after = before.with_appended(Logged(entries[-1].seq + 1, 0.0, compaction("made", summarised=summary)))
    shown_after = {source for message in after.messages for source in message.sources}
    thought_alone = {each.seq for each in history if isinstance(each.entry, AssistantReply) and not _says(each.entry)}
    assert (shown & Projection(entries).pinned_entries) - thought_alone <= shown_after
    if after.messages and after.messages[-1].role == "user":
        assert problems(build_request(after)) == []


def _says(reply: AssistantReply) -> bool:
    return any(getattr(block, "text", "").strip() or hasattr(block, "input") for block in reply.blocks)
