"""Lines that are taken for harmless are really run: by bash, by its older rules, by those of POSIX, and by dash."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.deep import many
from tests.unit.tools.command_lines.nasty import Ground, nasty_line

SEED = 20261122


@pytest.mark.deep
@pytest.mark.timeout(7_200)
def test_no_line_that_is_taken_for_harmless_does_harm(tmp_path: Path) -> None:
    """50,000 lines in the long run. What is found is told with all its lines."""
    ground = Ground(tmp_path)
    random = Random(SEED)
    wanted = many(100, deep=50_000)
    seen: set[str] = set()
    harmless = 0
    found: list[tuple[str, tuple[str, ...]]] = []
    while len(seen) < wanted:
        line = nasty_line(random, tmp_path)
        if line in seen:
            continue
        seen.add(line)
        if ground.judged_harmless(line):
            harmless += 1
            complaints = ground.run(line).complaints
            if complaints:
                found.append((line, complaints))
    assert found == []
    assert harmless > wanted / 10, "too few lines are followed for this to say anything"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("cat link/secret", "shows"),
        ("cat < ../outside/secret", "shows"),
        ("jq -n env", "shows"),
        ("ls ~", "shows"),
        ("touch src/made", "wrote something"),
        ("./cat", "ran a program of the folder"),
        ("cat (", "takes it for no line"),
    ],
)
def test_what_does_harm_is_noticed(tmp_path: Path, line: str, complaint: str) -> None:
    complaints = Ground(tmp_path).run(line).complaints
    assert any(complaint in each for each in complaints)
