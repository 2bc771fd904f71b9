"""Patterns that texts of a model, a tool or a file are read with take a time that grows with the text, whatever stands in it.

Where the time grew with the square of the characters, it would be minutes.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import ullage
from tests.deep import many
from tests.trees import below
from ullage.context.calls import Call, files_printed, plain, without_quoted
from ullage.context.compaction.needed import facts_in
from ullage.context.entries import ToolReturned
from ullage.context.policies.memory_blocks import FACT
from ullage.context.policies.token_prune import NUMBERED
from ullage.context.summary.command_history import WRITTEN
from ullage.context.summary.file_history import definitions_in
from ullage.context.summary.sentences import ANNOUNCED, ROUTINE
from ullage.context.summary.state_of_work import COMMITTED, WorkHistory
from ullage.context.summary.summary_prompt import EXCUSE
from ullage.context.summary.task_list import SHOWN
from ullage.context.summary.words import HASH, JOINED, URL, UUID
from ullage.mcp_servers.configured import ConfigurationNotJson, read_commented
from ullage.tools.command_lines.known_commands import is_plain_filter

LENGTH = many(200_000, deep=1_000_000)
MOST_SECONDS = 10
"""Of the processor; in linear time a text takes a hundredth of that."""

USES: dict[str, Callable[[str], object]] = {
    "facts": FACT.findall,
    "what is used and in view": facts_in,
    "a numbered line": NUMBERED.match,
    "an excuse": EXCUSE.match,
    "hashes": HASH.findall,
    "addresses": URL.findall,
    "ids": UUID.findall,
    "names beside words of other scripts": JOINED.findall,
    "a step that is announced": ANNOUNCED.match,
    "a routine": ROUTINE.match,
    "a commit": COMMITTED.findall,
    "a list of tasks": SHOWN.findall,
    "what lines define": definitions_in,
    "files that a command prints": lambda text: files_printed({"command": f"cat {text}"}),
    "a command without what shows a part": plain,
    "texts that a command hands over": lambda text: WRITTEN.sub(" ", text),
    "what git said": lambda text: _worked(f"git status {text}", text),
    "what was written for others": lambda text: _worked(f"gh issue create {text}", text),
    "JSON with comments": lambda text: _read(text),
    "a filter of jq": is_plain_filter,
}
"""As they are used."""


def _worked(command: str, printed: str) -> None:
    WorkHistory().add(Call(1, {"command": command}, ToolReturned("t", "bash", printed, is_error=False, characters=len(printed))))


def _read(text: str) -> None:
    with suppress(ConfigurationNotJson):
        read_commented(text)


UNITS = [
    "a",
    " ",
    "-",
    ".",
    "/",
    ":",
    "0",
    "a.",
    "<fact>",
    "a/",
    ":1",
    "-a",
    "https://",
    "\n",
    "ab01-",
    "油",
    "now, ",
    "[ab01234] ",
    "|tail ",
]
IN_JSON = ["*", "/*", "//", ",/**/", ",/*", "/*a*/", '"\\', ',"', ",//\n", "static "]
HANDED = ["<<A\n", "git ", "## a...", '--body "a ']


@pytest.mark.parametrize("unit", UNITS + HANDED + IN_JSON)
@pytest.mark.parametrize("what", USES)
@pytest.mark.deep
def test_a_hostile_text_is_read_in_linear_time(what: str, unit: str) -> None:
    text = unit * (LENGTH // len(unit)) + "x"
    before = time.process_time()
    USES[what](text)
    assert time.process_time() - before < MOST_SECONDS


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (FACT, "<fact>one</fact> and <fact>two\nlines</fact>", ["<fact>one</fact>", "<fact>two\nlines</fact>"]),
        (FACT, "<fact>never closed <fact>closed</fact>", ["<fact>closed</fact>"]),
        (NUMBERED, "  12\tcode", ["  12\t"]),
        (NUMBERED, "src/tank.py:12:code", ["src/tank.py:12:"]),
        (NUMBERED, "plain words", []),
        (EXCUSE, "... I'm sorry, but", ["... I'm sorry"]),
        (HASH, "at 0a1b2c3d and deadbeef and decade1", ["0a1b2c3d", "decade1"]),
    ],
)
def test_what_they_find(pattern: re.Pattern[str], text: str, expected: list[str]) -> None:
    assert [found[0] for found in pattern.finditer(text)] == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo 'a | b' | tail", "echo '' | tail"),
        (r'echo "a \" | b" | tail', "echo '' | tail"),
        ("echo 'a | \"b' | tail", "echo '' | tail"),
        (r"""echo "a 'b' \" 'c' | tail""", r"""echo "a '' \" '' | tail"""),
        ("echo it's", "echo it's"),
    ],
)
def test_what_stands_between_quotes_is_left_out(command: str, expected: str) -> None:
    assert without_quoted(command) == expected


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before 3.11.5 Python finds nothing by such a pattern (https://github.com/python/cpython/issues/106052). Debian 12 has 3.11.2.

    Of a single character or class it is right.
    """
    group = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")
    between = r"[\s\"'rRfFbBuU#]*"  # where a pattern is written in several pieces; braces are doubled in some
    somewhere = re.compile(rf"\){between}(?:[*+?]|\{{{{1,2}}\d*,?\d*\}}{{1,2}}){between}\+|\({between}\?{between}>|\]\*\+")
    written = {path: path.read_text("utf-8") for path in sorted(Path(ullage.__file__).parent.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in written.items() if somewhere.search(text)}
    texts = [(path, node) for path, tree in trees.items() for node in below(tree) if isinstance(node, ast.Constant)]
    found = [f"{path.name}:{node.lineno}" for path, node in texts if isinstance(node.value, str) and group.search(node.value)]
    assert found == []
    assert any(isinstance(node.value, str) and "]*+" in node.value for _, node in texts)
