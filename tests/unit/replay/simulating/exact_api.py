"""The strict fake, counting as Ullage estimates.

What is compared with a replay is what is decided and made. How far an estimate is off is tested elsewhere, and would blur that here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from tests.fake_api import FakeApi, accepted, prefix
from ullage.context.blocks import Block, Json, SystemPart, Text, Thinking, ToolResult, ToolSpec, ToolUse
from ullage.context.counting.tokens import MESSAGE_TOKENS, TOOLS_TOKENS, estimate_block, estimate_prelude, estimate_text, estimate_tools
from ullage.context.entries import Prelude
from ullage.models.anthropic_model import AnthropicModel

Object = dict[str, Any]


@asynccontextmanager
async def exact_api(windows: dict[str, int]) -> AsyncGenerator[FakeApi]:
    """An API whose counts are our estimates, and that counts nothing before it is asked to reply."""
    with pytest.MonkeyPatch.context() as patch:
        for name, count in (("count_block", _of_block), ("count_tool", _of_tool), ("count_message_frame", lambda: MESSAGE_TOKENS)):
            patch.setattr(prefix, name, count)
        patch.setattr(accepted, "count_request", _of_request)
        patch.setattr(AnthropicModel, "count", _counts_nothing)
        async with FakeApi(windows=windows) as fake:
            fake.state.models = {name: replace(model, tool_prompt=TOOLS_TOKENS) for name, model in fake.state.models.items()}
            yield fake


async def _counts_nothing(*_: object) -> None:
    return None


def _of_request(body: Object, _: object) -> int:
    system = tuple(SystemPart("system", block["text"]) for block in _blocks(body.get("system") or []))
    fixed = estimate_prelude(Prelude(system, tuple(map(_tool, cast("list[Object]", body.get("tools") or [])))))
    return fixed + sum(MESSAGE_TOKENS + sum(map(_of_block, _blocks(message["content"]))) for message in body["messages"])


def _of_block(block: Object, _: object = None) -> int:
    return estimate_text(block["text"]) if block["type"] == "text" else estimate_block(_block(block))


def _of_tool(tool: Object) -> int:
    return estimate_tools(Prelude((), (_tool(tool),))) - TOOLS_TOKENS


def _tool(tool: Object) -> ToolSpec:
    return ToolSpec(tool["name"], tool["description"], cast("dict[str, Json]", tool["input_schema"]))


def _block(block: Object) -> Block:
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "thinking":
            return Thinking(block["thinking"], block["signature"])
        case "tool_use":
            return ToolUse(block["id"], block["name"], block["input"])
        case "tool_result":
            return ToolResult(block["tool_use_id"], "".join(part["text"] for part in _blocks(block.get("content") or [])))
        case other:
            raise ValueError(f"no session here sends {other}")


def _blocks(content: str | list[Object]) -> list[Object]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
