"""What the server does for the requests about MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.protocol import mcp as shapes
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # takes long to import
    from ullage.mcp_servers.servers import ServerStanding
    from ullage.session.sessions.sessions import Sessions

_NOTHING = wire.Nothing()


async def _list(sessions: Sessions, _: wire.Nothing) -> shapes.McpListResult:
    await sessions.servers.look()
    standings = sessions.servers.standings()
    return shapes.McpListResult(await asyncio.to_thread(lambda: [_server(each) for each in standings]), list(sessions.servers.problems))


def _server(standing: ServerStanding) -> shapes.McpServer:
    from ullage.context.counting.tokens import estimate_text
    from ullage.mcp_servers.configured import Http
    from ullage.mcp_servers.index import IndexedServer, described, index_of
    from ullage.mcp_servers.offers import line_of

    server, offers = standing.server, standing.offers
    index = index_of([IndexedServer(server.name, offers.tools)])[1][1] if offers.tools else ""
    return shapes.McpServer(
        name=server.name,
        source=server.source,
        state=standing.state,
        fingerprint=server.fingerprint,
        asks=standing.asks,
        tools=[shapes.McpTool(tool.name, line_of(tool.description), tool.read_only or None) for tool in offers.tools],
        resources=[shapes.McpResource(each.uri, each.name, each.description or None) for each in offers.resources],
        prompts=len(offers.prompts),
        index_tokens=estimate_text(index) if index else 0,
        tool_tokens=sum(estimate_text(described(server.name, tool)) for tool in offers.tools),
        kind=None if server.reached is None else "http" if isinstance(server.reached, Http) else "stdio",
        file=server.file or None,
        shown=server.in_words or None,
        host=server.reached.host if isinstance(server.reached, Http) else None,
        why=standing.why or None,
        signed_in=standing.signed_in or None,
    )


async def _turn(sessions: Sessions, params: shapes.McpTurnParams) -> wire.Nothing:
    with _refusing():
        await sessions.servers.turn(params.name, params.fingerprint, on=params.on)
    return _NOTHING


async def _restart(sessions: Sessions, params: shapes.McpServerParams) -> wire.Nothing:
    with _refusing():
        await sessions.servers.restart(params.name)
    return _NOTHING


async def _log(sessions: Sessions, params: shapes.McpServerParams) -> shapes.McpLogResult:
    with _refusing():
        return shapes.McpLogResult(sessions.servers.log_of(params.name))


async def _sign_in(sessions: Sessions, params: shapes.McpServerParams) -> wire.Nothing:
    with _refusing():
        await sessions.servers.sign_in(params.name)
    return _NOTHING


async def _sign_out(sessions: Sessions, params: shapes.McpServerParams) -> wire.Nothing:
    with _refusing():
        await sessions.servers.sign_out(params.name)
    return _NOTHING


class _refusing:  # noqa: N801 - used like a function
    """Turns the error of a server into a refusal (`SessionError`)."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from ullage.mcp_servers.servers import NoSuchServer, ServerFailed

        if isinstance(error, NoSuchServer | ServerFailed):
            raise SessionError("invalid", str(error)) from error


MCP_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.MCP_LIST: _list,
    wire.MCP_TURN: _turn,
    wire.MCP_RESTART: _restart,
    wire.MCP_LOG: _log,
    wire.MCP_SIGN_IN: _sign_in,
    wire.MCP_SIGN_OUT: _sign_out,
}
"""The function that answers each method. The functions raise `SessionError`."""
