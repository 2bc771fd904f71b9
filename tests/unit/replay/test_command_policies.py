"""`ullage replay --policy`: from files and names of policies to the report, and what becomes of what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.context.logs import PRELUDE, compaction, prompt, says
from tests.unit.recorded.readers.recorded import Claude, result, use, written
from tests.unit.replay.test_command import counted
from ullage import installed_policies
from ullage.cli import main
from ullage.context.blocks import Usage
from ullage.context.compaction_entries import Summarised
from ullage.context.engines.engine import Occasion, Unchanging
from ullage.context.moves.plan import Plan
from ullage.context.policy import FixedTokens, Policy, ThresholdOptions
from ullage.store.log_store import LogStore


class Raising(Unchanging):
    """A policy with a mistake in it."""

    def plan(self, at: Occasion) -> Plan | None:
        raise ValueError("oh")


def growing_session(name: str, *, recorded: bool = False) -> Claude:
    """Some thirty reads of other files, each with a count of tokens; halfway a compaction, where one is `recorded`."""
    claude = Claude()
    total = 20_000
    claude.user("Read the parts in src/app, please", sessionId=name)
    for number in range(30):
        path = f"src/app/part{number}.py"
        counted(claude, (10, 100, total - 10, 3_000, 0), use(f"t{number}", "Read", file_path=path), sessionId=name)
        claude.user([result(f"t{number}", f"def read_part_{number}(value): return value\n" * 200)], sessionId=name)
        total += 6_000
        if recorded and number == 14:
            claude.line("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": total}, sessionId=name)
            claude.user("Parts 0 to 14 were read, src/app/part3.py too", isCompactSummary=True, sessionId=name)
            total = 30_000
    return claude


def folder(tmp_path: Path, *names: str, recorded: bool = False) -> str:
    traces = tmp_path / "traces"
    traces.mkdir()
    for name in names or ("s1",):
        written(traces, growing_session(name, recorded=recorded).lines, f"{name}.jsonl")
    return str(traces)


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The report as JSON."""
    assert main(["replay", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def with_policies(monkeypatch: pytest.MonkeyPatch, *more: Policy) -> None:
    known: Mapping[str, Policy] = {**installed_policies.policies(), **{policy.name: policy for policy in more}}
    for module in ("command", "file_work"):
        monkeypatch.setattr(f"ullage.replay.{module}.policies", lambda: known)


def test_policies_side_by_side_and_the_optimum_beside_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["replay", folder(tmp_path), "--policy", "ullage,none", "--policy", "claude-code", "--full"]) == 0
    out = capsys.readouterr().out
    table = out[out.index("Policies: what they would have cost") :]
    names = [line.split()[0] for line in table.splitlines()[3:7]]
    assert names == ["ullage", "none", "claude-code", "optimum"]
    assert "stands what a program can write of the same messages (a digest)" in " ".join(table.split())


def test_every_figure_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    report = reported(capsys, folder(tmp_path), "--policy", "claude-code", "--window", "120000")
    assert (report["compacted_at"], report["summaries_by"]) == ("policy", "digest")
    (standing, optimum), (run, _) = report["policies"], report["runs"]
    assert (standing["policy"], optimum["policy"]) == ("claude-code", "optimum")
    assert (run["line"], run["window"]) == (87_000, 120_000)
    assert run["compactions"]
    assert all(request["fits"] for request in run["requests"])
    assert {point["stood_in"] for point in run["compactions"]} == {"digest"}
    assert standing["dollars_in_all"] == pytest.approx(run["dollars"]["total"] + run["dollars_for_summaries"]["as_cached"])
    assert optimum["dollars_in_all"] <= standing["dollars_in_all"]
    assert standing["failures"] == standing["violations"] == []
    assert report["answer"]["costs_least"] == "claude-code"
    assert standing["share_over_optimum"] == pytest.approx(standing["dollars_in_all"] / optimum["dollars_in_all"] - 1)
    kept = standing["retained"]["all_kinds"]
    assert kept["needed"] == sum(kept[fate] for fate in ("in_view", "recallable", "shown_again", "lost"))
    assert kept["share_in_view_or_recallable"] == pytest.approx((kept["in_view"] + kept["recallable"]) / kept["needed"])


def test_at_recorded_places_with_recorded_summaries(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    report = reported(capsys, folder(tmp_path, recorded=True), "--policy", "claude-code", "--at", "recorded")
    assert report["summaries_by"] == "recorded"
    (run,) = report["runs"]
    (point,) = run["compactions"]
    assert (point["rung"], point["stood_in"]) == ("model", "recorded")


def test_sessions_without_token_counts_are_left_out_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    traces = folder(tmp_path)
    bare = Claude()
    bare.user("Hello", sessionId="bare")
    counted(bare, None, sessionId="bare")
    written(Path(traces), bare.lines, "bare.jsonl")
    assert main(["replay", traces, "--policy", "ullage", "--full"]) == 0
    out = capsys.readouterr().out
    assert "bare is left out: none of its requests has a token count" in out
    assert "failed" not in out


def test_what_became_of_all_that_was_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["replay", folder(tmp_path, recorded=True), "--policy", "claude-code", "--at", "recorded", "--full"]) == 0
    out = capsys.readouterr().out
    table = out[out.index("Policies: what became of it") :]
    assert "in view or" in table
    assert table.splitlines()[3].endswith("1 recorded")


def test_several_files_over_several_processes_give_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    traces = folder(tmp_path, "s1", "s2", "s3")
    reports = [reported(capsys, traces, "--policy", "ullage,none", "--jobs", jobs) for jobs in ("1", "2")]
    for report in reports:
        for each in (*report["policies"], *report["runs"]):
            del each["seconds"]
    assert reports[0] == reports[1]
    assert [run["session"] for run in reports[1]["runs"]] == [name for name in ("s1", "s2", "s3") for _ in range(3)]


def test_processes_end_without_a_word(tmp_path: Path):
    traces = folder(tmp_path, "s1", "s2")
    command = [sys.executable, "-m", "ullage", "replay", traces, "--policy", "none", "--jobs", "2"]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_unknown_policy_is_named_and_the_others_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    traces = folder(tmp_path)
    assert main(["replay", traces, "--policy", "none,nonsense", "--format", "json"]) == 0
    output = capsys.readouterr()
    assert "there is no policy 'nonsense'; there are ullage," in output.err
    assert [each["policy"] for each in json.loads(output.out)["policies"]] == ["none", "optimum"]
    assert main(["replay", traces, "--policy", "nonsense"]) == 2
    assert capsys.readouterr().out == ""


def test_a_policy_that_raises_is_named_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    with_policies(monkeypatch, Policy("broken", "", (), Raising(), ThresholdOptions(FixedTokens(50_000))))
    traces = folder(tmp_path)
    report = reported(capsys, traces, "--policy", "broken,none")
    assert report["policies"][0]["failures"] == [{"session": "s1", "why": "ValueError: oh"}]
    assert report["policies"][1]["requests"] == 30
    assert main(["replay", traces, "--policy", "broken,none", "--full"]) == 0
    assert "broken failed on s1: ValueError: oh" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--jobs", "0"], ["--jobs", "x"], ["--window", "5"], ["--at", "noon"], ["--summary", "long"]])
def test_a_value_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str], arguments: list[str]):
    with pytest.raises(SystemExit) as ended:
        main(["replay", "x", "--policy", "none", *arguments])
    assert ended.value.code == 2
    assert f"argument {arguments[0]}" in capsys.readouterr().err


def test_the_requests_that_follow_compactions(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    views = tmp_path / "views"
    traces = folder(tmp_path, recorded=True)
    reported(capsys, traces, "--policy", "claude-code", "--at", "recorded", "--views", str(views))
    (path,) = views.iterdir()
    view = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == "s1-1.json"
    assert (view["session"], view["policy"], view["epoch"], view["trigger"]) == ("s1", "claude-code", 1, "threshold")
    assert view["message_index"] == 31  # a prompt, and fifteen calls with their results
    assert set(view["covers"]) <= set(range(31))
    assert view["messages"][0]["role"] == "user"
    assert "src/app/part3.py too" in json.dumps(view["messages"])
    assert "The system prompt, rules and tools of the recorded program" in view["system"][0]["text"]
    reported(capsys, traces, "--policy", "claude-code,codex", "--at", "recorded", "--views", str(tmp_path / "both"))
    assert sorted(each.relative_to(tmp_path).as_posix() for each in (tmp_path / "both").rglob("*.json")) == [
        "both/claude-code/s1-1.json",
        "both/codex/s1-1.json",
    ]


def test_views_that_cannot_be_written_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    arguments = ["replay", folder(tmp_path, recorded=True), "--policy", "claude-code", "--at", "recorded", "--views", str(blocked)]
    assert main(arguments) == 0
    assert "s1-1.json cannot be written" in capsys.readouterr().err


def test_the_report_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "report.html"
    traces = folder(tmp_path)
    reported(capsys, traces, "--policy", "ullage,none", "--report", str(page))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["replay", traces, "--report", str(tmp_path / "no" / "report.html")]) == 1
    assert "report.html cannot be written" in capsys.readouterr().err


def test_what_upkeep_forgets_is_told_not_to_be_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["replay", folder(tmp_path), "--policy", "three-layer", "--full"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Policies of which what is shown as kept says little" in out
    assert "* three-layer: it clears or cuts before" in out


def test_blanks_keep_nothing_that_could_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["replay", folder(tmp_path), "--policy", "claude-code", "--summary", "none", "--window", "100000", "--full"]) == 0
    assert "* claude-code: blanks stood for its summaries" in capsys.readouterr().out


def test_without_policies_nothing_is_said_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    traces = folder(tmp_path)
    assert "policies" not in reported(capsys, traces)
    main(["replay", traces])
    assert "Policies" not in capsys.readouterr().out


def test_the_optimum_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    traces = folder(tmp_path)
    for at in ("policy", "recorded"):
        report = reported(capsys, traces, "--policy", "optimum", "--at", at)
        assert [each["policy"] for each in report["policies"]] == ["optimum"]
        assert report["policies"][0]["requests"] == 30


def test_a_session_of_ullages_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    store = LogStore.open(tmp_path)
    session = store.create_session("Looking", 5.0)
    usage = Usage(4_000, 50)
    for entry in (PRELUDE, prompt("Look"), replace(says("Seen."), usage=usage), compaction("c1", summarised=Summarised(3, "So far"))):
        store.append(session.id, entry, 6.0)
    store.append(session.id, prompt("Go on"), 7.0)
    store.append(session.id, replace(says("Done."), usage=usage), 8.0)
    store.close()
    for at in ("policy", "recorded"):
        report = reported(capsys, str(tmp_path), "--policy", "ullage,none", "--at", at)
        assert [(run["policy"], len(run["requests"]), run["violations"]) for run in report["runs"][:2]] == [
            ("ullage", 2, []),
            ("none", 2, []),
        ]


@pytest.mark.parametrize("lines", [[], [{"type": "user", "message": {"role": "user", "content": 5}, "uuid": "u", "sessionId": "s"}]])
def test_transcripts_with_nothing_to_carry(tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[dict[str, Any]]):
    good = Path(folder(tmp_path))
    written(good, lines, "odd.jsonl")
    report = reported(capsys, str(good), "--policy", "ullage,none")
    assert all(not run.get("failure") for run in report["runs"])
    assert {each["policy"] for each in report["policies"]} == {"ullage", "none", "optimum"}
