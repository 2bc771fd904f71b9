"""What the tests against the real server process share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.server.client import UllageClient, editor_window


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The user's own state folder."""
    return tmp_path / "state"


@pytest.fixture
async def client(folder: Path, state: Path) -> AsyncGenerator[UllageClient]:
    """An editor on that folder, with the practice model."""
    async with editor_window(folder, state) as client:
        yield client
