"""Summaries that the API writes itself, asked for and sent back over a real socket to the strict fake."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.fake_api import Call, EndsAfter, Fail, FakeApi, Reply, Rule, Say, Think
from tests.fake_api.script import Scripted
from ullage.context.blocks import CompactionBlock, Message, SystemPart, Text, Thinking, Usage
from ullage.context.view.request import Request, place
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.errors import ModelError, Overloaded, RequestRefused, StreamBroken
from ullage.models.model import Reply as Answer
from ullage.models.model import Retrying
from ullage.models.reply import ReplyBuilder

MODEL = "claude-opus-5-5"
SUMMARY = "The user wants the tank measured in millimetres, and nothing else changed."


async def no_nap(seconds: float) -> None:
    """Waits for nothing."""


@pytest.fixture
async def fake() -> AsyncIterator[FakeApi]:
    async with FakeApi(compaction=True) as running:
        yield running


def client(fake: FakeApi, name: str = MODEL) -> AnthropicModel:
    return AnthropicModel(name, api_key="key", base_url=fake.base_url, mismatch="error", sleep=no_nap, dice=lambda: 0.0)


def said(text: str) -> Message:
    return Message("user", (Text(text),), (1,))


def request(*messages: Message, summarise: str | None = None) -> Request:
    return Request((SystemPart("system", "You are Ullage. " * 400),), (), messages, place(messages), summarise)


async def ask(model: AnthropicModel, asked: Request, tokens: int = 4_096) -> Answer:
    *_, answer = [event async for event in model.stream(asked, tokens)]
    assert isinstance(answer, Answer)
    return answer


async def summarised(fake: FakeApi, model: AnthropicModel) -> tuple[Message, Message]:
    """The block of one exchange, and the second reply, which was kept, with its thinking."""
    fake.enqueue([Think("Hm."), Say("Yes.")])
    first = said("Measure the tank")
    kept = await ask(model, request(first))
    fake.enqueue_summaries(Say(SUMMARY))
    answer = await ask(model, request(first, summarise="Be brief."))
    assert answer.compaction is not None
    return Message("assistant", (answer.compaction,), (2,)), Message("assistant", kept.blocks, (3,) * len(kept.blocks))


@pytest.mark.parametrize(("name", "compacts"), [(MODEL, True), ("claude-opus-4-5", False), ("claude-fable-5-2", False)])
async def test_the_card_says_who_writes_summaries(fake: FakeApi, name: str, compacts: bool) -> None:
    model = client(fake, name)
    assert not model.expected().compacts, "only where the Models API says so"
    assert (await model.card()).compacts is compacts
    await model.aclose()


async def test_a_summary_and_the_turns_that_were_kept(fake: FakeApi) -> None:
    model = client(fake)
    block, kept = await summarised(fake, model)
    fake.enqueue(Say("Done."))
    again = await ask(model, request(block, kept, said("And now?")))
    assert again.dropped_thinking == 0
    asked, later = fake.requests[1:]
    assert asked.body["compaction"] == {"type": "summarize", "instructions": "Be brief."}
    assert asked.reply == [json.loads(block.blocks[0].json)] if isinstance(block.blocks[0], CompactionBlock) else False
    assert later.body["messages"][0] == {"role": "assistant", "content": asked.reply}
    assert later.body["messages"][1]["content"][0]["type"] == "thinking"
    assert later.body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "error"}
    assert [record.status for record in fake.requests] == [200, 200, 200]
    await model.aclose()


async def test_what_it_cost_is_read_from_the_iterations_and_most_of_it_came_from_the_cache(fake: FakeApi) -> None:
    model = client(fake)
    fake.enqueue(Say("Yes."))
    asked = request(said("Measure the tank. " * 600))
    await ask(model, asked)
    answer = await ask(model, replace(asked, summarise=""))
    assert answer.stop_reason == "compaction"
    assert answer.blocks == ()
    usage = answer.usage
    assert usage is not None
    assert usage.cache_read_tokens >= 0.9 * usage.total_input_tokens
    assert usage.output_tokens > 0
    cost = (await model.card()).cost(usage)
    assert cost == pytest.approx(fake.requests[-1].dollars)
    await model.aclose()


@pytest.mark.parametrize(
    ("outcome", "stop_reason"),
    [
        (Say("word " * 5_000), "max_tokens"),
        (Call("bash", {"command": "ls"}), "tool_use"),
        (Reply((Say("I cannot"),), stop_reason="refusal"), "refusal"),
        (Reply(()), "end_turn"),
    ],
)
async def test_an_empty_200_has_no_block_but_a_price(fake: FakeApi, outcome: Scripted, stop_reason: str) -> None:
    model = client(fake)
    fake.enqueue_summaries(outcome)
    answer = await ask(model, request(said("Measure the tank"), summarise=""), 1_000)
    assert (answer.compaction, answer.stop_reason) == (None, stop_reason)
    assert answer.usage is not None
    await model.aclose()


@pytest.mark.parametrize(
    ("outcomes", "error"),
    [
        ([Fail(529, "overloaded_error", "Unavailable", error_code="compaction_unavailable")] * 7, Overloaded),
        ([Fail(400, "invalid_request_error", "no", error_code="compaction_nothing_to_summarize")], RequestRefused),
        ([Reply((Say(SUMMARY),), interruption=EndsAfter(0))] * 7, StreamBroken),
    ],
)
async def test_failures(fake: FakeApi, outcomes: Sequence[Scripted], error: type[ModelError]) -> None:
    model = client(fake)
    fake.enqueue_summaries(*outcomes)
    with pytest.raises(error):
        await ask(model, request(said("Measure the tank"), summarise=""))
    await model.aclose()


async def test_a_busy_endpoint_is_asked_again(fake: FakeApi) -> None:
    model = client(fake)
    fake.enqueue_summaries(Fail(529, "overloaded_error", "Unavailable", error_code="compaction_unavailable"), Say(SUMMARY))
    events = [event async for event in model.stream(request(said("Measure the tank"), summarise=""), 4_096)]
    assert isinstance(events[0], Retrying)
    assert isinstance(events[-1], Answer)
    assert events[-1].compaction is not None
    await model.aclose()


async def test_a_block_that_is_not_taken_back_goes_as_text_from_then_on(fake: FakeApi) -> None:
    model = client(fake)
    block, kept = await summarised(fake, model)
    foreign = CompactionBlock('{"type":"compaction","content":"Said to another account.","signature":"bm90IG1pbmU="}', MODEL)
    asked = request(replace(block, blocks=(foreign,)), kept, said("And now?"))
    for _ in range(2):
        fake.enqueue(Say("Done."))
        assert (await ask(model, asked)).blocks == (Text("Done."),)
    assert [record.status for record in fake.requests[2:]] == [400, 200, 200]
    first = fake.requests[-1].body["messages"][0]
    assert first["role"] == "user"
    assert "Said to another account." in first["content"][0]["text"]
    assert "thinking" not in [each["type"] for each in fake.requests[-1].body["messages"][1]["content"]]
    await model.aclose()


async def test_a_block_that_is_refused_for_another_reason_is_an_error(fake: FakeApi) -> None:
    model = client(fake)
    block, kept = await summarised(fake, model)
    fake.enqueue(Fail(400, "invalid_request_error", "not now"))
    with pytest.raises(RequestRefused, match="not now"):
        await ask(model, request(block, kept, said("And now?")))
    await model.aclose()


async def test_a_model_that_reads_no_blocks_gets_text(fake: FakeApi) -> None:
    model, other = client(fake), client(fake, "claude-opus-4-5")
    block, kept = await summarised(fake, model)
    fake.enqueue(Say("Done."))
    await ask(other, request(block, kept, said("And now?")))
    assert fake.requests[-1].status == 200
    assert "anthropic-beta" not in fake.requests[-1].headers
    await model.aclose()
    await other.aclose()


async def test_thinking_that_the_api_drops_is_counted(fake: FakeApi) -> None:
    model = AnthropicModel(MODEL, api_key="key", base_url=fake.base_url, sleep=no_nap)
    block, kept = await summarised(fake, model)
    assert isinstance(kept.blocks[0], Thinking)
    fake.add_rules(Rule(lambda body: True, Say("Done.")))
    moved = request(block, said("Something in between."), kept, said("And now?"))
    assert (await ask(model, moved)).dropped_thinking == 1
    assert (await ask(model, request(block, kept, said("And now?")))).dropped_thinking == 0
    await model.aclose()


async def test_what_another_model_thought_is_not_counted(fake: FakeApi) -> None:
    model, other = client(fake), client(fake, "claude-sonnet-5-5")
    block, kept = await summarised(fake, model)
    fake.enqueue(Say("Done."))
    assert (await ask(other, request(block, kept, said("And now?")))).dropped_thinking == 0
    await model.aclose()
    await other.aclose()


async def test_where_thinking_is_refused_the_api_is_asked_to_leave_it_out(fake: FakeApi) -> None:
    model = AnthropicModel(MODEL, api_key="key", base_url=fake.base_url, sleep=no_nap)
    fake.enqueue([Think("Hm."), Say("Yes.")])
    first = said("Measure the tank")
    kept = Message("assistant", (await ask(model, request(first))).blocks, (2, 2))
    changed = request(said("Measure the pump"), kept, said("And now?"))
    for _ in range(2):
        fake.enqueue(Say("Done."))
        assert (await ask(model, changed)).dropped_thinking == 1
    assert [record.status for record in fake.requests] == [200, 400, 200, 200], "from then on it is asked at once"
    strict = client(fake)
    with pytest.raises(RequestRefused, match="bound to a different conversation"):
        await ask(strict, changed)
    await model.aclose()
    await strict.aclose()


def whole(**more: Any) -> dict[str, Any]:
    return {"type": "message", "model": MODEL, "content": [], "stop_reason": "compaction", "usage": {}, **more}


def test_a_message_in_one_piece_and_blocks_that_cannot_go_back() -> None:
    builder = ReplyBuilder(MODEL, 1_000)
    builder.accept_whole(whole(content=[{"type": "compaction", "content": "So far.", "signature": "s", "tool_changes": []}]))
    assert builder.reply().compaction == CompactionBlock(
        '{"type":"compaction","content":"So far.","signature":"s","tool_changes":[]}', MODEL
    )
    builder.accept_whole(whole(content=[{"type": "compaction", "content": "half a pair: \ud83d", "signature": "s"}]))
    assert builder.reply().compaction is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 0, "iterations": [{"type": "compaction", "input_tokens": 5, "output_tokens": 2}]}, Usage(5, 2)),
        ({"input_tokens": 0, "iterations": [{"input_tokens": 5, "output_tokens": 2}, {"cache_read_input_tokens": 3}]}, Usage(5, 2, 3)),
        ({"input_tokens": 7, "iterations": [{"type": "message", "input_tokens": 7}]}, Usage(7, 0)),
        ({"input_tokens": 0, "iterations": "none"}, None),
    ],
)
def test_usage(usage: dict[str, Any], expected: Usage | None) -> None:
    builder = ReplyBuilder(MODEL, 1_000)
    builder.accept_whole(whole(usage=usage))
    assert builder.reply().usage == expected
