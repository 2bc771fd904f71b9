"""Values out of other programs' JSON, where anything may be of any type: what is not as expected is taken as not there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias, cast

from ullage.context.blocks import Json

JsonObject: TypeAlias = Mapping[str, Json]

MOST_TOKENS = 10**12
"""Tokens. No call has more; a count above this is a mistake."""

DEEPEST_INPUT = 100
"""Levels of nesting in a call's input. Python's JSON writer stops somewhere below a thousand."""

LONGEST_TOOL_NAME = 128
_NOT_IN_A_TOOL_NAME = re.compile(r"[^a-zA-Z0-9_-]")

_MILLISECONDS_FROM = 1e11
"""Unix times above this are milliseconds: as seconds they would lie after the year 5000."""


class RecordNotJson(Exception):
    """The text is no JSON that can be read."""


def parse(text: str) -> Json:
    """The value of a JSON text. Raises `RecordNotJson`, also where it is nested too deeply or a number has too many digits."""
    try:
        return cast("Json", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise RecordNotJson(str(error)) from error


def as_json_text(value: Json) -> str:
    """The value as JSON text; a short word for it where it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "(nested too deeply)"


def printable(text: str) -> str:
    """The text with everything that could play tricks on a terminal (or cannot be encoded) replaced by question marks."""
    return "".join(character if character.isprintable() else "?" for character in text)


def as_tool_input(value: Json) -> JsonObject:
    """A call's input. Anything but an object is put under `input`, and so is the JSON text of an object too deeply nested to be written."""
    if isinstance(value, dict):
        return {"input": as_json_text(value)} if _is_nested_beyond(value, DEEPEST_INPUT) else value
    return {} if value is None else {"input": value if isinstance(value, str) else as_json_text(value)}


def _is_nested_beyond(value: Json, levels: int) -> bool:
    current: list[Json] = [value]
    for _ in range(levels):
        current = [child for each in current for child in _children(each)]
        if not current:
            return False
    return True


def _children(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def as_object(value: Json) -> JsonObject:
    """The value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """The value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def as_count(value: Json) -> int | None:
    """The value if it is a count; None if it is anything else, below zero or more than `MOST_TOKENS`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value)


def as_tool_name(text: str) -> str:
    """The name of a tool as the Messages API takes it: other characters become `_`, and no name is `unknown`."""
    return _NOT_IN_A_TOOL_NAME.sub("_", text)[:LONGEST_TOOL_NAME] or "unknown"


def as_seconds(value: Json) -> float:
    """A point of time in Unix seconds; 0.0 if the value is none. It may be ISO 8601 (UTC where it names no zone), Unix seconds or
    milliseconds."""
    if isinstance(value, str):
        return _seconds_of(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return 0.0
    seconds = float(value)
    return seconds / 1000 if seconds > _MILLISECONDS_FROM else seconds


def _seconds_of(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
