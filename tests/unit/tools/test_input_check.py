"""Input is checked against the schema, with words that tell the model what to mend."""

from __future__ import annotations

import pytest

from ullage.context.blocks import Json
from ullage.tools.tool import BadToolInput, check_input

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
        ({"path": "a", "limit": None}, "`limit` must be an integer, not null"),
        ({"path": "a", "all": "yes"}, "`all` must be a boolean, not a string"),
        ({"path": "a", "todos": {}}, "`todos` must be an array, not an object"),
        ({"path": "a", "todos": [{"status": "pending"}, {}]}, "`todos[1].status` is missing"),
        ({"path": "a", "todos": [{"status": "done"}]}, "`todos[0].status` must be one of pending, completed, not 'done'"),
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
