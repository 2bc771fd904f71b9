"""Server-sent events of the fake on their way out as frames of Amazon's event stream, and errors in Amazon's envelope."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from typing import Any
from zlib import crc32

from tests.fake_api.connection import ResponseWriter

_EXCEPTIONS = {
    "rate_limit_error": "throttlingException",
    "overloaded_error": "serviceUnavailableException",
    "api_error": "internalServerException",
}
_ERRORS = {
    "invalid_request_error": "ValidationException",
    "not_found_error": "ResourceNotFoundException",
    "rate_limit_error": "ThrottlingException",
    "overloaded_error": "ServiceUnavailableException",
    "api_error": "InternalServerException",
}


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame; all headers are texts."""
    packed = b"".join(
        struct.pack("B", len(name)) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(packed) + len(payload), len(packed))
    head = prelude + struct.pack(">I", crc32(prelude)) + packed + payload
    return head + struct.pack(">I", crc32(head))


def event_frame(event: Mapping[str, Any]) -> bytes:
    """One event of the Messages API, padded as the real one is against guesses by length."""
    inner = base64.b64encode(json.dumps(event).encode()).decode()
    payload = json.dumps({"bytes": inner, "p": "abcdefghijklmnop"}).encode()
    return frame({":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}, payload)


def exception_frame(kind: str, message: str) -> bytes:
    """How a stream breaks off with an error."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())


class FrameWriter(ResponseWriter):
    """Takes what the endpoints of the fake send, and sends it as Bedrock would."""

    def __init__(self, inner: ResponseWriter) -> None:
        self._inner = inner
        self.status = None

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        kept = {name: value for name, value in headers.items() if not name.startswith("anthropic")}
        if kept.get("content-type", "").startswith("text/event-stream"):
            kept["content-type"] = "application/vnd.amazon.eventstream"
        await self._inner.start(status, kept)

    async def send(self, data: bytes) -> None:
        event = json.loads(data.decode().partition("\ndata: ")[2])
        if event["type"] == "error":
            error: dict[str, str] = event["error"]
            await self._inner.send(exception_frame(_EXCEPTIONS.get(error["type"], error["type"]), error["message"]))
        elif event["type"] != "ping":
            await self._inner.send(event_frame(event))

    async def finish(self) -> None:
        await self._inner.finish()

    async def respond(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        told: Any = json.loads(body) if body.startswith(b"{") else {}
        if told.get("type") != "error":
            await self._inner.respond(status, headers, body)
            return
        await respond_error(self._inner, status, told["error"]["type"], told["error"]["message"], headers)

    def reset(self) -> None:
        self._inner.reset()


async def respond_error(response: ResponseWriter, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
    """An error of Amazon's; `kind` may be one of the Messages API."""
    kept = {name: value for name, value in (headers or {}).items() if name not in ("content-length", "content-type")}
    kind = _ERRORS.get(kind, kind)
    errortype = f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"
    await response.respond(
        status, {**kept, "content-type": "application/json", "x-amzn-errortype": errortype}, json.dumps({"message": message}).encode()
    )
