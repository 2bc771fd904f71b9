from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import calls, characters, compaction, drawn, log, prompt, reply, returned, says, session
from tests.unit.context.strategies import histories, paths, planned_histories
from tests.unit.context.validity import problems
from ullage.context.blocks import Message, ToolUse
from ullage.context.compaction.exclusion import EXCLUDED_MESSAGE, EXCLUDED_RESULT, as_planned, exclude, exclude_file, rewordings
from ullage.context.compaction_entries import Compaction, CompactionRedone, CompactionUndone, RestoredFile, Snipped, Summarised
from ullage.context.engines.engine import Covered
from ullage.context.entries import Attachment, Entry, FilePinned, FileTouch, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.moves.plan import Plan
from ullage.context.policies.ullage import ULLAGE
from ullage.context.summary.nearby import nearby_text
from ullage.context.summary.words import TOKEN
from ullage.context.view.fates import touches_in_view
from ullage.context.view.projection import Projection
from ullage.context.view.quotations import files_out, without_excluded
from ullage.context.view.request import build_request
from ullage.context.view.taken_out import excluded_file

# 1 the prelude, 2 a prompt, 3 two calls, 4 and 5 their results, 6 a last word, 7 a prompt
TURN = session(prompt("go"), calls("t1", "t2"), returned("t1", "one"), returned("t2", "two"), says("done"), prompt("more"))


def after_excluding(entries: Sequence[Logged], seq: int) -> Projection | None:
    before = Projection(entries)
    planned = exclude(before, seq, characters)
    if planned is None:
        return None
    made = compaction("x", cleared=planned.cleared, snipped=planned.snipped)
    return before.with_appended(Logged(entries[-1].seq + 1, 0.0, made))


@pytest.mark.parametrize(
    ("seq", "shown"),
    [
        (2, [f"user: {EXCLUDED_MESSAGE}", "assistant: t1() | t2()", "user: =t1 one | =t2 two", "assistant: done", "user: more"]),
        (3, [f"user: go | {EXCLUDED_MESSAGE}", "assistant: done", "user: more"]),
        (4, ["user: go", "assistant: t1() | t2()", f"user: =t1 {EXCLUDED_RESULT} | =t2 two", "assistant: done", "user: more"]),
        (6, ["user: go", "assistant: t1() | t2()", f"user: =t1 one | =t2 two | {EXCLUDED_MESSAGE} | more"]),
    ],
)
def test_the_model_no_longer_sees_it(seq: int, shown: list[str]):
    after = after_excluding(TURN, seq)
    assert after is not None
    assert drawn(after.messages) == shown


@pytest.mark.parametrize("seq", [1, 99])
def test_what_is_not_in_view_cannot_be_taken_out(seq: int):
    assert exclude(Projection(TURN), seq, characters) is None


@given(histories(), st.data())
def test_whatever_is_taken_out_the_request_is_valid_and_can_be_brought_back(history: list[Logged], data: st.DataObject):
    before = Projection(history)
    after = after_excluding(history, data.draw(st.sampled_from([each.seq for each in history])))
    if after is None:
        return
    if after.messages and after.messages[-1].role == "user":
        assert problems(build_request(after)) == []
    back = after.with_appended(Logged(after.entries[-1].seq + 1, 0.0, CompactionUndone("x")))
    assert list(back.messages) == list(before.messages)


TEXT = "the text of the file"
PLACEHOLDER = excluded_file("a.py")
TOUCH = FileTouch("a.py", "read", "0" * 64)


def without_file(entries: Sequence[Logged], path: str = "a.py", id: str = "x") -> Projection | None:
    before = Projection(entries)
    planned = exclude_file(before, path, characters)
    if planned is None:
        return None
    made = compaction(id, cleared=planned.cleared)
    after = before.with_appended(
        Logged(entries[-1].seq + 1, 0.0, replace(made, through=planned.through, without_files=planned.without_files))
    )
    assert characters(after.messages) == planned.estimated_after
    return after


def shown(*entries: Entry) -> list[str]:
    after = without_file(session(*entries))
    assert after is not None
    return drawn(after.messages)


def called(name: str, **input: str) -> Entry:
    return reply(ToolUse("t1", name, input))


@pytest.mark.parametrize(
    "call",
    [
        called("read_file", path="a.py"),
        called("search", path="./a.py", pattern="x"),
        called("Read", file_path="src/../a.py"),
        called("bash", command="cat a.py | head -3"),
    ],
)
def test_what_a_call_about_the_file_gave_gives_way_and_the_call_stays(call: Entry):
    assert shown(prompt("go"), call, returned("t1", TEXT)) == ["user: go", "assistant: t1()", f"user: =t1 {EXCLUDED_RESULT}"]


def test_so_does_what_says_that_it_shows_the_file_whatever_the_call_names():
    assert shown(prompt("go"), called("odd", of="it"), returned("t1", TEXT, "a.py"))[-1] == f"user: =t1 {EXCLUDED_RESULT}"


def test_so_does_what_opens_such_a_result_again():
    again = reply(ToolUse("t2", "recall", {"tool_use_id": "t1"}))
    assert shown(prompt("go"), use_of("a.py"), returned("t1", TEXT), again, returned("t2", TEXT))[-1] == f"user: =t2 {EXCLUDED_RESULT}"


def use_of(path: str) -> Entry:
    return called("read_file", path=path)


def test_what_others_show_stays():
    other = [prompt("go"), use_of("b.py"), returned("t1", "b", "b.py"), called("search", pattern="a.py"), returned("t1", "a.py: hit")]
    assert without_file(session(*other)) is None


def test_its_text_gives_way_where_it_was_attached_and_the_users_words_stay():
    asked = replace(prompt("look"), attachments=(Attachment("a.py", TEXT), Attachment("b.py", "other")))
    [seen] = shown(asked)
    assert TEXT not in seen
    assert seen.endswith('| <attachment name="b.py">\nother\n</attachment> | look')
    assert PLACEHOLDER in seen


def test_its_text_gives_way_in_notices_and_where_a_compaction_read_it_again():
    again = (RestoredFile("a.py", TEXT, "whole", "0" * 64), RestoredFile("b.py", "other", "whole", "0" * 64))
    made = compaction("c", summarised=Summarised(2, "told"), restored=again, resume="Go on.")
    notice = Notice("file_changed", f"Changed:\n{TEXT}", (TOUCH,))
    assert shown(prompt("one"), made, notice, prompt("two")) == [f"user: told | {PLACEHOLDER} | other | Go on. | {PLACEHOLDER} | two"]


def test_what_is_out_of_view_is_out_for_good_and_what_is_out_already_is_not_taken_out_again():
    made = compaction("c", restored=[RestoredFile("a.py", TEXT, "whole", "0" * 64)])
    entries = log(prompt("one"), says("two"), made, CompactionUndone("c"), prompt("three"))
    after = without_file(entries)
    assert after is not None
    assert without_file(after.entries) is None
    redone = after.with_appended(Logged(7, 0.0, CompactionRedone("c")))
    assert drawn(redone.messages)[-1] == f"user: {PLACEHOLDER} | three"


def test_the_agent_has_not_seen_the_file_then_until_it_reads_it_anew():
    notice = Notice("file_changed", TEXT, (TOUCH,))
    made = compaction("c", restored=[RestoredFile("a.py", TEXT, "whole", "0" * 64)])
    after = without_file(session(prompt("go"), use_of("a.py"), returned("t1", TEXT, "a.py"), made, notice))
    assert after is not None
    assert touches_in_view(after) == []
    anew = after.with_appended(Logged(90, 0.0, use_of("a.py"))).with_appended(Logged(91, 0.0, returned("t1", TEXT, "a.py")))
    assert [touch.path for touch in touches_in_view(anew)] == ["a.py"]
    assert drawn(anew.messages)[-1].endswith(TEXT)


@pytest.mark.parametrize(
    ("then", "out"),
    [
        ((), {"a.py"}),
        ((use_of("a.py"), returned("t1", TEXT, "a.py")), set[str]()),
        ((use_of("b.py"), returned("t1", TEXT, "b.py")), {"a.py"}),
        ((replace(prompt("look"), attachments=(Attachment("a.py", TEXT),)),), set[str]()),
        ((FilePinned("a.py", True),), set[str]()),
        ((FilePinned("a.py", False),), {"a.py"}),
        ((CompactionUndone("x"),), set[str]()),
    ],
)
def test_it_is_not_read_again_until_somebody_wants_it(then: tuple[Entry, ...], out: set[str]):
    after = without_file(session(prompt("go"), use_of("a.py"), returned("t1", TEXT, "a.py")))
    assert after is not None
    for seq, entry in enumerate(then, 10):
        after.append(Logged(seq, 0.0, entry))
    assert files_out(after) == out


def test_who_writes_of_the_log_does_not_get_the_text():
    asked = replace(prompt("look"), attachments=(Attachment("a.py", TEXT),))
    after = without_file(session(asked, use_of("a.py"), returned("t1", TEXT, "a.py"), Notice("file_changed", TEXT, (TOUCH,))))
    assert after is not None
    left = without_excluded(after, after.entries[:-1])
    assert [each.seq for each in left] == [1, 2, 3, 5]
    assert TEXT not in str(left)


@given(planned_histories(), paths, st.data())
def test_of_whatever_file_is_taken_out_nothing_is_left_in_a_valid_request(history: list[Logged], path: str, data: st.DataObject):
    history = [replace(each, entry=telling(each.entry, path)) for each in history]
    before = Projection(history)
    after = without_file(history, path)
    if after is None:
        return
    assert TEXT not in words(after.messages)
    if after.messages and after.messages[-1].role == "user":
        assert problems(build_request(after)) == []
    shown_before = list(after.complete_messages)
    after.append(Logged(after.entries[-1].seq + 1, 0.0, prompt("and then")))
    assert flat_words(after.complete_messages)[: len(flat_words(shown_before))] == flat_words(shown_before)
    redo = after.with_appended(Logged(after.entries[-1].seq + 1, 0.0, CompactionUndone("x")))
    assert list(redo.messages) == list(before.with_appended(Logged(after.entries[-1].seq, 0.0, prompt("and then"))).messages)
    redo.append(Logged(redo.entries[-1].seq + 1, 0.0, CompactionRedone("x")))
    assert list(redo.messages) == list(after.messages)
    assert list(Projection(redo.entries).messages) == list(after.messages)


def telling(entry: Entry, path: str) -> Entry:
    """The same with `TEXT` wherever it shows the file."""
    match entry:
        case ToolReturned(touched=touched) if any(touch.path == path for touch in touched):
            return replace(entry, content=TEXT)
        case Notice(touched=touched) if any(touch.path == path for touch in touched):
            return replace(entry, text=TEXT)
        case UserPrompt(attachments=attachments):
            return replace(entry, attachments=tuple(replace(each, text=TEXT) if each.name == path else each for each in attachments))
        case Compaction(restored=restored):
            return replace(entry, restored=tuple(replace(each, text=TEXT) if each.path == path else each for each in restored))
        case _:
            return entry


def words(messages: Iterable[Message]) -> str:
    return json.dumps(flat_words(messages))


def flat_words(messages: Iterable[Message]) -> list[str]:
    return [str(block) for message in messages for block in message.blocks]


def test_where_the_marker_of_a_snip_quotes_a_message_that_is_taken_out_it_reads_without():
    plan = "The harbour master wants the gauge hidden behind panel seven."
    marker = f"[2 earlier messages were taken out here to make room. In short:]\nThe user said:\n- {plan}\n- The stick is in millimetres."
    told = (prompt(plan), says("I see."), prompt("The stick is in millimetres."), says("Good."))
    made = replace(compaction("c", snipped=Snipped(3, 6, marker)), through=6)
    entries = session(prompt("Measure the tank."), *told, made, prompt("Go on"))
    planned = exclude(Projection(entries), 3, characters)
    assert planned is not None
    after = Projection(entries).with_appended(Logged(entries[-1].seq + 1, 0.0, as_planned("x", planned, 0)))
    [reworded] = rewordings(after, ULLAGE.engine, 10_000)
    assert (reworded.compaction_id, reworded.without) == ("c", (3,))
    assert "panel seven" not in reworded.marker
    assert "The stick is in millimetres." in reworded.marker


def test_files_that_only_an_excluded_listing_named_are_told_of_no_longer():
    listing = returned("t1", "src/tank.py src/secret_valve.py")
    entries = session(prompt("Measure the tank."), calls("t1", "t2"), listing, returned("t2", "src/gauge.py"), says("I see."))
    plan = Plan(entries[-1].seq, (), None, entries[-1].seq, 4, 0)
    told = ULLAGE.engine.summarise(Covered(entries, plan, None, "", 10_000))
    nearby = nearby_text(told.nearby, told.text, 1_000)
    assert {"secret_valve.py", "gauge.py"} <= set(TOKEN.findall(f"{told.text} {nearby}"))
    nearby = nearby_text(told.nearby, "", 1_000)
    made = replace(compaction("c", summarised=Summarised(plan.through, told.text)), through=plan.through, nearby=nearby)
    entries = [*entries, Logged(plan.through + 1, 0.0, made)]
    before = Projection(entries)
    assert "secret_valve" in words(before.messages)
    planned = exclude(before, 4, characters)
    assert planned is not None
    out = Logged(entries[-1].seq + 1, 0.0, as_planned("x", planned, 0))
    [reworded] = rewordings(before.with_appended(out), ULLAGE.engine, 10_000)
    later = [*entries, Logged(out.seq, 0.0, reworded), replace(out, seq=out.seq + 1)]
    after = Projection(later)
    assert "secret_valve" not in words(after.messages)
    assert "gauge.py" in words(after.messages)
    back = after.with_appended(Logged(later[-1].seq + 1, 0.0, CompactionUndone("x")))
    assert list(back.messages) == list(before.messages)
