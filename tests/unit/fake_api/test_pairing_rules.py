"""Tool calls and their results must stand together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fake_api.bodies import assistant, call, check, request, result, text, user

UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have"
ORPHANED = "unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must have"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user("go"), assistant(call("a")), user(result("a"))], None),
        ([user("go"), assistant("I read", call("a"), call("b")), user(result("b"), result("a"), "and now?")], None),
        ([user("go"), assistant(call("a")), user(result("a")), assistant(call("b")), user(result("b"))], None),
        # Neighbours of the same role are one turn.
        ([user("go"), assistant("I read"), assistant(call("a")), user(result("a"))], None),
        ([user("go"), assistant(call("a"), call("b")), user(result("a")), user(result("b"), "next")], None),
        ([user("go"), assistant(call("a")), user("never mind")], "messages.1: " + UNANSWERED.format("a")),
        ([user("go"), assistant(call("a"), call("b"), call("c")), user(result("b"))], UNANSWERED.format("a, c")),
        # A result behind a text comes too late.
        ([user("go"), assistant(call("a")), user("here:", result("a"))], UNANSWERED.format("a")),
        ([user("go"), assistant(call("a"), call("b")), user(result("a"), "here:", result("b"))], UNANSWERED.format("b")),
        ([user("go"), assistant(call("a"))], UNANSWERED.format("a")),
        ([user("go"), assistant(call("a")), user("wait"), assistant("ok"), user(result("a"))], UNANSWERED.format("a")),
        ([user("go", result("a"))], "messages.0.content.1: " + ORPHANED.format("a")),
        ([user("go"), assistant(call("a")), user(result("a"), result("z"))], "messages.2.content.1: " + ORPHANED.format("z")),
        ([user("go"), assistant(call("a")), user(result("a")), assistant("ok"), user(result("a"))], ORPHANED.format("a")),
        ([user("go"), assistant(call("a")), user(result("a"), result("a"))], "each tool_use must have a single result"),
        ([user("go"), assistant(call("a"), call("a")), user(result("a"))], "`tool_use` ids must be unique"),
        ([user("go"), assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))], "`tool_use` ids must be unique"),
        ([user(call("a"))], "`tool_use` blocks can only be in `assistant` messages"),
        ([user("go"), assistant(result("a"))], "`tool_result` blocks can only be in `user` messages"),
    ],
)
def test_pairing(messages: list[dict[str, Any]], expected: str | None) -> None:
    """Each call is answered at once, once, first in the next turn; no result without a call."""
    check(request(*messages), expected)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (result("a", ""), None),
        (result("a", [text("out")]), None),
        ({"type": "tool_result", "tool_use_id": "a"}, None),
        (result("a", "no", is_error=True), None),
        (result("a", "", is_error=True), "tool_result: content cannot be empty if `is_error` is true"),
        (result("a", [text("")]), "messages: text content blocks must be non-empty"),
        (result("a", 5), "tool_result.content: Input should be a valid string or array"),
        (result("a", is_error="no"), "tool_result.is_error: Input should be a valid boolean"),
        ({"type": "tool_result", "content": "x"}, "messages.2.content.0.tool_result.tool_use_id: Field required"),
    ],
)
def test_result_content(block: dict[str, Any], expected: str | None) -> None:
    """A result may be empty unless it is an error."""
    check(request(user("go"), assistant(call("a")), user(block)), expected)
