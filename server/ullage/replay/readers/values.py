"""Values out of other programs' JSON, where anything may be of any type: what is not as expected is taken as not there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias, cast

from ullage.context.blocks import Json

JsonObject: TypeAlias = Mapping[str, Json]

MOST_TOKENS = 10**12
"""No call has more; what says so is a mistake."""

_MILLISECONDS_FROM = 1e11
"""Unix times above this are milliseconds: as seconds they would lie after the year 5000."""


class NotJson(Exception):
    """This text is no JSON that can be read."""


def parse(text: str) -> Json:
    """The value of a JSON text. Raises `NotJson`, also where it is nested too deeply or a number has too many digits."""
    try:
        return cast("Json", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def as_json_text(value: Json) -> str:
    """The value as JSON text; a short word for it where it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "(nested too deeply)"


def as_object(value: Json) -> JsonObject:
    """The object; an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """The list; an empty one for everything else."""
    return value if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """The text; an empty one for everything else."""
    return value if isinstance(value, str) else ""


def as_count(value: Json) -> int | None:
    """A number of something; None for everything else, also for what is below zero or beyond belief."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value)


def as_seconds(value: Json) -> float:
    """A point of time (ISO 8601, UTC where it names no zone, or Unix seconds or milliseconds) in Unix seconds; 0.0 where there is none."""
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
