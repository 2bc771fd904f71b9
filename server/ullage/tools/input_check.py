"""Checks a tool's input against its JSON schema, and reads values out of it.

Only what our own schemas use is understood: type, properties, required, enum, minimum, minLength and items. A property
that is not in the schema is refused, so that a misspelt one is not silently left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ullage.context.blocks import Json
from ullage.tools.tool import BadToolInput

LARGEST_INTEGER = 2**53 - 1
"""As JSON numbers go, and far within what a database holds."""

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def check_input(schema: Mapping[str, Json], value: Mapping[str, Json]) -> None:
    """Raises `BadToolInput` naming the first thing that does not fit, in words for the model."""
    _check_object(schema, value, "")


def text(value: Mapping[str, Json], name: str, default: str = "") -> str:
    """A string of a checked input; `default` where it is not there (or, unchecked, is something else)."""
    found = value.get(name)
    return found if isinstance(found, str) else default


def integer(value: Mapping[str, Json], name: str, default: int) -> int:
    """A whole number of a checked input."""
    found = value.get(name)
    return found if isinstance(found, int) else default


def boolean(value: Mapping[str, Json], name: str) -> bool:
    """A yes or no of a checked input; no where it is not there."""
    return value.get(name) is True


def _check(schema: Mapping[str, Json], value: Json, where: str) -> None:
    expected = str(schema.get("type"))
    if not isinstance(value, _TYPES[expected]) or (expected == "integer" and isinstance(value, bool)):
        raise BadToolInput(f"`{where}` must be {_article(expected)}, not {_kind(value)}")
    if isinstance(value, str) and not _is_text(value):
        raise BadToolInput(f"`{where}` has a NUL or half a surrogate pair in it, which no command and no text file can have")
    if isinstance(value, dict):
        _check_object(schema, value, where)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _check(_inner(schema, "items"), item, f"{where}[{position}]")
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise BadToolInput(f"`{where}` must be one of {', '.join(map(str, choices))}, not {value!r}")
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise BadToolInput(f"`{where}` is too large a number")
    minimum = schema.get("minimum")
    if isinstance(minimum, int) and isinstance(value, int) and value < minimum:
        raise BadToolInput(f"`{where}` must be at least {minimum}, not {value}")
    shortest = schema.get("minLength")
    if isinstance(shortest, int) and isinstance(value, str) and len(value.strip()) < shortest:
        raise BadToolInput(f"`{where}` must not be empty")


def _check_object(schema: Mapping[str, Json], value: Mapping[str, Json], where: str) -> None:
    properties = _inner(schema, "properties")
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            raise BadToolInput(f"`{_join(where, str(name))}` is missing")
    for name, inner in value.items():
        if name not in properties:
            known = ", ".join(f"`{each}`" for each in properties)
            raise BadToolInput(f"`{_join(where, name)}` is not known here; there is {known or 'no parameter'}")
        _check(_inner(properties, name), inner, _join(where, name))


def _is_text(value: str) -> bool:
    """Whether the system can take it: JSON can write down characters that are none."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _inner(schema: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    return cast("dict[str, Json]", schema.get(name, {}))


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, float):
        return "a fraction"
    return next(_article(name) for name, types in _TYPES.items() if isinstance(value, types))
