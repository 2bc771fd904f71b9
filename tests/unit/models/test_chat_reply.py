"""Chunks of servers that differ, put together as one reply."""

from __future__ import annotations

from typing import Any

import pytest

from ullage.context.blocks import CALLED_AS, NOT_A_NAME, AssistantBlock, Text, Thinking, ToolUse, Usage
from ullage.models.chat_dialect import Dialect, taught
from ullage.models.chat_reply import ChatReplyBuilder, usage_of
from ullage.models.errors import Nonsense, StreamBroken
from ullage.models.model import UNPARSABLE_INPUT, Reply


def of(*deltas: dict[str, Any], finish: str | None = "stop", usage: dict[str, Any] | None = None) -> Reply:
    """The reply whose chunks add this."""
    builder = ChatReplyBuilder("m", 1_000)
    for delta in deltas:
        builder.accept({"model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    if finish is not None:
        nothing_more: dict[str, object] = {}
        builder.accept({"choices": [{"index": 0, "delta": nothing_more, "finish_reason": finish}]})
    if usage is not None:
        builder.accept({"choices": [], "usage": usage})
    return builder.reply()


def call(index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = "") -> dict[str, Any]:
    """A piece of a call; None leaves a field out."""
    function = {"arguments": arguments, **({} if name is None else {"name": name})}
    piece = {"function": function, **({} if index is None else {"index": index}), **({} if id is None else {"id": id})}
    return {"tool_calls": [piece]}


A, B = ToolUse("a", "read", {"path": "x"}), ToolUse("b", "list", {})


@pytest.mark.parametrize(
    ("deltas", "blocks"),
    [
        ([{"content": "One "}, {"content": "two"}], (Text("One two"),)),
        ([{"reasoning": "Hm."}, {"content": "Yes"}], (Thinking("Hm.", "reasoning"), Text("Yes"))),
        # LiteLLM and some versions of vLLM say it under both names
        ([{"reasoning_content": "Hm.", "reasoning": "Hm."}, {"content": "Yes"}], (Thinking("Hm.", "reasoning_content"), Text("Yes"))),
        # Mistral
        (
            [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes"}]}],
            (Thinking("Hm.", ""), Text("Yes")),
        ),
        # pieces of two calls that come by turns
        (
            [call(0, "a", "read", '{"pa'), call(1, "b", "list", "{"), call(0, None, None, 'th": "x"}'), call(1, None, None, "}")],
            (A, B),
        ),
        # Gemini: each whole, all of them with the same index, or with none
        ([call(0, "a", "read", '{"path": "x"}'), call(0, "b", "list", "{}")], (A, B)),
        ([call(None, "a", "read", '{"path": "x"}'), call(None, "b", "list", "{}")], (A, B)),
        # the id and the name again with every piece
        ([call(0, "a", "read", '{"path"'), call(0, "a", "read", ': "x"}')], (A,)),
        # an id before the name, and an input that is an object
        ([call(0, "a"), call(0, None, "read", {"path": "x"})], (A,)),
        ([call(0, "b", "list"), {"content": "after"}], (B, Text("after"))),
        ([call(0, "a", "read it!", "{}")], (ToolUse("a", NOT_A_NAME, {CALLED_AS: "read it!"}),)),
        ([call(0, "a", "read", '{"path": ')], (ToolUse("a", "read", {UNPARSABLE_INPUT: '{"path": '}),)),
        ([call(0, "a")], (ToolUse("a", NOT_A_NAME, {CALLED_AS: ""}),)),
        ([{"content": None, "role": "assistant"}, {"tool_calls": None}, {"content": "x"}], (Text("x"),)),
    ],
)
def test_what_servers_send(deltas: list[dict[str, Any]], blocks: tuple[AssistantBlock, ...]) -> None:
    assert of(*deltas).blocks == blocks


@pytest.mark.parametrize(
    ("deltas", "finish", "stop_reason"),
    [
        ([{"content": "x"}], "stop", "end_turn"),
        ([{"content": "x"}], "length", "max_tokens"),
        ([{"content": "x"}], "content_filter", "refusal"),
        ([{"refusal": "I will not."}], "stop", "refusal"),
        ([call(0, "b", "list", "{}")], "stop", "tool_use"),
        ([call(0, "b", "list", "{}")], "length", "max_tokens"),
        ([{"content": "x"}], "tool_calls", "end_turn"),
        ([{"content": "x"}], "eos", "eos"),
    ],
)
def test_why_it_stopped(deltas: list[dict[str, Any]], finish: str, stop_reason: str) -> None:
    reply = of(*deltas, finish=finish)
    assert (reply.stop_reason, reply.model) == (stop_reason, "served")


def test_a_stream_that_ends_before_its_reason_is_broken() -> None:
    with pytest.raises(StreamBroken):
        of({"content": "x"}, finish=None)


def test_a_reply_without_end_is_nonsense() -> None:
    with pytest.raises(Nonsense):
        of(*[{"content": "x" * 100_000}] * 11)


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}, Usage(100, 5)),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}, Usage(36, 5, 64)),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 64}, Usage(36, 5, 64)),
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}},
            Usage(10, 5, 60, 30),
        ),
        # what was thought is in the total alone
        ({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 145}, Usage(100, 45)),
        # more cached than sent cannot be
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 640}}, Usage(100, 5)),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": -1}}, Usage(100, 5)),
        ({"prompt_tokens": 0, "completion_tokens": 5}, None),
        ({"prompt_tokens": "many"}, None),
        ({}, None),
    ],
)
def test_what_was_used(reported: dict[str, Any], usage: Usage | None) -> None:
    assert of({"content": "x"}, usage=reported).usage == usage
    assert bool(usage_of(reported)) == (usage is not None)


@pytest.mark.parametrize(
    ("refusal", "before", "after"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            Dialect(),
            Dialect(limit="max_completion_tokens"),
        ),
        ("Unknown parameter: 'max_completion_tokens'.", Dialect(limit="max_completion_tokens"), Dialect()),
        ("max_tokens is too large: 32000. This model supports at most 16384 completion tokens", Dialect(), Dialect(most_output=16_384)),
        ("Unrecognized request argument supplied: stream_options", Dialect(), Dialect(usage=False)),
        ("Unsupported parameter: 'reasoning_effort'", Dialect(), Dialect(effort=False)),
        ("property 'reasoning' is unsupported", Dialect(), Dialect(reasoning=False)),
        ("This model does not support image input.", Dialect(), Dialect(images=False)),
        ("This model does not support image input.", Dialect(images=False), None),
        ("Unrecognized request argument supplied: stream_options", Dialect(usage=False), None),
        ("not now", Dialect(), None),
    ],
)
def test_what_a_refusal_teaches(refusal: str, before: Dialect, after: Dialect | None) -> None:
    assert taught(before, refusal, shows=True) == after


def test_a_refusal_of_images_teaches_nothing_where_none_was_shown() -> None:
    assert taught(Dialect(), "This model does not support image input.", shows=False) is None
