"""JSON that comes from an endpoint, as values that can be kept and sent back.

Python reads more than JSON has: `NaN`, `Infinity` and `1e999` become numbers that no JSON can hold, and a deep value takes the whole stack.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import cast

from ullage.context.blocks import Json

DEEPEST = 100
"""Values inside values. Inputs of tools have five or so; writing a value of 1,000 to the log fails."""

LONGEST_WORD = 200
"""Characters of what stands in for a name: of a model, of a reason to stop."""


class NotJson(ValueError):
    """The text is no JSON, or none that can be kept; `str()` says why in a few words."""


def parse(text: str | bytes) -> Json:
    """The value. Numbers that JSON cannot hold are given as the text that stood there. Raises `NotJson`."""
    try:
        value: Json = json.loads(text, parse_constant=str, parse_float=_finite)
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except UnicodeDecodeError:
        raise NotJson("it is not in UTF-8") from None
    except ValueError as error:
        raise NotJson(f"{error}"[:LONGEST_WORD]) from None
    return value


def parse_object(text: str | bytes) -> Mapping[str, Json]:
    """The object. Raises `NotJson`, also where it is nested deeper than `DEEPEST`."""
    value = parse(text)
    if not isinstance(value, dict):
        raise NotJson("it is no object")
    if is_too_deep(value):
        raise NotJson("it is nested too deep")
    return value


def is_too_deep(value: object) -> bool:
    """Whether a JSON value is nested deeper than `DEEPEST`."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(cast(dict[str, object], each).values())
            elif isinstance(each, list):
                inner.extend(cast(list[object], each))
        if not inner:
            return False
        level = inner
    return True


def mapping(value: object) -> Mapping[str, object]:
    """The object, empty where the value is none."""
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, object]]:
    """The objects of a list; none where the value is no list."""
    return [mapping(each) for each in cast(list[object], value)] if isinstance(value, list) else []


def string(values: Mapping[str, object], name: str) -> str:
    """The text of that name; empty where there is none."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def word(values: Mapping[str, object], name: str) -> str:
    """A short text without control characters, such as a name; empty where there is none."""
    found = string(values, name)[: LONGEST_WORD + 1]
    printable = "".join(character for character in found if character.isprintable())
    return printable if len(found) <= LONGEST_WORD else f"{printable[:LONGEST_WORD]}…"


def integer(value: object) -> int | None:
    """The integer; None for everything else, `true` included."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _finite(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text
