"""Responses in the API's shape: JSON, and errors as the API words them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.fake_api.connection import ResponseWriter
from tests.fake_api.record import RecordedRequest


def api_headers(record: RecordedRequest, content_type: str) -> dict[str, str]:
    """The headers every response of the API carries."""
    return {
        "content-type": content_type,
        "request-id": record.id,
        "anthropic-organization-id": "00000000-0000-0000-0000-000000000000",
    }


async def respond_json(response: ResponseWriter, record: RecordedRequest, value: Any) -> None:
    """A 200 with a JSON body."""
    await response.respond(200, api_headers(record, "application/json"), json.dumps(value).encode())


async def respond_error(
    response: ResponseWriter,
    record: RecordedRequest,
    status: int,
    error_type: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    error_code: str | None = None,
) -> None:
    """An error in the API's envelope."""
    record.error = message
    error: dict[str, Any] = {"type": error_type, "message": message}
    if error_code is not None:
        error["details"] = {"error_code": error_code}
    body = {"type": "error", "error": error, "request_id": record.id}
    await response.respond(
        status,
        {**api_headers(record, "application/json"), **(headers or {})},
        json.dumps(body).encode(),
    )
