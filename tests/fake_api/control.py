"""The control endpoints under `/__fake__/`, for tests that are not written in Python. README.md describes them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.fake_api.connection import HttpRequest, ResponseWriter
from tests.fake_api.record import total_dollars
from tests.fake_api.script_json import BadScript, outcomes_from_json, rules_from_json
from tests.fake_api.state import FakeState

_PREFIX = "/__fake__/"
_WAIT_SECONDS = 30.0
"""Longest wait of `requests?count=N`, `requests?ended=N` and `held?count=N`."""


def is_control(request: HttpRequest) -> bool:
    """Whether the request is for the fake itself."""
    return request.path.startswith(_PREFIX)


async def answer_control(state: FakeState, request: HttpRequest, response: ResponseWriter) -> None:
    """Answers a control request; a bad one with 400 and the reason."""
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            status, value = 200, await _control(state, request)
    except (BadScript, ValueError, KeyError, TypeError) as error:
        status, value = 400, {"error": f"{type(error).__name__}: {error}"}
    except TimeoutError:
        status, value = 408, {"error": f"nothing of the kind within {_WAIT_SECONDS:g} seconds"}
    await response.respond(status, {"content-type": "application/json"}, json.dumps(value).encode())


async def _control(state: FakeState, request: HttpRequest) -> Any:
    match request.method, request.path.removeprefix(_PREFIX):
        case "POST", "enqueue":
            state.script.enqueue(*outcomes_from_json(_body(request)))
            return {"queued": state.script.queued}
        case "POST", "rules":
            state.script.add_rules(*rules_from_json(_body(request)))
            return {}
        case "GET", "requests":
            await state.log.wait_for(_number(request, "count") or 0, "/v1/messages")
            await state.log.wait_for_end(_number(request, "ended") or 0, "/v1/messages")
            return {
                "requests": [record.as_json() for record in state.log.requests],
                "queued": state.script.queued,
                "dollars": total_dollars(state.log.requests),
            }
        case "GET", "held":
            await state.holds.until_waiting(_number(request, "count") or 1)
            return {"held": state.holds.waiting}
        case "POST", "release":
            return {"released": state.holds.release()}
        case "POST", "reset":
            state.reset()
            return {}
        case method, name:
            raise ValueError(f"no control endpoint {method} {_PREFIX}{name}")


def _body(request: HttpRequest) -> Any:
    return json.loads(request.body or b"null")


def _number(request: HttpRequest, name: str) -> int | None:
    values = request.query.get(name)
    return int(values[0]) if values else None
