"""What the tests of tools share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    root = tmp_path / "work"
    root.mkdir()
    return Workplace(root)
