"""Our cache and our dollars against the ledger of the strict fake, which shares no code with them: to the token, to the cent."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import AsyncAnthropic
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fake_api import MODELS, FakeApi, Reply, Say
from tests.fake_api.cache import PromptCache as FakeCache
from tests.fake_api.prefix import positions
from tests.fake_api.usage import InputUsage
from tests.fake_api.usage import dollars as fake_dollars
from tests.unit.fake_api.bodies import assistant, request, text, tool, user
from ullage.context.blocks import Usage
from ullage.context.counting.prompt_cache import START, CacheMark, PromptCache, RequestShape
from ullage.replay.pricing.cost import dollars
from ullage.replay.pricing.recorded_models import minimum_cached, prices_of

KNOWN = sorted({facts.id for facts in MODELS.values() if prices_of(facts.id) is not None})
"""The fake's models that our tables know."""
WORDS = "All work and no play makes a dull prompt. "

Step = tuple[str, int, float]
"""What is said (as many blocks as characters), by how much it is repeated, and the seconds since the last request."""


def shape_of(body: dict[str, Any], at: float) -> RequestShape:
    """The request as we see it. What a block is follows from the body alone; how many tokens it has, from the fake's count."""
    row = positions(body, MODELS[body["model"]])
    content = [*body.get("tools", []), *body.get("system", [])]
    content += [{"role": message["role"], **block} for message in body["messages"] for block in message["content"]]
    prefix, marks = START, list[CacheMark]()
    for block, position in zip(content, row, strict=True):
        identity = repr([(key, value) for key, value in block.items() if key != "cache_control"])
        prefix = prefix.then(identity, position.tokens - prefix.tokens)
        if "cache_control" in block:
            marks.append(CacheMark(prefix, block["cache_control"]["ttl"]))
    return RequestShape(body["model"], at, prefix, tuple(marks))


def as_usage(usage: InputUsage) -> Usage:
    return Usage(usage.uncached, 0, usage.read, usage.written_5m, usage.written_1h)


def bodies(steps: list[Step], models: list[str], marked: list[set[int]]) -> list[dict[str, Any]]:
    """A conversation that grows, each request marked at other blocks, for other models now and then, changed halfway once."""
    messages: list[dict[str, Any]] = []
    made: list[dict[str, Any]] = []
    for number, (said, repeat, _) in enumerate(steps):
        messages.append(user(*[f"{letter} {WORDS * repeat}" for letter in said]))
        if said == "!":
            messages[0] = user(f"changed {number} {WORDS * repeat}")
        body = request(*messages, model=models[number], system=[text(WORDS * 40)], tools=[tool()])
        made.append(with_marks(body, marked[number], "1h" if repeat % 2 else "5m"))
        messages.append(assistant(f"Fine, {number}."))
    return made


def with_marks(body: dict[str, Any], places: set[int], ttl: str) -> dict[str, Any]:
    """The body with marks on some of its blocks, counted from the end, and on the system prompt."""
    mark = {"type": "ephemeral", "ttl": ttl}
    last = sum(len(message["content"]) for message in body["messages"]) - 1
    counted = iter(range(last, -1, -1))
    messages = [
        {**message, "content": [{**block, "cache_control": mark} if next(counted) in places else block for block in message["content"]]}
        for message in body["messages"]
    ]
    return {**body, "messages": messages, "system": [{**block, "cache_control": mark} for block in body["system"]]}


STEPS = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(["a", "ab", "!", "x" * 19, "x" * 20, "x" * 21]), st.text("abc", min_size=1, max_size=25)),
        st.integers(1, 60),
        st.sampled_from([0.0, 1.0, 200.0, 299.0, 300.0, 301.0, 2_000.0, 3_599.0, 3_600.0, 9_000.0]),
    ),
    min_size=1,
    max_size=10,
)


@settings(deadline=None)
@given(
    STEPS,
    st.lists(
        st.sampled_from(["claude-opus-5", "claude-opus-5", "claude-haiku-4-5-20251001", "claude-haiku-5-5"]), min_size=10, max_size=10
    ),
    st.lists(st.sets(st.integers(0, 45), max_size=3), min_size=10, max_size=10),
)
def test_any_conversation_is_charged_as_the_fake_charges_it(steps: list[Step], models: list[str], marked: list[set[int]]):
    ours, theirs = PromptCache(minimum_cached), FakeCache()
    now = 1_000_000.0
    for body, (_, _, gap) in zip(bodies(steps, models, marked), steps, strict=True):
        now += gap
        model = MODELS[body["model"]]
        row = positions(body, model)
        plan = theirs.plan("key", model, row, row[-1].tokens, now)
        theirs.publish(plan)
        assert ours.charge(shape_of(body, now)) == as_usage(plan.usage)


async def test_a_conversation_over_the_socket_costs_what_the_fake_says():
    """Through the real SDK: five minutes' and an hour's writes, reads, an expiry, a change of model, and the step of Haiku 5.5."""
    steps: list[Step] = [("ab", 30, 0.0), ("a", 31, 60.0), ("x" * 25, 40, 299.0), ("a", 1, 3_700.0), ("b", 2, 400.0), ("!", 3, 10.0)]
    steps += [("abc", 4_000, 5.0), ("a", 2, 5.0)]
    models = ["claude-opus-5-5", "claude-opus-5-5", "claude-opus-5-5", "claude-opus-5-5", *["claude-haiku-5-5"] * 4]
    marked = [{0}, {0, 2}, {0, 19}, {0}, {0}, {0}, {0}, {0, 4}]
    now = 1_000_000.0
    cache, spent = PromptCache(minimum_cached), 0.0
    async with FakeApi(clock=lambda: now) as fake, AsyncAnthropic(base_url=fake.base_url, api_key="key", max_retries=0) as client:
        for number, (body, (_, _, gap)) in enumerate(zip(bodies(steps, models, marked), steps, strict=True)):
            now += gap
            fake.enqueue(Reply((Say("Fine. " * number + "Done."),)))
            reply = await client.messages.create(**body, stream=False)
            usage = cache.charge(shape_of(body, now))
            record = fake.requests[-1]
            assert record.input is not None
            assert usage == as_usage(record.input)
            prices = prices_of(body["model"])
            assert prices is not None
            cost = dollars(prices, with_output(usage, reply.usage.output_tokens)).total
            assert cost == pytest.approx(record.dollars, abs=1e-9)
            spent += cost
        assert spent == pytest.approx(fake.dollars, abs=1e-9)


def with_output(usage: Usage, output_tokens: int) -> Usage:
    return Usage(usage.input_tokens, output_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens, usage.cache_write_1h_tokens)


@pytest.mark.parametrize("model", KNOWN)
def test_the_minimum_is_the_one_the_fake_has(model: str):
    assert minimum_cached(model) == MODELS[model].minimum_cached


@pytest.mark.parametrize("model", KNOWN)
@given(counts=st.tuples(*[st.integers(0, 400_000)] * 5))
def test_any_call_costs_what_the_fake_says(model: str, counts: tuple[int, int, int, int, int]):
    uncached, read, short, long, output = counts
    prices = prices_of(model)
    assert prices is not None
    expected = fake_dollars(MODELS[model], InputUsage(uncached, read, short, long), output)
    assert dollars(prices, Usage(uncached, output, read, short, long)).total == pytest.approx(expected, abs=1e-9)
