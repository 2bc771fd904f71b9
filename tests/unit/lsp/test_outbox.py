"""What a client is told that reads slowly, or not at all."""

from __future__ import annotations

import asyncio

import pytest

from tests.patience import PATIENCE
from ullage.lsp.bridge import FEW_WAITING, MOST_WAITING, UpdateOutbox


class Client:
    """One that reads when it is told to. Each update takes so many bytes."""

    def __init__(self, size: int) -> None:
        self.told: list[tuple[str, int, str]] = []
        self.waiting = 0
        self._size = size
        self.outbox: UpdateOutbox[str] = UpdateOutbox(self._send, lambda: self.waiting, asyncio.get_running_loop())

    def _send(self, session_id: str, seq: int, update: str) -> None:
        self.told.append((session_id, seq, update))
        self.waiting += self._size

    async def until_told(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.told) < count:  # noqa: ASYNC110 - it is told in some round of the loop
                await asyncio.sleep(0)


async def test_all_updates_come_in_order() -> None:
    client = Client(1)
    for seq in range(1_000):
        client.outbox.put("one", seq, str(seq))
    assert client.told == []  # not before the answer that is being made
    await client.until_told(1_000)
    assert [seq for _, seq, _ in client.told] == list(range(1_000))


async def test_of_what_is_not_read_the_newest_update_of_each_session_is_kept() -> None:
    client = Client(MOST_WAITING // 10)
    for seq in range(100_000):
        client.outbox.put("one" if seq % 2 else "two", seq, str(seq))
    await client.until_told(11)
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(client.told) == 11  # no more are sent, and none are kept but two
    client.waiting = FEW_WAITING - 1  # it reads
    await client.until_told(13)
    assert sorted(client.told[11:]) == [("one", 99_999, "99999"), ("two", 99_998, "99998")]
    client.waiting = 0
    client.outbox.put("one", 100_000, "on")
    await client.until_told(14)
    assert client.told[-1] == ("one", 100_000, "on")


@pytest.mark.parametrize("dropped", [1, 2, 5])
async def test_a_client_can_see_that_it_missed_some(dropped: int) -> None:
    """By a gap in the numbers, or nothing was missed."""
    client = Client(MOST_WAITING + 1)
    for seq in range(1, 2 + dropped):
        client.outbox.put("one", seq, str(seq))
    await client.until_told(1)
    client.waiting = 0
    await client.until_told(2)
    before, after = (seq for _, seq, _ in client.told)
    assert (after == before + 1) == (dropped == 1)
