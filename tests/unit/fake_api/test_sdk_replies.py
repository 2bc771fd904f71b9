"""Replies as the real SDK reads them over the socket."""

from __future__ import annotations

from typing import Any

from anthropic import AsyncAnthropic, AsyncStream
from anthropic.types import Message, RawMessageStreamEvent, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock

from tests.fake_api import Call, FakeApi, RedactedThink, Reply, Rule, Say, Script, Think
from tests.unit.fake_api.bodies import request, tool, user

MODEL = "claude-test-small"
SUMMARIZED: Any = {"type": "adaptive", "display": "summarized"}


async def stream(client: AsyncAnthropic, **body: Any) -> Message:
    """The final message of a streamed reply."""
    async with client.messages.stream(**body) as running:
        return await running.get_final_message()


async def whole_reply(client: AsyncAnthropic, **body: Any) -> Message:
    """A reply without streaming."""
    return await client.messages.create(**body, stream=False)


async def raw_events(client: AsyncAnthropic, **body: Any) -> list[RawMessageStreamEvent]:
    """The events of a streamed reply."""
    reply: AsyncStream[RawMessageStreamEvent] = await client.messages.create(**body, stream=True)
    return [event async for event in reply]


def delta_texts(events: list[RawMessageStreamEvent], kind: str, field: str) -> list[Any]:
    """The pieces that the deltas of one kind carry."""
    deltas = [event.delta.to_dict() for event in events if event.type == "content_block_delta"]
    return [delta[field] for delta in deltas if delta["type"] == kind]


async def test_a_stream_of_all_kinds_of_blocks(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Thinking, text and a tool call arrive whole and in order."""
    fake.enqueue([Think("Which file?"), Say("I read it — naïvely. 🙂"), Call("read_file", {"path": "ä.py", "lines": [1, 2]}, id="toolu_1")])
    message = await stream(client, **request(tools=[tool()], thinking=SUMMARIZED))
    thinking, said, call = message.content
    assert isinstance(thinking, ThinkingBlock)
    assert isinstance(said, TextBlock)
    assert isinstance(call, ToolUseBlock)
    assert thinking.thinking == "Which file?"
    assert thinking.signature
    assert said.text == "I read it — naïvely. 🙂"
    assert (call.id, call.name, call.input) == ("toolu_1", "read_file", {"path": "ä.py", "lines": [1, 2]})
    assert message.stop_reason == "tool_use"
    assert message.model == MODEL
    assert fake.requests[0].stop_reason == "tool_use"


async def test_the_events_of_a_stream(fake: FakeApi, client: AsyncAnthropic) -> None:
    """The order and the pieces of events are those of the API."""
    fake.enqueue(Reply((Think("abcdef"), Say("ghijkl"), Call("read_file", {"path": "a"})), chunk_size=3))
    events = await raw_events(client, **request(tools=[tool()], thinking=SUMMARIZED))
    assert delta_texts(events, "thinking_delta", "thinking") == ["abc", "def"]
    assert delta_texts(events, "text_delta", "text") == ["ghi", "jkl"]
    assert "".join(delta_texts(events, "input_json_delta", "partial_json")) == '{"path": "a"}'
    assert [event.type for event in events if event.type != "content_block_delta"] == [
        "message_start",
        *["content_block_start", "content_block_stop"] * 3,
        "message_delta",
        "message_stop",
    ]
    kinds = [event.delta.type for event in events if event.type == "content_block_delta"]
    assert kinds[:3] == ["thinking_delta", "thinking_delta", "signature_delta"]


async def test_a_reply_without_streaming_is_the_same(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Both forms give the same content and usage."""
    blocks = [Think("hm"), Say("text"), Call("read_file", {"path": "a"}, id="toolu_1"), RedactedThink()]
    fake.enqueue(blocks, blocks)
    streamed = await stream(client, **request(tools=[tool()]))
    whole = await whole_reply(client, **request(tools=[tool()]))
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use", "redacted_thinking"]
    assert [block.type for block in streamed.content] == [block.type for block in whole.content]
    assert [block.to_dict() for block in streamed.content[1:3]] == [block.to_dict() for block in whole.content[1:3]]
    assert isinstance(whole.content[3], RedactedThinkingBlock)
    assert streamed.usage == whole.usage
    assert streamed.stop_reason == whole.stop_reason


async def test_thinking_is_hidden_unless_asked_for(fake: FakeApi, client: AsyncAnthropic) -> None:
    """By default newer models show none, but sign and charge it."""
    fake.enqueue([Think("long and secret"), Say("done")])
    message = await stream(client, **request())
    thinking = message.content[0]
    assert isinstance(thinking, ThinkingBlock)
    assert thinking.thinking == ""
    assert thinking.signature
    details = message.usage.output_tokens_details
    assert details is not None
    assert details.thinking_tokens > 0


async def test_usage_is_what_was_counted(fake: FakeApi, client: AsyncAnthropic) -> None:
    """The count beforehand is the input of the usage."""
    body = request(user("Read the file, please."), system="You help.", tools=[tool()])
    counted = await client.messages.count_tokens(**{key: value for key, value in body.items() if key != "max_tokens"})
    message = await stream(client, **body)
    assert message.usage.input_tokens == counted.input_tokens
    assert fake.requests[0].input is not None
    assert fake.requests[0].input.total == counted.input_tokens


async def test_output_is_cut_at_max_tokens(fake: FakeApi, client: AsyncAnthropic) -> None:
    """The stop reason says so."""
    fake.enqueue(Say("word " * 500))
    message = await stream(client, **request() | {"max_tokens": 20})
    assert message.stop_reason == "max_tokens"
    assert 15 <= message.usage.output_tokens <= 20


async def test_a_call_that_was_cut_off_has_incomplete_input(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Its JSON just ends."""
    fake.enqueue(Call("write_file", {"content": "word " * 500}))
    events = await raw_events(client, **request(tools=[tool("write_file")]) | {"max_tokens": 20})
    written = "".join(delta_texts(events, "input_json_delta", "partial_json"))
    assert written.startswith('{"content": "word')
    assert not written.endswith("}")
    assert fake.requests[0].stop_reason == "max_tokens"


async def test_output_over_the_window() -> None:
    """Input and output together over the window end the reply, and the input alone is refused by another test."""
    async with FakeApi(windows={"claude-tiny": 200}) as fake, AsyncAnthropic(base_url=fake.base_url, api_key="k") as client:
        fake.enqueue(Say("word " * 1_000))
        message = await stream(client, **request(model="claude-tiny") | {"max_tokens": 200})
        assert message.stop_reason == "model_context_window_exceeded"
        assert message.usage.input_tokens + message.usage.output_tokens <= 200


async def test_models(client: AsyncAnthropic) -> None:
    """The Models API gives windows and capabilities."""
    models = {model.id: model async for model in client.models.list()}
    assert {"claude-fable-5-2", "claude-haiku-4-5-20251001", MODEL} <= models.keys()
    assert models[MODEL].max_input_tokens == 60_000
    haiku = await client.models.retrieve("claude-haiku-4-5")
    assert haiku.id == "claude-haiku-4-5-20251001"
    assert (haiku.max_input_tokens, haiku.max_tokens) == (200_000, 64_000)
    assert haiku.capabilities is not None
    assert not haiku.capabilities.thinking.types.adaptive.supported


async def test_rules_go_before_the_queue(fake: FakeApi, client: AsyncAnthropic) -> None:
    """A rule answers what it matches, as often as it may; the queue and then the echo answer the rest."""
    fake.add_rules(Rule("summar(y|ise)", Say("a summary"), times=1))
    fake.enqueue(Say("queued"))
    said: list[str] = []
    for words in ("Write a summary.", "Write a summary.", "Hello"):
        message = await stream(client, **request(user(words)))
        said.append(message.content[0].text if isinstance(message.content[0], TextBlock) else "")
    assert said == ["a summary", "queued", "You said: Hello"]


async def test_rules_as_functions() -> None:
    """Condition and outcome may look at the whole body."""

    def has_tools(body: dict[str, Any]) -> bool:
        return "tools" in body

    def first_tool(body: dict[str, Any]) -> Call:
        return Call(body["tools"][0]["name"], {})

    async with FakeApi(Script(rules=[Rule(has_tools, first_tool)])) as fake, AsyncAnthropic(base_url=fake.base_url, api_key="k") as client:
        message = await stream(client, **request(tools=[tool("look")]))
        assert isinstance(message.content[0], ToolUseBlock)
        assert message.content[0].name == "look"


async def test_the_record(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Body, headers, reply and price of each request are kept."""
    fake.enqueue(Say("hello"))
    await client.models.retrieve(MODEL)
    await stream(client, **request(user("hi")), extra_headers={"anthropic-beta": "one,two"})
    (record,) = fake.requests
    assert [one.path for one in fake.all_requests] == [f"/v1/models/{MODEL}", "/v1/messages"]
    assert record.body["messages"] == [user("hi")]
    assert record.body["stream"] is True
    assert record.betas == {"one", "two"}
    assert record.key == "key-of-tests"
    assert record.headers["anthropic-version"] == "2026-10-21"
    assert (record.state, record.status) == ("answered", 200)
    assert record.reply == [{"type": "text", "text": "hello"}]
    assert record.dollars == fake.dollars > 0
    assert "key-of-tests" not in str(record.as_json())


async def test_connections_are_kept_alive(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Twenty replies need one connection."""
    for _ in range(20):
        await stream(client, **request())
    assert fake.connections_accepted == 1
