"""Input is checked against the schema, with words that tell the model what to mend."""

from __future__ import annotations

import pytest

from ullage.context.blocks import Json
from ullage.tools.tool import BadToolInput, check_input, integer

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1},
        "all": {"type": "boolean"},
        "todos": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"status": {"type": "string", "enum": ["pending", "completed"]}},
                "required": ["status"],
            },
        },
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "`path` is missing"),
        ({"path": 3}, "`path` must be a string, not an integer"),
        ({"path": "  "}, "`path` must not be empty"),
        ({"path": "a", "limit": 0}, "`limit` must be at least 1, not 0"),
        ({"path": "a", "limit": 10**30}, "`limit` is too large a number"),
        ({"path": "a", "limit": True}, "`limit` must be an integer, not a boolean"),
        ({"path": "a", "limit": 1.5}, "`limit` must be an integer, not a fraction"),
        ({"path": "a", "limit": -(10**30)}, "`limit` is too large a number"),
        ({"path": "a", "limit": 1e30}, "`limit` is too large a number"),
        ({"path": "a", "limit": float("nan")}, "`limit` must be an integer, not a fraction"),
        ({"path": "a", "limit": float("inf")}, "`limit` must be an integer, not a fraction"),
        ({"path": "a", "limit": None}, "`limit` must be an integer, not null"),
        ({"path": "a", "all": "yes"}, "`all` must be a boolean, not a string"),
        ({"path": "a", "todos": {}}, "`todos` must be an array, not an object"),
        ({"path": "a", "todos": [{"status": "pending"}, {}]}, "`todos[1].status` is missing"),
        ({"path": "a", "todos": [{"status": "done"}]}, "`todos[0].status` must be one of pending, completed, not 'done'"),
        ({"path": "a", "todos": ["first"]}, "`todos[0]` must be an object, not a string"),
        ({"path": "a", "todos": [{"status": "pending", "due.at": 1}]}, "`todos[0].due.at` is not known here; there is `status`"),
        ({"path": ["a"]}, "`path` must be a string, not an array"),
        ({"path": ""}, "`path` must not be empty"),
        ({"path": "a\0b"}, "`path` has a NUL or half a surrogate pair in it, which no command and no text file can have"),
        ({"path": "\ud83d"}, "`path` has a NUL or half a surrogate pair in it, which no command and no text file can have"),
        ({"path": "a", "offest": 1}, "`offest` is not known here; there is `path`, `limit`, `all`, `todos`"),
    ],
)
def test_what_does_not_fit_is_named(value: dict[str, Json], message: str) -> None:
    with pytest.raises(BadToolInput) as refusal:
        check_input(SCHEMA, value)
    assert str(refusal.value) == message


def test_what_fits_passes() -> None:
    check_input(SCHEMA, {"path": "a", "limit": 1, "all": False, "todos": [{"status": "pending"}]})


def test_a_whole_number_may_be_written_as_a_fraction() -> None:
    """JSON has one kind of number, and some models write 3 as 3.0."""
    value: dict[str, Json] = {"path": "a", "limit": 3.0}
    check_input(SCHEMA, value)
    assert integer(value, "limit", 100) == 3


def test_nothing_is_added_to_what_the_model_wrote() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"depth": {"type": "integer", "default": 2}}}
    value: dict[str, Json] = {}
    check_input(schema, value)
    assert value == {}


def test_a_rule_that_has_no_words_of_its_own_is_named_too() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"files": {"type": "array", "items": {"type": "string"}, "maxItems": 1}}}
    with pytest.raises(BadToolInput, match=r"^`files` must contain less than or equal to 1 items$"):
        check_input(schema, {"files": ["a", "b"]})
