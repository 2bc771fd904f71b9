"""A running fake and a real SDK client that talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from anthropic import AsyncAnthropic

from tests.fake_api import FakeApi


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
    async with AsyncAnthropic(base_url=fake.base_url, api_key="key-of-tests", max_retries=0) as sdk:
        yield sdk
