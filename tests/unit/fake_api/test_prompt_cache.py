"""The prompt cache as usage reports it: read, written, for how long, and what it costs."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.fake_api import Call, Fail, FakeApi, Hang, HoldsAfter, Reply, Say, Think
from tests.unit.fake_api.bodies import HOUR_MARK, MARK, assistant, call, request, result, text, tool, user
from tests.unit.fake_api.conftest import Clock

LONG = "All work and no play makes a dull prompt. " * 100
"""More than the 512 tokens that the test model wants for a cached prefix."""


def marked(words: str, mark: Any = MARK) -> dict[str, Any]:
    """A marked text block."""
    return text(words, cache_control=mark)


async def classes(client: AsyncAnthropic, body: dict[str, Any]) -> tuple[int, int, int, int]:
    """Uncached, read, written for 5 minutes, written for 1 hour: the input tokens of one request."""
    reply: anthropic.types.Message = await client.messages.create(**body, stream=False)
    usage = reply.usage
    assert usage.cache_creation is not None
    short, long = usage.cache_creation.ephemeral_5m_input_tokens, usage.cache_creation.ephemeral_1h_input_tokens
    assert usage.cache_creation_input_tokens == short + long
    return usage.input_tokens, usage.cache_read_input_tokens or 0, short, long


async def total(client: AsyncAnthropic, body: dict[str, Any]) -> int:
    """All input tokens of a request."""
    counted = await client.messages.count_tokens(**{key: value for key, value in body.items() if key != "max_tokens"})
    return counted.input_tokens


async def test_written_once_then_read(client: AsyncAnthropic) -> None:
    """The second request reads what the first wrote; what is behind the last mark is never cached."""
    body = request(user("hello"), system=[marked(LONG)])
    uncached, read, written, _ = await classes(client, body)
    assert (uncached > 0, read, written > 1_000) == (True, 0, True)
    assert uncached + written == await total(client, body)
    assert await classes(client, body) == (uncached, written, 0, 0)
    assert await classes(client, request(user("good-bye"), system=[marked(LONG)])) == (pytest.approx(uncached, abs=3), written, 0, 0)


async def test_nothing_without_a_mark(client: AsyncAnthropic) -> None:
    """Writing needs a mark, and so does reading."""
    assert (await classes(client, request(user("hello"), system=LONG)))[1:] == (0, 0, 0)
    await classes(client, request(user("hello"), system=[marked(LONG)]))
    assert (await classes(client, request(user("hello"), system=LONG)))[1:] == (0, 0, 0)


async def test_a_growing_conversation_writes_only_what_is_new(client: AsyncAnthropic) -> None:
    """A mark at the end of each request reads the one before and writes the rest."""
    messages = [user(LONG)]
    system = [marked("You help.")]
    seen = 0
    for step in range(4):
        latest = [*messages[:-1], user(*messages[-1]["content"][:-1], messages[-1]["content"][-1] | {"cache_control": MARK})]
        body = request(*latest, system=system)
        uncached, read, written, _ = await classes(client, body)
        assert (uncached, read) == (0, seen)
        seen = read + written
        assert seen == await total(client, body)
        messages += [assistant("Fine."), user(f"Step {step}.")]


@pytest.mark.parametrize(
    ("model", "tokens", "cached"),
    [
        ("claude-test-small", 505, False),
        ("claude-test-small", 520, True),
        ("claude-sonnet-5", 1_010, False),
        ("claude-sonnet-5", 1_030, True),
        ("claude-haiku-4-5", 4_080, False),
        ("claude-haiku-4-5", 4_110, True),
    ],
)
async def test_the_minimum(client: AsyncAnthropic, model: str, tokens: int, cached: bool) -> None:
    """Below it a mark does nothing and is no error. In Chinese the fake counts a character as a token."""
    body = request(user("hello"), system=[marked("字" * (tokens - 2))], model=model)
    _, _, written, _ = await classes(client, body)
    assert written == (tokens if cached else 0)


@pytest.mark.parametrize(
    ("mark", "seconds", "read"),
    [(MARK, 299, True), (MARK, 300, False), (HOUR_MARK, 3_599, True), (HOUR_MARK, 3_600, False)],
)
async def test_the_time_to_live(client: AsyncAnthropic, clock: Clock, mark: Any, seconds: float, read: bool) -> None:
    """Five minutes or one hour, from the start of the request."""
    body = request(user("hello"), system=[marked(LONG, mark)])
    await classes(client, body)
    clock.now += seconds
    assert ((await classes(client, body))[1] > 0) == read


async def test_the_time_to_live_counts_from_the_start(fake: FakeApi, client: AsyncAnthropic, clock: Clock) -> None:
    """A reply that takes four minutes leaves one."""
    body = request(user("hello"), system=[marked(LONG)])
    fake.enqueue(Reply((Say("slow"),), interruption=HoldsAfter(0)))
    reading = asyncio.create_task(whole_stream(client, body))
    await fake.until_held()
    clock.now += 240
    fake.release()
    await reading
    clock.now += 60
    assert (await classes(client, body))[1] == 0


async def test_reading_refreshes(client: AsyncAnthropic, clock: Clock) -> None:
    """An entry that is read every four minutes lives on."""
    body = request(user("hello"), system=[marked(LONG)])
    await classes(client, body)
    for _ in range(3):
        clock.now += 240
        assert (await classes(client, body))[1] > 0


def blocks_before(count: int) -> dict[str, Any]:
    """A body whose last mark stands `count` block positions behind the first."""
    return request(user(text(LONG), *(f"line {n}" for n in range(count - 1)), marked("end")))


@pytest.mark.parametrize(("count", "reads"), [(1, True), (19, True), (20, False), (30, False)])
async def test_a_read_walks_back_20_positions(client: AsyncAnthropic, count: int, reads: bool) -> None:
    """The mark itself is the first of them, so an entry 19 blocks before it is found and one 20 before is not."""
    await classes(client, request(user(marked(LONG))))
    _, read, written, _ = await classes(client, blocks_before(count))
    assert (read > 0) == reads
    assert written > 0


async def test_parallel_results_are_positions_too(client: AsyncAnthropic) -> None:
    """Ten calls and their ten results are twenty blocks: a second mark keeps within reach."""
    ids = [f"toolu_{n}" for n in range(10)]
    asked = user(marked(LONG))
    await classes(client, request(asked, tools=[tool()]))
    calls = assistant(*(call(id) for id in ids))
    results = [result(id) for id in ids]
    far = request(asked, calls, user(*results[:-1], results[-1] | {"cache_control": MARK}), tools=[tool()])
    unmarked = user(text(LONG))
    assert (await classes(client, far | {"messages": [unmarked, *far["messages"][1:]]}))[1] == 0
    assert (await classes(client, far))[1] > 0


async def test_entries_can_be_read_once_the_response_has_begun(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Two requests at once both write; a third during the first's stream reads."""
    body = request(user("hello"), system=[marked(LONG)])
    fake.enqueue(Hang(), Reply((Say("quick"),), interruption=HoldsAfter(0)))
    first = asyncio.create_task(classes(client, body))
    await fake.until_held(1)
    second = asyncio.create_task(whole_stream(client, body))
    await fake.until_held(2)
    assert fake.requests[1].input is not None
    assert fake.requests[1].input.read == 0
    assert (await classes(client, body))[1] > 0
    fake.release()
    assert (await first)[1] == 0
    await second


async def test_a_failure_writes_nothing(fake: FakeApi, client: AsyncAnthropic) -> None:
    """No response, no entry."""
    body = request(user("hello"), system=[marked(LONG)])
    fake.enqueue(Fail(529, "overloaded_error", "Overloaded"))
    with pytest.raises(anthropic.OverloadedError):
        await classes(client, body)
    assert (await classes(client, body))[1] == 0


async def test_keys_and_models_have_their_own(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Neither another key nor another model reads."""
    body = request(user("hello"), system=[marked(LONG)])
    await classes(client, body)
    assert (await classes(client.with_options(api_key="another"), body))[1] == 0
    assert (await classes(client, body | {"model": "claude-opus-5-5"}))[1] == 0
    assert (await classes(client, body))[1] > 0


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, "tools system messages"),
        ({"max_tokens": 500}, "tools system messages"),
        ({"output_config": {"effort": "medium"}}, "tools system messages"),  # the model's default
        ({"output_config": {"effort": "low"}}, "tools system"),
        ({"tool_choice": {"type": "none"}}, "tools system"),
        ({"thinking": {"type": "adaptive"}}, "tools system"),
        ({"speed": "fast"}, "tools"),
        ({"system": [marked(LONG + "!")]}, "tools"),
        ({"tools": [tool(description=LONG + "!", cache_control=MARK)]}, ""),
    ],
)
async def test_what_a_change_loses(client: AsyncAnthropic, change: dict[str, Any], kept: str) -> None:
    """Everything behind a change is lost, and some parameters count as one."""
    parts = ["tools", "system", "messages"]
    body = request(user(marked(LONG)), system=[marked(LONG)], tools=[tool(description=LONG, cache_control=MARK)])
    ends = {"": 0}
    for name, smaller in {
        "tools": {"system": "x", "messages": [user("x")]},
        "tools system": {"messages": [user("x")]},
        " ".join(parts): {},
    }.items():
        uncached, read, written, _ = await classes(client, body | smaller)
        ends[name] = read + written
        assert uncached < 30
    assert (await classes(client, body | change))[1] == ends[kept]


async def test_mixed_lives_are_billed_apart(client: AsyncAnthropic) -> None:
    """Read A, then B minus A for an hour, then C minus B for five minutes."""
    body = request(user(marked(LONG)), system=[marked(LONG, HOUR_MARK)], tools=[tool(description=LONG)])
    uncached, read, short, long = await classes(client, body)
    assert (uncached, read) == (0, 0)
    assert long > short > 1_000
    assert await classes(client, body) == (0, short + long, 0, 0)


async def test_the_automatic_mark(client: AsyncAnthropic) -> None:
    """The top-level parameter marks the last block that can carry one."""
    body = request(user(LONG), cache_control=MARK)
    assert (await classes(client, body))[2] == await total(client, body)
    longer = request(user(LONG), assistant("Fine."), user("Go on."), cache_control=MARK)
    assert (await classes(client, longer))[1] == await total(client, body)


async def test_warming_up(fake: FakeApi, client: AsyncAnthropic) -> None:
    """`max_tokens: 0` writes and answers nothing, and leaves the script alone."""
    fake.enqueue(Say("later"))
    body: dict[str, Any] = request(user("hello"), system=[marked(LONG)]) | {"max_tokens": 0}
    reply: anthropic.types.Message = await client.messages.create(**body, stream=False)
    assert (reply.content, reply.stop_reason, reply.usage.output_tokens) == ([], "max_tokens", 0)
    assert fake.state.script.queued == 1
    assert (await classes(client, request(user("hello"), system=[marked(LONG)])))[1] > 0


@pytest.mark.parametrize(
    ("model", "thinking", "kept"),
    [
        ("claude-opus-5-5", {"type": "adaptive"}, True),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 1_024}, False),
    ],
)
async def test_old_thinking_at_a_new_user_text(
    fake: FakeApi, client: AsyncAnthropic, model: str, thinking: dict[str, Any], kept: bool
) -> None:
    """Older models strip it then, and what was cached behind it is lost; newer ones keep both."""
    fake.enqueue([Think("hm"), Call("read_file", {}, id="toolu_1")])
    body: dict[str, Any] = request(user(LONG * 3), model=model, thinking=thinking, tools=[tool()]) | {"max_tokens": 2_000}
    first: anthropic.types.Message = await client.messages.create(**body, stream=False)
    reply = first.to_dict(exclude_none=True)
    loop = [user(LONG * 3), {"role": "assistant", "content": reply["content"]}]
    _, _, written, _ = await classes(client, body | {"messages": [*loop, user(result("toolu_1", cache_control=MARK))]})
    after = [*loop, user(result("toolu_1")), assistant("Fine."), user(marked("And now?"))]
    _, read, _, _ = await classes(client, body | {"messages": after})
    assert read == (written if kept else 0)


async def whole_stream(client: AsyncAnthropic, body: dict[str, Any]) -> None:
    """Reads a stream to its end."""
    async with client.messages.stream(**body) as running:
        await running.until_done()
