"""A bare JSON-RPC client of the server, written from PROTOCOL.md alone: no LSP library, no code of Ullage."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


class BareClient:
    """One client of one server process. `heard` takes every notification with the nanoseconds when it was read."""

    def __init__(self, process: asyncio.subprocess.Process, heard: Callable[[int, Mapping[str, Any]], None]) -> None:
        self._process = process
        self._heard = heard
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._settings: Mapping[str, Any] = {}
        self._reading = asyncio.create_task(self._read())

    async def initialize(self, folder: Path, state: Path, settings: Mapping[str, Any]) -> Any:
        """`initialize` and `initialized`; the answer of the first."""
        self._settings = {"store": {"location": str(state)}, **settings}
        answer = await self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "capabilities": {"workspace": {"configuration": True, "workspaceFolders": True}},
                "initializationOptions": {"stateFolder": str(state)},
            },
        )
        self._send({"method": "initialized", "params": {}})
        return answer

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """The answer to a request. Raises `RuntimeError` with the server's error."""
        number = len(self._answers) + 1
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        return await self._answers[number]

    async def close(self) -> None:
        """Goes away as an editor does that is closed: the server must end by itself."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        self._reading.cancel()

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self._process.stdin is not None:
            self._process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def _read(self) -> None:
        reader = self._process.stdout
        while reader is not None:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
            body = await reader.readexactly(length)
            self._take(time.perf_counter_ns(), json.loads(body))

    def _take(self, read: int, message: Mapping[str, Any]) -> None:
        if "method" not in message:
            answer = self._answers[message["id"]]
            if "error" in message:
                answer.set_exception(RuntimeError(message["error"]["message"]))
            else:
                answer.set_result(message.get("result"))
        elif "id" in message:
            asked = message["method"] == "workspace/configuration"
            self._send({"id": message["id"], "result": [self._settings] if asked else None})
        else:
            self._heard(read, message)


async def start_server(command: list[str], environment: Mapping[str, str], heard: Callable[[int, Mapping[str, Any]], None]) -> BareClient:
    """Starts the server on stdio."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=dict(environment), limit=1 << 26
    )
    return BareClient(process, heard)
