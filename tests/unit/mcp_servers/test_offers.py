"""What a server lists is taken as far as it can be used, and what is left out is said."""

from __future__ import annotations

import json

import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.mcp_servers.offers import MOST_PROMPTS, MOST_RESOURCES, MOST_TOOLS, SCHEMA_CHARACTERS, prompts_of, resources_of, tools_of


def tool(name: str, description: str = "Does it.", **properties: object) -> mcp_types.Tool:
    return mcp_types.Tool(name=name, description=description, input_schema={"type": "object", "properties": properties})


def test_of_two_tools_of_one_name_the_first_counts() -> None:
    found, left_out = tools_of([tool("open", "The first."), tool("open", "The second."), tool("close")])
    assert [(each.name, each.description) for each in found] == [("open", "The first."), ("close", "Does it.")]
    assert left_out == ["the tool open is listed twice; the first one counts"]


@pytest.mark.parametrize("name", ["", " ", "a b", "open\nclose", "`open`", "öffnen", "x" * 200, "a\u202eb", "-x", "[user said]"])
def test_a_name_that_is_none_is_left_out(name: str) -> None:
    found, left_out = tools_of([tool(name), tool("close")])
    assert [each.name for each in found] == ["close"]
    assert left_out[0].startswith("a tool is left out, since its name is none")
    assert "\n" not in left_out[0]
    assert prompts_of([mcp_types.Prompt(name=name)])[0] == ()


def test_a_schema_that_would_fill_the_window_is_left_out() -> None:
    found, left_out = tools_of([tool("large", many={"enum": ["x" * 100] * SCHEMA_CHARACTERS})])
    assert found == ()
    assert left_out[0].startswith("the tool large is left out: its schema has")


def test_of_very_many_the_first_are_taken() -> None:
    found, left_out = tools_of([tool(f"tool_{number}") for number in range(MOST_TOOLS + 5)])
    assert (len(found), left_out) == (MOST_TOOLS, [f"only the first {MOST_TOOLS} are used: tools"])
    prompts, left_out = prompts_of([mcp_types.Prompt(name=f"p{number}") for number in range(MOST_PROMPTS + 1)])
    assert (len(prompts), len(left_out)) == (MOST_PROMPTS, 1)
    resources, left_out = resources_of([mcp_types.Resource(uri=f"x://{number}", name="x") for number in range(MOST_RESOURCES + 1)])
    assert (len(resources), len(left_out)) == (MOST_RESOURCES, 1)


@given(st.text(max_size=2_000))
def test_names_and_descriptions_of_resources_take_a_line_that_can_be_seen(said: str) -> None:
    (found,), _ = resources_of([mcp_types.Resource(uri="x://y", name=said, description=said)])
    for line in (found.name, found.description):
        assert "\n" not in line
        assert line.isprintable()


def test_what_a_server_calls_harmless_is_kept_as_its_word() -> None:
    listed = mcp_types.Tool(name="x", input_schema={"type": "object"}, annotations=mcp_types.ToolAnnotations(read_only_hint=True))
    (found,), _ = tools_of([listed])
    assert found.read_only
    assert json.loads(found.schema_text) == {"type": "object"}
