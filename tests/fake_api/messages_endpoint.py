"""`POST /v1/messages` and `POST /v1/messages/count_tokens`: judge the request, choose the outcome, send it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.connection import ResponseWriter
from tests.fake_api.counting import count_request
from tests.fake_api.json_values import JsonObject
from tests.fake_api.outgoing import prepare_reply
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import invalid
from tests.fake_api.reply_events import Outgoing, block_events, sse
from tests.fake_api.responses import api_headers, respond_error, respond_json
from tests.fake_api.script import (
    EndsAfter,
    ErrorAfter,
    Fail,
    Hang,
    HoldsAfter,
    Html,
    Reply,
    ResetConnection,
    ResetsAfter,
)
from tests.fake_api.state import FakeState
from tests.fake_api.usage import InputUsage, dollars
from tests.fake_api.validation import validate_request


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A request that the API would run."""

    model: ModelFacts
    body: JsonObject
    input_tokens: int


async def answer_messages(state: FakeState, record: RecordedRequest, response: ResponseWriter) -> None:
    """Answers one request for a reply. Raises `Refused`."""
    accepted = _accept(state, record)
    if accepted.input_tokens > accepted.model.window:
        # Section 1.4: only when the input alone is over the window, on every model.
        raise invalid(f"prompt is too long: {accepted.input_tokens} tokens > {accepted.model.window} maximum")
    outcome = state.script.next_outcome(record.body)
    if isinstance(outcome, Hang):
        await state.holds.wait()
        outcome = outcome.then
    match outcome:
        case Fail(status, error_type, message, headers):
            await respond_error(response, record, status, error_type, message, headers)
        case Html(status, text, headers):
            await response.respond(
                status,
                {"content-type": "text/html; charset=utf-8", **headers},
                text.encode(),
            )
        case ResetConnection():
            record.state = "reset"
            response.reset()
        case Reply():
            await _send_reply(state, record, response, accepted, outcome)


async def answer_count_tokens(state: FakeState, record: RecordedRequest, response: ResponseWriter) -> None:
    """Answers with the count of the input. Raises `Refused`."""
    accepted = _accept(state, record)
    await respond_json(response, record, {"input_tokens": accepted.input_tokens})


def _accept(state: FakeState, record: RecordedRequest) -> _Accepted:
    validate_request(record.body, betas=record.betas, models=state.models)
    model = state.models[record.body["model"]]
    return _Accepted(model, record.body, count_request(record.body, model))


async def _send_reply(
    state: FakeState,
    record: RecordedRequest,
    response: ResponseWriter,
    accepted: _Accepted,
    reply: Reply,
) -> None:
    if reply.first_delay:
        await asyncio.sleep(reply.first_delay)
    outgoing = prepare_reply(reply, accepted.body, accepted.model, accepted.input_tokens)
    usage = InputUsage(uncached=accepted.input_tokens)
    record.input = usage
    record.output_tokens = outgoing.output_tokens
    record.dollars = dollars(accepted.model, usage, outgoing.output_tokens)
    record.stop_reason = outgoing.stop_reason
    record.reply = [whole for block in outgoing.blocks if (whole := block.whole()) is not None]
    message = _message(record, accepted.model, usage)
    if accepted.body.get("stream"):
        await _stream(state, record, response, reply, outgoing, message, usage)
        return
    await respond_json(
        response,
        record,
        {
            **message,
            "content": record.reply,
            "stop_reason": outgoing.stop_reason,
            "usage": usage.as_json(outgoing.output_tokens, outgoing.thinking_tokens),
        },
    )


def _message(record: RecordedRequest, model: ModelFacts, usage: InputUsage) -> JsonObject:
    return {
        "id": f"msg_fake_{secrets.token_hex(8)}",
        "type": "message",
        "role": "assistant",
        "model": model.id,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage.as_json(1),
    }


async def _stream(
    state: FakeState,
    record: RecordedRequest,
    response: ResponseWriter,
    reply: Reply,
    outgoing: Outgoing,
    message: JsonObject,
    usage: InputUsage,
) -> None:
    headers = {
        **api_headers(record, "text/event-stream; charset=utf-8"),
        "cache-control": "no-cache",
    }
    await response.start(200, headers)
    await response.send(sse({"type": "message_start", "message": message}))
    await response.send(sse({"type": "ping"}))
    deltas = 0
    async for event in _paced(outgoing, reply):
        is_delta = event["type"] == "content_block_delta"
        if is_delta and reply.interruption and reply.interruption.chunks == deltas:
            match reply.interruption:
                case EndsAfter():
                    await response.finish()
                    return
                case ResetsAfter():
                    record.state = "reset"
                    response.reset()
                    return
                case ErrorAfter(_, error_type, text):
                    record.error = text
                    await response.send(_error_event(record, error_type, text))
                    await response.finish()
                    return
                case HoldsAfter():
                    await state.holds.wait()
        deltas += is_delta
        await response.send(sse(event))
    await response.send(
        sse(
            {
                "type": "message_delta",
                "delta": {"stop_reason": outgoing.stop_reason, "stop_sequence": None},
                "usage": usage.as_json(outgoing.output_tokens, outgoing.thinking_tokens),
            }
        )
    )
    await response.send(sse({"type": "message_stop"}))
    await response.finish()


async def _paced(outgoing: Outgoing, reply: Reply) -> AsyncIterator[JsonObject]:
    for index, block in enumerate(outgoing.blocks):
        for event in block_events(index, block, reply.chunk_size):
            if reply.delay and event["type"] == "content_block_delta":
                await asyncio.sleep(reply.delay)
            yield event


def _error_event(record: RecordedRequest, error_type: str, message: str) -> bytes:
    return sse(
        {
            "type": "error",
            "error": {"type": error_type, "message": message},
            "request_id": record.id,
        }
    )
