"""Thinking that comes back: valid only whole, unaltered and behind the prefix it was made for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.fake_api import Call, FakeApi, RedactedThink, Say, Think
from tests.unit.fake_api.bodies import MARK, request, result, text, tool, user

Body: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Body], None]

BINDING = "thinking-binding-controls-2026-08-01"
OTHER_CONVERSATION = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
CANNOT_BE_MODIFIED = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"


async def answer(client: AsyncAnthropic, body: Body, betas: list[str] | None = None) -> Body:
    """The reply to a body, as it would be sent back."""
    headers = {"anthropic-beta": ",".join(betas)} if betas else {}
    reply: anthropic.types.Message = await client.messages.create(**body, stream=False, extra_headers=headers)
    return reply.to_dict(exclude_none=True)


async def conversation(fake: FakeApi, client: AsyncAnthropic, **more: Any) -> Body:
    """Three turns with thinking in each reply, ready to be sent once more.

    messages: 0 user, 1 think + call, 2 result, 3 think + say, 4 user, 5 think + think + say, 6 user
    """
    fake.enqueue(
        [Think("first"), Call("read_file", {"path": "a.py"}, id="toolu_1")],
        [Think("second"), Say("It says hello.")],
        [Think("third"), Think("fourth"), Say("Yes.")],
    )
    body = request(user("Read a.py"), tools=[tool()], system=[text("You help.")], **more)
    for following in (user(result("toolu_1", "print('hello')")), user("Is that all?"), user("Thanks.")):
        reply = await answer(client, body)
        body["messages"] += [{"role": "assistant", "content": reply["content"]}, following]
    return body


def nothing(body: Body) -> None:
    """Leaves all as it is."""


def append(body: Body) -> None:
    body["messages"][-1]["content"].append(text("And now?"))


def move_marks(body: Body) -> None:
    body["system"][0]["cache_control"] = MARK
    body["messages"][2]["content"][0]["cache_control"] = MARK


def use_shorthand(body: Body) -> None:
    body["system"] = "You help."
    body["messages"][0]["content"] = "Read a.py"


def change_settings(body: Body) -> None:
    body |= {"max_tokens": 2_000, "metadata": {"user_id": "u"}, "tool_choice": {"type": "none"}}
    body |= {"output_config": {"effort": "low"}, "thinking": {"type": "adaptive", "display": "summarized"}}


def add_deferred_tool(body: Body) -> None:
    body["tools"].append(tool("write_file", defer_loading=True))


def drop_thinking(*places: tuple[int, int]) -> Change:
    def change(body: Body) -> None:
        for message, index in sorted(places, reverse=True):
            assert body["messages"][message]["content"].pop(index)["type"] == "thinking"

    return change


def edit_system(body: Body) -> None:
    body["system"].append(text("Be brief."))


def edit_tool(body: Body) -> None:
    body["tools"][0]["description"] = "Reads."


def add_tool(body: Body) -> None:
    body["tools"].append(tool("write_file"))


def shorten_result(body: Body) -> None:
    body["messages"][2]["content"][0]["content"] = "[cleared]"


def drop_first_messages(body: Body) -> None:
    del body["messages"][:4]


def insert_text(body: Body) -> None:
    body["messages"][2]["content"].append(text("(a.py has changed)"))


def edit_reply(body: Body) -> None:
    body["messages"][3]["content"][1]["text"] = "It says good-bye."


def alter_latest(body: Body) -> None:
    body["messages"][5]["content"][0]["thinking"] = "other"


def alter_earlier(body: Body) -> None:
    body["messages"][1]["content"][0]["thinking"] = "other"


def forge(body: Body) -> None:
    body["messages"][1]["content"][0]["signature"] = "c2lnbmF0dXJl"


def swap_latest(body: Body) -> None:
    content = body["messages"][5]["content"]
    content[0], content[1] = content[1], content[0]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (nothing, None),
        (append, None),
        (move_marks, None),
        (use_shorthand, None),
        (change_settings, None),
        (add_deferred_tool, None),
        (drop_thinking((1, 0)), None),
        (drop_thinking((1, 0), (3, 0)), None),
        (drop_thinking((5, 0), (5, 1)), None),
        (drop_thinking((1, 0), (3, 0), (5, 0), (5, 1)), None),
        (drop_thinking((3, 0)), f"messages.5.content.0: {OTHER_CONVERSATION}"),
        (drop_thinking((5, 0)), f"messages.5.content.0: {OTHER_CONVERSATION}"),
        (swap_latest, OTHER_CONVERSATION),
        (edit_system, "The system prompt has changed."),
        (edit_tool, "The tools have changed."),
        (add_tool, "The tools have changed."),
        (shorten_result, f"messages.3.content.0: {OTHER_CONVERSATION}"),
        (insert_text, f"messages.3.content.0: {OTHER_CONVERSATION}"),
        (drop_first_messages, "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different"),
        (edit_reply, f"messages.5.content.0: {OTHER_CONVERSATION}"),
        (alter_latest, f"messages.5.content.0: {CANNOT_BE_MODIFIED}"),
        (alter_earlier, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (forge, "messages.1.content.0: Invalid `signature` in `thinking` block"),
    ],
)
async def test_what_may_change_before_thinking(fake: FakeApi, client: AsyncAnthropic, change: Change, expected: str | None) -> None:
    """Appending and removing from either end is fine; any other change before a replayed block is refused, in counting too."""
    body = await conversation(fake, client)
    change(body)
    if expected is None:
        assert (await answer(client, body))["stop_reason"] == "end_turn"
        return
    with pytest.raises(anthropic.BadRequestError) as raised:
        await answer(client, body)
    assert expected in str(raised.value.api_message)
    del body["max_tokens"]
    with pytest.raises(anthropic.BadRequestError):
        await client.messages.count_tokens(**body)


async def test_restored_thinking_is_refused(fake: FakeApi, client: AsyncAnthropic) -> None:
    """What was left out once cannot come back before thinking that was made without it."""
    body = await conversation(fake, client)
    without = copy.deepcopy(body)
    drop_thinking((1, 0), (3, 0), (5, 0), (5, 1))(without)
    fake.enqueue([Think("fifth"), Say("Bye.")])
    reply = await answer(client, without)
    for messages in (without["messages"], body["messages"]):
        messages += [{"role": "assistant", "content": reply["content"]}, user("One more thing.")]
    assert (await answer(client, without))["stop_reason"] == "end_turn"
    with pytest.raises(anthropic.BadRequestError, match="removed or put back"):
        await answer(client, body)


async def test_models_without_the_check(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Older models take thinking behind a changed prefix, but not altered thinking."""
    body = await conversation(fake, client, model="claude-opus-5")
    shorten_result(body)
    assert (await answer(client, body))["stop_reason"] == "end_turn"
    alter_latest(body)
    with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
        await answer(client, body)


async def test_dropping_instead_of_refusing(fake: FakeApi, client: AsyncAnthropic) -> None:
    """With `drop_block` the request goes on without the blocks, and the reply says which."""
    binding = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    body = await conversation(fake, client)
    del body["max_tokens"]
    before = (await client.messages.count_tokens(**body)).input_tokens
    shorten_result(body)
    body |= {"max_tokens": 1_000}
    client = client.with_options(default_headers={"anthropic-beta": BINDING})
    reply = await answer(client, body | {"thinking": binding}, [BINDING])
    assert reply["input_transformations"] == [
        {"type": "thinking_dropped", "path": f"messages.{path}", "reason": "prefix_binding_mismatch"}
        for path in ("3.content.0", "5.content.0", "5.content.1")
    ]
    assert reply["usage"]["input_tokens"] < before


async def test_only_the_run_of_a_failing_block_is_dropped(fake: FakeApi, client: AsyncAnthropic) -> None:
    """A block in the wrong place goes; those of later turns, bound to what has not changed, stay."""
    binding = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    body = await conversation(fake, client)
    body["messages"][1]["content"].reverse()
    reply = await answer(client, body | {"thinking": binding}, [BINDING])
    assert [item["path"] for item in reply["input_transformations"]] == ["messages.1.content.1"]


async def test_thinking_of_another_model_is_dropped_silently(fake: FakeApi, client: AsyncAnthropic) -> None:
    """It is neither an error nor counted."""
    body = await conversation(fake, client)
    other = body | {"model": "claude-sonnet-5-5"}
    reply = await answer(client, other, [BINDING])
    assert [item["reason"] for item in reply["input_transformations"]] == ["model_binding_mismatch"] * 4
    quiet = await answer(client, other)
    assert "input_transformations" not in quiet
    assert reply["usage"]["input_tokens"] == quiet["usage"]["input_tokens"]


async def test_redacted_thinking_is_bound_too(fake: FakeApi, client: AsyncAnthropic) -> None:
    """It carries its binding in its data."""
    fake.enqueue([RedactedThink(), Say("Hello.")])
    body = request(user("Hi"))
    reply = await answer(client, body)
    body["messages"] += [{"role": "assistant", "content": reply["content"]}, user("Well?")]
    assert (await answer(client, body))["stop_reason"] == "end_turn"
    body["messages"][0] = user("Good day")
    with pytest.raises(anthropic.BadRequestError, match="Invalid `data` in `redacted_thinking` block"):
        await answer(client, body)


async def test_an_empty_text_in_a_reply_may_be_left_out(fake: FakeApi, client: AsyncAnthropic) -> None:
    """It must be, since nothing empty can be sent, so it binds nothing."""
    fake.enqueue([Say(""), Think("hm"), Say("Hello.")])
    body = request(user("Hi"))
    reply = await answer(client, body)
    assert reply["content"][0] == {"type": "text", "text": ""}
    body["messages"] += [{"role": "assistant", "content": reply["content"][1:]}, user("Well?")]
    assert (await answer(client, body))["stop_reason"] == "end_turn"


async def test_shown_thinking_must_come_back_as_shown(fake: FakeApi, client: AsyncAnthropic) -> None:
    """Also with `display: "summarized"`, where there is text to alter."""
    body = await conversation(fake, client, thinking={"type": "adaptive", "display": "summarized"})
    assert body["messages"][5]["content"][0]["thinking"] == "third"
    assert (await answer(client, body))["stop_reason"] == "end_turn"
    body["messages"][5]["content"][0]["thinking"] = ""
    with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
        await answer(client, body)
