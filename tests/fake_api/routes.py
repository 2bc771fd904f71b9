"""Which endpoint answers which request, and what every request must have: a known path, credentials, the API's version."""

from __future__ import annotations

import json
import traceback
from collections.abc import Awaitable, Callable

from tests.fake_api.connection import ClientGone, HttpRequest, ResponseWriter
from tests.fake_api.control import answer_control, is_control
from tests.fake_api.json_values import JsonObject, is_object
from tests.fake_api.messages_endpoint import answer_count_tokens, answer_messages
from tests.fake_api.models_endpoint import answer_list, answer_one
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import Refused, invalid
from tests.fake_api.responses import respond_error
from tests.fake_api.state import FakeState

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a body; over it the API answers 413 (section 1.4)."""

MESSAGES = "/v1/messages"
COUNT_TOKENS = "/v1/messages/count_tokens"
MODELS = "/v1/models"

_VERSION = "2026-10-21"
"""The version that the SDK 2.x sends and that the fake's rules are of (section 0.5)."""


async def answer(state: FakeState, request: HttpRequest, response: ResponseWriter) -> None:
    """Answers one request, whatever it is."""
    if is_control(request):
        await answer_control(state, request, response)
        return
    await recorded(
        state,
        request,
        response,
        lambda record: _answer_api(state, request, record, response),
        lambda record, refused: respond_error(
            response, record, refused.status, refused.error_type, refused.message, error_code=refused.error_code
        ),
    )


async def recorded(
    state: FakeState,
    request: HttpRequest,
    response: ResponseWriter,
    work: Callable[[RecordedRequest], Awaitable[None]],
    refuse: Callable[[RecordedRequest, Refused], Awaitable[None]],
) -> None:
    """Notes the request and what becomes of it. `work` answers it, or raises `Refused`, which `refuse` says."""
    record = await state.log.add(
        request.method,
        request.path,
        request.headers,
        _parsed(request.body),
        state.clock(),
    )
    try:
        await work(record)
        if record.state == "open":
            record.state = "answered"
    except Refused as refused:
        await refuse(record, refused)
        record.state = "answered"
    except ClientGone:
        raise
    except Exception as fault:  # noqa: BLE001 - a fault of the fake must not look like one of the client
        state.faults.append(fault)
        if response.status is not None:
            response.reset()
            return
        text = "".join(traceback.format_exception(fault))
        await respond_error(response, record, 500, "api_error", f"fake API: {text}")
    finally:
        record.status = response.status
        if record.state == "open":
            record.state = "abandoned"
        record.ended.set()


async def _answer_api(
    state: FakeState,
    request: HttpRequest,
    record: RecordedRequest,
    response: ResponseWriter,
) -> None:
    if request.body is None:
        raise Refused(413, "request_too_large", "Request exceeds the maximum size")
    _check_headers(state, record)
    match request.method, request.path:
        case "POST", "/v1/messages":
            _check_json(request)
            await answer_messages(state, record, response)
        case "POST", "/v1/messages/count_tokens":
            _check_json(request)
            await answer_count_tokens(state, record, response)
        case "GET", path if path.startswith("/v1/models") and not state.lists_models:
            raise Refused(404, "not_found_error", "Not Found")
        case "GET", "/v1/models":
            await answer_list(state, record, response)
        case "GET", path if path.startswith("/v1/models/"):
            await answer_one(state, record, response, path.removeprefix("/v1/models/"))
        case _, ("/v1/messages" | "/v1/messages/count_tokens" | "/v1/models"):
            raise Refused(405, "invalid_request_error", "Method Not Allowed")
        case _:
            raise Refused(404, "not_found_error", "Not Found")


def _check_headers(state: FakeState, record: RecordedRequest) -> None:
    # Section 0.5: the key comes as a bearer token; older clients send x-api-key.
    if record.key is None:
        raise Refused(401, "authentication_error", "x-api-key header is required")
    if state.keys is not None and record.key not in state.keys:
        raise Refused(401, "authentication_error", "invalid x-api-key")
    version = record.headers.get("anthropic-version")
    if version is None:
        raise invalid("anthropic-version: header is required")
    if version != _VERSION:
        raise invalid(f'anthropic-version: "{version}" is not a version this fake speaks; it speaks {_VERSION}')


def _parsed(body: bytes | None) -> JsonObject:
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        return {}
    return value if is_object(value) else {}


def _check_json(request: HttpRequest) -> None:
    try:
        value = json.loads(request.body or b"")
    except ValueError as error:
        raise invalid(f"The request body is not valid JSON: {error}") from error
    if not is_object(value):
        raise invalid("Input should be a valid dictionary")
