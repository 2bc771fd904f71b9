"""MCP servers that a client names for its sessions: in the form of a configuration file, and what its user is told of them.

What the client names counts as the user's own configuration: programs start with the session, and so does a service on this machine. A
service elsewhere waits for the user, as everything does that reaches beyond the model's endpoint.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from acp import schema

from ullage.context.quoting import visible_line
from ullage.mcp_servers.configured import EDITOR, Http
from ullage.mcp_servers.servers import Servers, ServerStanding

_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")

LONGEST_NAME = 40
"""In characters. A number may come behind the name."""


async def use(servers: Servers, session_id: str, named: Sequence[Any]) -> str:
    """Gives the session the MCP servers that the client names for it. The result is what the user has to know of them; empty if all is
    well."""
    given = in_form(named)
    servers.name_for(session_id, given)
    await servers.look()
    return told_of(servers, given)


def in_form(servers: Sequence[Any]) -> dict[str, Mapping[str, object]]:
    """The servers by name, each in the form of a configuration file. The protocol's names are for people; here they are written in commands
    and rules, so other characters become `-`."""
    found: dict[str, Mapping[str, object]] = {}
    for each in servers:
        plain = _OTHER.sub("-", each.name).strip("-.")[:LONGEST_NAME] or "server"
        name, number = plain, 1
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found[name] = _form(each)
    return found


def _form(server: Any) -> Mapping[str, object]:
    match server:
        case schema.McpServerStdio():
            return {"command": server.command, "args": list(server.args), "env": {each.name: each.value for each in server.env}}
        case schema.McpServerHttp() | schema.McpServerSse():
            kind = "http" if isinstance(server, schema.McpServerHttp) else "sse"
            return {"type": kind, "url": server.url, "headers": {each.name: each.value for each in server.headers}}
        case _:
            return {}  # which says what it needs


def told_of(servers: Servers, names: Collection[str]) -> str:
    """In words for the user: which of the servers with these names cannot be used, and which wait for the user. Empty if all can be
    used."""
    return "\n".join(
        filter(None, (_told(each) for each in servers.standings() if each.server.file == EDITOR and each.server.name in names))
    )


def _told(standing: ServerStanding) -> str:
    server = standing.server
    if server.reached is None:
        return f"The MCP server {server.name} of your editor cannot be used: {visible_line(server.trouble)}."
    if standing.asks and isinstance(server.reached, Http):
        return (
            f"The MCP server {server.name} of your editor is a service at {visible_line(server.reached.host)}. It is off in this folder "
            f"until you type `/mcp on {server.name}`."
        )
    return ""
