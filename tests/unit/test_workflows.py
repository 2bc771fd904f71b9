"""What actionlint does not look at in the workflows of GitHub Actions: pins, permissions, and that the scripts are there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")

MAY_WRITE = {"release": {"contents", "id-token", "attestations", "pages"}, "site": {"id-token", "pages"}}
"""Both are started by hand, and wait for a person's approval."""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
class TestWorkflow:
    def test_every_action_is_pinned_by_its_hash_with_the_version_beside_it(self, path: Path) -> None:
        used = re.findall(r"^\s*(?:- )?uses: (.+)$", path.read_text("utf-8"), re.MULTILINE)
        assert used
        assert [each for each in used if not PINNED.fullmatch(each) and not each.startswith("./.github/workflows/")] == []

    def test_it_asks_for_nothing_but_what_it_needs(self, path: Path) -> None:
        text = path.read_text("utf-8")
        assert re.search(r"^permissions:(?: \{\}|\n  contents: read)\n\n", text, re.MULTILINE)
        assert "pull_request_target" not in text
        writes = set(re.findall(r"^ +([\w-]+): write$", text, re.MULTILINE))
        assert writes <= MAY_WRITE.get(path.stem, set())

    def test_every_script_that_it_runs_is_there(self, path: Path) -> None:
        text = path.read_text("utf-8")
        scripts = json.loads((ROOT / "package.json").read_text("utf-8"))["scripts"]
        named: list[str] = re.findall(r"npm (?:run )?(\w[\w:]*)", text)
        assert set(named) - {"ci"} <= scripts.keys()
        assert all((ROOT / name).is_file() for name in re.findall(r"scripts/\w+\.mjs", text))

    def test_secrets_are_there_only_in_a_release_that_somebody_starts(self, path: Path) -> None:
        text = path.read_text("utf-8")
        is_by_hand = re.search(r"^on:\n  workflow_dispatch:\n    inputs:", text, re.MULTILINE) is not None
        assert path.stem == "release" or "secrets." not in text
        assert path.stem != "release" or (is_by_hand and not re.search(r"^  (?:push|pull_request|schedule|release):", text, re.MULTILINE))


def test_the_site_is_published_by_hand_alone() -> None:
    text = (ROOT / ".github" / "workflows" / "site.yml").read_text("utf-8")
    assert re.search(r"^on:\n  workflow_dispatch:\n\n", text, re.MULTILINE)
    assert "environment: github-pages" in text


def test_one_action_has_one_version() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for name, pin in re.findall(r"uses: ([\w.-]+/[\w./-]+)@(\S+ # \S+)", path.read_text("utf-8")):
            pins.setdefault(name, set()).add(pin)
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


def test_a_bot_looks_after_all_that_is_locked() -> None:
    text = (ROOT / ".github" / "dependabot.yml").read_text("utf-8")
    assert {"github-actions", "npm", "pip"} == set(re.findall(r"package-ecosystem: (\S+)", text))
