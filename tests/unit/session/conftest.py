"""What every session of these tests would wait for, and none of them is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from ullage.session import endpoint_counts
from ullage.session.sessions import sessions
from ullage.tools.sandbox.confinement import Confiner, NoSandbox
from ullage.tools.sandbox.sandbox import SandboxFinder

_FINDER = SandboxFinder()
_find = SandboxFinder.find


async def _found_once(finder: SandboxFinder, not_in: Sequence[object]) -> Confiner | NoSandbox:
    """The sandbox of this machine: it is tried out once, not for each test."""
    finder.found = await _find(_FINDER, ())
    return finder.found


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """One look for a sandbox, short pauses between counts, and no walk through all that pytest holds when a session is let go of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SandboxFinder, "find", _found_once)
        patch.setattr(endpoint_counts, "PAUSE", 0.3)
        patch.setattr(sessions, "collect_all", lambda: None)
        yield
