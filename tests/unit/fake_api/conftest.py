"""A running fake and a real SDK client that talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from ssl import SSLContext

import pytest
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from httpx2 import create_ssl_context

from tests.fake_api import FakeApi


@cache
def trusted() -> SSLContext:
    """As the SDK's own client has it; it takes longer to make than most of these tests."""
    return create_ssl_context()


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of `fake`."""
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeApi]:
    """A fake that listens."""
    async with FakeApi(clock=clock) as running:
        yield running


@pytest.fixture
async def client(fake: FakeApi) -> AsyncIterator[AsyncAnthropic]:
    """The SDK as it is, without retries."""
    http = DefaultAsyncHttpxClient(verify=trusted())
    async with AsyncAnthropic(base_url=fake.base_url, api_key="key-of-tests", max_retries=0, http_client=http) as sdk:
        yield sdk
