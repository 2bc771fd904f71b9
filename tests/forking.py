"""Processes that are forked from one which has imported what they run: a start of their own takes a second or two, nearly all of it for
imports, and the tests start hundreds.

There is one such parent for each process of pytest, and the first that asks for a fork starts it. So it imports what any of them needs.
"""

from __future__ import annotations

import multiprocessing
import sys
from functools import cache
from multiprocessing.context import ForkServerContext, SpawnContext

PRELOADED = [
    *(f"ullage.{each}" for each in ("cli", "lsp.server", "lsp.log", "lsp.transport", "acp.serve")),
    "tests.server.forked",
    "tests.server.ready",
    "tests.unit.session.changes.killed_session",
    "tests.unit.store.killed_writer",
]


@cache
def forking() -> ForkServerContext | SpawnContext:
    """Makes processes, with pipes to them. On Windows, where nothing is forked, each is a start of its own."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context
