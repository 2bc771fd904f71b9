"""Requests to the fake, in few words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from tests.fake_api import Refused, validate_request

MARK = {"type": "ephemeral"}
HOUR_MARK = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, **more: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words, **more}


def call(id: str, name: str = "read_file", **more: Any) -> dict[str, Any]:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": name, "input": {"path": "a.py"}, **more}


def result(id: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    """A tool result."""
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def user(*blocks: Any) -> dict[str, Any]:
    """A user message; strings become text blocks."""
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def assistant(*blocks: Any) -> dict[str, Any]:
    """An assistant message; strings become text blocks."""
    return {"role": "assistant", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def tool(name: str = "read_file", **more: Any) -> dict[str, Any]:
    """A tool definition."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {"name": name, "description": "Reads a file.", "input_schema": schema, **more}


def request(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A request body with these messages, by default one of the user's."""
    return {
        "model": "claude-test-small",
        "max_tokens": 1_000,
        "messages": list(messages) or [user("hello")],
        **more,
    }


def check(body: dict[str, Any], expected: str | None, betas: Collection[str] = ()) -> None:
    """The body is accepted where nothing is expected, else refused with a message that holds the expected words."""
    if expected is None:
        validate_request(body, betas=betas)
        return
    with pytest.raises(Refused) as refused:
        validate_request(body, betas=betas)
    assert expected in refused.value.message
    assert refused.value.error_type in ("invalid_request_error", "not_found_error")
