"""How many pieces of work are done in one round of the loop, and in which order."""

from __future__ import annotations

import asyncio

import pytest

from ullage.session import long_work
from ullage.session.long_work import Round


async def done_by_round(pieces: int) -> list[list[int]]:
    """Which of so many pieces of work, all wanted at once, were done in each round of the loop."""
    round_of_loop, rounds = Round(), [list[int]()]

    async def work(number: int) -> None:
        await round_of_loop.has_room()
        rounds[-1].append(number)

    working = [asyncio.create_task(work(number)) for number in range(pieces)]
    while not all(task.done() for task in working):
        await asyncio.sleep(0)
        rounds.append([])
    return [done for done in rounds if done]


async def test_what_fits_is_done_in_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "SHARED_SECONDS", 60.0)
    assert await done_by_round(100) == [list(range(100))]


async def test_of_what_does_not_fit_one_is_done_a_round_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "SHARED_SECONDS", 0.0)
    assert await done_by_round(20) == [[number] for number in range(20)]


def test_a_loop_that_ended_leaves_nothing_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "SHARED_SECONDS", 0.0)
    shared = Round()
    for _ in range(2):
        asyncio.run(shared.has_room())
