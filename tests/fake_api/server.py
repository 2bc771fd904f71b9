"""The fake as a server on 127.0.0.1: its life cycle, and what tests ask of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from types import TracebackType
from typing import Self

from tests.fake_api.catalogue import MODELS, ModelFacts, with_windows, without_compaction, without_search
from tests.fake_api.connection import HttpRequest, ResponseWriter, serve_connection
from tests.fake_api.record import RecordedRequest, total_dollars
from tests.fake_api.routes import MAX_BODY, answer
from tests.fake_api.routes import MESSAGES as MESSAGES_PATH
from tests.fake_api.script import Rule, Script, Scripted
from tests.fake_api.state import FakeState


class FakeApi:
    """A Messages API over a real socket.

        async with FakeApi() as fake:
            fake.enqueue(Call("read_file", {"path": "a.py"}), Say("Done."))
            client = AsyncAnthropic(base_url=fake.base_url, api_key="any")

    `windows` gives models other windows (tokens); a name that is not known becomes a model.
    `compaction`: whether the account has on-demand compaction, for the models that write it.
    `search`: whether the account has the API's search of the web.
    `keys` are the accepted credentials (None: any).
    `lists_models`: whether there is `/v1/models`. `clock` gives seconds, by which cache entries live and arrivals are noted.
    Leaving raises an `ExceptionGroup` if the fake itself had a fault.
    """

    reply_path = MESSAGES_PATH
    """Where a reply is asked for."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        models: Mapping[str, ModelFacts] = MODELS,
        windows: Mapping[str, int] | None = None,
        compaction: bool = False,
        search: bool = False,
        keys: Collection[str] | None = None,
        lists_models: bool = True,
        clock: Callable[[], float] = time.time,
        port: int = 0,
    ) -> None:
        sized = with_windows(models, windows or {})
        sized = sized if compaction else without_compaction(sized)
        self.state = FakeState(
            models=sized if search else without_search(sized),
            script=script or Script(),
            clock=clock,
            keys=keys,
            lists_models=lists_models,
        )
        self.port = port
        """The TCP port; known once the server has started."""
        self.connections_accepted = 0
        """How many connections clients have opened so far."""
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """What a client gets as its base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request for a reply, in order of arrival."""
        return self.state.log.of_path(self.reply_path)

    @property
    def all_requests(self) -> list[RecordedRequest]:
        """Every request to the API, also for models and counts."""
        return list(self.state.log.requests)

    @property
    def dollars(self) -> float:
        """What all requests cost together; each record has its own share."""
        return total_dollars(self.state.log.requests)

    def enqueue(self, *items: Scripted) -> None:
        """Queues outcomes: one for each request, in order."""
        self.state.script.enqueue(*items)

    def enqueue_summaries(self, *items: Scripted) -> None:
        """Queues what the model says that writes compaction blocks: one for each request for one, in order."""
        self.state.script.enqueue_summaries(*items)

    def add_rules(self, *rules: Rule) -> None:
        """Adds rules, which go before the queue."""
        self.state.script.add_rules(*rules)

    def release(self) -> int:
        """Lets all held responses go on; gives how many there were."""
        return self.state.holds.release()

    async def until_held(self, count: int = 1) -> None:
        """Waits until `count` responses are held."""
        await self.state.holds.until_waiting(count)

    async def until_requests(self, count: int) -> list[RecordedRequest]:
        """Waits until `count` requests for a reply have arrived, and gives them."""
        return await self.state.log.wait_for(count, self.reply_path)

    async def until_ended(self, count: int) -> list[RecordedRequest]:
        """Waits until the first `count` requests for a reply are over, and gives all."""
        return await self.state.log.wait_for_end(count, self.reply_path)

    async def until_left(self) -> None:
        """Waits until no client is connected."""
        while self._connections:
            await asyncio.wait(tuple(self._connections))

    async def start(self) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Closes the socket and every connection."""
        if self._server is None:
            return
        self._server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        if self.state.faults and error is None:
            raise ExceptionGroup("faults of the fake API itself", self.state.faults)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections_accepted += 1
        connection = asyncio.create_task(serve_connection(reader, writer, self._handle, MAX_BODY))
        self._connections.add(connection)
        connection.add_done_callback(self._forget)
        connection.add_done_callback(lambda _: writer.close())  # one that was cancelled before it began closes nothing itself

    def _forget(self, connection: asyncio.Task[None]) -> None:
        self._connections.discard(connection)
        fault = None if connection.cancelled() else connection.exception()
        if isinstance(fault, Exception):
            self.state.faults.append(fault)

    async def _handle(self, request: HttpRequest, response: ResponseWriter) -> None:
        await answer(self.state, request, response)
