"""A client of the server that is made for floods: it passes over what it need not read, and can stop reading altogether."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_UPDATE = b'"ullage/session/update"'
_STATE = b'"kind": "state"'


class Refused(Exception):
    """The server answered with an error."""


class QuickClient(asyncio.SubprocessProtocol):
    """One client of one server process."""

    def __init__(self) -> None:
        self.transport: asyncio.SubprocessTransport
        self.settings: Mapping[str, Any] = {}
        self.received = 0
        self.notifications = 0
        self.states: dict[str, str] = {}
        self.ended = asyncio.Event()
        self._handed = asyncio.Event()
        self._handed.set()
        self._handed_at = 0.0
        self._changed = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0
        self._parts: list[bytes] = []
        self._have = 0
        self._need = 0

    # What goes out

    def send_bytes(self, data: bytes) -> None:
        """As it is."""
        pipe: Any = self.transport.get_pipe_transport(0)
        self._handed_at = time.perf_counter()
        pipe.write(data)

    async def all_handed(self) -> float:
        """When the last byte of what was sent went into the pipe."""
        await self._handed.wait()
        return self._handed_at

    def pause_writing(self) -> None:
        """The pipe is full."""
        self._handed.clear()

    def resume_writing(self) -> None:
        """The pipe has taken everything."""
        self._handed_at = time.perf_counter()
        self._handed.set()

    def send(self, message: Mapping[str, Any]) -> None:
        """A message."""
        self.send_bytes(framed(message))

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """A notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """The answer. Raises `Refused`."""
        self._asked += 1
        number = self._asked
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            return await self._answers[number]
        finally:
            del self._answers[number]

    async def initialize(self, folder: Path, state: Path, settings: Mapping[str, Any]) -> None:
        """`initialize` and `initialized`."""
        self.settings = settings
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        capabilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        options = {"stateFolder": str(state)}
        params = {"processId": None, "workspaceFolders": folders, "capabilities": capabilities, "initializationOptions": options}
        await self.ask("initialize", params)
        self.notify("initialized", {})

    async def until_state(self, session_id: str, state: str) -> None:
        """Until the session has said so."""
        while self.states.get(session_id) != state:
            self._changed.clear()
            await self._changed.wait()

    def stop_reading(self) -> None:
        """From now on the pipe fills."""
        pipe: Any = self.transport.get_pipe_transport(1)
        pipe.pause_reading()

    def read_again(self) -> None:
        """Takes what there is."""
        pipe: Any = self.transport.get_pipe_transport(1)
        pipe.resume_reading()

    async def close(self, patience: float = 20.0) -> None:
        """Goes away; the server must end by itself."""
        pipe: Any = self.transport.get_pipe_transport(0)
        pipe.close()
        try:
            async with asyncio.timeout(patience):
                await self.ended.wait()
        except TimeoutError:
            self.transport.kill()

    # What comes in

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        self.transport = transport  # pyright: ignore[reportAttributeAccessIssue]
        pipe: Any = self.transport.get_pipe_transport(0)
        pipe.set_write_buffer_limits(0)

    def process_exited(self) -> None:
        """It does not any more."""
        self.ended.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Refused("the server has ended"))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Some bytes."""
        if fd != 1:
            return
        self.received += len(data)
        self._parts.append(data)
        self._have += len(data)
        if self._have >= self._need:
            self._cut()

    def _cut(self) -> None:
        data, start = b"".join(self._parts), 0
        self._need = 0
        while (end := data.find(b"\r\n\r\n", start)) >= 0:
            head = data[start:end]
            length = int(head.split(b"Content-Length:")[1].split(b"\r\n")[0])
            if len(data) < end + 4 + length:
                self._need = end + 4 + length - start
                break
            self._take(data[end + 4 : end + 4 + length])
            start = end + 4 + length
        rest = data[start:]
        self._parts, self._have = [rest], len(rest)

    def _take(self, body: bytes) -> None:
        if _UPDATE in body[:300] or _UPDATE in body[-300:]:
            self.notifications += 1
            if _STATE not in body:
                return
        message = json.loads(body)
        if "method" not in message:
            answer = self._answers.get(message["id"])
            if answer is None or answer.done():
                return
            if "error" in message:
                answer.set_exception(Refused(message["error"]["message"]))
            else:
                answer.set_result(message.get("result"))
        elif "id" in message:
            asked = message["method"] == "workspace/configuration"
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": [self.settings] if asked else None})
        elif message["method"] == "ullage/session/update":
            update = message["params"]["update"]
            if update.get("kind") == "state":
                self.states[message["params"]["sessionId"]] = update["state"]
                self._changed.set()


def framed(message: Mapping[str, Any]) -> bytes:
    """A message with its header."""
    body = json.dumps(message).encode()
    return f"Content-Length: {len(body)}\r\n\r\n".encode() + body


class Pulse:
    """A cheap request every 50 ms; how long each waited for its answer (seconds)."""

    def __init__(self, client: QuickClient, method: str, params: Mapping[str, Any]) -> None:
        self.waits: list[float] = []
        self._client = client
        self._what = method, params
        self._open: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            task = asyncio.create_task(self._once())
            self._open.add(task)
            task.add_done_callback(self._open.discard)
            await asyncio.sleep(0.05)

    async def _once(self) -> None:
        began = time.perf_counter()
        with suppress(Refused):
            await self._client.ask(*self._what)
        self.waits.append(time.perf_counter() - began)

    async def stop(self, patience: float = 60.0) -> None:
        """Beats no more, and waits for the answers that are on their way."""
        self._task.cancel()
        if self._open:
            began = time.perf_counter()
            _, late = await asyncio.wait(self._open, timeout=patience)
            self.waits += [time.perf_counter() - began for _ in late]
            for task in late:
                task.cancel()
