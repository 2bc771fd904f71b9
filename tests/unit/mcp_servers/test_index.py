"""What stands before the messages of the tools of servers: little, whatever the servers say."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import Json
from ullage.context.counting.tokens import estimate_text
from ullage.mcp_servers.index import INDEX_TOKENS, IndexedServer, described, index_of
from ullage.mcp_servers.offers import OfferedTool, first_sentence, problem_of

SCHEMA = '{"type":"object","properties":{"repository":{"type":"string","description":"Where it lies"}}}'


def tool(name: str, said: str = "Shows what there is. And more about it.") -> OfferedTool:
    return OfferedTool(name, said, {"type": "object"}, SCHEMA)


def listed(servers: int, tools: int, said: str = "Shows the commits of a branch, newest first, with their authors.") -> list[IndexedServer]:
    return [IndexedServer(f"server{s}", tuple(tool(f"do_something_{t}", said) for t in range(tools))) for s in range(servers)]


def size(servers: list[IndexedServer], in_full: int = 0) -> int:
    return sum(estimate_text(text) for _, text in index_of(servers, in_full))


def test_a_line_for_each_tool() -> None:
    parts = dict(index_of([IndexedServer("git", (tool("git_log"), tool("git_show", "")))]))
    assert parts["MCP git"] == "git:\n- git_log: Shows what there is\n- git_show"
    assert "load_mcp_tools" in parts["MCP"]


def test_however_many_there_are_it_is_bounded() -> None:
    for servers, tools in ((5, 6), (1, 300), (20, 40), (50, 300)):
        assert size(listed(servers, tools, "word " * 200)) <= INDEX_TOKENS + 200, (servers, tools)
    many = index_of(listed(20, 40))
    assert "40 tools; search them" in many[-1][1]


def test_in_full_where_it_fits() -> None:
    one = listed(1, 2)
    assert SCHEMA in index_of(one, in_full=1_000)[1][1]
    assert SCHEMA not in index_of(listed(5, 20), in_full=1_000)[1][1]


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_words_of_a_server_stand_in_a_line_that_is_not_marked(said: str, title: str) -> None:
    schema = json.dumps({"title": title}, ensure_ascii=False)
    name, *quoted, arguments = described("git", OfferedTool("git_log", said, {}, schema)).splitlines()
    assert name == "git/git_log"
    assert all(line.startswith("> ") for line in quoted)
    assert arguments.startswith("arguments: ")
    assert "".join((*quoted, arguments)).isprintable()


@given(st.text(max_size=400), st.integers(5, 80))
def test_a_description_takes_one_short_line(said: str, most: int) -> None:
    line = first_sentence(said, most)
    assert len(line) <= most
    assert line.isprintable()


def test_arguments_are_held_against_the_schema_and_nothing_is_loaded_for_it() -> None:
    schema: Mapping[str, Json] = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}, "required": ["n"]}
    assert problem_of(schema, {"n": 2}) == ""
    assert "`arguments.n`" in problem_of(schema, {"n": 7})
    assert "'n' is a required property" in problem_of(schema, {})
    assert problem_of({"$ref": "http://127.0.0.1:9/schema.json"}, {}) == ""
    assert problem_of({"type": 7}, {}) == ""
    assert problem_of({"$ref": "#"}, {}) == ""
