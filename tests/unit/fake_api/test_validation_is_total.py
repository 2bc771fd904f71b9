"""The validator over random bodies: whatever comes, it accepts or refuses and never fails itself."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fake_api import Refused, validate_request
from tests.fake_api.catalogue import MODELS
from tests.fake_api.counting import count_request
from tests.fake_api.prefix import positions, without_old_thinking
from tests.unit.fake_api.bodies import MARK, assistant, call, request, result, text, tool, user
from tests.unit.fake_api.test_message_rules import image

FULL = request(
    user("hello", image(), text("more", cache_control=MARK)),
    assistant({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, "I read", call("a"), call("b")),
    user(result("a", [text("out"), image()]), result("b", "no", is_error=True), "and?"),
    system=[text("You help.", cache_control=MARK)],
    tools=[tool(cache_control=MARK), tool("b", strict=True, input_schema={"type": "object", "additionalProperties": False})],
    tool_choice={"type": "auto"},
    thinking={"type": "adaptive", "display": "summarized"},
    output_config={"effort": "low"},
    stop_sequences=["END"],
    stream=True,
)
WORDS = st.sampled_from(["", " ", "a", "text", "tool_use"])
LEAVES = st.none() | st.booleans() | st.integers(-2, 200_000) | st.floats(allow_nan=False) | WORDS
KEYS = st.sampled_from(["type", "text", "x"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2))


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    elif isinstance(value, list):
        items = list(enumerate(value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    found = [path] if path else []
    for key, item in items:
        found += paths(item, (*path, key))
    return found


PATHS = paths(FULL)


@settings(deadline=None)  # the first call imports and compiles
@given(st.lists(st.tuples(st.sampled_from(PATHS), VALUES | st.just("<delete>")), min_size=1, max_size=3))
def test_any_change_is_judged(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """A valid body with some values replaced or deleted; where it is still valid, it can be counted and cached too."""
    body = copy.deepcopy(FULL)
    for path, value in changes:
        *way, last = path
        place: Any = body
        with suppress(KeyError, IndexError, TypeError):
            for step in way:
                place = place[step]
            if value == "<delete>":
                del place[last]
            else:
                place[last] = value
    try:
        validate_request(body)
    except Refused as refused:
        assert refused.status in (400, 404)
        assert refused.message
        return
    model = MODELS[body["model"]]
    read = without_old_thinking(body, model)
    row = positions(read, model)
    assert row[-1].tokens <= count_request(read, model)


def test_the_body_that_is_changed_is_valid() -> None:
    """Else the test above would judge nothing."""
    validate_request(FULL)
