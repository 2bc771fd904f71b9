"""All MCP servers of a workspace: which are configured, which the user allowed and wants, and the connections to them.

What comes from a workspace is started after the user trusted exactly that configuration; what is reached over HTTP after they turned it on
for this workspace. Both choices are the user's state and name the configuration by its fingerprint, so an edited file asks anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ullage.context.blocks import Json
from ullage.mcp_servers.configured import Configured, Http, configured
from ullage.mcp_servers.connection import Reach, ServerConnection, ServerFailed, State
from ullage.mcp_servers.index import IndexedServer
from ullage.mcp_servers.offers import OfferedTool, ServerOffers
from ullage.mcp_servers.results import ServerResult
from ullage.mcp_servers.server_log import ServerLog
from ullage.mcp_servers.services import REQUEST_SECONDS, Services
from ullage.mcp_servers.sign_in import SIGN_IN_SECONDS
from ullage.mcp_servers.starting import Programs

WAIT_SECONDS = 5.0
"""How long a prompt waits for servers that are just starting, so that their tools are known."""


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """The user's choice for a server: the configuration that it is about, and whether it is on."""

    fingerprint: str
    on: bool


class Choices(Protocol):
    """The user's choices for this workspace."""

    def chosen(self) -> Mapping[str, ServerChoice]:
        """The user's choices, by the name of the server."""
        ...

    def choose(self, name: str, choice: ServerChoice) -> None:
        """Makes a choice for a server, from now on and in all windows. Raises `StoreFailed`."""
        ...


class ChoicesForNow:
    """The user's choices where there is no workspace folder to remember them for."""

    def __init__(self) -> None:
        self._chosen: dict[str, ServerChoice] = {}

    def chosen(self) -> Mapping[str, ServerChoice]:
        """The choices since the process began, by the name of the server."""
        return self._chosen

    def choose(self, name: str, choice: ServerChoice) -> None:
        """Makes a choice for a server that holds until the process ends."""
        self._chosen[name] = choice


@dataclass(frozen=True, slots=True)
class ServerStanding:
    """A server and how it stands, as lists have it."""

    server: Configured
    state: State
    why: str
    offers: ServerOffers
    asks: bool
    """Whether the user has not decided about it yet."""
    signed_in: bool = False


class NoSuchServer(Exception):
    """There is no server of that name; the message says which there are."""


class Servers:
    """All servers of a workspace. `changed` is called when there is something new to show."""

    def __init__(
        self,
        roots: Callable[[], Sequence[Path]],
        choices: Choices,
        programs: Programs,
        services: Services,
        environment: Mapping[str, str],
        home: Path,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._roots = roots
        self._choices = choices
        self._programs = programs
        self._services = services
        self._signed_in: set[str] = set()
        self._environment = environment
        self._home = home
        self.changed = changed
        self._settings: Mapping[str, object] = {}
        self._of_editor: dict[str, Mapping[str, Mapping[str, object]]] = {}
        """The servers that the editor named, by the session that it named them for."""
        self._trusted = False
        self._configured: tuple[Configured, ...] = ()
        self.problems: tuple[str, ...] = ()
        self._connections: dict[str, ServerConnection] = {}
        self._logs: dict[str, ServerLog] = {}
        self._looking = asyncio.Lock()
        self._is_closed = False

    @property
    def any_configured(self) -> bool:
        """Whether somebody configured a server that the user has not turned off."""
        return self._trusted and any(self._state(each) != "off" for each in self._configured)

    def configure(self, settings: Mapping[str, object], *, trusted: bool) -> None:
        """Sets what `look` goes by from now on. In a workspace without trust there are no servers."""
        self._settings, self._trusted = settings, trusted

    def name_for(self, session_id: str, servers: Mapping[str, Mapping[str, object]] | None) -> None:
        """Sets the servers that the user's editor names for a session, in the form of a configuration file; None if the session is closed.
        All sessions of the folder have them. If two have the same name the newest counts."""
        self._of_editor.pop(session_id, None)
        if servers is not None:
            self._of_editor[session_id] = servers

    async def look(self) -> None:
        """Reads the configuration again, and starts and ends servers as it says."""
        async with self._looking:
            named = {name: value for servers in self._of_editor.values() for name, value in servers.items()}
            given = tuple(self._roots()), self._settings, self._environment, self._home, named
            found = await asyncio.to_thread(configured, *given) if self._trusted else ((), ())
            before = self._configured, self.problems
            self._configured, self.problems = found
            await self._follow()
        if before != found:
            self.changed()

    async def _follow(self) -> None:
        wanted = {each.name: each for each in self._configured if self._wanted(each)} if not self._is_closed else {}
        for name, connection in [*self._connections.items()]:
            if name not in wanted or connection.server.fingerprint != wanted[name].fingerprint or connection.server != wanted[name]:
                await self._end(name)
        for name, server in wanted.items():
            if name not in self._connections:
                await self._look_for_tokens(server)
                self._begin(server)

    def _begin(self, server: Configured, start_seconds: float | None = None) -> ServerConnection:
        reach: Reach = self._services.reach if isinstance(server.reached, Http) else self._programs.reach
        made = ServerConnection(server, reach, self._roots, self.log(server.name), self.changed, start_seconds)
        self._connections[server.name] = made
        return made

    async def _look_for_tokens(self, server: Configured) -> None:
        if isinstance(server.reached, Http) and await self._services.tokens(server).there:
            self._signed_in.add(server.name)
        else:
            self._signed_in.discard(server.name)

    async def _end(self, name: str) -> None:
        connection = self._connections.pop(name, None)
        if connection is not None:
            await connection.close()

    def _wanted(self, server: Configured) -> bool:
        return self._state(server) not in ("off", "untrusted") and server.reached is not None

    def _state(self, server: Configured) -> State:
        """The state that the user wants for a server; `starting` if they allow it, `failed` if it cannot be used."""
        if server.reached is None:
            return "failed"
        choice = self._choices.chosen().get(server.name)
        if choice is not None and choice.fingerprint == server.fingerprint:
            return "starting" if choice.on else "off"
        return "off" if server.off else "starting" if server.starts else "untrusted"

    # What the user sees and does

    def standings(self) -> list[ServerStanding]:
        """The standing of all servers that are configured, in the order in which they count."""
        return [self._standing(each) for each in self._configured]

    def _standing(self, server: Configured) -> ServerStanding:
        connection = self._connections.get(server.name)
        if connection is not None:
            return ServerStanding(server, connection.state, connection.why, connection.offers, False, server.name in self._signed_in)
        state = self._state(server)
        return ServerStanding(server, "off" if state == "starting" else state, server.trouble, ServerOffers(), asks=state == "untrusted")

    def log(self, name: str) -> ServerLog:
        """The log of that server, which outlives its restarts; empty if it never ran."""
        return self._logs.setdefault(name, ServerLog())

    async def turn(self, name: str, fingerprint: str, *, on: bool) -> None:
        """Turns that configuration of a server on, as the user allows it, or off. Raises `NoSuchServer` if it has another one by now,
        `StoreFailed`."""
        server = self._named(name)
        if server.fingerprint != fingerprint:
            raise NoSuchServer(f"The configuration of the MCP server {name} has changed. Look at it again")
        self._choices.choose(name, ServerChoice(fingerprint, on))
        async with self._looking:
            await self._follow()
        self.changed()

    async def restart(self, name: str) -> None:
        """Ends a server and starts it again. Raises `NoSuchServer`."""
        self._named(name)
        async with self._looking:
            await self._end(name)
        await self.look()
        self.changed()

    def log_of(self, name: str) -> str:
        """The newest lines of the log of that server. Raises `NoSuchServer`."""
        return self.log(self._named(name).name).text

    async def sign_in(self, name: str) -> None:
        """Has the user sign in to a service in their browser. Raises `NoSuchServer`, or `ServerFailed` if the sign-in failed."""
        server = self._named(name)
        if not isinstance(server.reached, Http) or not self._wanted(server):
            raise NoSuchServer(f"The MCP server {name} is no service that is turned on, so there is nothing to sign in to")
        if name in self._services.signing_in:
            raise ServerFailed("You are signing in there already. Go on in the browser")
        self._services.signing_in.add(name)
        try:
            async with self._looking:
                await self._end(name)
                connection = self._begin(server, SIGN_IN_SECONDS + REQUEST_SECONDS)
            await connection.settled()
            if connection.state != "running":
                raise ServerFailed(f"Signing in to the MCP server {name} failed: {connection.why}")
            await self._look_for_tokens(server)
        except BaseException:
            self._services.signing_in.discard(name)
            async with self._looking:
                await self._end(name)
                await self._follow()  # with what was there before
            raise
        finally:
            self._services.signing_in.discard(name)
            self.changed()

    async def sign_out(self, name: str) -> None:
        """Deletes the token of a service and connects to it anew. Raises `NoSuchServer`."""
        await self._services.tokens(self._named(name)).forget()
        await self.restart(name)

    def _named(self, name: str) -> Configured:
        found = next((each for each in self._configured if each.name == name), None)
        if found is None:
            names = ", ".join(each.name for each in self._configured) or "none"
            raise NoSuchServer(f"There is no MCP server {name}. There is: {names}")
        return found

    # What the agent uses

    async def settled(self, seconds: float = WAIT_SECONDS, *, once: bool = False) -> None:
        """Waits for servers that are starting for the first time, at most that many seconds. With `once`, servers that were waited for
        before are left out, so that one which takes long does not hold up each prompt."""
        starting = [each for each in self._connections.values() if not (each.has_listed or (once and each.was_waited_for))]
        if not starting:
            return
        for each in starting:
            each.was_waited_for = True
        waiting = [asyncio.ensure_future(each.settled()) for each in starting]
        _, late = await asyncio.wait(waiting, timeout=seconds)
        for each in late:
            each.cancel()

    def listed(self) -> list[IndexedServer]:
        """The servers that the agent can use, as the index has them. A server that is being started again is still among them."""
        found: list[IndexedServer] = []
        for server in self._configured:
            connection = self._connections.get(server.name)
            if connection is not None and connection.state not in ("failed", "sign_in"):
                found.append(IndexedServer(server.name, connection.offers.tools, connection.has_listed))
        return found

    def tool(self, server: str, name: str) -> OfferedTool:
        """The tool of that server with that name. Raises `NoSuchServer`, which names what there is in words for the model."""
        connection = self._connected(server)
        tools = connection.offers.tools
        found = next((tool for tool in tools if tool.name == name), None)
        if found is None and connection.state == "starting":
            raise NoSuchServer(f"The MCP server {server} is still starting, so its tools are not known yet. Try again in a moment")
        if found is None:
            raise NoSuchServer(
                f"The MCP server {server} has no tool {name}. Its tools are: {', '.join(tool.name for tool in tools) or 'none'}"
            )
        return found

    def identity(self, server: str, tool: str = "") -> str:
        """A digest that a rule for that tool holds by, or without a tool one for several tools of that server. It is the same as long as
        the server's configuration and what it says of the tool are. Empty if there is no such server, or no such tool now."""
        configured = next((each for each in self._configured if each.name == server and each.reached is not None), None)
        if configured is None or not tool:
            return "" if configured is None else configured.identity
        connection = self._connections.get(server)
        found = next((each for each in connection.offers.tools if each.name == tool), None) if connection is not None else None
        return "" if found is None else f"{configured.identity[:12]}{found.digest[:20]}"

    def instructions(self, server: str) -> str:
        """How a server says that it is to be used, in its own words; empty if it says nothing or is off."""
        connection = self._connections.get(server)
        return "" if connection is None else connection.instructions

    def prompts(self) -> list[tuple[str, ServerOffers]]:
        """The names of the servers that run, and what each offers."""
        return [(name, each.offers) for name, each in self._connections.items() if each.state == "running"]

    async def call(
        self, server: str, tool: str, arguments: dict[str, Json], progress: Callable[[str], None], allowed: str | None = None
    ) -> ServerResult:
        """Has a tool called. A server that was given up is tried once more. `allowed` is the identity for which the user allowed the call.
        Raises `NoSuchServer`, `ServerFailed`, also if the tool has another identity by now."""
        connection = self._connected(server)
        if connection.state == "failed":
            await self.restart(server)
            connection = self._connected(server)
        if connection.state in ("starting", "waiting"):
            await connection.settled()
        if allowed is not None and self.identity(server, tool) not in ("", allowed):
            raise ServerFailed(
                f"The MCP server {server} changed its tool {tool} after this call was allowed. Load the tool and call it again"
            )
        return await connection.call(tool, arguments, progress)

    async def prompt(self, server: str, name: str, arguments: dict[str, str]) -> ServerResult:
        """The messages of a prompt with these arguments, asked of the server now. Raises `NoSuchServer`, `ServerFailed`."""
        return await self._connected(server).prompt(name, arguments)

    async def resource(self, server: str, uri: str) -> ServerResult:
        """The contents of a resource, asked of the server now. Raises `NoSuchServer`, `ServerFailed`."""
        return await self._connected(server).resource(uri)

    def _connected(self, name: str) -> ServerConnection:
        connection = self._connections.get(name)
        if connection is None:
            there = ", ".join(self._connections) or "none"
            raise NoSuchServer(f"There is no MCP server {name} that is turned on. There is: {there}")
        return connection

    async def close(self) -> None:
        """Ends all servers, and starts none any more."""
        self._is_closed = True
        async with self._looking:
            await asyncio.gather(*(each.close() for each in self._connections.values()))
            self._connections.clear()


__all__ = ["Choices", "ChoicesForNow", "NoSuchServer", "ServerChoice", "ServerFailed", "ServerStanding", "Servers"]
