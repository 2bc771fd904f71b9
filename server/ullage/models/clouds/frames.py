"""The binary event stream of Amazon Bedrock, read within bounds.

A frame is its length, the length of its headers and a checksum of both, then headers, payload and a checksum of all. The payload of an
event holds one event of the Messages API in base64. Source: "Amazon event stream encoding" (the documentation of Amazon Transcribe) and the
service model `bedrock-runtime` of botocore. The SDK's own reader needs botocore, keeps as much as comes, and knows no pings.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from zlib import crc32

from ullage.context.blocks import Json
from ullage.models.endpoint_checks import BodyNotJson, parse
from ullage.models.errors import Nonsense
from ullage.models.event_stream import LARGEST_EVENT

_PRELUDE, _CRC = 12, 4
_STRING, _BYTES = 7, 6
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""How many bytes a header's value has by its type, for types that do not say their length: booleans, integers, times and ids."""

LARGEST_FRAME = 2 * LARGEST_EVENT
"""The most bytes of a frame: base64 takes a third more, and there is padding."""

_BUSY = {"throttlingException": "rate_limit_error", "serviceUnavailableException": "overloaded_error"}
"""Exceptions inside of a stream, by what the Messages API calls them."""


async def bedrock_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[Mapping[str, Json], None]:
    """The events as the JSON objects that they carry; an exception as an `error` event. What was not whole is left out.

    Raises `Nonsense` for what is no such stream.
    """
    waiting = bytearray()
    async for piece in pieces:
        waiting += piece
        while len(waiting) >= _PRELUDE:
            size = _size_of(waiting)
            if len(waiting) < size:
                break
            frame = bytes(waiting[:size])
            del waiting[:size]
            event = _event(frame)
            if event is not None:
                yield event


def _size_of(waiting: bytearray) -> int:
    """The size in bytes of the frame that begins there. Raises `Nonsense`."""
    size, headers, checksum = struct.unpack_from(">III", waiting)
    if crc32(waiting[:8]) != checksum or size < _PRELUDE + headers + _CRC:
        raise Nonsense("bytes that are no event stream of Amazon")
    if size > LARGEST_FRAME:
        raise Nonsense(f"a single event of more than {LARGEST_FRAME // 1_000_000} MB")
    return size


def _event(frame: bytes) -> Mapping[str, Json] | None:
    size, length, _ = struct.unpack_from(">III", frame)
    if crc32(frame[: size - _CRC]) != struct.unpack_from(">I", frame, size - _CRC)[0]:
        raise Nonsense("an event whose checksum is wrong")
    headers = _headers(frame[_PRELUDE : _PRELUDE + length])
    payload = frame[_PRELUDE + length : size - _CRC]
    match headers.get(":message-type", ""):
        case "event" if headers.get(":event-type") == "chunk":
            return _chunk(payload)
        case "exception" | "error":
            return _failure(headers, payload)
        case _:  # what other events there will be
            return None


def _headers(data: bytes) -> dict[str, str]:
    """The headers of a frame that are texts, by name."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            length = data[at]
            name = data[at + 1 : at + 1 + length].decode()
            at += 1 + length
            kind = data[at]
            at += 1
            if kind in (_STRING, _BYTES):
                (length,) = struct.unpack_from(">H", data, at)
                at += 2
            else:
                length = _SIZES[kind]
            value = data[at : at + length]
            at += length
            if kind == _STRING:
                found[name] = value.decode()
    except (IndexError, KeyError, struct.error, UnicodeDecodeError):
        raise Nonsense("an event with headers that cannot be read") from None
    return found


def _chunk(payload: bytes) -> Mapping[str, Json] | None:
    outer = _object(payload)
    packed = outer.get("bytes")
    if not isinstance(packed, str):
        return None
    try:
        inner = _object(base64.b64decode(packed, validate=True))
    except binascii.Error:
        raise Nonsense("an event that is no base64") from None
    return inner if isinstance(inner.get("type"), str) else None


def _failure(headers: Mapping[str, str], payload: bytes) -> Mapping[str, Json]:
    kind = headers.get(":exception-type") or headers.get(":error-code") or "error"
    try:
        told = parse(payload) if payload else None
    except BodyNotJson:
        told = None
    said = told.get("message") if isinstance(told, dict) else headers.get(":error-message")
    message = said if isinstance(said, str) and said else "no reason given"
    return {"type": "error", "error": {"type": _BUSY.get(kind, kind), "message": message}}


def _object(text: bytes) -> Mapping[str, Json]:
    try:
        value = parse(text)
    except BodyNotJson as error:
        raise Nonsense(f"an event that is no JSON ({error})") from None
    return value if isinstance(value, dict) else {}
