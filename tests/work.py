"""How much work something is, counted and not timed, so that a test can say that it grows no faster than what it is done for."""

from __future__ import annotations

import sys
from collections.abc import Callable


def work_of(run: Callable[[], object]) -> int:
    """Calls of functions, and goes of generators, that it takes."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


def check_linear(run: Callable[[int], Callable[[], object]], size: int) -> None:
    """Twice as much takes at most 2.5 times the work. `run` makes what is to be counted, for a size."""
    once, twice = work_of(run(size)), work_of(run(2 * size))
    assert twice <= 2.5 * once, f"{size}: {once:,} calls, {2 * size}: {twice:,}"
