"""The control endpoints under `/__fake__/`, for tests that are not written in Python."""

from __future__ import annotations

from tests.fake_api.connection import HttpRequest, ResponseWriter
from tests.fake_api.state import FakeState


def is_control(request: HttpRequest) -> bool:
    """Whether the request is for the fake itself."""
    return request.path.startswith("/__fake__/")


async def answer_control(state: FakeState, request: HttpRequest, response: ResponseWriter) -> None:
    """Answers a control request."""
    await response.respond(404, {"content-type": "application/json"}, b"{}")
