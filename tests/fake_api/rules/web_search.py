"""The API's own search of the web (section 2.8): its definition among the tools, and its blocks in the messages.

Whether results are as the API gave them out is judged in `search_seals.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.conversation import PlacedBlock, placed_blocks
from tests.fake_api.json_values import JsonObject, is_array, objects
from tests.fake_api.refused import invalid
from tests.fake_api.rules.shape import (
    Check,
    array_of,
    boolean,
    check_object,
    integer_from,
    matching,
    nullable,
    object_of,
    one_of,
    string,
    tagged,
)

VERSIONS = ("web_search_20250305", "web_search_20260209", "web_search_20260318")
CALL, RESULT = "server_tool_use", "web_search_tool_result"
_CALLERS = one_of("direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+(/[^\s?#*]*\*?)?", re.IGNORECASE)


def _domain(path: str, value: Any) -> None:
    string(path, value)
    if _DOMAIN.fullmatch(value) is None:
        raise invalid(f"{path}: Invalid domain '{value}'. Domains have no scheme and no wildcard, such as example.com")


_FIELDS: Mapping[str, Check] = {
    "type": one_of(*VERSIONS),
    "name": one_of("web_search"),
    "max_uses": nullable(integer_from(1)),
    "allowed_domains": nullable(array_of(_domain)),
    "blocked_domains": nullable(array_of(_domain)),
    "user_location": nullable(
        object_of({"type": one_of("approximate"), **dict.fromkeys(("city", "region", "country", "timezone"), nullable(string))}, ("type",))
    ),
    "cache_control": nullable(tagged({"ephemeral": {"ttl": one_of("5m", "1h")}}, {})),
    "allowed_callers": array_of(_CALLERS),
    "defer_loading": boolean,
    "strict": boolean,
}
_SINCE_MARCH = {**_FIELDS, "response_inclusion": one_of("full", "excluded")}


def check_search_tool(path: str, tool: JsonObject, model: ModelFacts) -> None:
    """Raises `Refused` where the tool is malformed, or the model or the account has none."""
    kind = str(tool["type"])
    path = f"{path}.{kind}"
    check_object(path, tool, _SINCE_MARCH if kind == VERSIONS[-1] else _FIELDS, ("type", "name"))
    if tool.get("allowed_domains") and tool.get("blocked_domains"):
        raise invalid(f"{path}: only one of `allowed_domains` and `blocked_domains` may be specified")
    if not model.searches:
        raise invalid(f"{path}: web search is not enabled for this organization or model")
    if kind != VERSIONS[0] and tool.get("allowed_callers") != ["direct"]:
        raise invalid(f"{path}.allowed_callers: this fake of the API simulates direct calls alone; other ones run code")


_ITEM = tagged(
    {"web_search_result": {"url": string, "title": string, "encrypted_content": string, "page_age": nullable(string)}},
    {"web_search_result": ("url", "title", "encrypted_content")},
)
_ERROR = tagged({"web_search_tool_result_error": {"error_code": string}}, {"web_search_tool_result_error": ("error_code",)})


def _found(path: str, value: Any) -> None:
    if is_array(value):
        array_of(_ITEM)(path, value)
    else:
        _ERROR(path, value)


_SERVER_ID = matching(r"^srvtoolu_[a-zA-Z0-9_]+$")
_CALLER = tagged({"direct": {}}, {})
BLOCKS: Mapping[str, Mapping[str, Check]] = {
    CALL: {
        "id": _SERVER_ID,
        "name": one_of("web_search", "web_fetch", "code_execution"),
        "input": object_of({"query": string}, ("query",)),
        "cache_control": _FIELDS["cache_control"],
        "caller": _CALLER,
    },
    RESULT: {"tool_use_id": _SERVER_ID, "content": _found, "cache_control": _FIELDS["cache_control"], "caller": _CALLER},
}
REQUIRED = {CALL: ("id", "name", "input"), RESULT: ("tool_use_id", "content")}

CITATION: Check = tagged(
    {
        "web_search_result_location": {
            "url": string,
            "title": nullable(string),
            "encrypted_index": string,
            "cited_text": string,
        }
    },
    {"web_search_result_location": ("url", "title", "encrypted_index", "cited_text")},
)


def check_search_pairing(body: JsonObject) -> None:
    """Raises `Refused` where a search and its result do not stand in one assistant message, in this order. The last message may end with
    an open one: that search was paused."""
    last = len(objects(body["messages"])) - 1
    open_calls: dict[str, PlacedBlock] = {}
    for placed in placed_blocks(body):
        if placed.block.get("type") == CALL:
            id = str(placed.block["id"])
            if id in open_calls:
                raise invalid(f"{placed.path}: `server_tool_use` ids must be unique")
            open_calls[id] = placed
        elif placed.block.get("type") == RESULT:
            call = open_calls.pop(str(placed.block["tool_use_id"]), None)
            if call is None or call.message != placed.message:
                raise invalid(
                    f"{placed.path}: unexpected `tool_use_id` found in `web_search_tool_result` blocks: {placed.block['tool_use_id']}."
                    " Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it."
                )
    for id, call in open_calls.items():
        if call.message != last:
            raise invalid(
                f"messages.{call.message}: `web_search` tool use with id `{id}` was found without a corresponding"
                " `web_search_tool_result` block"
            )


def goes_on_with_a_search(body: JsonObject) -> bool:
    """Whether the last message is a reply that was paused in a search: then it may be the assistant's on every model."""
    last = objects(body["messages"])[-1]
    offered = any(str(tool.get("type")) in VERSIONS for tool in objects(body.get("tools")))
    return offered and any(block.get("type") in (CALL, RESULT) for block in objects(last.get("content")))
