"""A bubblewrap that works. Where it cannot be had, a build server fails; on somebody's own machine these tests are left out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ullage.tools.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from ullage.tools.sandbox.confinement import NoSandbox


@pytest.fixture
async def bubblewrap() -> Bubblewrap:
    """The one of this machine."""
    if sys.platform != "linux":
        pytest.skip("bubblewrap is for Linux")
    found = await find_bubblewrap([Path("/nowhere")])
    if isinstance(found, NoSandbox):
        said = f"No sandbox on this machine: {found.reason}. {found.remedy}"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
    return found
