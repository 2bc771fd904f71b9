"""Counting by a tokenizer in the background."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial

from tests.patience import PATIENCE
from ullage.context.counting.tokens import REMEMBERED
from ullage.session.token_counts import LONGEST, TokenCounts, in_a_thread


def nothing() -> None:
    """Nobody wants to hear that all is counted."""


async def begun(count: Callable[[str], int] = len, counted: Callable[[], None] = nothing) -> TokenCounts:
    counts = TokenCounts(partial(in_a_thread, count), counted)
    counts.begin(asyncio.get_running_loop())
    return counts


async def test_what_was_wanted_becomes_known():
    counts = await begun()
    counts.want(["a text", "another"])
    assert counts.known("a text") is None
    await counts.settled()
    assert (counts.known("a text"), counts.known("another"), counts.known("a third")) == (6, 7, None)


async def test_it_counts_in_another_thread_and_tells_on_the_loop_once_all_is_known():
    threads: list[threading.Thread] = []
    told: list[threading.Thread] = []

    def count(text: str) -> int:
        threads.append(threading.current_thread())
        return len(text)

    counts = await begun(count, lambda: told.append(threading.current_thread()))
    counts.want(["a", "b", "c"])
    await counts.settled()
    assert len(threads) == 3
    assert threading.main_thread() not in threads
    assert told == [threading.main_thread()]


async def test_nothing_is_counted_twice():
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    counts = await begun(count)
    counts.want(["a", "a"])
    counts.want(["a", "b"])
    await counts.settled()
    counts.want(["b", "a", ""])
    await counts.settled()
    assert counted == ["a", "b"]


async def test_what_cannot_be_counted_stays_unknown_and_keeps_nobody_from_the_rest():
    def count(text: str) -> int:
        if text == "odd":
            raise ValueError("not this one")
        return len(text)

    counts = await begun(count)
    counts.want(["odd", "fine", "x" * (LONGEST + 1)])
    await counts.settled()
    assert (counts.known("odd"), counts.known("fine"), counts.known("x" * (LONGEST + 1))) == (None, 4, None)


async def test_what_was_wanted_before_there_was_a_loop_or_from_another_thread_is_counted_too():
    counts = TokenCounts(partial(in_a_thread, len), nothing)
    counts.want(["early"])
    counts.begin(asyncio.get_running_loop())
    await asyncio.to_thread(counts.want, ["elsewhere"])
    await counts.settled()
    assert (counts.known("early"), counts.known("elsewhere")) == (5, 9)


async def test_only_the_newest_are_remembered():
    counts = await begun()
    counts.remember_at_most = 10
    counts.want([f"text {number}" for number in range(30)])
    await counts.settled()
    assert counts.known("text 0") is None
    assert counts.known("text 29") == 7
    assert REMEMBERED > 10


async def test_once_closed_nothing_more_is_counted():
    going_on, may_end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def count(text: str) -> int:
        loop.call_soon_threadsafe(going_on.set)
        may_end.wait(PATIENCE)
        return len(text)

    counts = await begun(count)
    counts.want(["first", "second"])
    await going_on.wait()
    may_end.set()
    await counts.close()
    counts.want(["third"])
    await counts.settled()
    assert counts.known("second") is counts.known("third") is None
