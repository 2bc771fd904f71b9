"""The fake's search of the web refuses what the API refuses, with the real SDK where a reply is asked for."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest
from anthropic import AsyncAnthropic, BadRequestError
from anthropic.types import Message

from tests.fake_api import Cite, FakeApi, Page, Reply, Say, Search, Think, validate_request
from tests.fake_api.refused import Refused
from tests.fake_api.validation import validate_count_request

MODEL = "claude-opus-5-5"
PAGE = Page("Dips", "https://a.org/dips", "How to dip. " * 300)
TOOL: dict[str, Any] = {"type": "web_search_20260318", "name": "web_search", "allowed_callers": ["direct"]}
CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "dips"}}
RESULT = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "title": "Dips", "url": "https://a.org/", "encrypted_content": "abc"}],
}


def body(*blocks: dict[str, Any], tool: dict[str, Any] | None = None, more: bool = False) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Search"}]
    messages += [{"role": "assistant", "content": list(blocks)}] if blocks else []
    messages += [{"role": "user", "content": "More"}] if more else []
    return {"model": MODEL, "max_tokens": 1_000, "tools": [tool or TOOL], "messages": messages}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "search"}, "name"),
        ({"max_uses": 0}, "max_uses"),
        ({"allowed_domains": ["a.org"], "blocked_domains": ["b.org"]}, "only one of"),
        ({"blocked_domains": ["https://a.org"]}, "Invalid domain"),
        ({"blocked_domains": ["*.a.org"]}, "Invalid domain"),
        ({"user_location": {"type": "exact"}}, "user_location"),
        ({"input_schema": {"type": "object"}}, "Extra inputs"),
        ({"description": "Searches"}, "Extra inputs"),
        ({"allowed_callers": ["code_execution_20260120"]}, "direct calls alone"),
        ({"type": "web_search_20260209", "response_inclusion": "full"}, "Extra inputs"),
    ],
)
def test_a_malformed_tool_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        validate_request(body(tool={**TOOL, **wrong}))


@pytest.mark.parametrize("kind", ["web_search_20250305", "web_search_20260209", "web_search_20260318"])
def test_the_three_versions_are_taken_and_not_counted(kind: str) -> None:
    validate_request(body(tool={**TOOL, "type": kind}))
    with pytest.raises(Refused, match="token counting"):
        validate_count_request(body(tool={**TOOL, "type": kind}))


@pytest.mark.parametrize(
    ("blocks", "more", "words"),
    [
        ([CALL], True, "without a corresponding"),
        ([RESULT], True, "unexpected `tool_use_id`"),
        ([RESULT, CALL], True, "unexpected `tool_use_id`"),
        ([CALL, CALL, RESULT], True, "unique"),
        ([{**CALL, "id": "toolu_1"}, RESULT], True, "pattern"),
        ([{**CALL, "input": {}}, RESULT], True, "query"),
        ([CALL, {**RESULT, "content": "text"}], True, "valid dictionary"),
        ([{"type": "text", "text": "So"}], False, "prefill"),
    ],
)
def test_blocks_that_do_not_belong_together_are_refused(blocks: list[dict[str, Any]], more: bool, words: str) -> None:
    with pytest.raises(Refused, match=words):
        validate_request(body(*blocks, more=more))


def test_a_paused_search_may_be_the_last_message_and_stands_with_the_assistant_alone() -> None:
    validate_request(body(CALL, RESULT))
    validate_request(body(CALL))
    wrong = body(CALL, RESULT, more=True)
    wrong["messages"][-1]["content"] = [CALL, RESULT]
    with pytest.raises(Refused, match="can only be in `assistant`"):
        validate_request(wrong)


async def create(client: AsyncAnthropic, asked: dict[str, Any]) -> Message:
    """The reply to a whole request."""
    return cast("Message", await client.messages.create(**asked))


async def test_the_sdk_reads_a_search_and_what_was_changed_is_refused() -> None:
    async with FakeApi(search=True) as fake, AsyncAnthropic(base_url=fake.base_url, api_key="any", max_retries=0) as client:
        fake.enqueue(Reply((Think("Hm."), Search("dips", [PAGE]), Cite("So.", PAGE, "How to dip.")), stop_reason="pause_turn"))
        first = await create(client, body())
        assert [block.type for block in first.content] == ["thinking", "server_tool_use", "web_search_tool_result", "text"]
        assert first.usage.server_tool_use is not None
        assert first.usage.server_tool_use.web_search_requests == 1
        assert first.usage.input_tokens > 700
        assert fake.dollars > 0.01
        said: list[Any] = [block.to_dict() for block in first.content]
        for place, name, value in ((2, "title", "Else"), (2, "encrypted_content", "abcd"), (2, "url", "https://b.org/")):
            changed = copy.deepcopy(said)
            changed[place]["content"][0][name] = value
            with pytest.raises(BadRequestError, match="encrypted_content"):
                await create(client, body(*changed))
        changed = copy.deepcopy(said)
        changed[3]["citations"][0]["cited_text"] = "How not to dip."
        with pytest.raises(BadRequestError, match="encrypted_index"):
            await create(client, body(*changed))
        fake.enqueue(Say("Done."))
        assert (await create(client, body(*said))).stop_reason == "end_turn"


async def test_without_the_account_s_search_the_tool_is_refused() -> None:
    async with FakeApi() as fake, AsyncAnthropic(base_url=fake.base_url, api_key="any", max_retries=0) as client:
        with pytest.raises(BadRequestError, match="not enabled"):
            await client.messages.create(**body())
