"""The folder in which the lines of these tests would run."""

from __future__ import annotations

import pytest

from tests.unit.tools.command_lines.sites import make_site
from ullage.tools.command_lines.judge import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Without a sandbox."""
    folder = tmp_path_factory.mktemp("site") / "work"
    folder.mkdir()
    return make_site(folder)


@pytest.fixture(scope="module")
def caged(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Where what is harmless runs in a sandbox."""
    folder = tmp_path_factory.mktemp("caged") / "work"
    folder.mkdir()
    return make_site(folder, caged=True)
