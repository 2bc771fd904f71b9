"""Schemas of servers that are made to be judged for ever: the call is not, and what is wrong with its arguments is still said."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ullage.context.blocks import Json
from ullage.mcp_servers.offers import problem_of


def doubled(keyword: str, last: bool) -> dict[str, Json]:
    """Each level asks the next one twice: 2 ** 40 in all."""
    levels: dict[str, Json] = {}
    for at in range(1, 41):
        below: Json = {"$ref": f"#/$defs/d{at - 1}"}
        levels[f"d{at}"] = {keyword: [below, below]}
    return {"$ref": "#/$defs/d40", "$defs": {**levels, "d0": last}}


ENDLESS: Mapping[str, tuple[dict[str, Json], dict[str, Json]]] = {
    "itself": ({"$ref": "#"}, {"a": 1}),
    "all of": (doubled("allOf", True), {"a": 1}),
    "any of": (doubled("anyOf", False), {"a": 1}),
    "one of": (doubled("oneOf", True), {"a": 1}),
    "not evaluated": ({**doubled("allOf", True), "unevaluatedProperties": False}, {"a": 1}),
    "a pattern": ({"properties": {"x": {"pattern": "^(a+)+$"}}}, {"x": "a" * 60 + "!"}),
    "patterns of names": ({"patternProperties": {"^(a+)+$": True}, "additionalProperties": False}, {"a" * 60 + "!": 1}),
    "names": ({"propertyNames": {"pattern": "^(a+)+$"}}, {"a" * 60 + "!": 1}),
    "from elsewhere": ({"$ref": "http://127.0.0.1:9/schema"}, {"a": 1}),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_schema_that_takes_for_ever_is_left_to_its_server(name: str) -> None:
    schema, arguments = ENDLESS[name]
    assert problem_of(schema, arguments) == ""


@pytest.mark.parametrize(
    ("schema", "arguments", "problem"),
    [
        ({"required": ["n"]}, {}, "'n' is a required property"),
        ({"properties": {"n": {"type": "integer"}}}, {"n": "x"}, "`arguments.n`: 'x' is not of type 'integer'"),
        ({"properties": {"x": {}}, "additionalProperties": False}, {"y": 1}, "Additional properties are not allowed"),
        ({"properties": {"x": {"items": {"enum": ["a"]}}}}, {"x": ["a", "b"]}, "`arguments.x[1]`: 'b' is not one of"),
        ({"properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, {"x": 1}, "`arguments.x`"),
    ],
)
def test_what_does_not_fit_is_said(schema: dict[str, Json], arguments: dict[str, Json], problem: str) -> None:
    assert problem in problem_of(schema, arguments)
