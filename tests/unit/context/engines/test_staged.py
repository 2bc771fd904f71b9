"""The staged engine with numbers of the test's own: what each of them does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.logs import compaction, drawn, prompt, says, session
from tests.unit.context.policies.rehearsal import occasion, tokens
from tests.unit.context.policies.steps import after, called, carried_out, planned, results, talk
from ullage.context.blocks import ToolUse
from ullage.context.compaction_entries import Snipped
from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import OwnText, SummaryShape, SummaryTokens, Upkeep, WindowOptions
from ullage.context.entries import AssistantReply, EntryPinned, Logged, TurnEnded, UserPrompt
from ullage.context.moves.cheap import Arrival
from ullage.context.moves.cuts import Tail
from ullage.context.moves.plan import spare
from ullage.context.policy import ClearOptions, Policy, ShareOfWindow, SnipOptions, ThresholdOptions
from ullage.context.view.projection import Projection

CLEAR = ClearOptions(keep_results=1, placeholder="[gone]")
CALLS = tuple(ToolUse(id, "bash", {"path": f"{id}.py"}) for id in ("t1", "t2"))
SHAPE = SummaryShape(prompt="Summarise.", tokens=SummaryTokens(1_000), preface="[Summary]")


def policy(engine: Staged) -> Policy:
    return Policy("test", "A test's own", ("this test",), engine, ThresholdOptions(ShareOfWindow(0.5)))


def followed(log: list[Logged], *entries: Logged | UserPrompt | EntryPinned | TurnEnded, later: float = 0.0) -> list[Logged]:
    more = [entry.entry if isinstance(entry, Logged) else entry for entry in entries]
    return [*log, *(Logged(log[-1].seq + number, log[-1].at + later, entry) for number, entry in enumerate(more, 1))]


def test_without_numbers_it_does_nothing():
    engine = Staged()
    log = results(5_000, 5_000)
    assert engine.arrive([Arrival("t", "x" * 500_000)], lambda id: id)[0].content == "x" * 500_000
    assert engine.upkeep(occasion(policy(engine), log)) is None
    assert engine.plan(occasion(policy(engine), log)) is None


def test_an_empty_session_has_nothing_to_compact():
    engine = Staged(every_call=Upkeep((CLEAR, SnipOptions())), at_threshold=(CLEAR,), summary=SHAPE)
    for log in ([], session()):
        assert engine.upkeep(occasion(policy(engine), log)) is None
        assert engine.plan(occasion(policy(engine), log)) is None


@pytest.mark.parametrize(
    ("upkeep", "amid", "begun"),
    [
        (Upkeep((CLEAR,)), True, True),
        (Upkeep((CLEAR,), between_turns=True), False, True),
        (Upkeep((CLEAR,), after_seconds=100.0), False, True),
        (Upkeep((CLEAR,), after_seconds=101.0), False, False),
    ],
)
def test_when_upkeep_is_due(upkeep: Upkeep, amid: bool, begun: bool):
    engine = Staged(every_call=upkeep)
    at_work = results(500, 500, 500, answered=False)
    next_turn = followed(results(500, 500, 500), prompt("On"), later=100.0)
    assert (engine.upkeep(occasion(policy(engine), at_work)) is not None) == amid
    assert (engine.upkeep(occasion(policy(engine), next_turn)) is not None) == begun


def test_upkeep_snips_then_clears_what_is_left():
    engine = Staged(every_call=Upkeep((SnipOptions(3, 4), CLEAR)))
    plan = engine.upkeep(occasion(policy(engine), results(*[500] * 8)))
    assert plan is not None and plan.snipped is not None
    assert all(not plan.snipped.first_seq <= each.seq <= plan.snipped.last_seq for each in plan.cleared)
    assert len(plan.cleared) == 2  # of three results in view the newest stays


def test_at_the_line_the_cheap_moves_are_made_in_what_stays():
    engine = Staged(at_threshold=(CLEAR,), summary=replace(SHAPE, tail=Tail(messages=5)))
    log = session(prompt("why " * 2_000), *(entry for n in range(6) for entry in called(f"t{n}", "x" * 3_000)), says("Done"))
    plan = planned(policy(engine), log)
    assert plan.summarise_to is not None
    assert [each.seq > plan.summarise_to for each in plan.cleared] == [True]


def test_where_a_summary_would_not_gain_anything_the_cheap_moves_are_made_alone():
    engine = Staged(at_threshold=(CLEAR,), summary=replace(SHAPE, tail=Tail(messages=99)))
    plan = planned(policy(engine), results(400, 400))
    assert (plan.summarise_to, len(plan.cleared)) == (None, 1)


@pytest.mark.parametrize("trigger", ["threshold", "manual"])
def test_where_the_usual_tail_is_all_there_is_less_stays(trigger: str):
    engine = Staged(summary=replace(SHAPE, tail=Tail(messages=99)))
    kept = after(policy(engine), talk(20, words=100), "manual" if trigger == "manual" else "threshold")
    assert 2 < len(kept) < 12


def test_after_a_refused_prompt_as_much_stays_as_fits_under_the_line():
    engine = Staged(summary=replace(SHAPE, keep_first=1, tail=Tail(messages=10)))
    log = results(*[4_000] * 9, answered=False)
    kept = after(policy(engine), log, "reactive", window=6_000)
    assert tokens(kept) < 3_000
    assert drawn(kept)[-1].startswith("user: =t8 xxx")


def test_the_acknowledgement_is_never_the_last_word_while_the_model_is_at_work():
    shape = replace(SHAPE, acknowledgement="Noted.", tail=Tail(unanswered=False))
    at_work = results(4_000, 400, answered=False)
    assert drawn(after(policy(Staged(summary=shape)), at_work))[-1].startswith("user: =t1")
    carrying = replace(shape, carries_last_prompt=True)
    assert drawn(after(policy(Staged(summary=carrying)), at_work))[1:] == ["assistant: Noted.", "user: Go"]
    assert drawn(after(policy(Staged(summary=carrying)), results(4_000)))[1:] == ["assistant: Noted."]


def test_what_is_pinned_and_what_was_asked_last_both_stay():
    engine = Staged(summary=replace(SHAPE, tail=Tail(unanswered=False), carries_last_prompt=True))
    log = session(prompt("first"), says("so " * 2_000), prompt("then"), *called("t1", "x" * 900))
    log = followed(log, EntryPinned(2, True))
    at = occasion(policy(engine), log)
    plan = engine.plan(at)
    assert plan is not None
    spared = spare(plan, at.projection, at.count)
    assert spared is not None
    assert spared.carried == (2, 4)


def test_a_window_keeps_the_first_few_and_rolls():
    engine = Staged(at_threshold=(WindowOptions(2, Tail(messages=4)),))
    log = talk(10, words=50)
    for _ in range(3):
        log = carried_out(policy(engine), log, planned(policy(engine), log))
        kept = drawn(Projection(log).messages)
        assert len(kept) == 6
        assert "[" in kept[2] and kept[2].count("taken out here") == 1
        log = followed(log, *talk(3, words=50)[1:])


def test_a_summary_by_program_has_the_same_shape():
    shape = replace(SHAPE, acknowledgement="Noted.")
    by_program = after(policy(Staged(summary=shape)), talk(20, words=100), model_text=None)
    assert drawn(by_program)[0].startswith("user: [Summary]\n\n(Written by program from the log")
    assert "question 19" in drawn(by_program)[0]
    assert drawn(by_program)[1] == "assistant: Noted."


def test_where_the_users_words_stand_before_it_the_program_does_not_repeat_them():
    shape = replace(SHAPE, user_message_tokens=5_000)
    said = drawn(after(policy(Staged(summary=shape)), talk(20, words=100), model_text=None))[0]
    assert said.count("question 19 why") == 1


def test_what_only_the_model_wrote_outlives_two_summaries_by_program():
    test = policy(Staged(summary=replace(SHAPE, reads=OwnText())))
    log = carried_out(test, talk(20, words=100), planned(test, talk(20, words=100)), "WRITTEN BY THE MODEL")
    for _ in range(2):
        log = followed(log, *talk(20, words=100)[1:])
        log = carried_out(test, log, planned(test, log), None)
    assert "WRITTEN BY THE MODEL" in drawn(Projection(log).messages)[0]


def test_it_speaks_of_the_entries_that_it_stands_for():
    engine = Staged(summary=replace(SHAPE, keep_first=2, tail=Tail(messages=2)))
    plan = planned(policy(engine), talk(20, words=100))
    assert (plan.summarise_from, plan.summarise_to, plan.covers) == (4, 39, 36)


def test_what_an_earlier_cut_carried_stays_and_counts_as_staying():
    """It stands amid what is covered, although its entry is before."""
    log = session(
        prompt("Go"),
        *called("t0", "zero"),
        says("Done"),
        prompt("On"),
        *called("t1", "one"),
        *called("t2", "two " * 1_000),
        prompt("Yes"),
        *called("t3", "three " * 1_000),
        says("Done"),
    )
    carried, second = (logged for logged in log if isinstance(logged.entry, AssistantReply) and logged.entry.blocks[0] in CALLS)
    snip = compaction("c", snipped=Snipped(4, second.seq, "[snipped]", (carried.seq,)))
    log = followed(log, Logged(0, 0.0, snip))
    engine = Staged(summary=replace(SHAPE, keep_first=3, reads=OwnText()))
    plan = planned(policy(engine), log)
    assert plan.summarise_from > second.seq
    assert tokens(Projection(carried_out(policy(engine), log, plan)).messages) <= plan.estimated_after
    assert plan.asked is not None and plan.asked.text is not None
    assert "t1.py" not in plan.asked.text
    assert "three" in plan.asked.text
