"""LangChain's running summary and buffer."""

from __future__ import annotations

from tests.unit.context.logs import drawn, prompt, says
from tests.unit.context.policies.rehearsal import occasion, tokens
from tests.unit.context.policies.steps import after, carried_out, full_at, planned, talk
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.engine import Covered, summary_room
from ullage.context.entries import Logged
from ullage.context.policies.summary_buffer import PROMPT, SUMMARY_BUFFER, UPDATE
from ullage.context.view.projection import Projection


def test_it_is_full_at_2_000_tokens_of_messages():
    assert full_at(SUMMARY_BUFFER, 200_000) == full_at(SUMMARY_BUFFER, 8_000) == 2_000
    log = talk(3)
    assert occasion(SUMMARY_BUFFER, log).used == tokens(Projection(log).messages)


def test_the_newest_messages_within_2_000_tokens_stay():
    kept = after(SUMMARY_BUFFER, talk(40, words=50))
    assert drawn(kept)[0].startswith("user: [Summary of the conversation before this]\n\nWhat the model wrote.")
    assert 1_800 < tokens(kept[1:]) <= 2_000


def test_the_summary_runs_on_and_counts():
    log = talk(40, words=50)
    assert (asked := planned(SUMMARY_BUFFER, log).asked) is not None and asked.prompt == PROMPT
    log = carried_out(SUMMARY_BUFFER, log, planned(SUMMARY_BUFFER, log), "THE RUNNING SUMMARY")
    more = [Logged(log[-1].seq + number, 0.0, entry) for number, entry in enumerate([prompt("More"), says("so " * 300)], 1)]
    log = [*log, *more]
    asked = planned(SUMMARY_BUFFER, log).asked
    assert asked is not None and asked.text is not None
    assert asked.prompt == UPDATE
    assert asked.text.startswith("[summary so far]\n> THE RUNNING SUMMARY\n")
    assert tokens(after(SUMMARY_BUFFER, log)) <= 2_000


def test_by_program_it_is_a_few_lines():
    log = talk(400, words=50)
    told = SUMMARY_BUFFER.engine.summarise(Covered(log, planned(SUMMARY_BUFFER, log), None, "", summary_room(2_000)))
    assert "question 399" in told.text
    assert estimate_text(told.text) < 1_000
