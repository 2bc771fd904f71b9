"""On-demand compaction as the API documents it: who may ask, what comes back, where the block must stand, which thinking stays valid."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.fake_api import Call, Fail, FakeApi, Reply, Say, Think
from tests.fake_api.script import Scripted
from tests.unit.fake_api.bodies import MARK, assistant, call, check, request, result, text, tool, user

Body: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Body], None]

BETA = "compact-2026-09-04"
BINDING = "thinking-binding-controls-2026-08-01"
MODEL = "claude-opus-5-5"
SUMMARIZE = {"type": "summarize"}
SUMMARY = "The user wants the tank measured in millimetres."
FAKE_BLOCK = {"type": "compaction", "content": "So far.", "signature": "abc"}


@pytest.fixture
async def fake() -> AsyncIterator[FakeApi]:
    async with FakeApi(compaction=True, windows={"claude-test-small": 20_000}) as running:
        yield running


async def answer(client: AsyncAnthropic, body: Body, *betas: str) -> Body:
    """The reply to a body as it came."""
    reply: Any = await client.post(
        "/v1/messages", body=body, cast_to=object, options={"headers": {"anthropic-beta": ",".join(betas)} if betas else {}}
    )
    return reply


async def compacted(client: AsyncAnthropic, body: Body, messages: int) -> Body:
    """`body` with its first messages replaced by the API's block."""
    reply = await answer(client, {**body, "messages": body["messages"][:messages], "compaction": SUMMARIZE}, BETA)
    assert reply["stop_reason"] == "compaction"
    return {**body, "messages": [{"role": "assistant", "content": reply["content"]}, *body["messages"][messages:]]}


async def conversation(fake: FakeApi, client: AsyncAnthropic) -> Body:
    """Three turns with thinking in each reply.

    messages: 0 user, 1 think + call, 2 result, 3 think + say, 4 user, 5 think + say, 6 user
    """
    fake.enqueue(
        [Think("first"), Call("read_file", {"path": "a.py"})], [Think("second"), Say("It says hello.")], [Think("third"), Say("Yes.")]
    )
    body = request(user("Read a.py"), tools=[tool()], system=[text("You help.")], model=MODEL)
    for words in (None, "Is that all?", "Thanks."):
        reply = await answer(client, body)
        following = user(words) if words else user(result(reply["content"][1]["id"], "print('hello')"))
        body["messages"] += [{"role": "assistant", "content": reply["content"]}, following]
    return body


@pytest.mark.parametrize(
    ("change", "betas", "expected"),
    [
        ({}, [BETA], None),
        ({"messages": [user("hi"), assistant("hello")]}, [BETA], None),
        ({"compaction": {"type": "summarize", "instructions": "x" * 16_384}}, [BETA], None),
        ({"compaction": {"type": "summarize", "instructions": "x" * 16_385}}, [BETA], "at most 16384 characters"),
        ({"compaction": {"type": "shorten"}}, [BETA], "Input tag 'shorten'"),
        ({"compaction": {"type": "summarize", "trigger": 1}}, [BETA], "compaction.summarize.trigger: Extra inputs"),
        ({}, [], "requires anthropic-beta: compact-2026-09-04"),
        ({}, ["compact-2026-01-12"], "requires anthropic-beta: compact-2026-09-04"),
        ({"context_management": {"edits": []}}, [BETA], "`context_management` cannot be used together"),
        ({"stop_sequences": ["END"]}, [BETA], "`stop_sequences` cannot be used together"),
        ({"output_config": {"format": {}}}, [BETA], "`output_config.format` cannot be used together"),
        ({"output_config": {"task_budget": {"remaining": 1}}}, [BETA], "`output_config.task_budget.remaining` cannot be used together"),
        ({"tool_choice": {"type": "any"}, "tools": [tool()]}, [BETA], "`tool_choice` cannot be used together"),
        ({"tool_choice": {"type": "none"}, "tools": [tool()]}, [BETA], None),
        ({"messages": []}, [BETA], "nothing to summarize"),
        ({"messages": [user("hi"), assistant(call("t1"))], "tools": [tool()]}, [BETA], "no result yet"),
        ({"model": "claude-opus-4-5"}, [BETA], "does not support compaction"),
        ({"model": "claude-fable-5-2"}, [BETA], "does not support compaction"),
    ],
)
def test_who_may_ask_for_a_block(change: Body, betas: list[str], expected: str | None) -> None:
    check({**request(model=MODEL), "compaction": SUMMARIZE, **change}, expected, betas)


@pytest.mark.parametrize(
    ("messages", "betas", "expected"),
    [
        ([assistant(FAKE_BLOCK), user("Go on.")], [BETA], None),
        ([assistant(FAKE_BLOCK), assistant("Said meanwhile."), user("Go on.")], [BETA], None),
        ([user(FAKE_BLOCK, "Go on.")], [BETA], None),
        ([assistant({**FAKE_BLOCK, "cache_control": MARK}), user("Go on.")], [BETA], None),
        ([assistant(FAKE_BLOCK), user("Go on.")], [], "Input tag 'compaction' found using 'type' does not match any of the expected tags"),
        ([user("hi"), assistant(FAKE_BLOCK), user("Go on.")], [BETA], "must be the first block"),
        ([user("hi", FAKE_BLOCK)], [BETA], "must be the first block"),
        ([assistant(FAKE_BLOCK, FAKE_BLOCK), user("Go on.")], [BETA], "more than one `compaction` block"),
        ([assistant({**FAKE_BLOCK, "citations": None}), user("Go on.")], [BETA], "compaction.citations: Extra inputs are not permitted"),
        ([assistant({"type": "compaction", "content": "So far."}), user("Go on.")], [BETA], "requires its `signature`"),
        ([assistant(FAKE_BLOCK)], [BETA], "must end with a user message"),
    ],
)
def test_where_a_block_may_stand(messages: list[Body], betas: list[str], expected: str | None) -> None:
    check(request(*messages, model=MODEL), expected, betas)


async def test_the_models_api_tells_who_writes_blocks_to_those_who_send_the_header(fake: FakeApi, client: AsyncAnthropic) -> None:
    supported = {"supported": True, "summarize": {"supported": True}}
    for model, betas, expected in (
        (MODEL, BETA, supported),
        (MODEL, "", None),
        ("claude-opus-4-5", BETA, {"supported": False, "summarize": {"supported": False}}),
    ):
        info: Any = await client.get(f"/v1/models/{model}", cast_to=object, options={"headers": {"anthropic-beta": betas}})
        assert info["capabilities"].get("compaction") == expected


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_reply_is_one_signed_block_and_its_cost_stands_in_the_iterations(
    fake: FakeApi, client: AsyncAnthropic, streamed: bool
) -> None:
    fake.enqueue_summaries([Think("What mattered?"), Say(SUMMARY)])
    body = request(user("Measure the tank. " * 300), system=[text("You help.", cache_control=MARK)], model=MODEL)
    body["messages"][0]["content"][0]["cache_control"] = MARK
    await answer(client, body)
    asked: Any = {**body, "compaction": SUMMARIZE, "betas": [BETA]}
    sdk: Any = client.beta.messages
    if streamed:
        async with sdk.stream(**asked) as stream:
            events = [event async for event in stream]
            message = await stream.get_final_message()
        assert not [event for event in events if event.type == "content_block_delta"]
    else:
        message = await sdk.create(**asked)
    assert (message.stop_reason, [block.type for block in message.content]) == ("compaction", ["compaction"])
    block = message.content[0].to_dict()
    assert set(block) == {"type", "content", "signature"}
    assert block["content"] == SUMMARY
    assert (message.usage.input_tokens, message.usage.output_tokens) == (0, 0)
    used: Any
    [used] = message.usage.iterations
    assert used.type == "compaction"
    assert used.cache_read_input_tokens > 1_000
    assert used.output_tokens > 0
    assert fake.requests[-1].dollars > 0


@pytest.mark.parametrize(
    ("said", "max_tokens", "stop_reason"),
    [
        (Say(SUMMARY * 50), 20, "max_tokens"),
        ([Say(SUMMARY), Call("read_file", {"path": "a"})], 1_000, "tool_use"),
        (Reply((Say("I cannot"),), stop_reason="refusal"), 1_000, "refusal"),
        (Reply(()), 1_000, "end_turn"),
    ],
)
async def test_without_a_whole_text_there_is_an_empty_reply_that_costs(
    fake: FakeApi, client: AsyncAnthropic, said: Scripted, max_tokens: int, stop_reason: str
) -> None:
    fake.enqueue_summaries(said)
    reply = await answer(client, {**request(model=MODEL, max_tokens=max_tokens), "compaction": SUMMARIZE}, BETA)
    assert (reply["content"], reply["stop_reason"]) == ([], stop_reason)
    assert reply["usage"]["iterations"][0]["input_tokens"] > 0


async def test_no_room_for_the_prompt_that_asks(fake: FakeApi, client: AsyncAnthropic) -> None:
    body = {**request(user("a" * 60_000), model="claude-test-small"), "compaction": SUMMARIZE}
    assert (await answer(client, body, BETA))["stop_reason"] == "model_context_window_exceeded"


async def test_a_failure_names_its_code(fake: FakeApi, client: AsyncAnthropic) -> None:
    fake.enqueue_summaries(Fail(529, "overloaded_error", "Compaction is unavailable", error_code="compaction_unavailable"))
    with pytest.raises(anthropic.APIStatusError) as raised:
        await answer(client, {**request(model=MODEL), "compaction": SUMMARIZE}, BETA)
    assert (raised.value.status_code, raised.value.error_code) == (529, "compaction_unavailable")


async def test_the_queue_of_replies_is_left_alone(fake: FakeApi, client: AsyncAnthropic) -> None:
    fake.enqueue(Say("For the conversation."))
    reply = await answer(client, {**request(model=MODEL), "compaction": SUMMARIZE}, BETA)
    assert reply["stop_reason"] == "compaction"
    assert (await answer(client, request(model=MODEL)))["content"][0]["text"] == "For the conversation."


def alter_content(body: Body) -> None:
    body["messages"][0]["content"][0]["content"] += " And more."


def alter_signature(body: Body) -> None:
    body["messages"][0]["content"][0]["signature"] = "bm90IG1pbmU="


def add_tool_changes(body: Body) -> None:
    body["messages"][0]["content"][0]["tool_changes"] = []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (alter_content, "compaction_content_mismatch"),
        (alter_signature, "compaction_signature_invalid"),
        (add_tool_changes, "compaction_tool_changes_mismatch"),
    ],
)
async def test_a_block_comes_back_as_it_was(fake: FakeApi, client: AsyncAnthropic, change: Change, code: str) -> None:
    body = await compacted(client, await conversation(fake, client), 4)
    changed = copy.deepcopy(body)
    change(changed)
    with pytest.raises(anthropic.BadRequestError) as raised:
        await answer(client, changed, BETA)
    assert raised.value.error_code == code
    await answer(client, body, BETA)


def nothing(body: Body) -> None:
    """Leaves all as it is."""


def more_at_the_end(body: Body) -> None:
    body["messages"][-1]["content"].append(text("And the record of what was done."))


def a_message_between(body: Body) -> None:
    body["messages"].insert(1, user("The record of what was done."))


def without_the_first_kept(body: Body) -> None:
    del body["messages"][1]


def another_system(body: Body) -> None:
    body["system"] = [text("You help a lot.")]


def as_a_users(body: Body) -> None:
    body["messages"][0]["role"] = "user"


@pytest.mark.parametrize(
    ("cut", "change", "valid"),
    [
        (4, nothing, True),  # between a reply and the next prompt
        (3, nothing, True),  # exactly the messages of a request that was sent: the reply is kept
        (5, nothing, True),
        (4, more_at_the_end, True),
        (4, as_a_users, True),
        (4, a_message_between, False),
        (4, without_the_first_kept, False),
        (4, another_system, False),
    ],
)
async def test_thinking_of_kept_turns_stays_valid_under_the_documented_conditions(
    fake: FakeApi, client: AsyncAnthropic, cut: int, change: Change, valid: bool
) -> None:
    body = await compacted(client, await conversation(fake, client), cut)
    change(body)
    binding = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}
    if not valid:
        with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
            await answer(client, {**body, "thinking": binding}, BETA, BINDING)
        return
    reply = await answer(client, {**body, "thinking": binding}, BETA, BINDING)
    assert reply["input_transformations"] == []


async def test_a_cut_between_messages_of_one_role_breaks_it(fake: FakeApi, client: AsyncAnthropic) -> None:
    body = await conversation(fake, client)
    fake.enqueue([Think("fourth"), Say("And?")])
    body["messages"] += [user("One more.")]
    reply = await answer(client, body)
    body["messages"] += [{"role": "assistant", "content": reply["content"]}, user("Go on.")]
    swapped = await compacted(client, body, 7)
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        await answer(client, swapped, BETA)


async def test_thinking_stays_valid_over_two_compactions_and_later_thinking_is_bound_to_the_block(
    fake: FakeApi, client: AsyncAnthropic
) -> None:
    body = await compacted(client, await conversation(fake, client), 3)
    fake.enqueue([Think("fourth"), Say("Later.")])
    later = await answer(client, body, BETA)
    body["messages"] += [{"role": "assistant", "content": later["content"]}, user("And then?")]
    again = await compacted(client, body, 3)  # block, think + say, user: "third" and "fourth" are kept
    await answer(client, again, BETA)
    summary = [assistant("So far."), *again["messages"][1:]]
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        await answer(client, {**again, "messages": [user("Hello"), *summary]}, BETA)


async def test_a_mark_on_the_block_is_a_place_in_the_cache(fake: FakeApi, client: AsyncAnthropic) -> None:
    fake.enqueue_summaries(Say(SUMMARY * 60))
    body = await compacted(client, await conversation(fake, client), 4)
    body["messages"][0]["content"][0]["cache_control"] = MARK
    await answer(client, body, BETA)
    body["messages"][-1] = user("Something else.")
    reply = await answer(client, body, BETA)
    assert reply["usage"]["cache_read_input_tokens"] > 500


async def test_an_account_without_it_is_told_so() -> None:
    async with FakeApi() as without, AsyncAnthropic(base_url=without.base_url, api_key="k", max_retries=0) as client:
        with pytest.raises(anthropic.BadRequestError, match="does not support compaction"):
            await answer(client, {**request(model=MODEL), "compaction": SUMMARIZE}, BETA)
