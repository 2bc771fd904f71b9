"""One folder with sessions of every program, and sessions in which nobody writes code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.recorded.readers import test_cline, test_gemini_cli, test_opencode, test_pi
from tests.unit.recorded.readers.recorded import Claude, codex, text, written
from ullage.recorded.readers import read
from ullage.recorded.readers.files import transcripts_in
from ullage.replay.file_work import ReplayOptions, file_work


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a session of each, and with files of which no program is known."""
    claude = Claude()
    claude.user("Hello")
    claude.assistant("m1", text("Hi."))
    written(tmp_path, claude.lines, "claude.jsonl")
    said = codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "Go"}])
    written(tmp_path, [codex("session_meta", id="c1", cwd="/work/app"), said], "rollout-1.jsonl")
    written(tmp_path, test_pi.every_kind(), "2026-02-01_pi.jsonl")
    (tmp_path / "chats").mkdir()
    written(tmp_path / "chats", test_gemini_cli.every_kind(), "session-1.jsonl")
    old = {**test_gemini_cli.ABOUT, "sessionId": "s0", "messages": test_gemini_cli.every_kind()[1:]}
    (tmp_path / "chats" / "session-0.json").write_text(json.dumps(old, indent=2))
    test_cline.task(tmp_path, test_cline.with_xml(), [test_cline.asked_model(-1)])
    test_cline.newer(tmp_path)
    (tmp_path / "opencode").mkdir()
    test_opencode.as_database(tmp_path / "opencode" / "opencode.db", test_opencode.every_kind())
    (tmp_path / "older").mkdir()
    test_opencode.as_files(tmp_path / "older", test_opencode.every_kind())
    written(tmp_path, [{"level": "info"}], "app.jsonl")
    (tmp_path / "package.json").write_text("{}")
    return tmp_path


def test_every_program_is_known_by_what_it_wrote(folder: Path):
    paths = transcripts_in(folder, [], {})
    works = [file_work(path, ReplayOptions()) for path in paths]
    assert sorted(row.source for work in works for row in work.rows) == [
        *["claude-code", "cline", "cline", "codex"],
        *["gemini-cli", "gemini-cli", "opencode", "opencode", "pi"],
    ]
    assert [failure for work in works for failure in work.failures] == [
        f"{folder / 'app.jsonl'} is no transcript: its lines are those of no program whose sessions are read"
    ]


def test_each_can_be_carried_through_a_policy(folder: Path):
    for path in transcripts_in(folder, [], {}):
        work = file_work(path, ReplayOptions(policies=("ullage", "claude-code"), at="recorded", summary="digest"))
        assert [run.failure for run in work.runs if run.failure] == []


def test_a_session_without_any_code(tmp_path: Path):
    """An agent that only chats, about a garden: nothing is named that a program would call a path or a name in code."""
    pi = test_pi.Pi()
    for number in range(60):
        pi.message("user", f"What should I plant in week {number}? It rains a lot here, and the soil is heavy.")
        pi.reply(test_pi.text("Beans do well then. Keep them dry, and wait until the nights are warm. " * 20))
        if number == 40:
            pi.entry("compaction", summary="We talk about a garden.", firstKeptEntryId="e70", tokensBefore=9_000)
    path = written(tmp_path, pi.lines)
    work = file_work(path, ReplayOptions(policies=("ullage", "claude-code", "codex"), at="recorded", summary="digest"))
    assert work.failures == ()
    assert [run.failure for run in work.runs] == [""] * len(work.runs)
    assert any(run.compactions for run in work.runs)
    assert len(read(path)[0].entries) == 120
