"""`POST /v1/chat/completions` and `GET /v1/models`: judge the request, then do what the script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.fake_api.canonical import digest
from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.chat.chunks import deltas, finish_of, prepared, sse, whole
from tests.fake_api.chat.manners import Manners
from tests.fake_api.chat.rules import bad, check_request
from tests.fake_api.connection import HttpRequest, ResponseWriter
from tests.fake_api.counting import count_json, count_text
from tests.fake_api.json_values import JsonObject, is_array, is_object, objects
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import Refused
from tests.fake_api.reply_events import Outgoing
from tests.fake_api.script import EndsAfter, ErrorAfter, Fail, Hang, HoldsAfter, Html, Interruption, Reply, ResetConnection, ResetsAfter
from tests.fake_api.state import FakeState
from tests.fake_api.usage import InputUsage

CHAT = "/v1/chat/completions"
MODELS = "/v1/models"
_LEAST_CACHED, _CACHED_STEP = 1_024, 128
"""OpenAI's prompt cache: from so many tokens, in such steps."""
_IMAGE_TOKENS = 765
_LONGEST_REPLY = 16_000
"""Tokens, where the request names no limit."""


@dataclass(slots=True)
class Prefixes:
    """What was sent before, by a hash of all that precedes it and itself. Kept without marks, and for as long as the fake lives."""

    known: set[str] = field(default_factory=set[str])

    def cached(self, row: list[tuple[str, int]]) -> int:
        """Tokens of the longest beginning of a request that was sent before."""
        longest = max((tokens for hash, tokens in row if hash in self.known), default=0)
        return longest // _CACHED_STEP * _CACHED_STEP if longest >= _LEAST_CACHED else 0

    def keep(self, row: list[tuple[str, int]]) -> None:
        """From now on these are known."""
        self.known.update(hash for hash, _ in row)


def row_of(body: JsonObject) -> list[tuple[str, int]]:
    """Tools and messages, each with a hash of everything up to it and how many tokens that is."""
    row: list[tuple[str, int]] = []
    hash, tokens = "", 0
    for part in ({"tools": body.get("tools")}, *objects(body["messages"])):
        hash = digest(hash, "part", part)
        tokens += 4 + _tokens(part)
        row.append((hash, tokens))
    return row


def _tokens(part: JsonObject) -> int:
    content = part.get("content")
    if not is_array(content):
        return count_json(part)
    return sum(_IMAGE_TOKENS if each.get("type") == "image_url" else count_text(str(each.get("text"))) for each in objects(content))


async def answer_chat(
    state: FakeState, manners: Manners, prefixes: Prefixes, request: HttpRequest, record: RecordedRequest, response: ResponseWriter
) -> None:
    """Answers one request. Raises `Refused`."""
    if state.keys is not None and record.key not in state.keys:
        raise Refused(401, "invalid_request_error", f"Incorrect API key provided: {record.key}.", "invalid_api_key")
    match request.method, request.path:
        case "GET", "/v1/models" if state.lists_models:
            await _respond(response, record, {"object": "list", "data": [_listed(facts, manners) for facts in _unique(state.models)]})
        case "POST", "/v1/chat/completions":
            await _answer(state, manners, prefixes, request, record, response)
        case _:
            raise Refused(404, "invalid_request_error", f"Invalid URL ({request.method} {request.path})")


def _unique(models: Mapping[str, ModelFacts]) -> list[ModelFacts]:
    return list({facts.id: facts for facts in models.values()}.values())


def _listed(facts: ModelFacts, manners: Manners) -> JsonObject:
    listed: JsonObject = {"id": facts.id, "object": "model", "created": 1_790_000_000, "owned_by": "fake"}
    return {**listed, "max_model_len": facts.window} if manners.tells_window else listed


async def _answer(
    state: FakeState, manners: Manners, prefixes: Prefixes, request: HttpRequest, record: RecordedRequest, response: ResponseWriter
) -> None:
    body = _body(request)
    check_request(body, state.models, manners)
    facts = state.models[body["model"]]
    row = row_of(body)
    total = row[-1][1]
    if total > facts.window:
        told = f"This model's maximum context length is {facts.window} tokens. However, your messages resulted in {total} tokens."
        raise bad(f"{told} Please reduce the length of the messages.", "context_length_exceeded")
    outcome = state.script.next_outcome(body)
    if isinstance(outcome, Hang):
        await state.holds.wait()
        outcome = outcome.then
    match outcome:
        case Fail(status, error_type, message, headers, error_code):
            await respond_error(response, record, Refused(status, error_type, message, error_code), headers)
        case Html(status, text, headers):
            await response.respond(status, {"content-type": "text/html; charset=utf-8", **headers}, text.encode())
        case ResetConnection():
            record.state = "reset"
            response.reset()
        case Reply():
            await asyncio.sleep(outcome.first_delay)
            cached = prefixes.cached(row) if manners.caches else 0
            prefixes.keep(row)
            limit = body.get("max_completion_tokens", body.get("max_tokens", _LONGEST_REPLY))
            outgoing = prepared(outcome, limit, facts.window - total)
            record.input = InputUsage(total - cached, cached)
            record.output_tokens, record.stop_reason = outgoing.output_tokens, finish_of(outgoing, manners)
            record.reply = [whole(outgoing, manners)]
            await _send(state, manners, record, response, outcome, outgoing)


def _body(request: HttpRequest) -> JsonObject:
    try:
        value = json.loads(request.body or b"")
    except ValueError as error:
        raise bad("We could not parse the JSON body of your request.") from error
    if not is_object(value):
        raise bad("We could not parse the JSON body of your request.")
    return value


async def _send(
    state: FakeState, manners: Manners, record: RecordedRequest, response: ResponseWriter, reply: Reply, outgoing: Outgoing
) -> None:
    frame: JsonObject = {"id": f"chatcmpl-{record.number}", "created": 1_790_000_000, "model": record.body["model"]}
    counted = {"usage": _usage(manners, record)} if manners.counts == "asked" else {}
    if not (record.body.get("stream") and manners.streams):
        choice = {"index": 0, "message": whole(outgoing, manners), "finish_reason": finish_of(outgoing, manners)}
        await _respond(response, record, {**frame, "object": "chat.completion", "choices": [choice], **counted})
        return
    frame["object"] = "chat.completion.chunk"
    await response.start(200, {"content-type": "text/event-stream; charset=utf-8"})
    cut = reply.interruption
    for sent, delta in enumerate(deltas(outgoing, reply.chunk_size, manners)):
        if cut is not None and cut.chunks == sent:
            if await _interrupt(cut, state, record, response):
                return
            cut = None
        await asyncio.sleep(reply.delay)
        await response.send(sse({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
    if cut is not None and await _interrupt(cut, state, record, response):
        return
    await response.send(sse({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_of(outgoing, manners)}]}))
    options = record.body.get("stream_options")
    if counted and is_object(options) and options.get("include_usage"):
        await response.send(sse({**frame, "choices": [], **counted}))
    await response.send(sse("[DONE]"))
    await response.finish()


async def _interrupt(cut: Interruption, state: FakeState, record: RecordedRequest, response: ResponseWriter) -> bool:
    """Does what the interruption says; True when the stream is over."""
    match cut:
        case HoldsAfter():
            await state.holds.wait()
            return False
        case EndsAfter():
            await response.finish()
        case ResetsAfter():
            record.state = "reset"
            response.reset()
        case ErrorAfter(_, error_type, message):
            record.error = message
            await response.send(sse({"error": {"message": message, "type": error_type, "param": None, "code": None}}))
            await response.finish()
    return True


def _usage(manners: Manners, record: RecordedRequest) -> JsonObject:
    used = record.input or InputUsage(0)
    if manners.reads_at_most is not None and used.total > manners.reads_at_most:
        used = InputUsage(manners.reads_at_most)
    usage: JsonObject = {
        "prompt_tokens": used.total,
        "completion_tokens": record.output_tokens,
        "total_tokens": used.total + record.output_tokens,
    }
    return {**usage, "prompt_tokens_details": {"cached_tokens": used.read}} if manners.caches else usage


async def _respond(response: ResponseWriter, record: RecordedRequest, value: JsonObject) -> None:
    await response.respond(200, {"content-type": "application/json", "x-request-id": record.id}, json.dumps(value).encode())


async def respond_error(
    response: ResponseWriter, record: RecordedRequest, refused: Refused, headers: Mapping[str, str] | None = None
) -> None:
    """An error in the envelope of this wire."""
    record.error = refused.message
    error = {"message": refused.message, "type": refused.error_type, "param": None, "code": refused.error_code}
    await response.respond(refused.status, {"content-type": "application/json", **(headers or {})}, json.dumps({"error": error}).encode())
