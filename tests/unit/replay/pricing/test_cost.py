"""What recorded sessions cost: by price class, at other models' prices, and what their summaries must have cost."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.replay.recorded import compacted, prompt, reply, session, uncounted
from ullage.context.blocks import Usage
from ullage.context.counting.tokens import estimate_text
from ullage.models.known_models import card_from_table
from ullage.replay.pricing.cost import (
    SUMMARY_REQUEST_TOKENS,
    Dollars,
    PricedCall,
    cost_of,
    dollars,
    dollars_of,
    scaled,
    summary_calls,
    total_usage,
)

MILLION = 1_000_000
USAGES = st.builds(Usage, *[st.integers(0, 2 * MILLION)] * 5)


def check(found: Dollars, expected: Dollars) -> None:
    """Equal but for rounding of floats."""
    assert astuple(found) == pytest.approx(astuple(expected))


def test_each_class_has_its_price():
    made = session(prompt(), reply(MILLION, 2 * MILLION, 3 * MILLION, written_1h=4 * MILLION, output=5 * MILLION))
    cost = cost_of(made)
    check(cost.dollars, Dollars(input=5.0, output=125.0, cache_read=1.0, cache_write_5m=18.75, cache_write_1h=40.0))
    assert cost.dollars.total == pytest.approx(189.75)


def test_replies_add_up_each_at_its_own_model():
    made = session(prompt(), reply(MILLION, output=0), prompt(), reply(MILLION, output=0, model="claude-sonnet-5-5"))
    check(cost_of(made).dollars, Dollars(input=7.0))


def test_the_step_of_haiku_is_taken_by_each_call():
    """Five times the price for the call that is over 100,000 tokens, and for that one alone."""
    at_line, over = reply(100_000, output=0, model="claude-haiku-5-5"), reply(100_001, output=1_000, model="claude-haiku-5-5")
    assert cost_of(session(prompt(), at_line)).dollars.total == pytest.approx(0.01)
    check(cost_of(session(prompt(), over)).dollars, Dollars(input=0.0500005, output=0.0025))
    assert cost_of(session(prompt(), at_line, prompt(), over)).dollars.input == pytest.approx(0.0600005)


def test_what_cannot_be_priced_is_named():
    made = session(
        prompt(), reply(100, model="llama"), prompt(), uncounted(), prompt(), reply(100, model="llama"), prompt(), reply(MILLION, output=0)
    )
    cost = cost_of(made)
    assert cost.unpriced == ("llama",)
    check(cost.dollars, Dollars(input=5.0))


def test_placeholders_of_no_model_are_not_named():
    cost = cost_of(session(prompt(), reply(output=0, model="<synthetic>")))
    assert (cost.unpriced, cost.dollars.total) == ((), 0.0)


def test_as_another_model_with_the_same_tokenizer():
    made = session(prompt(), reply(MILLION, MILLION, output=MILLION))
    check(cost_of(made, "claude-opus-5-5").dollars, Dollars(input=4.0, output=20.0, cache_read=0.2))


def test_as_another_model_with_a_tokenizer_that_makes_more_of_it():
    made = session(prompt(), reply(780_000, output=0, model="claude-opus-4-6"))
    check(cost_of(made, "claude-opus-5-5").dollars, Dollars(input=4.0))


def test_as_a_model_that_is_not_known():
    cost = cost_of(session(prompt(), reply(MILLION)), "llama")
    assert (cost.unpriced, cost.dollars.total) == (("llama",), 0.0)


def test_a_summary_is_counted_warm_and_cold():
    """Warm, what the last request held is read; its reply and the asking are new either way."""
    summary = "What was said and done. " * 40
    made = session(
        prompt(),
        reply(1_000, 90_000, 9_000, output=2_000),
        prompt(),
        reply(100, model="claude-opus-5"),
        compactions=(compacted(2, summary),),
    )
    (call,) = summary_calls(made)
    output = estimate_text(summary)
    assert call.warm == Usage(2_000 + SUMMARY_REQUEST_TOKENS, output, cache_read_tokens=100_000)
    assert call.cold == Usage(102_000 + SUMMARY_REQUEST_TOKENS, output)
    cost = cost_of(made)
    check(cost.summaries_warm, Dollars(input=0.015, cache_read=0.05, output=output * 25 / MILLION))
    check(cost.summaries_cold, Dollars(input=0.515, output=output * 25 / MILLION))


def test_a_summary_of_more_than_the_last_reply_knew():
    """What the program itself counted before it compacted, where that is more."""
    (call,) = summary_calls(session(prompt(), reply(1_000, output=10), compactions=(compacted(2, "Short.", tokens_before=5_000),)))
    assert call.cold.input_tokens == 5_000 + SUMMARY_REQUEST_TOKENS
    assert call.warm.cache_read_tokens == 1_000


@pytest.mark.parametrize("used", [Usage(100, 300, 40_000), Usage(0, 0)], ids=["by a model", "by the program"])
def test_a_summary_whose_tokens_are_recorded(used: Usage):
    made = replace(compacted(2, "Short.", tokens_before=50_000), usage=used)
    (call,) = summary_calls(session(prompt(), reply(1_000, output=10), compactions=(made,)))
    assert call.warm == used
    assert call.cold == Usage(used.total_input_tokens, used.output_tokens)


def test_a_compaction_before_anything_was_counted_has_no_call():
    made = session(prompt(), uncounted(), reply(output=0), prompt(), compactions=(compacted(0, "a"), compacted(4, "b")))
    assert list(summary_calls(made)) == []


def test_summaries_are_no_part_of_the_total():
    made = session(prompt(), reply(MILLION, output=0), compactions=(compacted(2, "Short."),))
    check(cost_of(made).dollars, Dollars(input=5.0))


@given(USAGES, st.sampled_from(["claude-opus-5", "claude-haiku-5-5", "claude-fable-5-2"]))
def test_the_classes_add_up_to_what_the_agent_itself_would_show(usage: Usage, model: str):
    card = card_from_table(model)
    assert card is not None and card.prices is not None
    assert dollars(card.prices, usage).total == pytest.approx(card.cost(usage))


@given(st.lists(USAGES, max_size=5))
def test_sums_are_by_class(usages: list[Usage]):
    total = total_usage(usages)
    assert total.total_input_tokens == sum(usage.total_input_tokens for usage in usages)
    assert total.output_tokens == sum(usage.output_tokens for usage in usages)
    apart = sum(dollars_of([PricedCall("claude-opus-5", usage)]).total for usage in usages)
    assert dollars_of(PricedCall("claude-opus-5", usage) for usage in usages).total == pytest.approx(apart)


def test_tokens_scale_in_every_class():
    assert scaled(Usage(10, 20, 30, 40, 50), 1.5) == Usage(15, 30, 45, 60, 75)
