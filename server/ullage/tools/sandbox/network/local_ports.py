"""`localhost` of one session: what one of its commands listens on, its other commands reach, and nothing else does.

Each command has a network of its own, with a proxy that knows what that very command may connect to. So the networks stay apart. Where a
command listens on a port, the server listens on the same port in the networks of the others, and passes on what comes. Nothing of the
machine's own `localhost` is reached in this way, and nobody there reaches a command, but through a port that the user opened
(`CommandSpan.open_here`).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine
from contextlib import suppress

from ullage.tools.sandbox.network.doorway import Doorway, listening
from ullage.tools.sandbox.network.enter import PORT
from ullage.tools.sandbox.network.proxy import MOST_CONNECTIONS, PIECE, both_ways

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0
"""The time between two looks where commands listen."""

MOST_PORTS = 16
"""How many ports of one command count, the lowest ones; more are no servers that somebody would want to reach."""

LOWEST_PORT = 1024
"""The lowest port that counts; a command has no right to listen below it."""

HERE = ("127.0.0.1", "::1")


class NoPort(Exception):
    """The command does not listen on that port (any more), or it cannot be opened here; the message is for the user."""


class LocalPorts:
    """The `localhost` of one session. `changed` is called when some command listens elsewhere than before."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._places: list[CommandSpan] = []
        self._looking: tuple[asyncio.Task[None], asyncio.Event] | None = None
        """The task that looks where commands listen, and the event that ends it; None while no command runs."""
        self._one_looks = asyncio.Lock()

    def place(self) -> CommandSpan:
        """A place among its neighbours for a command that is about to run."""
        return CommandSpan(self)

    async def joined(self, place: CommandSpan, doorway: Doorway) -> None:
        """Takes in a command that is about to run, so that it reaches its neighbours from its first moment on."""
        self._places.append(place)
        if len(self._places) > 1:
            await self._look(doorway)
        if self._looking is None:
            over = asyncio.Event()
            self._looking = asyncio.create_task(self._go_on_looking(over)), over

    async def left(self, place: CommandSpan) -> None:
        """Takes out a command that has ended, so that its ports lead nowhere."""
        if place in self._places:
            self._places.remove(place)
        for other in self._places:
            other.close_ways(set(other.ways_to(place)))
        if not self._places and self._looking is not None:
            (looking, over), self._looking = self._looking, None
            over.set()
            await asyncio.wait({looking})

    async def _go_on_looking(self, over: asyncio.Event) -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), INTERVAL_SECONDS)
                return
            try:
                await self._look(None)
            except Exception:
                logger.exception("it could not be seen where commands listen")

    async def _look(self, newest: Doorway | None) -> None:
        """Looks where commands listen now, and opens and closes ways between them. `newest` is the doorway of the command that joined last,
        if it was just opened."""
        async with self._one_looks:
            before = [place.ports for place in self._places]
            for place in self._places:
                place.look()
            for place in tuple(self._places):
                is_newest = newest is not None and place is self._places[-1]
                with suppress(OSError):  # its process is gone by now, say
                    await self._open_ways(place, newest if is_newest else None)
            if before != [place.ports for place in self._places]:
                self._changed()

    async def _open_ways(self, place: CommandSpan, doorway: Doorway | None) -> None:
        wanted = {port: other for other in self._places if other is not place for port in other.ports}
        place.close_ways({port for port, other in place.ways.items() if wanted.get(port) is not other})
        for port, other in wanted.items():
            if port not in place.ways and port not in place.ports:
                await place.open_way(port, other, doorway)


class CommandSpan:
    """One command among its neighbours, from just before its start to its end."""

    def __init__(self, around: LocalPorts) -> None:
        self._around = around
        self._process = 0
        self._entering: asyncio.Task[Doorway] | None = None
        self._addresses: dict[int, str] = {}
        self.ways: dict[int, CommandSpan] = {}
        """The ports on which the server listens in its network, each with the command to which it leads."""
        self._listeners: dict[int, list[asyncio.Server]] = {}
        self._opened: dict[int, tuple[int, list[asyncio.Server]]] = {}
        """The port of this machine that leads to a port of the command, and its servers, by the port of the command."""
        self._tasks = set[asyncio.Task[None]]()
        self._has_left = False

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports on which the command itself listens, as was seen last."""
        return tuple(sorted(self._addresses))[:MOST_PORTS]

    async def take(self, process: int, doorway: Doorway) -> None:
        """Takes note of the command's first process, which waits to go on, and joins its neighbours. Raises `OSError`."""
        self._process = process
        await self._around.joined(self, doorway)

    async def leave(self) -> None:
        """Closes all that led from and to the command, because it has ended, and waits until nothing of ours is left of it."""
        self._has_left = True
        self.close_ways(set(self.ways))
        for _, servers in self._opened.values():
            _close(servers)
        self._opened.clear()
        self._addresses.clear()
        for task in self._tasks:
            task.cancel()
        await self._around.left(self)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._entering is not None:
            with suppress(OSError):
                await (await self._entering).close()

    def look(self) -> None:
        """Looks where the command listens now."""
        found = listening(self._process)
        self._addresses = {port: to for port, to in found.items() if port >= LOWEST_PORT and port != PORT and port not in self.ways}

    def ways_to(self, other: CommandSpan) -> list[int]:
        """The ports in its network that lead to that other command."""
        return [port for port, to in self.ways.items() if to is other]

    async def open_way(self, port: int, other: CommandSpan, doorway: Doorway | None) -> None:
        """Listens on that port in its network for its connections to the other command. Raises `OSError` if its network cannot be
        entered."""
        doorway = doorway or await self._own_doorway()
        servers = list[asyncio.Server]()
        try:
            for address in HERE:
                with suppress(OSError):  # it listens there itself since, or there is no IPv6
                    servers.append(await self._serve(await doorway.listener(address, port), other, port))
        except BaseException:
            _close(servers)
            raise
        if self._has_left or other._has_left:
            _close(servers)
        elif servers:
            self.ways[port], self._listeners[port] = other, servers

    def close_ways(self, ports: set[int]) -> None:
        """Closes those of its ports that lead to other commands."""
        for port in ports & self.ways.keys():
            del self.ways[port]
            _close(self._listeners.pop(port))

    async def open_here(self, port: int) -> int:
        """Lets programs of this machine, such as the user's browser, reach that port of the command, until it ends; gives the port of
        `localhost` that leads there, the same one where it is free. Raises `NoPort`."""
        if port not in self.ports:
            raise NoPort(f"The command does not listen on port {port} any more")
        if port not in self._opened:
            for wanted in (port, 0):
                try:
                    self._opened[port] = await self._listen_here(wanted, port)
                    break
                except OSError as error:
                    refused = error
            else:
                raise NoPort(f"No port of this machine could be opened: {refused.strerror or refused}")
        return self._opened[port][0]

    async def _listen_here(self, wanted: int, port: int) -> tuple[int, list[asyncio.Server]]:
        """Listens on this machine, on both addresses that `localhost` may mean, so that no other server answers in its place. Gives the
        port and the servers. Raises `OSError`."""
        servers = list[asyncio.Server]()
        try:
            for address in HERE:
                try:
                    listener = socket.create_server((address, wanted), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
                except OSError:
                    if ":" in address and not _has_ipv6():
                        continue
                    raise
                wanted = listener.getsockname()[1]
                listener.setblocking(False)
                servers.append(await self._serve(listener, self, port))
        except BaseException:
            _close(servers)
            raise
        return wanted, servers

    async def _serve(self, listener: socket.socket, other: CommandSpan, port: int) -> asyncio.Server:
        async def begin(reader: StreamReader, writer: StreamWriter) -> None:
            if len(self._tasks) >= MOST_CONNECTIONS:
                writer.close()
                return
            task = asyncio.ensure_future(_pass_on(reader, writer, other.connection(port)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return await asyncio.start_server(begin, sock=listener, limit=PIECE)

    async def connection(self, port: int) -> tuple[StreamReader, StreamWriter]:
        """A connection to that port of the command. Raises `OSError`."""
        address = self._addresses.get(port)
        if address is None:
            raise OSError("Nobody listens there any more")
        made = await (await self._own_doorway()).connection(address, port)
        return await asyncio.open_connection(sock=made, limit=PIECE)

    async def _own_doorway(self) -> Doorway:
        """The doorway to the command's network. It is opened when somebody first needs it, and stays; whoever needs it at the same moment
        waits for the same one. Raises `OSError`."""
        entering = self._entering
        if entering is None or (entering.done() and (entering.exception() is not None or entering.result().is_closed)):
            entering = self._entering = asyncio.create_task(Doorway.to(self._process))
        return await asyncio.shield(entering)


def _close(servers: list[asyncio.Server]) -> None:
    for server in servers:
        server.close()


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


async def _pass_on(
    reader: StreamReader, writer: StreamWriter, connecting: Coroutine[None, None, tuple[StreamReader, StreamWriter]]
) -> None:
    to: StreamWriter | None = None
    try:
        back, to = await connecting
        await both_ways(reader, writer, back, to)
    except OSError as error:
        logger.info("a connection between commands: %s", error)
    finally:
        for each in (writer, to):
            if each is not None:
                each.close()
