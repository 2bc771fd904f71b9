"""The command `/mcp`: the MCP servers in words, and turning them on and off, for front ends that have no list of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ullage.context.quoting import visible_line
from ullage.mcp_servers.servers import NoSuchServer, Servers, ServerStanding
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # they are given to it
    from ullage.session.sessions.sessions import Sessions

NONE_CONFIGURED = "No MCP server is configured: in your settings (`mcp.servers`), in `.mcp.json` or in `.vscode/mcp.json`."
HOW = "`/mcp on NAME` allows and starts a server, as it is configured now. `/mcp off NAME` and `/mcp restart NAME` do what they say."
WAYS = "Write `/mcp`, or `/mcp on NAME`, `/mcp off NAME` or `/mcp restart NAME`"


async def mcp_in_words(sessions: Sessions, argument: str) -> str:
    """What the command did. Raises `SessionError`."""
    servers = sessions.servers
    await servers.look()
    way, _, name = argument.partition(" ")
    if way:
        await _turn(servers, way, name.strip())
    listed = [_line(each) for each in servers.standings()]
    problems = [f"- {visible_line(problem)}" for problem in servers.problems]
    return "\n".join((*listed, *problems, "", HOW)) if listed or problems else NONE_CONFIGURED


async def _turn(servers: Servers, way: str, name: str) -> None:
    if way not in ("on", "off", "restart") or not name:
        raise SessionError("invalid", WAYS)
    try:
        if way == "restart":
            await servers.restart(name)
        else:
            found = next((each.server for each in servers.standings() if each.server.name == name), None)
            await servers.turn(name, "" if found is None else found.fingerprint, on=way == "on")
        await servers.settled()
    except NoSuchServer as error:
        raise SessionError("invalid", str(error)) from error


def _line(standing: ServerStanding) -> str:
    name, state, command = standing.server.name, _STATES[standing.state], visible_line(standing.server.in_words)
    count = f"; {len(standing.offers.tools)} tools" if standing.offers.tools else ""
    why = f" ({visible_line(standing.why)})" if standing.why else ""
    return f"- `{name}`, {state}{why}{count}: `{command.replace('`', chr(39))}`" if command else f"- `{name}`, {state}{why}{count}"


_STATES = {
    "off": "off",
    "untrusted": "not allowed yet",
    "starting": "starting",
    "running": "running",
    "waiting": "started again soon",
    "sign_in": "waiting for you to sign in",
    "failed": "failed",
}
