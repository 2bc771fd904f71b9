"""`ullage replay`: from files to the report, its exit code, and what it says of what cannot be read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.context.logs import PRELUDE, compaction, prompt, says
from tests.unit.recorded.readers.recorded import Claude, Line, codex, result, text, use, written
from ullage.cli import main
from ullage.context.compaction_entries import Summarised
from ullage.replay.pricing.recorded_models import as_of
from ullage.store.log_store import LogStore

NOT_COMPACTED = dict.fromkeys(("summaries", "needed later"), "no compaction is recorded")

Usage = tuple[int, int, int, int, int]
"""Input, output, read, written for 5 minutes, written for 1 hour."""


def counted(claude: Claude, usage: Usage | None, *blocks: Line, model: str = "claude-opus-4-5", **members: Any) -> None:
    """A reply with these token counts."""
    id = f"m{len(claude.lines)}"
    message: Line = {"id": id, "model": model, "role": "assistant", "content": list(blocks), "stop_reason": "end_turn"}
    if usage is not None:
        input, output, read, short, long = usage
        message["usage"] = {
            "input_tokens": input,
            "output_tokens": output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": short + long,
            "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        }
    claude.line("assistant", message=message, requestId=id, **members)


def compacted_session() -> Claude:
    """A session that was compacted once: the summary keeps a path and the user's words, and forgets a name."""
    claude = Claude()
    claude.user("Rename load_config in src/app/config.py")
    counted(claude, (1_000, 200, 0, 20_000, 0), use("t1", "Read", file_path="src/app/config.py"))
    claude.user([result("t1", "def load_config(path): return parse_settings(path)")])
    counted(claude, (500, 100, 20_000, 10_000, 0), text("Seen."))
    claude.line("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 30_600})
    claude.user("The user said: Rename load_config in src/app/config.py", isCompactSummary=True)
    claude.user("Go on")
    counted(claude, (300, 50, 13_000, 4_000, 0), use("t2", "Read", file_path="src/app/config.py"))
    claude.user([result("t2", "def load_config(path): return parse_settings(path)")])
    counted(claude, (200, 50, 17_000, 1_000, 0), text("Renamed load_config in src/app/config.py, not parse_settings."))
    return claude


def plain_session(usage: Usage | None = (1_000, 100, 0, 0, 0), **members: Any) -> Claude:
    """One prompt, one reply."""
    claude = Claude()
    claude.user("Hello", **{name: value for name, value in members.items() if name != "model"})
    counted(claude, usage, text("Hi."), **members)
    return claude


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The report as JSON."""
    main(["replay", *arguments, "--format", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("arguments", "golden"), [((), "golden_short_report.txt"), (("--full",), "golden_report.txt")])
def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], golden: str):
    uncounted = plain_session(None, sessionId="s2", model="unheard-of")
    written(tmp_path, compacted_session().lines, "a.jsonl")
    written(tmp_path, uncounted.lines, "b.jsonl")
    assert main(["replay", str(tmp_path), *arguments]) == 0
    output = capsys.readouterr()
    assert output.out == Path(__file__).with_name(golden).read_text(encoding="utf-8").replace("AS_OF", as_of())
    assert output.err == ""


def test_every_figure_of_a_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = written(tmp_path, compacted_session().lines)
    (session,) = reported(capsys, str(path))["sessions"]
    assert session["requests"] == {"made": 4, "counted": 4, "priced": 4, "outputs_estimated": 0}
    assert session["tokens"] == {
        "input_tokens": 2_000,
        "output_tokens": 400,
        "cache_read_tokens": 50_000,
        "cache_write_5m_tokens": 35_000,
        "cache_write_1h_tokens": 0,
    }
    # $5 a million in, $25 out, a tenth to read, five quarters to write
    assert session["dollars"]["total"] == pytest.approx(0.01 + 0.01 + 0.025 + 0.21875)
    # 30,600 tokens before it, 1,000 to ask; 30,500 of them were in the request before
    assert session["dollars_for_summaries_beside"]["cache_cold"] == pytest.approx(31_600 * 5e-6, rel=0.01)
    assert session["dollars_for_summaries_beside"]["cache_warm"] == pytest.approx(1_100 * 5e-6 + 30_500 * 0.5e-6, rel=0.05)
    assert session["share_read_from_cache"] == pytest.approx(50_000 / 87_000)
    assert session["context_tokens"] == {"mean": 21_750, "largest": 30_500}
    assert session["cache_read_tokens"]["recorded"] == 50_000
    assert (session["compactions"], session["files_read_again"]) == (1, 1)
    assert session["needed_later"]["path"] == {"needed": 1, "in_summary": 1, "shown_again": 0, "lost": 0}
    assert session["needed_later"]["identifier"] == {"needed": 2, "in_summary": 1, "shown_again": 1, "lost": 0}
    assert session["missing"] == {}


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (
            plain_session(None),
            {
                **dict.fromkeys(("tokens", "output", "dollars", "predicted cache reads"), "no reply of the model has a token count"),
                **NOT_COMPACTED,
            },
        ),
        (
            plain_session(model="unheard-of"),
            {"dollars": "no prices are known for unheard-of", **NOT_COMPACTED},
        ),
        (
            plain_session(timestamp=None),
            {
                "predicted cache reads": "no times are recorded, and how long a cache lives is counted from them",
                **NOT_COMPACTED,
            },
        ),
    ],
)
def test_what_is_missing_is_null_and_has_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], session: Claude, expected: dict[str, str]
):
    (row,) = reported(capsys, str(written(tmp_path, session.lines)))["sessions"]
    assert row["missing"] == expected
    places = {"tokens": "tokens", "dollars": "dollars", "predicted cache reads": "cache_read_tokens", "needed later": "needed_later"}
    assert {figure for figure, place in places.items() if row[place] is None} == expected.keys() & places


def test_a_sealed_summary_is_not_taken_for_an_empty_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    message: Line = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
    sealed: Line = {"type": "compaction", "encrypted_content": "xxxx"}
    lines = [
        codex("session_meta", id="s3"),
        codex("response_item", **message),
        codex("compacted", message="", replacement_history=[message, sealed]),
    ]
    (row,) = reported(capsys, str(written(tmp_path, lines)))["sessions"]
    assert row["compactions"] == 1
    assert row["needed_later"] is None
    assert row["missing"]["needed later"] == "the provider sealed the summaries, so what they kept cannot be read"


def test_in_all_every_session_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    written(tmp_path, plain_session().lines, "a.jsonl")
    written(tmp_path, plain_session(model="unheard-of", sessionId="s2").lines, "b.jsonl")
    every = reported(capsys, str(tmp_path))["all"]
    assert every["requests"] == {"made": 2, "counted": 2, "priced": 1, "outputs_estimated": 0}
    assert every["tokens"]["input_tokens"] == 2_000
    assert every["dollars"]["total"] == pytest.approx(0.0075)
    assert every["incomplete"] == {"dollars": "requests to unheard-of are left out, since no prices are known for them"}


def test_another_models_prices(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = written(tmp_path, plain_session(model="unheard-of").lines)
    report = reported(capsys, str(path), "--model", "claude-opus-4-5")
    assert report["prices_of_model"] == "claude-opus-4-5"
    assert report["all"]["dollars"]["total"] > 0


def test_a_model_without_prices_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = written(tmp_path, plain_session().lines)
    assert main(["replay", str(path), "--model", "unheard-of"]) == 2
    assert capsys.readouterr().err == "ullage replay: no prices are known for --model unheard-of\n"


def not_there(folder: Path) -> Path:
    return folder / "gone.jsonl"


def empty_folder(folder: Path) -> Path:
    path = folder / "empty"
    path.mkdir()
    return path


def diary(folder: Path) -> Path:
    path = folder / "diary.txt"
    path.write_text("Dear diary\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [(not_there, "does not exist"), (empty_folder, "holds no transcripts"), (diary, "is no transcript: it holds no JSON lines")],
)
def test_what_cannot_be_read_is_named_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], Path], message: str
):
    bad = make(tmp_path)
    assert main(["replay", str(bad)]) == 1
    alone = capsys.readouterr()
    assert alone.out == ""
    assert alone.err.startswith(f"ullage replay: {bad} {message}")
    good = written(tmp_path, plain_session().lines)
    assert main(["replay", str(bad), str(good), "--format", "json"]) == 0
    both = capsys.readouterr()
    assert both.err == alone.err
    report = json.loads(both.out)
    assert (len(report["sessions"]), len(report["not_read"])) == (1, 1)


def test_pipes_are_named_and_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert main(["replay", str(tmp_path), str(tmp_path / "pipe.jsonl"), "-"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3
    assert [each for each in told if "pipe.jsonl is neither a file nor a folder: pipes" in each] == told[:2]
    assert "- does not exist; standard input is not read" in told[2]


def test_a_folder_gives_its_transcripts_and_those_below_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    written(tmp_path / "deep" / "er", plain_session(sessionId="s2").lines, "b.jsonl")
    written(tmp_path, plain_session().lines, "a.jsonl")
    written(tmp_path, plain_session().lines, "notes.json")
    report = reported(capsys, str(tmp_path), str(tmp_path / "a.jsonl"))
    assert [session["session"] for session in report["sessions"]] == ["s1", "s2"]


def test_of_a_workspace_the_log_alone_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    store = LogStore.open(tmp_path)
    session = store.create_session("Looking", 5.0)
    for entry in (PRELUDE, prompt("Look"), says("Done."), compaction("c1", summarised=Summarised(3, "So far"))):
        store.append(session.id, entry, 6.0)
    store.close()
    written(tmp_path, [{"any": "data"}], "data.jsonl")
    report = reported(capsys, str(tmp_path))
    assert [(row["session"], row["program"]) for row in report["sessions"]] == [(session.id, "ullage")]
    assert report["not_read"] == []
    assert (report["all"]["compactions"], report["all"]["dollars_for_summaries_beside"]) == (1, None)


def test_a_session_that_two_files_hold_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    first = written(tmp_path, plain_session().lines, "a.jsonl")
    written(tmp_path, plain_session().lines, "b.jsonl")
    told = [[note for note in row["notes"] if "also in" in note] for row in reported(capsys, str(tmp_path))["sessions"]]
    assert told == [[], [f"A session of this name is also in {first}: what both hold is counted twice in all"]]


def test_the_help_says_that_no_model_is_asked(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["replay", "--help"])
    assert "asks no model and sends nothing anywhere" in " ".join(capsys.readouterr().out.split())


def test_a_terminal_of_few_characters_gets_the_report_too(tmp_path: Path):
    path = written(tmp_path, plain_session(model="mödel\N{SNOWMAN}").lines)
    ran = subprocess.run(
        [sys.executable, "-m", "ullage", "replay", str(path)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"m?del?" in ran.stdout


def test_the_server_does_not_load_it():
    code = "import sys, ullage.cli; ullage.cli._parser(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "ullage.replay" not in ran.stdout.split()
