"""`ullage policies`: the list, the whole of one, and what is said where something is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from tests.example_policy import install, install_metadata
from tests.patience import PATIENCE
from tests.unit.context.policies.rehearsal import occasion
from tests.unit.context.policies.steps import talk
from ullage.cli import main
from ullage.context.policies.table import BUILT_IN
from ullage.context.policies.ullage import ULLAGE, UllageEngine
from ullage.context.policy import BelowWindow, FixedCharacters, FixedTokens, FullAt, Measure, Never, Policy, ShareOfWindow, ThresholdOptions
from ullage.policies_command import differences, moves_of, options_of, prompts_in, threshold_in_words, unit_of


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with a folder on its path."""
    command = [sys.executable, "-m", "ullage", "policies", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path]), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=PATIENCE)


def test_the_list_has_every_policy_with_its_threshold_and_moves(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["policies"]) == 0
    listed = capsys.readouterr().out
    for policy in BUILT_IN.values():
        assert f"\n{policy.name} " in f"\n{listed}"
        assert f"Full at: {threshold_in_words(policy)}" in listed
    assert "Moves: clip on arrival, clear, snip, summary, restore files" in listed


@pytest.mark.parametrize("policy", BUILT_IN.values(), ids=BUILT_IN)
def test_the_whole_of_one_has_its_title_engine_and_sources(policy: Policy, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", policy.name]) == 0
    shown = capsys.readouterr().out
    for expected in (policy.title, type(policy.engine).__name__, *policy.sources):
        assert expected in shown
    assert main(["policies", policy.name, "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert (whole["name"], whole["values"]["sources"]) == (policy.name, list(policy.sources))


def test_every_number_is_shown_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    main(["policies", "ullage"])
    shown = " ".join(capsys.readouterr().out.split())
    assert isinstance(ULLAGE.engine, UllageEngine)
    options = ULLAGE.engine.options
    assert ULLAGE.restore is not None
    for expected in (
        f"threshold.full_at.reserve {BelowWindow().reserve:,} tokens",
        f"threshold.hold_share {ULLAGE.threshold.hold_share} ({ULLAGE.threshold.hold_share * 100:.4g} %)",
        f"engine.options.clip.result_characters {options.clip.result_characters:,} characters",
        "engine.options.clear.answered_only yes",
        f"engine.options.snip.keep_last {options.snip.keep_last} messages",
        f"restore.files {ULLAGE.restore.files} files",
        " characters): This conversation is about to outgrow",
    ):
        assert expected in shown


@pytest.mark.parametrize(
    ("full_at", "measure", "words"),
    [
        (BelowWindow(20_000, 0, None), "usage", "20,000 tokens below the window"),
        (BelowWindow(20_000, 13_000, 150_000), "usage", "33,000 tokens below the window, at 150,000 at the latest"),
        (ShareOfWindow(0.5), "usage", "50 % of the window"),
        (ShareOfWindow(1 / 16, 8_192), "messages", "6.25 % of the window, at 8,192 tokens at the latest, of the messages alone"),
        (FixedTokens(50_000), "characters / 4", "50,000 tokens, by a quarter of the messages' characters"),
        (FixedCharacters(50_000), "characters / 4", "50,000 characters of the messages"),
        (Never(), "usage", "never by itself"),
    ],
)
def test_the_threshold_is_said_in_words(full_at: FullAt, measure: Measure, words: str) -> None:
    assert threshold_in_words(Policy("p", "", (), ULLAGE.engine, ThresholdOptions(full_at), measure)) == words


def test_names_of_numbers_say_what_they_count() -> None:
    names = ("keep_tokens", "spared_turns", "margin", "preview_characters", "after_seconds", "tail_share", "leaf_fanout", "words", "sweeps")
    units = ["tokens", "turns", "tokens", "characters", "seconds", "", "summaries", "words", "compactions"]
    assert [unit_of(name) for name in names] == units


@pytest.mark.parametrize("policy", BUILT_IN.values(), ids=BUILT_IN)
def test_no_number_is_without_its_unit(policy: Policy) -> None:
    without = [(name, value) for name, value in options_of(policy) if re.fullmatch(r"[\d.,]+", value)]
    assert without == []


@pytest.mark.parametrize(
    ("name", "kept_up"),
    [
        ("three-layer", "upkeep before every call"),
        ("opencode", "upkeep between turns"),
        ("claude-code", "upkeep after 60 minutes without a call"),
    ],
)
def test_the_moves_say_when_upkeep_is_done(name: str, kept_up: str) -> None:
    assert moves_of(BUILT_IN[name])[0] == kept_up


def test_what_is_off_and_stayed_so_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    main(["policies", "three-layer"])
    shown = capsys.readouterr().out
    assert "[1 clear].keep_results" in shown
    assert "[1 clear].answered_only" in shown  # it is on by default
    assert "spared_turns" not in shown


@pytest.mark.parametrize("policy", BUILT_IN.values(), ids=BUILT_IN)
def test_all_that_a_model_is_asked_is_shown_whole(policy: Policy, capsys: pytest.CaptureFixture[str]) -> None:
    main(["policies", policy.name])
    shown = " ".join(capsys.readouterr().out.split())
    prompts = dict(prompts_in(policy.engine, "engine"))
    assert bool(prompts) == asks_a_model(policy)
    for text in prompts.values():
        assert " ".join(text.split()) in shown
    main(["policies", policy.name, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["prompts"] == prompts


def asks_a_model(policy: Policy) -> bool:
    """Whether a model is asked anything where this policy compacts a conversation."""
    plan = policy.engine.plan(occasion(policy, talk(60, words=500)))
    return plan is not None and plan.asked is not None


def test_it_is_told_where_a_policy_differs_from_what_it_reproduces(capsys: pytest.CaptureFixture[str]) -> None:
    main(["policies", "codex"])
    assert "This is the path for any provider" in capsys.readouterr().out
    other = replace(BUILT_IN["codex"], name="other")
    assert differences(other) == ""


@pytest.mark.parametrize("policy", BUILT_IN.values(), ids=BUILT_IN)
def test_every_policy_has_a_file_of_its_name(policy: Policy) -> None:
    told = import_module(f"ullage.context.policies.{policy.name.replace('-', '_')}").__doc__
    assert told is not None
    assert told.startswith(f"`{policy.name}`: ")


def test_an_unknown_name_is_an_error_that_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", "nobody"]) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("ullage policies: there is no policy 'nobody'. There are: ullage, ")


def test_a_package_is_listed_beside_ullages_own(tmp_path: Path) -> None:
    ran = run(install(tmp_path), "example-ten-sentences")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Package: ullage-example-policies 0.1.0" in ran.stdout
    assert "engine.keep_messages" in ran.stdout
    listed = json.loads(run(tmp_path, "--format", "json").stdout)
    assert [row["name"] for row in listed][-2:] == ["example-early", "example-ten-sentences"]


def test_a_broken_package_is_named_and_the_list_still_comes(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise RuntimeError('out of order')")
    ran = run(install_metadata(tmp_path, "broken", "2.0", {"p": "broken:P"}))
    assert ran.returncode == 0
    assert ran.stderr == "ullage policies: The policies 'p' of the package broken 2.0 cannot be loaded: RuntimeError: out of order\n"
    assert "claude-code" in ran.stdout or "none" in ran.stdout
