"""What comes again after a compaction: by logs written by hand whose characters can be counted, and by random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import compaction, log, prompt, reply, returned, says, session
from tests.unit.context.watched_log import Watched
from ullage.context.blocks import Json, ToolUse
from ullage.context.compaction.forgotten import WINDOW_MESSAGES, Forgotten, is_counted, priced
from ullage.context.compaction_entries import (
    Cleared,
    Compaction,
    CompactionRedone,
    CompactionUndone,
    FetchedAgain,
    RestoredFile,
    Snipped,
    Summarised,
    Trigger,
)
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Attachment, Clipped, Entry, Logged, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection
from ullage.recorded.retention import SessionBlocks, ViewAfter

LINES = [f"the valve {number:02} of the tank is open" for number in range(40)]
TEN = "\n".join(LINES[:10])
OF_TEN = len(TEN)
OTHER = "\n".join(f"another gauge shows {number} metres" for number in range(10))


def found(entries: Sequence[Logged]) -> FetchedAgain | None:
    """What came again, all of the log looked at at once."""
    view = Projection(entries)
    return Forgotten().look(view.entries, view.active_by_seq)


def characters(*entries: Entry) -> int:
    again = found(session(*entries))
    return -1 if again is None else again.characters


def calls(id: str, input: dict[str, Json]) -> Entry:
    return reply(ToolUse(id, "bash", input))


def summary(last_seq: int, text: str = "All is told.", *restored: RestoredFile, id: str = "c1") -> Compaction:
    return compaction(id, summarised=Summarised(last_seq, text), restored=restored)


def whole(path: str, text: str) -> RestoredFile:
    return RestoredFile(path, text, "whole", "0" * 64)


BEFORE = (prompt("Go"), calls("t1", {}), returned("t1", TEN, "a.py"), says("I see."))
"""Entries 2 to 5."""
AGAIN = (calls("t2", {}), returned("t2", TEN, "a.py"))


def test_what_is_read_again_is_counted_with_its_file_and_the_result_that_held_it():
    again = found(session(*BEFORE, summary(5), *AGAIN))
    assert again == FetchedAgain("c1", ("a.py",), OF_TEN, estimate_text(TEN), 1, 2)


def test_without_a_compaction_in_force_there_is_nothing_to_tell():
    assert found(session(*BEFORE, *AGAIN)) is None
    assert found(session(*BEFORE, summary(5), *AGAIN, CompactionUndone("c1"))) is None
    assert Forgotten().look((), {}) is None


def test_what_was_edited_meanwhile_does_not_count_and_what_stands_around_it_does():
    edited = "\n".join([*LINES[:5], "the valve is shut", *LINES[6:12]])
    assert characters(*BEFORE, summary(5), calls("t2", {}), returned("t2", edited)) == len("\n".join(LINES[:5])) + 1
    assert characters(*BEFORE, summary(5), calls("t2", {}), returned("t2", OTHER)) == 0


def test_another_file_with_the_same_lines_is_text_it_had_before():
    again = found(session(*BEFORE, summary(5), calls("t2", {}), returned("t2", TEN, "copy/a.py")))
    assert again is not None
    assert (again.files, again.characters) == (("copy/a.py",), OF_TEN)


def test_lines_with_numbers_and_indented_otherwise_are_the_same_lines():
    numbered = "\n".join(f"{number:6}→  {line}" for number, line in enumerate(LINES[:10], 7))
    assert characters(*BEFORE, summary(5), calls("t2", {}), returned("t2", numbered)) == OF_TEN + 1


@pytest.mark.parametrize(
    "known",
    [(prompt(TEN),), (UserPrompt("p1", "Look", (Attachment("a.py", TEN),)),), (calls("t0", {"content": TEN}), returned("t0", "written"))],
    ids=["prompt", "attachment", "call"],
)
def test_whatever_the_model_saw_or_wrote_counts_once_it_is_out_of_view(known: tuple[Entry, ...]):
    assert characters(*known, summary(len(known) + 1), *AGAIN) == OF_TEN


def test_what_stayed_in_view_was_not_forgotten():
    assert characters(*BEFORE, summary(2), *AGAIN) == 0, "it was kept"
    assert characters(*BEFORE, summary(5, "As it was:\n" + TEN), *AGAIN) == 0, "the summary quotes it"
    assert characters(*BEFORE, summary(5, "Told.", whole("a.py", TEN)), *AGAIN) == 0, "the file was put back"
    assert characters(*BEFORE, calls("t3", {}), returned("t3", TEN), summary(5), *AGAIN) == 0, "it stands in a newer result"
    assert characters(*BEFORE, compaction("c1"), *AGAIN) == 0, "nothing left view"


def test_a_file_that_was_put_back_once_is_forgotten_with_the_next_compaction():
    entries = session(*BEFORE, summary(5, "Told.", whole("a.py", TEN)), says("On."), summary(7, "Again.", id="c2"), *AGAIN)
    again = found(entries)
    assert again is not None
    assert (again.compaction_id, again.characters) == ("c2", OF_TEN)


def test_results_that_were_cleared_or_cut_out_are_forgotten_too():
    cleared = compaction("c1", cleared=[Cleared(4, "[cleared]")])
    assert characters(*BEFORE, cleared, *AGAIN) == OF_TEN
    assert characters(*BEFORE, replace(cleared, snipped=None, cleared=(), id="c0"), cleared, *AGAIN) == OF_TEN
    assert characters(*BEFORE, prompt("More"), says("Yes."), compaction("c1", snipped=Snipped(3, 5, "[cut]")), *AGAIN) == OF_TEN


def test_it_counts_once_and_not_after_it_was_written_or_attached():
    assert characters(*BEFORE, summary(5), *AGAIN, calls("t3", {}), returned("t3", TEN)) == OF_TEN
    assert characters(*BEFORE, summary(5), calls("t2", {"content": TEN}), returned("t2", TEN)) == 0
    assert characters(*BEFORE, summary(5), UserPrompt("p2", "Look", (Attachment("a.py", TEN),)), *AGAIN) == 0


def test_what_was_clipped_away_before_it_was_sent_was_never_seen():
    before = (prompt("Go"), calls("t1", {}), returned("t1", f"{TEN}\n{OTHER}"), Clipped(4, TEN, "whole.txt"))
    assert characters(*before, says("I see."), summary(6), calls("t2", {}), returned("t2", f"{TEN}\n{OTHER}")) == OF_TEN + 1


def test_a_command_names_the_files_that_it_prints():
    again = found(session(*BEFORE, summary(5), calls("t2", {"command": "sed -n '1,80p' src/a.py"}), returned("t2", TEN)))
    assert again is not None
    assert again.files == ("src/a.py",)


def test_the_file_with_the_most_of_it_comes_first_and_a_part_of_a_result_is_no_call_in_vain():
    more = "\n".join(LINES)
    before = (prompt("Go"), calls("t1", {}), returned("t1", more, "a.py"), says("I see."))
    little = f"{TEN}\n{OTHER}\n{OTHER}"
    again = found(
        session(
            *before,
            summary(5),
            *(calls("t2", {}), returned("t2", little, "b.py")),
            *(calls("t3", {}), returned("t3", "\n".join(LINES[10:]), "a.py")),
        )
    )
    assert again is not None
    assert (again.files, again.results) == (("a.py", "b.py"), 1)
    assert again.tokens == pytest.approx(estimate_text(more), rel=0.1)


def test_after_so_many_messages_the_work_is_another():
    talk = [entry for number in range(WINDOW_MESSAGES // 2 - 1) for entry in (says(f"{number}"), prompt(f"{number}"))]
    assert characters(*BEFORE, summary(5), *talk, *AGAIN) == OF_TEN
    late = found(session(*BEFORE, summary(5), *talk, says("On."), prompt("On"), *AGAIN))
    assert late is not None
    assert (late.characters, late.messages) == (0, WINDOW_MESSAGES)


def test_an_undone_compaction_gives_way_to_the_one_before_and_comes_back_with_a_redo():
    first = session(*BEFORE, summary(5), calls("t2", {}), returned("t2", OTHER, "b.py"), summary(8, "Told.", id="c2"))
    entries = [*first, *_after(first, *AGAIN)]
    seen = [found(entries)]
    for change in (CompactionUndone("c2"), CompactionRedone("c2")):
        entries = [*entries, *_after(entries, change)]
        seen.append(found(entries))
    assert [each and (each.compaction_id, each.characters) for each in seen] == [("c2", 0), ("c1", OF_TEN), ("c2", 0)]


def test_what_came_while_it_was_undone_was_not_forgotten_then_and_is_in_view_now():
    entries = session(*BEFORE, summary(5), CompactionUndone("c1"), *AGAIN, CompactionRedone("c1"), calls("t3", {}), returned("t3", TEN))
    again = found(entries)
    assert again is not None
    assert again.characters == 0


@pytest.mark.parametrize(("trigger", "policy"), [("upkeep", "four-layer"), ("manual", "user")], ids=["upkeep", "by hand"])
def test_upkeep_and_what_the_user_takes_out_are_no_compactions_here(trigger: Trigger, policy: str):
    cleared = compaction("c1", cleared=[Cleared(4, "[cleared]")])
    entry = replace(cleared, trigger=trigger, policy=policy)
    assert not is_counted(entry)
    assert found(session(*BEFORE, entry, *AGAIN)) is None
    after = found(session(*BEFORE, summary(5), entry, *AGAIN))
    assert after is not None
    assert (after.compaction_id, after.characters) == ("c1", OF_TEN)


def test_tokens_and_dollars_are_those_of_the_model_in_use():
    again = priced(FetchedAgain("c1", ("a.py",), 400, 100, 1, 2), 1.2, 5e-6)
    assert (again.tokens, again.cost) == (120, pytest.approx(0.0006))
    assert priced(again, 1.0, None).cost is None


def test_looking_again_costs_what_is_new_and_a_new_compaction_what_was_in_view():
    entries = Watched(session(*BEFORE * 40, summary(121, id="c0"), *BEFORE * 10))
    view, forgotten = Projection(entries), Forgotten()
    forgotten.look(entries, view.active_by_seq)
    last = entries[-1].seq
    for entry in (*AGAIN, summary(last, id="c1"), *AGAIN):
        logged = Logged(entries[-1].seq + 1, 0.0, entry)
        view.append(logged)
        entries.append(logged)
        entries.looks = 0
        forgotten.look(entries, view.active_by_seq)
        assert entries.looks <= (100 if isinstance(entry, Compaction) else 2)


def test_what_was_foreseen_is_not_looked_at_again():
    entries = Watched(session(*BEFORE))
    view, forgotten = Projection(entries), Forgotten()
    made = Logged(6, 0.0, summary(5))
    forgotten.foresee(entries, {6: made.entry} if isinstance(made.entry, Compaction) else {})
    view.append(made)
    entries.append(made)
    entries.looks = 0
    assert forgotten.look(entries, view.active_by_seq) == FetchedAgain("c1", (), 0, 0, 0, 0)
    assert entries.looks == 0


# Random logs

TEXTS = ["\n".join(LINES[start : start + size]) for start in range(0, 40, 8) for size in (6, 20)] + [OTHER, "done", ""]
steps = st.one_of(
    st.tuples(st.just("read"), st.sampled_from(TEXTS)),
    st.tuples(st.just("write"), st.sampled_from(TEXTS)),
    st.tuples(st.just("say"), st.sampled_from(TEXTS)),
    st.tuples(st.sampled_from(["summarise", "put back", "clear", "snip", "undo", "redo", "nothing"]), st.just("")),
)


def lived(happened: Sequence[tuple[str, str]]) -> list[Entry]:
    """The entries of such a session, which begin with seq 2."""
    entries: list[Entry] = []
    made: list[str] = []
    for number, (what, text) in enumerate(happened):
        seq, id = len(entries) + 1, f"c{number}"
        results = [at for at, entry in enumerate(entries, 2) if isinstance(entry, ToolReturned)]
        if what == "read":
            entries += [calls(f"t{number}", {}), returned(f"t{number}", text, f"{number % 3}.py")]
        elif what == "write":
            entries += [calls(f"t{number}", {"content": text}), returned(f"t{number}", "written")]
        elif what == "say":
            entries += [prompt(text), says(text)]
        elif what in ("undo", "redo") and made:
            entries.append((CompactionUndone if what == "undo" else CompactionRedone)(made[number % len(made)]))
        elif what not in ("undo", "redo") and entries:
            restored = [whole("0.py", TEN)] if what == "put back" else []
            summarised = Summarised(seq if number % 2 else max(2, seq - 3), "Told.") if what in ("summarise", "put back") else None
            cleared = [Cleared(at, "[cleared]") for at in results[::2]] if what == "clear" else []
            snipped = Snipped(2, seq, "[cut]") if what == "snip" else None
            entries.append(compaction(id, cleared=cleared, snipped=snipped, summarised=summarised, restored=restored))
            made.append(id)
    return entries


@given(st.lists(steps, min_size=4, max_size=30))
def test_never_more_than_was_returned_and_the_same_step_by_step_as_at_once(happened: list[tuple[str, str]]):
    view, forgotten = Projection(log()), Forgotten()
    entries = session(*lived(happened))
    for logged in entries:
        view.append(logged)
        again = forgotten.look(view.entries, view.active_by_seq)
        assert again == found(view.entries)
        if again is None:
            continue
        made = next(seq for seq, each in view.active_by_seq.items() if each.id == again.compaction_id)
        results = [later.entry.content for later in view.entries if later.seq > made and isinstance(later.entry, ToolReturned)]
        assert again.characters <= sum(map(len, results))
        assert again.tokens <= sum(map(estimate_text, results))
        assert again.results <= len(results)
        edits = view.active_by_seq[made]
        if edits.summarised is None and edits.snipped is None and not edits.cleared:
            assert again.characters == 0


@given(st.lists(steps, min_size=2, max_size=12), st.lists(steps, min_size=1, max_size=12))
def test_where_one_summary_takes_all_it_is_the_text_that_the_measure_calls_acquired_again(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
):
    """Of what the agent does by itself: a prompt that brings a text back is measured otherwise."""
    told = lived([each for each in before if each[0] in ("read", "write", "say")])
    later = lived([each for each in after if each[0] in ("read", "write")])
    last = len(told) + 1
    entries = session(*told, summary(last), *later)
    again = found(entries)
    measured = SessionBlocks(log(*(logged.entry for logged in entries if not isinstance(logged.entry, Compaction)))).acquired(
        [ViewAfter(last, "", 0)]
    )
    assert again is not None
    ends = sum(isinstance(logged.entry, ToolReturned) for logged in entries)
    assert measured.again.of - ends <= again.characters <= measured.again.of


def _after(entries: Sequence[Logged], *more: Entry) -> list[Logged]:
    last = entries[-1].seq
    return [Logged(last + number, 0.0, entry) for number, entry in enumerate(more, 1)]
