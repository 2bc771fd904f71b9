"""The policies' section: what `ullage replay` reports of generated sessions, as tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import policies
from bench.policies import NoReport, as_section, replay
from bench.workspaces import lay_down


def test_every_policy_asked_for_has_a_line_in_both_tables(tmp_path: Path) -> None:
    lay_down(tmp_path, [120, 60])
    report = replay([tmp_path, "--policy", "ullage,none", "--window", "60000", "--jobs", "1"])
    text = as_section(report, "2026-01-02", "generated sessions")
    lines = [line.split(" | ") for line in text.splitlines() if line.startswith(("| ullage ", "| none "))]
    assert [line[0] for line in lines] == ["| ullage", "| none"] * 2
    assert [len(line) for line in lines] == [8, 8, 11, 11]
    assert "2 generated sessions" in text
    assert "2026-01-02" in text
    assert str(tmp_path) not in text


def test_where_there_is_nothing_to_read_it_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NoReport, match="ended with 1"):
        replay([tmp_path, "--policy", "none"])
    assert "ullage replay" in capfd.readouterr().err


def test_without_recorded_sessions_generated_ones_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "TRACES", tmp_path / "absent")
    monkeypatch.setattr(policies, "GENERATED", (40,))
    assert "1 generated sessions of 40 messages" in policies.section("2026-01-02", ["none"])
