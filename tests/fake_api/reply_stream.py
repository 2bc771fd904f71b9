"""A reply as server-sent events over the wire, paced and interrupted as the script says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tests.fake_api.accepted import Accepted
from tests.fake_api.connection import ResponseWriter
from tests.fake_api.holds import Holds
from tests.fake_api.json_values import JsonObject
from tests.fake_api.message import reply_message, reported_usage
from tests.fake_api.record import RecordedRequest
from tests.fake_api.reply_events import Outgoing, block_events, sse
from tests.fake_api.responses import api_headers
from tests.fake_api.script import (
    EndsAfter,
    ErrorAfter,
    HoldsAfter,
    Interruption,
    Reply,
    ResetsAfter,
)


async def send_stream(
    holds: Holds,
    record: RecordedRequest,
    response: ResponseWriter,
    accepted: Accepted,
    reply: Reply,
    outgoing: Outgoing,
) -> None:
    """Sends the whole stream, or as much of it as the interruption lets through."""
    await response.start(
        200,
        {
            **api_headers(record, "text/event-stream; charset=utf-8"),
            "cache-control": "no-cache",
        },
    )
    await response.send(sse({"type": "message_start", "message": reply_message(record, accepted)}))
    await response.send(sse({"type": "ping"}))
    cut = reply.interruption
    deltas = 0
    for event in _content_events(outgoing, reply.chunk_size):
        if event["type"] == "content_block_delta":
            if cut is not None and cut.chunks == deltas:
                if await _interrupt(cut, holds, record, response):
                    return
                cut = None
            await asyncio.sleep(reply.delay)
            deltas += 1
        await response.send(sse(event))
    if cut is not None and await _interrupt(cut, holds, record, response):
        return
    await response.send(sse(_message_delta(accepted, outgoing)))
    await response.send(sse({"type": "message_stop"}))
    await response.finish()


def _content_events(outgoing: Outgoing, chunk_size: int) -> Iterator[JsonObject]:
    for index, block in enumerate(outgoing.blocks):
        yield from block_events(index, block, chunk_size)


async def _interrupt(cut: Interruption, holds: Holds, record: RecordedRequest, response: ResponseWriter) -> bool:
    """Does what the interruption says; True when the stream is over."""
    match cut:
        case HoldsAfter():
            await holds.wait()
            return False
        case EndsAfter():
            await response.finish()
        case ResetsAfter():
            record.state = "reset"
            response.reset()
        case ErrorAfter(_, error_type, message):
            record.error = message
            error = {"type": error_type, "message": message}
            await response.send(sse({"type": "error", "error": error, "request_id": record.id}))
            await response.finish()
    return True


def _message_delta(accepted: Accepted, outgoing: Outgoing) -> JsonObject:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": outgoing.stop_reason, "stop_sequence": None},
        "usage": reported_usage(accepted, outgoing),
    }
