"""What an agent runs day by day is followed, so that it can be allowed by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ullage.tools.command_lines.judge import Site, Unknown, judge

LIST = Path(__file__).with_name("everyday.txt")


def _lines() -> list[tuple[str, str]]:
    """Each line with its heading."""
    found: list[tuple[str, str]] = []
    heading = ""
    for line in LIST.read_text("utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            found.append((heading, line))
    return found


def _how(line: str, site: Site, caged: Site) -> str:
    judged, judged_in_sandbox = judge(line, site), judge(line, caged)
    if isinstance(judged_in_sandbox, Unknown):
        return "asked for as it stands"
    if any(command.effect == "runs" for command in judged_in_sandbox):
        return "runs what the folder says"
    return "harmless in a sandbox" if isinstance(judged, Unknown) else "harmless"


@pytest.mark.parametrize(("heading", "line"), _lines())
def test_each_line_can_be_allowed_as_the_list_says(site: Site, caged: Site, heading: str, line: str) -> None:
    assert _how(line, site, caged) == heading


def test_most_of_what_is_run_every_day_can_be_allowed_by_name() -> None:
    lines = _lines()
    assert len(lines) >= 150
    assert sum(heading != "asked for as it stands" for heading, _ in lines) / len(lines) > 0.8
