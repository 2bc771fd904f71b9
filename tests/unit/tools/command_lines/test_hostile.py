"""A list of hostile lines: none counts as harmless, and none is covered by a name that was allowed."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import pytest

from tests.deep import DEEP, many
from tests.unit.tools.allowed import covers, kept_early
from tests.unit.tools.command_lines.sites import make_site
from ullage.tools.command_lines.judge import RULES, Unknown, judge
from ullage.tools.permission import HARMLESS, RUNS, command_need

LIST = Path(__file__).with_name("hostile.txt")

READERS = (
    "cat", "head -n 1", "tail -n 1", "wc -c", "nl", "sort", "grep -n x", "sed -n 1p", "jq .", "rg x", "ls -l", "od -c", "cut -c1-9",
    "sha256sum", "pytest",
)  # fmt: skip
OUTSIDE = ("../outside/secret", "{outside}/secret", "link/secret", "file-link", "lib/out/secret", "inner-link/../../outside/secret")

EVERYTHING = [f"{kind}{name}" for kind in (HARMLESS, RUNS) for name in (*RULES, "npm run x", "make x", "yarn run x")]
"""As if the user had allowed every name that there is."""


def hostile_lines(folder: Path) -> list[str]:
    """All lines of the list, for a site in `folder`: with every reader of every place in the long run. Else each line has
    every place, and the readers in turn."""
    found: list[str] = []
    for number, kind in enumerate(LIST.read_text("utf-8").splitlines()):
        if not kind.strip() or kind.startswith(("# ", "## ")):
            continue
        turned = READERS[number * len(OUTSIDE) % len(READERS) :] + READERS
        pairs = product(READERS, OUTSIDE) if DEEP else zip(turned, OUTSIDE, strict=False)
        kinds = dict.fromkeys(kind.replace("READER", reader).replace("OUTSIDE", outside) for reader, outside in pairs)
        found += (_with_places(each, folder) for each in kinds)
    return list(dict.fromkeys(found))


def _with_places(line: str, folder: Path) -> str:
    line = line.replace("{outside}", str(folder.parent / "outside")).replace("{work}", str(folder))
    return str(ast.literal_eval(f'"{line}"')) if "\\u" in line and '"' not in line else line


@pytest.mark.deep
@pytest.mark.parametrize("with_sandbox", [False, True])
def test_no_hostile_line_is_harmless_or_covered_by_a_name(tmp_path: Path, with_sandbox: bool) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    site = make_site(folder, caged=with_sandbox)
    lines = hostile_lines(site.folder)
    assert len(lines) >= many(1_000, deep=2_000)
    everything = kept_early("command", EVERYTHING)
    needs = [(line, command_need(line, site)) for line in lines]
    got_through = [line for line, need in needs if need.harmless or covers(everything, need, site)]
    assert got_through == []


def test_the_list_is_about_lines_that_would_else_be_followed(tmp_path: Path) -> None:
    """Of each reader the harmless form is followed, so that it is the rest of a line that is refused."""
    folder = tmp_path / "work"
    folder.mkdir()
    site = make_site(folder)
    for reader in READERS:
        assert not isinstance(judge(f"{reader} a", site), Unknown)
