"""The `load_mcp_tools` tool: what the model has to know of tools of MCP servers before it calls them. What it loads is an ordinary result,
so the prefix of the request stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ullage.context.blocks import Json, ToolSpec
from ullage.mcp_servers.index import IndexedServer, as_theirs, described
from ullage.mcp_servers.offers import OfferedTool
from ullage.mcp_servers.results import headed
from ullage.mcp_servers.servers import Servers
from ullage.tools.tool import BadToolInput, PermissionNeed, ToolCall, ToolKind, ToolOutcome, check_input, description, text

MOST_AT_ONCE = 20
"""How many tools one result shows."""

MOST_CHARACTERS = 24_000
"""The most characters of one result, as for `read_file`: a schema that is clipped in the middle is of no use."""

INSTRUCTION_CHARACTERS = 2_000
"""The most characters of a server's own instructions."""

_NOTHING = "No tool of a running MCP server fits. There is:\n{}"


class LoadMcpTools:
    """Shows tools of MCP servers with their descriptions and schemas."""

    kind: ToolKind = "search"

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self.spec = ToolSpec(
            "load_mcp_tools",
            description("load_mcp_tools"),
            {
                "type": "object",
                "properties": {
                    "names": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "`server/tool`, or `server/*`."},
                    "query": {"type": "string", "description": "Words to search for in names and descriptions."},
                },
            },
        )

    @staticmethod
    def title(input: Mapping[str, Json]) -> str:
        """The title of a call: `Load MCP tools git/git_log`."""
        what = ", ".join(_names(input)) or text(input, "query")
        return f"Load MCP tools {what}" if what else "Load MCP tools"

    def permission(self, input: Mapping[str, Json]) -> PermissionNeed | None:
        """Always None: nothing is asked of a server."""
        return None

    async def run(self, call: ToolCall) -> ToolOutcome:
        """The tools that are named, and those that fit the words. Raises `BadToolInput`."""
        check_input(self.spec.input_schema, call.input)
        names, query = _names(call.input), text(call.input, "query")
        if not names and not query.strip():
            raise BadToolInput("Name the tools in `names`, or say what you need in `query`")
        listed = self._servers.listed()
        found = [*_named(listed, names), *(_fitting(listed, query) if query.strip() else ())]
        unique = list({(server, tool.name): (server, tool) for server, tool in found}.values())
        if not unique:
            there = "\n".join(f"{each.name}: {', '.join(tool.name for tool in each.tools) or 'no tools'}" for each in listed)
            return ToolOutcome(_NOTHING.format(there or "no server at all"), is_error=True)
        return ToolOutcome(self._shown(unique))

    def _shown(self, found: Sequence[tuple[str, OfferedTool]]) -> str:
        parts: list[str] = []
        length = shown = 0
        for server in dict.fromkeys(server for server, _ in found[:MOST_AT_ONCE]):
            said = as_theirs(self._servers.instructions(server)[:INSTRUCTION_CHARACTERS])
            tools = [described(server, tool) for name, tool in found[:MOST_AT_ONCE] if name == server]
            kept = [tool for tool in tools if (length := length + len(tool)) <= MOST_CHARACTERS or not shown]
            shown += len(kept)
            parts.append(headed(server, "\n\n".join((*((said,) if said else ()), *kept))))
        if shown < len(found):
            parts.append(f"({len(found) - shown} more fit. Name those that you need.)")
        return "\n\n".join(parts)


def _names(input: Mapping[str, Json]) -> list[str]:
    names = input.get("names")
    return [each for each in names if isinstance(each, str)] if isinstance(names, list) else []


def _named(listed: Sequence[IndexedServer], names: Sequence[str]) -> Iterator[tuple[str, OfferedTool]]:
    for name in names:
        server, _, tool = name.partition("/")
        for each in listed:
            for offered in each.tools:
                if (each.name == server and tool in ("*", "", offered.name)) or (not tool and offered.name == server):
                    yield each.name, offered


def _fitting(listed: Sequence[IndexedServer], query: str) -> list[tuple[str, OfferedTool]]:
    """The tools that have any of the words, each with its server. Those with the most come first; a word in the name counts three times."""
    words = set(re.findall(r"\w{2,}", query.lower()))
    weighed: list[tuple[int, str, OfferedTool]] = []
    for each in listed:
        for tool in each.tools:
            name, said = f"{each.name} {tool.name}".lower(), tool.description.lower()
            weight = sum(3 * (word in name) + (word in said) for word in words)
            if weight:
                weighed.append((weight, each.name, tool))
    weighed.sort(key=lambda one: -one[0])
    return [(server, tool) for _, server, tool in weighed]
