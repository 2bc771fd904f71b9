"""What holds of the view whatever the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, flat, log, prompt, reply, thought
from tests.unit.context.strategies import compactions, histories
from tests.unit.context.validity import problems
from ullage.context.blocks import CompactionBlock, RedactedThinking, Text, Thinking
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, Summarised
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, UserPrompt
from ullage.context.view.projection import EpochKey, Projection, project
from ullage.context.view.request import Request, build_request

ENDS_A_USER_MESSAGE = UserPrompt("p", "Go on, please.")
BLOCK = CompactionBlock('{"type":"compaction","content":"Block","signature":"s"}', "practice")


def followed_by(log: Sequence[Logged], *entries: Entry) -> list[Logged]:
    last = log[-1].seq
    return [*log, *(Logged(last + number, 0.0, entry) for number, entry in enumerate(entries, 1))]


def request_of(log: Sequence[Logged]) -> Request | None:
    """The request at the end of `log`; None where there is nothing to ask."""
    try:
        return build_request(project(log))
    except ValueError:
        return None


def active_compactions(log: Sequence[Logged]) -> dict[int, Compaction]:
    key = project(log).key
    return {logged.seq: logged.entry for logged in log if isinstance(logged.entry, Compaction) and logged.seq in key.seqs[1:]}


def is_thinking(block: object) -> bool:
    return isinstance(block, Thinking | RedactedThinking)


@given(histories())
def test_every_request_is_valid(log: list[Logged]):
    request = build_request(project(followed_by(log, ENDS_A_USER_MESSAGE)))
    assert problems(request) == []


@given(histories())
def test_every_request_on_the_way_is_valid(log: list[Logged]):
    projection = Projection()
    for logged in log:
        projection.append(logged)
        messages = projection.complete_messages
        if projection.prelude is not None and messages and messages[-1].role == "user":
            assert problems(build_request(projection)) == []


@given(histories())
def test_entry_by_entry_gives_the_same_view_as_all_at_once(log: list[Logged]):
    grown = Projection()
    for index, logged in enumerate(log, 1):
        grown.append(logged)
        whole = project(log[:index])
        assert grown.messages == whole.messages
        assert grown.complete_messages == whole.complete_messages
        assert grown.key == whole.key
        assert grown.pending_tool_uses == whole.pending_tool_uses


@given(histories())
def test_a_view_that_was_handed_out_never_changes(log: list[Logged]):
    projection = Projection()
    handed_out = [(projection.messages, list(projection.messages))]
    for logged in log:
        projection.append(logged)
        handed_out.append((projection.messages, list(projection.messages)))
    for view, as_it_was in handed_out:
        assert view == as_it_was


@given(histories())
def test_under_one_key_the_prefix_only_grows(log: list[Logged]):
    """A request may be made wherever what comes next shows that nothing more was to come for it."""
    sent: dict[EpochKey, Request] = {}
    projection = Projection()
    for logged in log:
        if isinstance(logged.entry, AssistantReply | UserPrompt | Notice):
            check_grown(sent, projection)
        projection.append(logged)
    check_grown(sent, projection)


def check_grown(sent: dict[EpochKey, Request], projection: Projection) -> None:
    try:
        request = build_request(projection)
    except ValueError:
        return
    before = sent.get(projection.key)
    if before is not None:
        blocks_before = flat(before.messages)
        assert flat(request.messages)[: len(blocks_before)] == blocks_before
    sent[projection.key] = request


@given(histories())
@example(log(prompt("go"), reply(thought("hm"), Text("Done.")), compaction("c1", summarised=Summarised(1, "Handoff", block=BLOCK))))
def test_thinking_goes_back_whole_under_the_key_it_was_made_under_and_else_not_at_all(log: list[Logged]):
    """But for blocks of the API itself that came since, which take the place of what stood before it."""
    projection = project(log)
    replayed: dict[int, list[object]] = {}
    for message in projection.messages:
        for block, source in zip(message.blocks, message.sources, strict=True):
            if is_thinking(block):
                replayed.setdefault(source, []).append(block)
    replies = {logged.seq: logged.entry for logged in log if isinstance(logged.entry, AssistantReply)}
    for seq, blocks in replayed.items():
        assert blocks == [block for block in replies[seq].blocks if is_thinking(block)]
        made_under, now = projection.key_at(seq).seqs, projection.key.seqs
        assert now[: len(made_under)] == made_under
        assert all(is_a_block_alone(projection.active_by_seq[each]) for each in now[len(made_under) :])


def is_a_block_alone(made: Compaction) -> bool:
    told = made.summarised
    return told is not None and told.block is not None and not (told.carried or made.cleared or made.snipped)


@given(histories(), st.data())
def test_undo_right_after_a_compaction_gives_back_the_request_there_was(log: list[Logged], data: st.DataObject):
    compaction = data.draw(compactions(len(log), 99))
    compacted = followed_by(log, compaction, CompactionUndone(compaction.id))
    assert project(compacted).key == project(log).key
    assert request_of(compacted) == request_of(log)


@given(histories(), st.data())
def test_undo_after_later_turns_gives_the_request_of_a_log_that_never_had_the_compaction(log: list[Logged], data: st.DataObject):
    """But for what was thought meanwhile: that was thought under another prefix, under which the API signed its blocks, too."""
    active = active_compactions(log)
    assume(active)
    seq = data.draw(st.sampled_from(sorted(active)))
    undone = followed_by(log, CompactionUndone(active[seq].id), ENDS_A_USER_MESSAGE)
    if any(later > seq and is_a_block_alone(made) for later, made in active.items()):
        undone = [without_thinking(logged) for logged in undone]
    projection = project(undone)
    never_had_it = [
        without_thinking(logged) if isinstance(logged.entry, AssistantReply) and seq in projection.key_at(logged.seq).seqs[1:] else logged
        for logged in undone
        if logged.seq != seq and not speaks_of(logged.entry, active[seq].id)
    ]
    assert request_of(undone) == request_of(never_had_it)


def without_thinking(logged: Logged) -> Logged:
    if not isinstance(logged.entry, AssistantReply):
        return logged
    return replace(logged, entry=replace(logged.entry, blocks=tuple(block for block in logged.entry.blocks if not is_thinking(block))))


def speaks_of(entry: Entry, compaction_id: str) -> bool:
    return isinstance(entry, CompactionUndone | CompactionRedone) and entry.compaction_id == compaction_id


@given(histories(), st.data())
def test_redo_after_undo_changes_nothing(log: list[Logged], data: st.DataObject):
    active = active_compactions(log)
    assume(active)
    id = data.draw(st.sampled_from([compaction.id for compaction in active.values()]))
    redone = followed_by(log, CompactionUndone(id), CompactionRedone(id))
    assert project(redone).key == project(log).key
    assert request_of(redone) == request_of(log)


@given(histories())
def test_what_the_user_said_is_in_view_unless_a_compaction_in_force_replaced_it(log: list[Logged]):
    replaced = [
        *((compaction.summarised.last_seq, 0) for compaction in active_compactions(log).values() if compaction.summarised),
        *(
            (compaction.snipped.last_seq, compaction.snipped.first_seq)
            for compaction in active_compactions(log).values()
            if compaction.snipped
        ),
    ]
    in_view = {source for message in project(log).messages for source in message.sources}
    for logged in log:
        if isinstance(logged.entry, UserPrompt) and logged.entry.text.strip():
            hidden = any(first <= logged.seq <= last for last, first in replaced)
            assert hidden or logged.seq in in_view


@given(histories(), st.data())
def test_a_preview_leaves_the_projection_as_it_is(log: list[Logged], data: st.DataObject):
    projection = project(log)
    before = list(projection.messages)
    compaction = Logged(log[-1].seq + 1, 0.0, data.draw(compactions(len(log), 99)))
    previewed = projection.with_appended(compaction)
    assert previewed.messages == project([*log, compaction]).messages
    assert list(projection.messages) == before
    assert len(projection.entries) == len(log)
