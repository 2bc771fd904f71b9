"""Sessions carried through policies: what is sent, charged and kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.unit.replay.recorded import At, call, compacted, prompt, reply, returned, session
from tests.unit.replay.working import MODEL, PRELUDE, working_session
from ullage.context.blocks import Text
from ullage.context.compaction.economy import CHARACTERS_PER_TOKEN, FETCHING_OUTPUT_TOKENS
from ullage.context.compaction_entries import Cleared
from ullage.context.engines.engine import Covered, Occasion, SummaryText, Unchanging
from ullage.context.entries import ToolReturned
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import FixedTokens, Policy, RestoreOptions, ThresholdOptions
from ullage.recorded.transcript import Transcript
from ullage.replay.measuring.runs import Run
from ullage.replay.pricing.cost import as_if, cost_of, predict
from ullage.replay.pricing.recorded_models import prices_of, tokens_factor
from ullage.replay.simulating.outcome import USUAL_SUMMARY_TOKENS
from ullage.replay.simulating.prepared import PreparedSession, ReplaySettings
from ullage.replay.simulating.simulation import carry, outcome_of


class Summarising(Unchanging):
    """A summary of everything before the last cut; `text` is what a model is to read instead of the conversation."""

    def __init__(self, text: str | None = None, check: str = "", *, by_model: bool = True) -> None:
        self.text, self.check, self.by_model = text, check, by_model

    def plan(self, at: Occasion) -> Plan | None:
        messages = at.projection.messages
        cut = legal_cuts(messages)[-1]
        if cut == 0:
            return None
        asked = Asked("Summarise.", 20_000, self.text, self.check) if self.by_model else None
        return Plan(at.projection.entries[-1].seq, (), None, at.projection.last_seq_before(cut), cut, 0, asked=asked)

    def summarise(self, covered: Covered) -> SummaryText:
        return SummaryText(covered.model_text or "The program's words.")


class InParts(Unchanging):
    """Takes away the oldest result that is still in view, and does so several times at one boundary."""

    def __init__(self, sweeps: int) -> None:
        self.sweeps = sweeps

    def plan(self, at: Occasion) -> Plan | None:
        gone = {cleared.seq for made in at.projection.active for cleared in made.cleared}
        results = [each.seq for each in at.projection.entries if isinstance(each.entry, ToolReturned) and each.seq not in gone]
        return Plan(at.projection.entries[-1].seq, (Cleared(results[0], "[gone]"),), None, None, 0, 0) if results else None


class Raising(Unchanging):
    """A policy with a mistake in it."""

    def plan(self, at: Occasion) -> Plan | None:
        raise KeyError("oh")


def policy(engine: Unchanging, line: int = 60_000, restore: RestoreOptions | None = None) -> Policy:
    return Policy("tried", "", (), engine, ThresholdOptions(FixedTokens(line)), restore=restore)


def simulated(transcript: Transcript, of: Policy, settings: ReplaySettings | None = None) -> Run:
    run = outcome_of(PreparedSession(transcript), of, settings or ReplaySettings()).run
    assert run.failure == ""
    return run


@pytest.mark.parametrize(
    "transcript",
    [
        working_session(),
        working_session(seconds=200.0),
        working_session(source="codex", model="gpt-5"),
        session(
            prompt(),
            reply(9_000, 3_000, 2_000),
            prompt("More. " * 200),
            At(900.0, reply(500, 11_000, 4_000, written_1h=100)),
            prompt(),
            reply(100, 2_000, 3_000),
        ),
    ],
    ids=["quick", "slow", "codex", "with a fall"],
)
def test_without_compactions_it_costs_what_the_cache_model_predicts(transcript: Transcript):
    run = simulated(transcript, NONE)
    predicted = predict(transcript).calls
    assert [(point.seq, point.at, point.usage) for point in run.requests] == [(call.seq, call.at, call.predicted) for call in predicted]
    assert run.usage == predict(transcript).predicted
    assert (run.compactions, run.violations, run.summaries.total) == ((), (), 0.0)


@pytest.mark.parametrize(("sweeps", "at_once"), [(1, 1), (3, 3)])
def test_some_policies_compact_several_times_at_one_boundary(sweeps: int, at_once: int):
    run = simulated(working_session(), policy(InParts(sweeps)))
    assert max(Counter(point.after_seq for point in run.compactions).values()) == at_once


def test_a_compaction_comes_before_the_request_that_would_cross_the_line():
    run = simulated(working_session(), policy(Summarising()))
    assert run.compactions
    assert max(point.context_tokens for point in run.requests) < 60_000
    assert all(point.tokens_before >= 60_000 * 0.9 for point in run.compactions)
    assert all(point.tokens_after < point.tokens_before for point in run.compactions)
    assert run.violations == ()
    assert run.line == 60_000
    assert run.window == 200_000


def test_where_the_record_has_compactions_they_are_made_there_with_the_recorded_summary():
    transcript = working_session(compacted_after=(30, 61), summary="Of src/part0/unit0.py nothing is left to do. " * 5)
    run = simulated(transcript, policy(Summarising()), ReplaySettings("recorded", "recorded"))
    assert [(point.after_seq, point.trigger, point.rung, point.stood_in) for point in run.compactions] == [
        (30, "threshold", "model", "recorded"),
        (61, "threshold", "model", "recorded"),
    ]
    assert {point.summary_characters for point in run.compactions} == {225}


def test_for_a_sealed_summary_the_digest_stands():
    transcript = working_session(compacted_after=(30,), summary="The user's own words")
    transcript = replace(transcript, compactions=tuple(replace(each, sealed=True) for each in transcript.compactions))
    run = simulated(transcript, policy(Summarising()), ReplaySettings("recorded", "recorded"))
    assert [point.stood_in for point in run.compactions] == ["digest"]


def test_without_recorded_compactions_nothing_is_compacted_there():
    run = simulated(working_session(), policy(Summarising()), ReplaySettings("recorded", "recorded"))
    assert run.compactions == ()


@pytest.mark.parametrize(
    ("summary", "stood_in", "characters"),
    [("recorded", "digest", len("The program's words.")), ("digest", "digest", len("The program's words.")), ("none", "blank", None)],
)
def test_what_stands_for_a_summary_where_none_is_recorded(summary: str, stood_in: str, characters: int | None):
    settings = ReplaySettings("policy", summary)  # pyright: ignore[reportArgumentType]
    first = simulated(working_session(), policy(Summarising()), settings).compactions[0]
    assert (first.rung, first.stood_in) == ("model", stood_in)
    assert characters is None or first.summary_characters == characters


def test_a_summary_by_program_costs_nothing_and_nothing_stands_for_it():
    run = simulated(working_session(), policy(Summarising(by_model=False)))
    assert {(point.rung, point.stood_in) for point in run.compactions} == {("digest", "")}
    assert run.summaries.total == run.summaries_cold.total == 0.0


def test_a_summary_on_the_conversation_is_read_from_the_cache():
    run = simulated(working_session(), policy(Summarising()))
    prices = prices_of(MODEL)
    assert prices is not None
    before = sum(point.tokens_before for point in run.compactions)  # it is asked for ahead, when there was less
    output = len(run.compactions) * USUAL_SUMMARY_TOKENS * prices.output / 1e6
    assert 0.75 < run.summaries_cold.input / (before * prices.input / 1e6) < 1
    assert run.summaries_cold.output == pytest.approx(output, rel=0.2)
    assert run.summaries.total < 0.6 * run.summaries_cold.total
    assert run.summaries.cache_read > 0


def test_a_summary_of_a_text_of_its_own_is_paid_in_full():
    text = "What was said. " * 2_000
    run = simulated(working_session(), policy(Summarising(text)))
    assert run.summaries == run.summaries_cold
    assert run.summaries.cache_read == 0.0
    assert run.summaries.input > 0


def test_a_second_call_that_checks_is_counted():
    once, twice = (simulated(working_session(), policy(Summarising(check=check))) for check in ("", "Is it all there?"))
    assert twice.summaries.output == pytest.approx(2 * once.summaries.output)
    assert twice.summaries_cold.input > 2 * once.summaries_cold.input


def test_after_a_compaction_the_system_prompt_alone_is_read():
    run = simulated(working_session(), policy(Summarising()))
    place = run.compactions[0].after_seq
    after = next(point for point in run.requests if point.seq > place)
    assert 0 < after.usage.cache_read_tokens <= PRELUDE


def test_restored_files_are_there_and_count_apart():
    transcript = working_session(turns=14)
    options = RestoreOptions(files=2, file_tokens=8_000, total_tokens=20_000)
    plain, restoring = (simulated(transcript, policy(Summarising(), restore=each)) for each in (None, options))
    assert restoring.compactions[0].tokens_after > plain.compactions[0].tokens_after + 3_000
    assert restoring.violations == ()


def read_twice(between: int = 8) -> Transcript:
    """A file is read, the session is compacted, and the same file is read again."""
    text = "\n".join(f"the valve number {number} of the tank is open" for number in range(400))
    work = [
        entry
        for number in range(between)
        for entry in (reply(200, 20_000, 500, blocks=(call(f"more{number}"),)), returned(f"part {number}", f"more{number}"))
    ]
    first = [prompt(), reply(9_000, 0, 9_000, blocks=(call("first"),)), returned(text, "first")]
    again = [reply(200, 20_000, 500, blocks=(call("again"),)), returned(text, "again"), reply(5_000, 20_000, 500)]
    return session(*first, *work, *again, compactions=(compacted(len(first) + len(work), "Nothing is left to do."),))


def test_what_was_taken_out_of_view_and_came_again_has_its_price():
    """The text, written to the cache once more, and one request that reads what the compaction left."""
    run = simulated(read_twice(), policy(Summarising()), ReplaySettings("recorded", "recorded"))
    acquired, prices = run.retained.acquired, prices_of(MODEL)
    assert prices is not None
    terms = prices.terms(for_an_hour=False)
    assert terms is not None
    tokens, left = acquired.again.of / CHARACTERS_PER_TOKEN, run.compactions[0].tokens_after
    once = terms.write * tokens + terms.read * left + terms.output * FETCHING_OUTPUT_TOKENS
    assert acquired.fetches == 1
    assert run.forgetting == pytest.approx(once * terms.token)
    assert 0 < run.forgetting < run.total


def test_forgetting_costs_nothing_where_nothing_is_compacted():
    assert simulated(read_twice(), NONE).forgetting == 0


def test_a_request_that_does_not_fit_is_compacted_once_and_else_told():
    settings = ReplaySettings(window=50_000)
    far = 10_000_000
    fitting = simulated(working_session(), policy(Summarising(), line=far), settings)
    assert {point.trigger for point in fitting.compactions} == {"threshold"}, "the agent watches the window, whatever the line"
    assert all(point.fits for point in fitting.requests)
    nothing = simulated(working_session(), NONE, settings)
    assert [point.fits for point in nothing.requests] == [point.context_tokens <= 50_000 for point in nothing.requests]
    assert not all(point.fits for point in nothing.requests)


def test_a_policy_that_raises_says_so():
    run = outcome_of(PreparedSession(working_session()), policy(Raising())).run
    assert run.failure == "KeyError: 'oh'"
    assert run.requests == ()


def test_as_another_model_has_its_tokens_prices_and_window():
    transcript = working_session()
    other = "claude-haiku-5-5"
    run = simulated(as_if(transcript, other), NONE, ReplaySettings(as_model=other))
    factor = tokens_factor(MODEL, other)
    own = simulated(transcript, NONE)
    assert run.usage.total_input_tokens == pytest.approx(own.usage.total_input_tokens * factor, rel=0.01)
    assert run.window == 1_000_000
    assert run.dollars.output == pytest.approx(cost_of(transcript, other).dollars.output, rel=0.01)


def test_an_empty_session_gives_an_empty_run():
    run = simulated(session(), ULLAGE)
    assert (run.requests, run.compactions, run.dollars.total) == ((), (), 0.0)


def test_replies_without_counts_are_carried_but_not_charged():
    transcript = working_session()
    entries = tuple(
        replace(logged, entry=replace(logged.entry, usage=None)) if logged.seq == 4 else logged  # pyright: ignore
        for logged in transcript.entries
    )
    run = simulated(replace(transcript, entries=entries), ULLAGE)
    assert 4 not in {point.seq for point in run.requests}
    assert len(run.requests) == len(simulated(transcript, ULLAGE).requests) - 1


def test_recorded_compactions_are_not_part_of_another_policys_session():
    compacting = session(
        prompt(),
        reply(0, 0, 20_000, blocks=(call(),)),
        returned("x = 1\n" * 4_000),
        reply(0, 20_000, 30_000),
        prompt(),
        reply(0, 15_000, 3_000),
        compactions=(compacted(4),),
    )
    run = simulated(compacting, NONE)
    assert run.requests[-1].context_tokens > 50_000


def test_files_near_the_work_that_are_not_read_again_are_told_of_by_name():
    listing = "\n".join(("src/valve_box.py", *(f"the level is {number}" for number in range(3_000))))
    work = [
        entry
        for number in range(30)
        for entry in (reply(200, 20_000, 500, blocks=(call(f"more{number}"),)), returned(f"part {number} of it " * 300, f"more{number}"))
    ]
    entries = [prompt(), reply(9_000, 0, 9_000, blocks=(call("first"),)), returned(listing, "first"), *work, reply(200, 20_000, 500)]
    transcript = session(*entries, compactions=(compacted(len(entries) - 1, "Nothing is left to do."),))
    view = carry(PreparedSession(transcript), ULLAGE, ReplaySettings("recorded", "digest"))
    [made] = view.active
    assert "src/: valve_box.py" in made.nearby
    assert [block.text for message in view.messages for block in message.blocks if isinstance(block, Text)].count(made.nearby) == 1
    assert made.estimated_after < made.tokens_before
