"""What the fake remembers of each request, for assertions, and ways to wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.fake_api.json_values import JsonObject
from tests.fake_api.usage import InputUsage


@dataclass(slots=True)
class RecordedRequest:
    """One request to the API as it came in, and what became of it."""

    number: int
    """Counts from 1 in order of arrival."""
    id: str
    """What the response calls `request-id`."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: JsonObject
    """The parsed body; empty where there was none or it was no JSON object."""
    arrived: float
    """The fake's clock, in seconds, when the whole request was in."""
    state: Literal["open", "answered", "abandoned", "reset"] = "open"
    """`abandoned`: the client closed the connection first. `reset`: the script broke it off."""
    status: int | None = None
    """The HTTP status that was sent."""
    error: str | None = None
    """`error.message` where the request was refused or failed."""
    reply: list[JsonObject] = field(default_factory=list[JsonObject])
    """The content blocks that were answered, as far as they were to be sent."""
    stop_reason: str | None = None
    input: InputUsage | None = None
    """Input tokens by price class; None where no model ran."""
    output_tokens: int = 0
    dollars: float = 0.0
    """What the request cost by the model's table."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the response is over, whatever way."""

    @property
    def betas(self) -> frozenset[str]:
        """The values of the `anthropic-beta` header."""
        values = self.headers.get("anthropic-beta", "").split(",")
        return frozenset(value.strip() for value in values if value.strip())

    @property
    def key(self) -> str | None:
        """The credential the request came with."""
        bearer = self.headers.get("authorization", "")
        if bearer.lower().startswith("bearer "):
            return bearer[len("bearer ") :].strip() or None
        return self.headers.get("x-api-key") or None

    def as_json(self) -> JsonObject:
        """The record for the control endpoint. Credentials are left out."""
        return {
            "number": self.number,
            "id": self.id,
            "method": self.method,
            "path": self.path,
            "headers": {name: value for name, value in self.headers.items() if name not in ("authorization", "x-api-key")},
            "body": self.body,
            "arrived": self.arrived,
            "state": self.state,
            "status": self.status,
            "error": self.error,
            "reply": self.reply,
            "stop_reason": self.stop_reason,
            "usage": self.input.as_json(self.output_tokens) if self.input else None,
            "dollars": self.dollars,
        }


class RequestLog:
    """All requests in order of arrival."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self._arrivals = asyncio.Condition()
        self._next_number = 1

    async def add(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: JsonObject,
        arrived: float,
    ) -> RecordedRequest:
        """Records an arrival and wakes those who wait for it."""
        number = self._next_number
        self._next_number += 1
        record = RecordedRequest(number, f"req_fake_{number:06d}", method, path, headers, body, arrived)
        async with self._arrivals:
            self.requests.append(record)
            self._arrivals.notify_all()
        return record

    def of_path(self, path: str) -> list[RecordedRequest]:
        """The requests for one path."""
        return [request for request in self.requests if request.path == path]

    async def wait_for(self, count: int, path: str) -> list[RecordedRequest]:
        """Waits until `count` requests for `path` have arrived, and gives them."""
        async with self._arrivals:
            await self._arrivals.wait_for(lambda: len(self.of_path(path)) >= count)
        return self.of_path(path)

    async def wait_for_end(self, count: int, path: str) -> list[RecordedRequest]:
        """Waits until the first `count` requests for `path` are over, and gives all."""
        for request in (await self.wait_for(count, path))[:count]:
            await request.ended.wait()
        return self.of_path(path)

    def clear(self) -> None:
        """Forgets the requests; numbers go on."""
        self.requests.clear()


def total_dollars(requests: Iterable[RecordedRequest]) -> float:
    """What the requests cost together."""
    return sum(request.dollars for request in requests)
