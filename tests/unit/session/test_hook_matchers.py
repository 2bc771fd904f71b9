"""For which tools a hook is meant, and what it is told of a call."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import Json
from ullage.session.hooks.matching import matcher_problem, matches, names_of, told_input, told_name
from ullage.session.instructions.prompt_files import BUILT_IN
from ullage.session.slash_commands import COMMANDS

MCP: Mapping[str, Json] = {"server": "github", "tool": "create_issue", "arguments": {"title": "x"}}


@pytest.mark.parametrize(
    ("matcher", "tool", "fits"),
    [
        ("", "bash", True),
        ("*", "bash", True),
        ("Bash", "bash", True),
        ("bash", "bash", True),
        ("Edit|Write", "write_file", True),
        ("Edit|MultiEdit|Write", "edit_file", True),
        ("Edit | Write", "write_file", True),
        ("Edit|Write", "read_file", False),
        ("^(Edit|Write)$", "edit_file", True),
        ("Gr.*", "search", True),
        ("Glob", "search", True),
        ("Bas", "bash", False),
        ("mcp__.*", "call_mcp_tool", True),
        ("mcp__(github|gitlab)__.*", "call_mcp_tool", True),
        ("mcp__gitlab__.*", "call_mcp_tool", False),
        ("WebFetch", "web_fetch", True),
    ],
)
def test_a_matcher_fits_both_names_of_a_tool(matcher: str, tool: str, fits: bool):
    assert matcher_problem(matcher) == ""
    assert matches(matcher, names_of(tool, MCP)) == fits


@pytest.mark.parametrize("matcher", ["[A-Z]+", "a{2}", "x\\w+", "((a|b)|c)", None, 3, "x" * 501])
def test_what_is_not_read_is_said(matcher: object):
    assert matcher_problem(matcher)


@given(st.text("ab*.?|()^$_ ", max_size=60), st.text("ab_", max_size=64))
def test_no_matcher_takes_long(matcher: str, name: str):
    began = time.monotonic()
    matches(matcher, (name,))
    assert time.monotonic() - began < 1


def test_a_call_of_a_servers_tool_is_told_as_claude_code_has_it():
    assert told_name("call_mcp_tool", MCP, as_claude=True) == "mcp__github__create_issue"
    assert told_input(MCP, Path("/w"), as_claude=True) == {"title": "x"}
    assert told_name("call_mcp_tool", MCP, as_claude=False) == "call_mcp_tool"
    edit: Mapping[str, Json] = {"path": "a.py", "old_text": "1", "new_text": "2"}
    told = told_input(edit, Path("/w"), as_claude=True)
    assert told == {"path": "a.py", "old_string": "1", "new_string": "2", "file_path": str(Path("/w/a.py"))}


def test_the_names_of_ullages_own_commands_are_all_known():
    assert {*BUILT_IN} - {"clear"} == {command.name for command in COMMANDS}
