"""What tests of MCP servers in turns share: the model's calls, and what the requests say."""

from __future__ import annotations

import json
from typing import Any

from tests.fake_api import Call
from tests.patience import PATIENCE
from tests.unit.session.harness import Stage
from ullage.tools.rules.covering import PermissionRule, tools_of


async def all_started(here: Stage) -> None:
    """Waits for all servers, longer than a prompt does: on a busy machine a start takes a while."""
    await here.sessions.servers.look()
    await here.sessions.servers.settled(PATIENCE)


def always_allow(here: Stage, pattern: str) -> None:
    """As the user does, who allows tools of servers as these are now."""
    server, tool = tools_of(pattern)
    here.sessions.always_allowed.add(PermissionRule("mcp", pattern, "workspace", files=here.sessions.servers.identity(server, tool)))


def call(tool: str, server: str = "pumps", **arguments: Any) -> Call:
    return Call("call_mcp_tool", {"server": server, "tool": tool, "arguments": arguments})


def prefix(body: Any) -> str:
    return json.dumps([body["system"], body["tools"]])


def result(here: Stage, request: int = -1) -> Any:
    """The last result in that request."""
    messages: list[Any] = here.fake.requests[request].body["messages"]
    blocks: list[Any] = [block for message in messages for block in message["content"] if isinstance(block, dict)]
    return [block for block in blocks if block["type"] == "tool_result"][-1]


def text_of(block: Any) -> str:
    content = block["content"]
    return content if isinstance(content, str) else "\n".join(each.get("text", "") for each in content)
