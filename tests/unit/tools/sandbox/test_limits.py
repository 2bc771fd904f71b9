"""What takes too much is ended, and the result says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.tools.workplace import Workplace
from ullage.tools.sandbox import bubblewrap as ours
from ullage.tools.sandbox.bubblewrap import GIBIBYTE, Bubblewrap, Limits, usual_limits


@pytest.mark.parametrize(
    ("limits", "command", "said"),
    [
        (Limits(50_000_000), "perl -e '$x = q(a) x 200_000_000; sleep 40'", "more than 0.0 GiB of memory"),
        (Limits(GIBIBYTE, processes=10), "for i in $(seq 20); do sleep 40 & done; wait", "more than 10 processes"),
        (Limits(GIBIBYTE, free_disk=1 << 60), "sleep 40", "free on the disk of"),
    ],
)
async def test_what_takes_too_much_is_ended(
    bubblewrap: Bubblewrap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits, command: str, said: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(ours, "usual_limits", lambda: limits)
    if limits.free_disk > GIBIBYTE:
        monkeypatch.setattr("shutil.disk_usage", FreeDisk().usage)
    (tmp_path / "work").mkdir()
    outcome = await Workplace(tmp_path / "work", sandbox="required").call("bash", command=command)
    assert outcome.is_error
    assert f"The sandbox ended it, because it {'left less' if 'disk' in said else 'used' if 'memory' in said else 'had'}" in outcome.content
    assert said in outcome.content


class FreeDisk:
    """A disk that has less room at each look."""

    def __init__(self) -> None:
        self.free = 100 * GIBIBYTE

    def usage(self, folder: Path) -> FreeDisk:
        self.free //= 4
        return self


def test_the_usual_limits_let_a_build_run() -> None:
    limits = usual_limits()
    assert limits.memory >= 2 * GIBIBYTE
    assert limits.processes >= 1_000
