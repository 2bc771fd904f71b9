"""Conversations over Chat Completions with the strict fake of it, which refuses whatever a real server would."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from hashlib import sha256
from itertools import pairwise

import pytest

from tests.fake_api import Call, EndsAfter, ErrorAfter, Fail, Hang, HoldsAfter, Html, ResetConnection, ResetsAfter, Say, Think
from tests.fake_api import Reply as Scripted
from tests.fake_api.chat import FakeChat, Manners
from ullage.context.blocks import Document, Image, Json, Media, Message, RedactedThinking, SystemPart, Text, Thinking, ToolSpec, ToolUse
from ullage.context.entries import AssistantReply, Entry, Logged, Prelude, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, build_request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.chat_model import OPENAI, ChatModel, address_of
from ullage.models.errors import (
    AuthenticationFailed,
    EndpointUnreachable,
    ListRefused,
    ModelError,
    Overloaded,
    PromptTooLong,
    RequestRefused,
    StreamBroken,
    UnknownModel,
)
from ullage.models.model import ModelEvent, Reply, Retrying, TextDelta, ThinkingDelta, ToolInputDelta

MODEL = "claude-test-small"
"""One that no table of prices knows by this wire."""
KEY = "sk-or-v1-0123456789abcdef"
SYSTEM = "You are Ullage. " * 400
"""Long enough to be cached."""
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
IMAGE = Image(sha256(PIXEL).hexdigest(), "image/png", 1, 1, len(PIXEL))


async def no_nap(seconds: float) -> None:
    """Waits for nothing."""


def model_at(fake: FakeChat, *, name: str = MODEL, key: str | None = KEY) -> ChatModel:
    def media(asked: Media) -> bytes | None:
        return PIXEL if asked == IMAGE else None

    model = ChatModel(name, api_key=key, base_url=fake.base_url, media=media, sleep=no_nap, dice=lambda: 0.0)
    _made.append(model)
    return model


_made: list[ChatModel] = []


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    for model in _made:
        await model.aclose()
    _made.clear()


class Talk:
    """A conversation: the real log and view, a real socket."""

    def __init__(self, fake: FakeChat, *, name: str = MODEL, key: str | None = KEY) -> None:
        self.model = model_at(fake, name=name, key=key)
        self.projection = Projection()
        schema: dict[str, Json] = {"type": "object", "properties": {"command": {"type": "string"}}}
        self.log(Prelude((SystemPart("system", SYSTEM), SystemPart("rules", "Be brief.")), (ToolSpec("bash", "Runs a command.", schema),)))

    def log(self, entry: Entry) -> None:
        self.projection.append(Logged(len(self.projection.entries) + 1, 0.0, entry))

    def stream(self) -> AsyncIterator[ModelEvent]:
        return self.model.stream(build_request(self.projection), 1_000)

    async def ask(self, prompt: str | None = None) -> Reply:
        """One reply, which is logged."""
        if prompt is not None:
            self.log(UserPrompt(f"p{len(self.projection.entries)}", prompt))
        events = [event async for event in self.stream()]
        reply = events[-1]
        assert isinstance(reply, Reply)
        self.log(AssistantReply("r", reply.blocks, reply.model, reply.stop_reason, reply.usage))
        return reply

    def result(self, call: ToolUse, content: str) -> None:
        self.log(ToolReturned(call.id, call.name, content, False, len(content)))


def one(*blocks: Text | Image | Document) -> Request:
    """A request of one message."""
    return Request((), (), (Message("user", blocks, (0,) * len(blocks)),), ())


async def told(model: ChatModel, request: Request) -> list[ModelEvent]:
    return [event async for event in model.stream(request, 1_000)]


async def failure_of(model: ChatModel, request: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await told(model, request or one(Text("hello")))
    await model.aclose()
    return caught.value


async def test_a_conversation_with_reasoning_parallel_calls_and_the_cache() -> None:
    async with FakeChat() as fake:
        fake.enqueue(
            [Think("I should look."), Say("I look."), Call("bash", {"command": "ls -la"}, "c1"), Call("bash", {"command": "pwd"}, "c2")],
            [Think("Now I know."), Say("There are two files.")],
            [Say("You are welcome.")],
        )
        talk = Talk(fake)
        first = await talk.ask("What is here?")
        assert first.blocks == (
            Thinking("I should look.", "reasoning_content"),
            Text("I look."),
            ToolUse("c1", "bash", {"command": "ls -la"}),
            ToolUse("c2", "bash", {"command": "pwd"}),
        )
        assert (first.stop_reason, first.model) == ("tool_use", MODEL)
        for block in first.blocks:
            if isinstance(block, ToolUse):
                talk.result(block, f"output of {block.input['command']}")
        assert (await talk.ask()).stop_reason == "end_turn"
        last = await talk.ask("Thank you")
        await talk.model.aclose()
        sent = fake.requests[-1].body
        assert [record.error for record in fake.requests] == [None, None, None]
    assert last.usage is not None
    assert first.usage is not None
    assert last.usage.cache_read_tokens > 1_000
    assert last.usage.total_input_tokens == (fake.requests[-1].input or pytest.fail()).total
    assert sent["messages"][2]["reasoning_content"] == "I should look."
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert "cache_control" not in str(sent)


async def test_a_request_only_grows_at_its_end() -> None:
    async with FakeChat() as fake:
        talk = Talk(fake)
        for number in range(4):
            await talk.ask(f"Question {number}")
        await talk.model.aclose()
        bodies = [record.body["messages"] for record in fake.requests]
    for before, after in pairwise(bodies):
        assert after[: len(before)] == before


async def test_the_pieces_are_told_as_they_come() -> None:
    async with FakeChat() as fake:
        fake.enqueue(Scripted((Think("Well, well."), Say("One two"), Call("bash", {"command": "ls"})), chunk_size=4))
        events = [event async for event in Talk(fake).model.stream(one(Text("hello")), 1_000)]
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Well, well."
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["One ", "two"]
    assert "".join(event.partial_json for event in events if isinstance(event, ToolInputDelta)) == '{"command": "ls"}'


async def test_where_the_server_counts_nothing_nothing_is_counted() -> None:
    async with FakeChat(Manners(counts="never")) as fake:
        reply = await Talk(fake).ask("hello")
    assert reply.usage is None


async def test_cached_input_counts_as_cheap_from_the_first_reply_that_reports_it() -> None:
    async with FakeChat(windows={"gpt-5.5": 100_000}) as fake:
        talk = Talk(fake, name="gpt-5.5")
        await talk.ask("One")
        before = (await talk.model.card()).terms
        await talk.ask("Two")
        after = (await talk.model.card()).terms
    async with FakeChat(Manners(caches=False), windows={"gpt-5.5": 100_000}) as fake:
        talk = Talk(fake, name="gpt-5.5")
        await talk.ask("One")
        await talk.ask("Two")
        never = (await talk.model.card()).terms
    assert (before and before.read, after and after.read, never and never.read) == (1.0, 0.1, 1.0)


@pytest.mark.parametrize("name", ["max_tokens", "stream_options", "reasoning_content"])
async def test_what_a_server_refuses_is_left_out_from_then_on(name: str) -> None:
    async with FakeChat(Manners(refuses=frozenset({name}))) as fake:
        fake.enqueue([Think("Hm."), Call("bash", {"command": "ls"}, "c1")])
        talk = Talk(fake)
        talk.result(ToolUse("c1", "bash", {}), "a b") if (await talk.ask("Look")) else None
        await talk.ask()
        await talk.ask("Thanks")
        refused = [record for record in fake.requests if record.status == 400]
    assert len(refused) == 1
    assert len(fake.requests) == 4


async def test_images_go_as_data_and_a_server_that_takes_none_gets_words() -> None:
    pdf = Document("b" * 64, 3, 1_000)
    for manners, parts in [(Manners(), ["text", "image_url", "text"]), (Manners(takes_images=False), None)]:
        async with FakeChat(manners) as fake:
            model = model_at(fake)
            await told(model, one(Text("What is it?"), IMAGE, pdf))
            await told(model, one(Text("What is it?"), IMAGE, pdf))
            await model.aclose()
            content = fake.requests[-1].body["messages"][0]["content"]
            assert sum(record.status == 400 for record in fake.requests) == (parts is None)
        if parts is not None:
            assert [part["type"] for part in content] == parts
        else:
            assert "1 × 1" in content or "not shown" in content


async def test_a_server_without_tools_is_quoted() -> None:
    async with FakeChat(Manners(takes_tools=False)) as fake:
        talk = Talk(fake)
        with pytest.raises(RequestRefused, match="does not support tools"):
            await talk.ask("hello")


async def test_the_window_is_the_one_that_the_server_lists_and_a_refusal_is_understood() -> None:
    async with FakeChat(windows={"tiny": 2_000}) as fake:
        model = model_at(fake, name="tiny")
        card = await model.card()
        error = await failure_of(model, one(Text("word " * 4_000)))
    assert (card.window, card.source) == (2_000, "server")
    assert isinstance(error, PromptTooLong)
    assert error.window == 2_000
    assert error.input_tokens is not None
    assert error.input_tokens > 2_000


async def test_without_a_window_in_the_list_it_is_assumed_until_a_refusal_names_one() -> None:
    async with FakeChat(Manners(tells_window=False), windows={"tiny": 2_000}) as fake:
        model = model_at(fake, name="tiny")
        assert (await model.card()).source == "assumed"
        await failure_of(model, one(Text("word " * 4_000)))
        assert (await model.card()).window == 2_000


@pytest.mark.parametrize(
    "hindrance",
    [
        Fail(429, "rate_limit_error", "slow down", {"retry-after": "2"}, "rate_limit_exceeded"),
        Fail(503, "server_error", "Overloaded"),
        ResetConnection(),
    ],
)
async def test_a_call_that_fails_before_its_reply_is_made_again(hindrance: Fail | ResetConnection) -> None:
    async with FakeChat() as fake:
        fake.enqueue(hindrance, Say("Now."))
        events = await told(model_at(fake), one(Text("hello")))
    assert [type(event) for event in events if not isinstance(event, TextDelta)] == [Retrying, Reply]
    if isinstance(hindrance, Fail) and hindrance.headers:
        assert isinstance(events[0], Retrying)
        assert events[0].delay == 2.0


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Fail(401, "invalid_request_error", f"Incorrect API key provided: {KEY}.", {}, "invalid_api_key"), AuthenticationFailed, "API key"),
        (Fail(429, "insufficient_quota", "You exceeded your quota", {}, "insufficient_quota"), AuthenticationFailed, "no credit left"),
        (Fail(402, "error", "Insufficient credits"), AuthenticationFailed, "no credit left"),
        (
            Fail(404, "invalid_request_error", "No such model", {}, "model_not_found"),
            UnknownModel,
            "does not know the model",
        ),
        (Fail(400, "invalid_request_error", "not now"), RequestRefused, "not now"),
        (Fail(500, "server_error", "boom"), Overloaded, "boom"),
        (Html(200), EndpointUnreachable, "not as the Chat Completions API does"),
        (Html(404), EndpointUnreachable, "ends before `/chat/completions`"),
        (Scripted((Say("One two three four"),), chunk_size=4, interruption=EndsAfter(3)), StreamBroken, "before the reply was whole"),
        (Scripted((Say("One two three four"),), chunk_size=4, interruption=ResetsAfter(3)), StreamBroken, "broke in the middle"),
        (Scripted((Say("One two three four"),), chunk_size=4, interruption=ErrorAfter(3)), Overloaded, "Overloaded"),
    ],
)
async def test_each_failure_in_its_words_and_without_the_key(answer: Fail | Html | Scripted, kind: type[ModelError], words: str) -> None:
    async with FakeChat() as fake:
        fake.enqueue(*[answer] * 8)
        error = await failure_of(model_at(fake))
    assert isinstance(error, kind)
    assert words in str(error)
    assert KEY not in str(error)


async def test_nobody_listens() -> None:
    async with FakeChat() as fake:
        model = model_at(fake)
    assert isinstance(await failure_of(model), EndpointUnreachable)


async def test_a_key_that_cannot_be_sent_is_said() -> None:
    async with FakeChat() as fake:
        assert isinstance(await failure_of(model_at(fake, key="schlüssel")), AuthenticationFailed)
        assert fake.all_requests == []


async def test_without_a_key_none_is_sent() -> None:
    async with FakeChat() as fake:
        await told(model_at(fake, key=None), one(Text("hello")))
        assert "authorization" not in fake.requests[0].headers


async def test_leaving_ends_the_call_at_once() -> None:
    async with FakeChat() as fake:
        fake.enqueue(Scripted((Say("One two three"),), chunk_size=4, interruption=HoldsAfter(2)))
        model = model_at(fake)

        async def read() -> None:
            async for _ in model.stream(one(Text("hello")), 1_000):
                pass

        reading = asyncio.create_task(read())
        await fake.until_held()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        [record] = await fake.until_ended(1)
        assert record.state == "abandoned"
        await model.aclose()
        await fake.until_left()


async def test_who_left_while_waiting_is_answered_and_frees_its_connection() -> None:
    async with FakeChat() as fake:
        fake.enqueue(Hang())
        model = model_at(fake)
        asking = asyncio.create_task(told(model, one(Text("hello"))))
        await fake.until_held()
        await model.aclose()
        fake.release()
        assert isinstance((await asking)[-1], Reply)
        await fake.until_left()


async def test_a_server_that_does_not_stream_and_one_that_says_stop_for_calls() -> None:
    async with FakeChat(Manners(streams=False, calls_stop="stop")) as fake:
        fake.enqueue([Think("Hm."), Say("I look."), Call("bash", {"command": "ls"}, "c1")])
        reply = (await told(model_at(fake), one(Text("hello"))))[-1]
    assert isinstance(reply, Reply)
    assert reply.blocks[1:] == (Text("I look."), ToolUse("c1", "bash", {"command": "ls"}))
    assert reply.stop_reason == "tool_use"
    assert reply.usage is not None


async def test_a_reply_that_was_cut_off_says_so() -> None:
    async with FakeChat() as fake:
        fake.enqueue(Say("word " * 2_000))
        reply = (await told(model_at(fake), one(Text("hello"))))[-1]
    assert isinstance(reply, Reply)
    assert reply.stop_reason == "max_tokens"


async def test_the_list_of_models() -> None:
    async with FakeChat(windows={"qwen": 30_000, "text-embedding-3": 8_000}) as fake:
        offered = {model.name: model for model in await model_at(fake).offered()}
    assert offered["qwen"].window == 30_000
    assert "text-embedding-3" not in offered


async def test_an_empty_list_and_none_are_said() -> None:
    async with FakeChat(models={}) as fake:
        with pytest.raises(ListRefused, match="lists no model"):
            await model_at(fake).offered()
    async with FakeChat(lists_models=False) as fake:
        with pytest.raises(ListRefused, match="HTTP 404"):
            await model_at(fake).offered()
    async with FakeChat(keys={"another"}) as fake:
        with pytest.raises(AuthenticationFailed):
            await model_at(fake).offered()


@pytest.mark.parametrize("streams", [True, False])
async def test_sealed_reasoning_goes_back_as_it_came(streams: bool) -> None:
    async with FakeChat(Manners(seals=True, reasoning="reasoning", streams=streams)) as fake:
        fake.enqueue(
            [Think("I should look, at length."), Say("I look."), Call("bash", {"command": "ls"}, "c1")],
            [Think("Now I know."), Say("Two files.")],
            Say("You are welcome."),
        )
        talk = Talk(fake)
        first = await talk.ask("What is here?")
        assert first.blocks[0] == Thinking("I should look, at length.", "reasoning")
        sealed = first.blocks[-1]
        assert isinstance(sealed, RedactedThinking)
        assert sealed.data.startswith("reasoning_details:[")
        talk.result(ToolUse("c1", "bash", {"command": "ls"}), "a b")
        await talk.ask()
        await talk.ask("Thank you")
        sent = fake.requests[-1].body["messages"]
        assert [record.error for record in fake.requests] == [None, None, None]
    thoughts = [message for message in sent if "reasoning_details" in message]
    assert [detail["type"] for detail in thoughts[0]["reasoning_details"]] == ["reasoning.text", "reasoning.encrypted"]
    assert len(thoughts) == 2
    assert not any("reasoning" in message for message in sent)  # they say it once


async def test_sealed_reasoning_does_not_go_to_the_messages_api() -> None:
    from tests.fake_api import FakeApi

    async with FakeChat(Manners(seals=True)) as chat, FakeApi() as fake:
        chat.enqueue([Think("Hm."), Say("Look."), Call("bash", {"command": "ls"}, "c1")])
        talk = Talk(chat)
        await talk.ask("Go")
        talk.result(ToolUse("c1", "bash", {}), "a b")
        other = AnthropicModel("claude-opus-5-5", api_key="k", base_url=fake.base_url, sleep=no_nap)
        async for _ in other.stream(build_request(talk.projection), 1_000):
            pass
        await other.aclose()
        assert [record.status for record in fake.requests] == [200]


async def test_a_server_that_reads_less_than_it_was_sent_is_noticed() -> None:
    async with FakeChat(Manners(reads_at_most=2_000)) as fake:
        fake.enqueue(Say("Fine."), Say("What did you say?"))
        model = model_at(fake)
        short = (await told(model, one(Text("hello " * 500))))[-1]
        long = (await told(model, one(Text("What is in this file? " * 2_000))))[-1]
    assert isinstance(short, Reply) and isinstance(long, Reply)
    assert (short.doubts, short.usage is None) == ((), False)
    assert long.usage is None  # the gauge estimates: what was read is not what the context holds
    assert "read 2,000 tokens" in long.doubts[0]
    assert "make it larger" in long.doubts[0]


@pytest.mark.parametrize("text", ["世界" * 9_000, "    return None\n" * 3_000, "deadbeef" * 4_000, "word " * 6_000])
async def test_a_server_that_reads_all_is_believed(text: str) -> None:
    async with FakeChat() as fake:
        fake.enqueue(Say("Fine."), Say("Fine."))
        model = model_at(fake)
        for said in (Text("hello " * 4_000), Text(text)):
            reply = (await told(model, one(said)))[-1]
            assert isinstance(reply, Reply)
            assert reply.doubts == ()


@pytest.mark.parametrize(
    ("fail", "kind", "words"),
    [
        (Fail(402, "insufficient_credits", "This request requires more credits."), AuthenticationFailed, "no credit left"),
        (
            Fail(429, "insufficient_quota", "You exceeded your current quota.", {}, "insufficient_quota"),
            AuthenticationFailed,
            "no credit left",
        ),
        (Fail(403, "forbidden", "Your subscription does not include this model."), AuthenticationFailed, "does not allow this"),
        (Fail(429, "rate_limit_error", "Daily limit reached.", {"retry-after": "7200"}), Overloaded, "again in 120 min"),
    ],
)
async def test_a_quota_that_ends_in_the_middle_of_a_turn(fail: Fail, kind: type[ModelError], words: str) -> None:
    async with FakeChat() as fake:
        fake.enqueue([Say("I look."), Call("bash", {"command": "ls"}, "c1")], fail, Say("Two files."))
        talk = Talk(fake)
        await talk.ask("What is here?")
        talk.result(ToolUse("c1", "bash", {"command": "ls"}), "a b")
        with pytest.raises(kind, match=words) as caught:
            await talk.ask()
        assert fail.message.rstrip(".") in str(caught.value)
        assert (await talk.ask()).blocks == (Text("Two files."),)


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("", OPENAI),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        (" http://127.0.0.1:11434/ ", "http://127.0.0.1:11434/v1"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"),
        ("https://a.openai.azure.com/openai/v1/chat/completions", "https://a.openai.azure.com/openai/v1"),
        ("http://[", "http://["),
    ],
)
def test_the_address_is_taken_as_users_have_it(typed: str, address: str) -> None:
    assert address_of(typed) == address


async def test_what_was_thought_here_does_not_go_to_the_messages_api() -> None:
    from tests.fake_api import FakeApi

    async with FakeChat() as chat, FakeApi() as fake:
        chat.enqueue([Think("Hm."), Say("Look."), Call("bash", {"command": "ls"}, "c1")])
        talk = Talk(chat)
        await talk.ask("Go")
        talk.result(ToolUse("c1", "bash", {}), "a b")
        other = AnthropicModel("claude-opus-5-5", api_key="k", base_url=fake.base_url, sleep=no_nap)
        async for _ in other.stream(build_request(talk.projection), 1_000):
            pass
        await other.aclose()
        assert [record.status for record in fake.requests] == [200]
        assert "thinking" not in str(fake.requests[0].body["messages"])
