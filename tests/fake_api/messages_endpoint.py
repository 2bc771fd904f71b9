"""`POST /v1/messages` and `POST /v1/messages/count_tokens`: judge the request, then do what the script says."""

from __future__ import annotations

import asyncio

from tests.fake_api.accepted import Accepted, accept, accept_count
from tests.fake_api.connection import ResponseWriter
from tests.fake_api.message import reply_message, reported_usage
from tests.fake_api.outgoing import as_compaction, prepare_reply
from tests.fake_api.record import RecordedRequest
from tests.fake_api.reply_events import Outgoing
from tests.fake_api.reply_stream import send_stream
from tests.fake_api.responses import respond_error, respond_json
from tests.fake_api.script import Fail, Hang, Html, Reply, ResetConnection, asks_for_compaction
from tests.fake_api.state import FakeState
from tests.fake_api.usage import dollars, with_found


async def answer_messages(state: FakeState, record: RecordedRequest, response: ResponseWriter) -> None:
    """Answers one request for a reply. Raises `Refused`."""
    accepted = accept(state, record)
    if accepted.body["max_tokens"] == 0:
        # Section 2.1: a pre-warming request runs no model, so the script is not asked.
        await _send(state, record, response, accepted, Reply(()), Outgoing((), "max_tokens"))
        return
    outcome = state.script.next_outcome(record.body)
    if isinstance(outcome, Hang):
        await state.holds.wait()
        outcome = outcome.then
    match outcome:
        case Fail(status, error_type, message, headers, error_code):
            await respond_error(response, record, status, error_type, message, headers, error_code)
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
            await asyncio.sleep(outcome.first_delay)
            outgoing = prepare_reply(
                outcome,
                accepted.body,
                accepted.model,
                accepted.plan.usage.total,
                state.seals,
                accepted.reading,
                state.searches,
            )
            if asks_for_compaction(accepted.body):
                outgoing = as_compaction(outgoing, accepted.model, state.seals.compactions, accepted.at_end)
            await _send(state, record, response, accepted, outcome, outgoing)


async def answer_count_tokens(state: FakeState, record: RecordedRequest, response: ResponseWriter) -> None:
    """Answers with the count of the input. Raises `Refused`."""
    await respond_json(response, record, {"input_tokens": accept_count(state, record)})


async def _send(
    state: FakeState,
    record: RecordedRequest,
    response: ResponseWriter,
    accepted: Accepted,
    reply: Reply,
    outgoing: Outgoing,
) -> None:
    """Sends a reply whose content is settled; what it wrote to the cache can be read from now on."""
    usage = with_found(accepted.plan.usage, outgoing.searched_tokens)
    record.input = usage
    record.output_tokens = outgoing.output_tokens
    record.dollars = dollars(accepted.model, usage, outgoing.output_tokens, outgoing.searches)
    record.stop_reason = outgoing.stop_reason
    record.reply = outgoing.content()
    state.cache.publish(accepted.plan)
    if accepted.body.get("stream"):
        await send_stream(state.holds, record, response, accepted, reply, outgoing)
        return
    message = reply_message(record, accepted)
    await respond_json(
        response,
        record,
        {
            **message,
            "content": record.reply,
            "stop_reason": outgoing.stop_reason,
            "usage": reported_usage(accepted, outgoing),
        },
    )
