"""The fake stops at once, whatever its connections are doing."""

from __future__ import annotations

import asyncio

import pytest

from tests.fake_api import FakeApi
from tests.patience import PATIENCE


async def test_a_connection_that_had_not_begun_yet_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch):
    api, accepted = FakeApi(), asyncio.Event()
    accept = api._accept  # noqa: SLF001

    def accept_and_cancel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accept(reader, writer)
        for connection in api._connections:  # noqa: SLF001
            connection.cancel()
        accepted.set()

    monkeypatch.setattr(api, "_accept", accept_and_cancel)
    await api.start()
    _, writer = await asyncio.open_connection("127.0.0.1", api.port)
    await accepted.wait()
    async with asyncio.timeout(PATIENCE):
        await api.stop()
    writer.close()
