"""The `call_mcp_tool` tool: has a tool of an MCP server called. What the server answers is its word, and says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from ullage.context.blocks import Json, Media, ToolSpec
from ullage.context.quoting import visible_line
from ullage.mcp_servers.index import described
from ullage.mcp_servers.offers import problem_of
from ullage.mcp_servers.results import ServerResult, headed
from ullage.mcp_servers.servers import NoSuchServer, ServerFailed, Servers
from ullage.store.errors import StoreFailed
from ullage.tools.media import MediaShelf, NotShown, show_bytes
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text
from ullage.workspace.media_file import DamagedMedia
from ullage.workspace.text_file import FileTooLarge

TITLE_CHARACTERS = 80
"""The most characters of the arguments in the title of a call."""

ASKED_CHARACTERS = 4_000
"""The most characters of the arguments in the question to the user."""

TOLD_CHARACTERS = 300
"""The most characters of a server's description of a tool in that question."""


class CallMcpTool:
    """Calls tools of MCP servers."""

    kind: ToolKind = "execute"

    def __init__(self, servers: Servers, shelf: MediaShelf | None = None) -> None:
        self._servers = servers
        self._shelf = shelf
        self.spec = ToolSpec(
            "call_mcp_tool",
            description("call_mcp_tool"),
            {
                "type": "object",
                "properties": {
                    "server": {"type": "string", "minLength": 1},
                    "tool": {"type": "string", "minLength": 1},
                    "arguments": {"type": "object", "additionalProperties": True, "description": "As the tool's own schema says."},
                },
                "required": ["server", "tool"],
            },
        )

    @staticmethod
    def title(input: Mapping[str, Json]) -> str:
        """The title of a call: `git_log of git: {"max_count": 3}`."""
        server, tool, said = text(input, "server"), text(input, "tool"), _written(input)
        if not server or not tool:
            return "Call an MCP tool"
        short = said if len(said) <= TITLE_CHARACTERS else f"{said[:TITLE_CHARACTERS]}…"
        return f"{tool} of {server}: {short}" if said != "{}" else f"{tool} of {server}"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """What the call needs. Each tool of each server is allowed by itself; that a server calls its tool harmless allows nothing. Raises
        `BadToolInput`."""
        check_input(self.spec.input_schema, input)
        server, tool = text(input, "server"), text(input, "tool")
        try:
            offered = self._servers.tool(server, tool)
        except NoSuchServer as error:
            raise BadToolInput(str(error)) from error
        named, said = f"{server}/{tool}", _written(input)
        problem = problem_of(offered.schema, _arguments(input))
        if problem:
            raise BadToolInput(f"{problem}\nThe tool is:\n{described(server, offered)}")
        shown = said if len(said) <= ASKED_CHARACTERS else f"{said[:ASKED_CHARACTERS]}…"
        asked = f"Call the tool `{tool}` of the MCP server `{server}` with {visible_line(shown)}"
        of_tool, of_server = self._servers.identity(server, tool), self._servers.identity(server)
        told = offered.description.strip().replace("`", "'")
        told = visible_line(told if len(told) <= TOLD_CHARACTERS else f"{told[:TOLD_CHARACTERS]}…")
        pattern = f"calls of `{named}`"
        return PermissionNeed("mcp", pattern, asked, (named,), files=of_tool, of_server=of_server, subject=named, line=said, told=told)

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Has the server call its tool, and gives its answer."""
        check_input(self.spec.input_schema, call.input)
        server, tool = text(call.input, "server"), text(call.input, "tool")
        if call.allowed is None or call.allowed.subject != f"{server}/{tool}":
            return ToolOutcome("The call was not allowed", is_error=True)
        try:
            answered = await self._servers.call(server, tool, _arguments(call.input), call.output, call.allowed.files)
        except (NoSuchServer, ServerFailed) as error:
            return ToolOutcome(str(error), is_error=True)
        return await self._outcome(server, answered)

    async def _outcome(self, server: str, answered: ServerResult) -> ToolOutcome:
        media: list[Media] = []
        words: list[str] = []
        for image in answered.images:
            try:
                shown = None if self._shelf is None else await show_bytes(image, self._shelf)
                words.append("[an image that cannot be shown]" if shown is None else f"[{shown.words}]")
                media += [] if shown is None else [shown.media]
            except (DamagedMedia, NotShown, StoreFailed, FileTooLarge) as error:
                words.append(f"[an image that cannot be shown: {error}]")
        content = headed(server, "\n".join(filter(None, (answered.text, *words))))
        outcome = ToolOutcome(content, answered.is_error, complete=answered.complete)
        return replace(outcome, media=tuple(media)) if not answered.is_error else outcome


def _arguments(input: Mapping[str, Json]) -> dict[str, Json]:
    given = input.get("arguments")
    return dict(cast("Mapping[str, Json]", given)) if isinstance(given, dict) else {}


def _written(input: Mapping[str, Json]) -> str:
    return json.dumps(_arguments(input), ensure_ascii=False)
