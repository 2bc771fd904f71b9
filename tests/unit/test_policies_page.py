"""`docs/policies.md` says what there is, and its example is the package that the tests install."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.example_policy import FOLDER
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy

ROOT = Path(__file__).parents[2]
GENERATE = "run `npm run generate`: the manifest of the extension lists the policies of context/policies/table.py"
PAGE = (ROOT / "docs/policies.md").read_text("utf-8")
MANIFEST = json.loads((ROOT / "client-extension/package.json").read_text("utf-8"))
WORDS = json.loads((ROOT / "client-extension/package.nls.json").read_text("utf-8"))
SETTING = next(
    group["properties"]["ullage.compaction.policy"]
    for group in MANIFEST["contributes"]["configuration"]
    if "ullage.compaction.policy" in group["properties"]
)


@pytest.mark.parametrize(("language", "file"), [("toml", "pyproject.toml"), ("python", "example_policies.py")])
def test_the_example_is_the_package_that_the_tests_install(language: str, file: str) -> None:
    [shown] = re.findall(rf"```{language}\n(.*?)```\n", PAGE, re.DOTALL)
    assert shown == (FOLDER / file).read_text("utf-8")


def test_the_page_names_only_policies_that_there_are() -> None:
    table = PAGE.partition("| what matters most | look at |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z-]+)`", table)) - {"digest"}
    assert "ullage" in named, "the heading of the table changed, so nothing was found"
    assert named <= BUILT_IN.keys()


def test_the_setting_of_the_extension_offers_every_policy_by_its_title() -> None:
    assert SETTING["enum"] == list(BUILT_IN), GENERATE
    assert SETTING["default"] == "ullage"
    titles = [WORDS[description.strip("%")] for description in SETTING["enumDescriptions"]]
    assert titles == [policy.title for policy in BUILT_IN.values()], GENERATE


@pytest.mark.parametrize("policy", BUILT_IN.values(), ids=BUILT_IN)
def test_a_title_is_one_line_without_an_end(policy: Policy) -> None:
    assert 10 < len(policy.title) <= 140
    assert "\n" not in policy.title
    assert not policy.title.endswith(".")
