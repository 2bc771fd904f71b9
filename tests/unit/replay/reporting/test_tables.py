"""The report as Parquet: the figures of the JSON, session by session and run by run."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.unit.recorded.readers.recorded import written
from tests.unit.replay.test_command import compacted_session, plain_session
from ullage.cli import main


def rows(path: Path) -> list[dict[str, Any]]:
    return import_module("pyarrow.parquet").read_table(path).to_pylist()


def test_the_tables_have_the_figures_of_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    written(tmp_path, compacted_session().lines, "a.jsonl")
    written(tmp_path, plain_session(sessionId="s2", model="unheard-of").lines, "b.jsonl")
    name = tmp_path / "out.of.june"
    assert main(["replay", str(tmp_path), "--policy", "claude-code,none", "--format", "json", "--parquet", str(name)]) == 0
    report = json.loads(capsys.readouterr().out)
    sessions, runs = rows(tmp_path / "out.of.june.sessions.parquet"), rows(tmp_path / "out.of.june.runs.parquet")
    assert [(each["file"], each["session"]) for each in sessions] == [(each["file"], each["session"]) for each in report["sessions"]]
    assert [each["dollars"] for each in sessions] == [report["sessions"][0]["dollars"]["total"], None]
    assert [each["cache_read_tokens"] for each in sessions] == [each["tokens"]["cache_read_tokens"] for each in report["sessions"]]
    told = [(each["policy"], each["session"], each["dollars"]) for each in runs]
    assert told == [(each["policy"], each["session"], each["dollars"]["total"]) for each in report["runs"]]


def test_tables_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = written(tmp_path, plain_session().lines)
    assert main(["replay", str(path), "--parquet", str(tmp_path / "nowhere" / "name")]) == 1
    assert "name.sessions.parquet" in capsys.readouterr().err


def test_a_link_that_lies_where_a_table_is_made_leads_nowhere(tmp_path: Path):
    path = written(tmp_path, plain_session().lines)
    (tmp_path / "mine").write_text("Keep me.")
    (tmp_path / "name.sessions.parquet.partial").symlink_to(tmp_path / "mine")
    assert main(["replay", str(path), "--parquet", str(tmp_path / "name")]) == 0
    assert (tmp_path / "mine").read_text() == "Keep me."
    assert len(rows(tmp_path / "name.sessions.parquet")) == 1


def test_tables_without_pyarrow(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ullage.replay.command.can_be_written", lambda: False)
    path = written(tmp_path, plain_session().lines)
    assert main(["replay", str(path), "--parquet", str(tmp_path / "name")]) == 2
    assert capsys.readouterr().err == "ullage replay: --parquet needs pyarrow: pip install 'ullage[report]'\n"
