"""One fault, and how the bytes of an answer are written down."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from typing import Any

from tests.endpoint_faults.endpoint import Raw
from tests.unit.models.scripted_server import ended, sse, started, text

WELL: tuple[str, ...] = ()
"""What is told where the turn ends well."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, and the words with which the user is told: one of `says` stands in the message.

    `times`: how many requests in a row meet it. `impatient`: it needs a model that waits for moments only.
    """

    name: str
    raw: Raw
    says: tuple[str, ...] = WELL
    times: int = 9
    impatient: bool = False


def answer(
    body: bytes | str,
    status: str = "200 OK",
    kind: str = "text/event-stream",
    *headers: str,
) -> Raw:
    """A whole answer of HTTP/1.1 that ends with its connection."""
    lines = [f"HTTP/1.1 {status}", *([f"content-type: {kind}"] if kind else []), "connection: close", *headers]
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    return Raw("\r\n".join([*lines, "", ""]).encode("latin-1") + data)


def stream(*events: dict[str, Any]) -> Raw:
    """A stream of events, complete or not."""
    return answer(sse(*events))


def in_json(value: Any, status: str = "200 OK") -> Raw:
    """A whole answer in JSON."""
    return answer(json.dumps(value), status, "application/json")


def good(**usage: int) -> list[dict[str, Any]]:
    """The events of a small reply."""
    return [started(input_tokens=10, **usage), *text(0, "Hel", "lo"), *ended()]


def nested(depth: int) -> str:
    """A JSON value inside of many others."""
    return '{"a":' * depth + "1" + "}" * depth


def bomb(byte: bytes, millions: int, before: bytes = b"") -> bytes:
    """That byte so often, behind other ones, in gzip. A million is packed once, and stands there as often as it takes."""
    unit = byte * 1_000_000
    packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    first = packer.compress(before) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    check = zlib.crc32(before)
    for _ in range(millions):
        check = zlib.crc32(unit, check)
    end = struct.pack("<II", check, len(before) + len(unit) * millions)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + first + piece * millions + b"\x03\0" + end
