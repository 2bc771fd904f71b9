"""Top-level parameters, `thinking` by model, tools and cache marks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fake_api import Refused, validate_request
from tests.unit.fake_api.bodies import HOUR_MARK, MARK, assistant, call, check, request, result, text, tool, user

BINDING = "thinking-binding-controls-2026-08-01"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"stream": True, "stop_sequences": ["END"], "metadata": {"user_id": "u"}, "service_tier": "auto"}, None),
        ({"diagnostics": {"previous_message_id": None}, "output_config": {"effort": "low"}}, None),
        ({"temperature": 1.0}, "`temperature` is deprecated for this model."),
        ({"top_p": 0.9}, "`top_p` is deprecated for this model."),
        ({"top_k": 5}, "`top_k` is deprecated for this model."),
        ({"prompt": "x"}, "prompt: Extra inputs are not permitted"),
        ({"context_management": {"edits": []}}, "context_management: Extra inputs are not permitted"),
        ({"max_tokens": 32_001}, "max_tokens: 32001 > 32000, which is the maximum allowed number of output tokens for claude-test-small"),
        ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
        ({"max_tokens": 10.5}, "max_tokens: Input should be a valid integer"),
        ({"max_tokens": 0}, None),
        ({"max_tokens": 0, "stream": True}, "max_tokens: 0 is not supported with stream"),
        ({"output_config": {"effort": "huge"}}, "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"),
        ({"stop_sequences": [" "]}, "each stop sequence must contain non-whitespace"),
        ({"stream": "yes"}, "stream: Input should be a valid boolean"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": {}}, "messages: Input should be a valid array"),
        ({"model": "claude-9"}, "model: claude-9"),
    ],
)
def test_parameters(more: dict[str, Any], expected: str | None) -> None:
    """Known names with sound values."""
    check(request() | more, expected)


@pytest.mark.parametrize("missing", ["model", "max_tokens", "messages"])
def test_required_parameters(missing: str) -> None:
    """Three parameters must be there."""
    body = request()
    del body[missing]
    check(body, f"{missing}: Field required")


def test_an_unknown_model_is_not_found() -> None:
    """That is 404 and not 400."""
    with pytest.raises(Refused) as refused:
        validate_request(request(model="claude-9"))
    assert (refused.value.status, refused.value.error_type) == (404, "not_found_error")


@pytest.mark.parametrize(
    ("model", "thinking", "expected"),
    [
        ("claude-opus-5-5", {"type": "adaptive"}, None),
        ("claude-opus-5-5", {"type": "adaptive", "display": "summarized"}, None),
        (
            "claude-opus-5-5",
            {"type": "adaptive", "display": "full"},
            "adaptive.display: Input should be 'summarized' or 'omitted'",
        ),
        ("claude-opus-5-5", {"type": "disabled"}, '"thinking.type.disabled" is not supported for this model.'),
        ("claude-opus-5-5", {"type": "enabled", "budget_tokens": 1024}, '"thinking.type.enabled" is not supported for this model.'),
        ("claude-sonnet-5-5", {"type": "disabled"}, 'send "thinking": {"type": "between_tools"}'),
        ("claude-sonnet-5-5", {"type": "between_tools"}, None),
        ("claude-sonnet-5-5", {"type": "between_tools", "display": None}, "between_tools.display: Extra inputs are not permitted"),
        ("claude-opus-5", {"type": "disabled"}, None),
        ("claude-opus-4-6", {"type": "adaptive"}, None),
        ("claude-haiku-4-5", {"type": "adaptive"}, "adaptive thinking is not supported on this model"),
        ("claude-haiku-4-5", {"type": "enabled"}, "thinking.enabled.budget_tokens: Field required"),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 512}, "budget_tokens: Input should be greater than or equal to 1024"),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 2000}, "`max_tokens` must be greater than `thinking.budget_tokens`"),
        ("claude-opus-5-5", {"type": "on"}, "thinking: Input tag 'on' found using 'type'"),
        ("claude-opus-5-5", {"type": "adaptive", "block_binding": {}}, "block_binding: Extra inputs are not permitted"),
    ],
)
def test_thinking(model: str, thinking: dict[str, Any], expected: str | None) -> None:
    """Each model takes its own types."""
    check(request(model=model, thinking=thinking), expected)


@pytest.mark.parametrize(
    ("behavior", "expected"),
    [("drop_block", None), ("error", None), ("ignore", "prefix_mismatch_behavior: Input should be 'error' or 'drop_block'")],
)
def test_block_binding_with_its_beta(behavior: str, expected: str | None) -> None:
    """The beta header opens the parameter."""
    thinking = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behavior}}
    check(request(thinking=thinking), expected, betas=[BINDING])


def test_thinking_off_needs_moderate_effort() -> None:
    """Above `high` there is no model without thinking."""
    body = request(model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "max"})
    check(body, 'output_config.effort: "max" is not supported with thinking.type "disabled"')


def test_enabled_thinking_goes_back_in_a_tool_loop() -> None:
    """Models with a thinking budget want the loop's reply to begin with its thinking."""
    thinking = {"type": "enabled", "budget_tokens": 1_024}
    loop = [user("go"), assistant(call("a")), user(result("a"))]
    body = request(*loop, model="claude-haiku-4-5", max_tokens=2_000, thinking=thinking)
    check(body, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`")
    check(request(*loop, thinking={"type": "adaptive"}), None)


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([tool()], None),
        ([{"name": "now", "input_schema": {"type": "object"}}], None),
        ([tool(), tool("write_file")], None),
        ([tool(), tool()], "tools: Tool names must be unique."),
        ([tool("read file")], "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
        ([{"name": "now"}], "tools.0.custom.input_schema: Field required"),
        ([tool(input_schema={})], "tools.0.custom.input_schema.type: Field required"),
        ([tool(input_schema={"type": "string"})], "tools.0.custom.input_schema.type: Input should be 'object'"),
        ([tool(input_schema={"type": "object", "anyOf": []})], "does not support oneOf, allOf, or anyOf at the top level"),
        ([tool(input_schema={"type": "object", "properties": []})], "JSON schema is invalid. It must match JSON Schema draft 2020-12"),
        ([tool(input_schema={"type": "object", "required": [1]})], "JSON schema is invalid"),
        ([tool(description=None)], "tools.0.custom.description: Input should be a valid string"),
        ([tool(parameters={})], "tools.0.custom.parameters: Extra inputs are not permitted"),
        ([tool(strict=True)], "'additionalProperties' must be explicitly set to false"),
        (
            [tool(f"t{n}", strict=True, input_schema={"type": "object", "additionalProperties": False}) for n in range(21)],
            "Too many strict",
        ),
        ([tool(defer_loading=True)], "At least one tool must have defer_loading=false"),
        ([tool(), tool("b", defer_loading=True, cache_control=MARK)], "cannot have both defer_loading=true and cache_control"),
        ([{"type": "bash_20250124", "name": "bash"}], None),
        ({}, "tools: Input should be a valid array"),
    ],
)
def test_tools(tools: Any, expected: str | None) -> None:
    """Definitions that the API would take."""
    check(request(tools=tools), expected)


@pytest.mark.parametrize(
    ("model", "choice", "expected"),
    [
        ("claude-opus-5-5", {"type": "auto"}, None),
        ("claude-opus-5-5", {"type": "none"}, None),
        ("claude-opus-5-5", {"type": "any"}, 'tool_choice: type "tool" and "any" are not supported for this model.'),
        ("claude-sonnet-5-5", {"type": "tool", "name": "read_file"}, 'type "tool" and "any" are not supported'),
        ("claude-opus-5", {"type": "tool", "name": "read_file"}, None),
        ("claude-opus-5", {"type": "tool", "name": "nothing"}, "Tool 'nothing' not found in provided tools"),
        ("claude-opus-5", {"type": "tool"}, "tool_choice.tool.name: Field required"),
        ("claude-opus-5", {"type": "some"}, "tool_choice: Input tag 'some'"),
    ],
)
def test_tool_choice(model: str, choice: dict[str, Any], expected: str | None) -> None:
    """Newer models cannot be forced."""
    check(request(model=model, tools=[tool()], tool_choice=choice), expected)


def test_tool_choice_needs_tools() -> None:
    """There must be something to choose."""
    check(request(tool_choice={"type": "auto"}), "tool_choice may only be specified while providing tools")


def marked(word: str, mark: dict[str, Any] = MARK) -> dict[str, Any]:
    """A marked text block."""
    return text(word, cache_control=mark)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (request(user(marked("a"), marked("b")), system=[marked("s")], tools=[tool(cache_control=MARK)]), None),
        (request(user(*(marked(w) for w in "abcde"))), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
        (request(user(*(marked(w) for w in "abc"), "d"), cache_control=MARK), None),
        (request(user(*(marked(w) for w in "abcd"), "e"), cache_control=MARK), "A maximum of 4 blocks with cache_control"),
        (
            request(user("go"), assistant(call("a")), user(result("a", [marked(w) for w in "abcd"], cache_control=MARK))),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (request(user(marked("a")), system=[marked("s", HOUR_MARK)]), None),
        (
            request(user(marked("a", HOUR_MARK)), system=[marked("s")]),
            "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
        ),
        (
            request(user(marked("a", HOUR_MARK)), cache_control=MARK),
            "Top-level cache_control has ttl='5m' but the target block already",
        ),
        (request(user(marked("a", {"type": "forever"}))), "cache_control: Input tag 'forever'"),
        (request(user(marked("a", {"type": "ephemeral", "ttl": "1d"}))), "ephemeral.ttl: Input should be '5m' or '1h'"),
        (request(user(marked("a", {"type": "ephemeral", "scope": "x"}))), "ephemeral.scope: Extra inputs are not permitted"),
        (request(user(text("a", cache_control=None))), None),
    ],
)
def test_cache_marks(body: dict[str, Any], expected: str | None) -> None:
    """At most four, the long-lived ones first."""
    check(body, expected)
