"""What each turn cost: exact from what was reported, the same after the session was opened again, and no call in two of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fake_api import Call, Say
from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import compactions, items, stage
from ullage.context.blocks import Text, Usage
from ullage.context.compaction_entries import SpentInVain
from ullage.context.entries import AssistantReply, CameOver, Entry, Forked, Logged, Notice, Prelude, ToolReturned, TurnEnded, UserPrompt
from ullage.session.timeline.display import Spending
from ullage.session.timeline.items import UserItem
from ullage.session.timeline.turn_costs import TurnCost, TurnCosts

USED = Usage(10, 5, 100, 20)


def reply(usage: Usage | None = USED, cost: float | None = 0.5) -> AssistantReply:
    return AssistantReply("r", (Text("Done."),), "m", "end_turn", usage, cost)


def costs_of(*entries: Entry) -> TurnCosts:
    costs = TurnCosts()
    for entry in entries:
        costs.add(entry)
    return costs


END = TurnEnded("end_turn")


def test_a_turn_is_the_sum_of_its_calls() -> None:
    found = costs_of(UserPrompt("p", "Go"), reply(), reply(Usage(1, 2)), END).of("p")
    assert found == TurnCost(Usage(11, 7, 100, 20), 2, 1.0)


def test_it_is_not_told_before_the_turn_has_ended() -> None:
    costs = costs_of(UserPrompt("p", "Go"), reply())
    assert costs.of("p") is None
    assert costs.add(END) == "p"


def test_calls_without_a_price_are_counted_and_not_in_the_dollars() -> None:
    assert costs_of(UserPrompt("p", "Go"), reply(), reply(cost=None), END).of("p") == TurnCost(Usage(20, 10, 200, 40), 2, 0.5, unpriced=1)
    unknown = costs_of(UserPrompt("p", "Go"), reply(cost=None), END).of("p")
    assert unknown is not None
    assert (unknown.dollars, unknown.unpriced) == (None, 1)


@pytest.mark.parametrize("usage", [None, Usage(-1, 5)])
def test_a_reply_that_reported_nothing_is_said(usage: Usage | None) -> None:
    assert costs_of(UserPrompt("p", "Go"), reply(usage, None), END).of("p") == TurnCost(unreported=1)


def test_a_compaction_counts_for_the_turn_in_which_it_was_logged() -> None:
    spent = SpentInVain(Usage(50, 5), 0.25)
    found = costs_of(UserPrompt("p", "Go"), reply(), spent, END, spent, UserPrompt("q", "Go"), reply(), END)
    first, second = found.of("p"), found.of("q")
    assert first is not None and second is not None
    assert (first.dollars, first.compactions, first.compaction_dollars) == (0.75, 1, 0.25)
    assert (second.dollars, second.compactions) == (0.5, 0)


def test_what_goes_on_after_an_error_counts_for_the_same_turn() -> None:
    found = costs_of(UserPrompt("p", "Go"), reply(), TurnEnded("error"), Notice("resume", "Go on"), reply(), END).of("p")
    assert found is not None
    assert (found.calls, found.dollars) == (2, 1.0)


def test_a_prompt_that_joins_begins_no_turn() -> None:
    found = costs_of(UserPrompt("p", "Go"), reply(), UserPrompt("s", "Also", steering=True), reply(), END)
    assert found.of("s") is None
    assert found.of("p") == TurnCost(Usage(20, 10, 200, 40), 2, 1.0)


def test_a_fork_in_the_midst_of_a_turn_pays_for_the_rest() -> None:
    assert costs_of(UserPrompt("p", "Go"), reply(), Forked("s", ""), reply(), END).of("p") == TurnCost(Usage(10, 5, 100, 20), 1, 0.5)


PRICES = st.none() | st.integers(0, 64).map(lambda cents: cents / 64)
ENTRIES = st.one_of(
    st.builds(UserPrompt, st.just("p"), st.just(""), steering=st.booleans()),
    st.builds(reply, st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)), PRICES),
    st.just(END),
    st.just(Notice("resume", "")),
)


@given(st.lists(ENTRIES, max_size=30))
def test_turns_add_up_to_what_the_session_cost(entries: list[Entry]) -> None:
    prompts = (replace(each, id=f"u{index}") if isinstance(each, UserPrompt) else each for index, each in enumerate(entries))
    log: list[Entry] = [UserPrompt("first", ""), *prompts, END]
    costs = costs_of(*log)
    spent = Spending(Logged(seq, 0.0, entry) for seq, entry in enumerate(log, 1))
    assert sum(each.dollars or 0.0 for each in costs.all.values()) == (spent.dollars or 0.0)


async def test_the_turn_says_what_the_endpoint_was_paid_and_so_it_does_after_opening_again(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    async with stage(folder) as here:
        here.fake.enqueue(Call("list_files", {"path": "."}), Say("Done."))
        session = await here.new()
        await here.say(session, "Look around")
        paid = sum(record.dollars for record in here.fake.requests if record.status == 200 and "messages" in (record.body or {}))
        prompt = next(item for item in items(session) if isinstance(item, UserItem))
        assert prompt.turn_cost is not None
        assert prompt.turn_cost.calls == 2
        assert prompt.turn_cost.dollars == pytest.approx(paid) == session.snapshot().gauge.cost
        session_id = session.id
    async with stage(folder) as here:
        again = await here.sessions.open(session_id)
        assert next(item for item in items(again) if isinstance(item, UserItem)) == prompt


async def test_a_compaction_after_a_turn_is_not_in_it_and_says_its_own_cost(tmp_path: Path) -> None:
    async with stage(make_project(tmp_path), window=WINDOW) as here:
        here.fake.add_rules(summaries())
        session = await here.new()
        await fill(here, session, 2)
        session.compact()
        await here.idle(session)
        of_turns = sum(item.turn_cost.dollars or 0 for item in items(session) if isinstance(item, UserItem) and item.turn_cost)
        of_compactions = sum(item.cost or 0 for item in compactions(session))
        assert of_compactions > 0
        assert of_turns + of_compactions == pytest.approx(session.snapshot().gauge.cost)


async def test_a_snapshot_names_the_turn_whose_prompt_it_does_not_hold(tmp_path: Path) -> None:
    async with stage(make_project(tmp_path)) as here:
        here.fake.enqueue(Call("list_files", {"path": "."}), Call("list_files", {"path": "."}), Say("Done."))
        session = await here.new()
        await here.say(session, "Look around")
        newest = session.snapshot(1)
        assert newest.turn is not None and newest.turn.turn_cost is not None
        assert newest.turn.turn_cost.calls == 3
        assert session.snapshot().turn is None


def test_of_what_was_said_in_another_program_no_turn_has_a_cost() -> None:
    over = (CameOver("Codex", "1", "s", "t", "/f"), UserPrompt("a", "Go"), reply(None, None), END)
    costs = costs_of(*over, Prelude((), ()), UserPrompt("b", "Go"), reply(None, None), END)
    assert costs.of("a") is None
    found = costs.of("b")
    assert found is not None
    assert found.unreported == 1


def test_what_a_call_itself_cost_is_in_its_turn() -> None:
    searched = ToolReturned("t", "web_search", "Found.", is_error=False, characters=6, cost=0.25)
    found = costs_of(UserPrompt("p", "Go"), reply(), searched, reply(), END).of("p")
    assert found is not None
    assert found.dollars == 1.25
