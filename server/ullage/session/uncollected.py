"""Making very many values that live as long as their session, without having the garbage collector walk them again and again.

A whole walk of a long session's values takes a tenth of a second and more, and holds up every thread. Values that are never walked go when
nobody refers to them any more, but for those that refer to each other: a session that is let go of needs `walked_again`.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

MANY = 2_000
"""Entries or messages: fewer are walked in some milliseconds."""


@contextmanager
def uncollected(values: int = MANY) -> Generator[None]:
    """While so many values are made nothing is collected, and what there is afterwards is never walked; a few are made as always, and so
    is what comes of a failure."""
    if values < MANY:
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def walked_again() -> None:
    """Frees what refers to itself alone by now, of all that there is; from here on the collector knows it again."""
    gc.unfreeze()
    gc.collect()
