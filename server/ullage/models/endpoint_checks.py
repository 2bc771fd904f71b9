"""What an endpoint says is checked before it is believed or kept.

**JSON.** Python reads more than JSON has: `NaN`, `Infinity` and `1e999` become numbers that no JSON can hold, and a deep value takes the
whole stack.

**Numbers.** A number that is believed steers for long: one absurd count makes the context full for ever, one absurd window every session.
So each is held against what is known for sure, which is the size of the request itself: a token is at least a byte of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from ullage.context.blocks import MOST_TOKENS, Json, Usage
from ullage.context.counting.media import shown_tokens
from ullage.context.view.request import Request

DEEPEST = 100
"""How many values may lie inside one another. Inputs of tools have five or so; writing a value of 1,000 to the log fails."""

LONGEST_WORD = 200
"""The most characters of what stands for a name: of a model, of a reason to stop."""

LEAST_WINDOW = 1_024
"""The fewest tokens of a window that is believed. No server runs a model for tools with less; the tools of Ullage alone take more."""

LARGEST_WINDOW = MOST_TOKENS

LEAST_OUTPUT = 64
"""The fewest tokens of one reply that are believed to be a model's limit."""

ADDED = 10_000
"""How many tokens an endpoint may add to a request: the API's own prompt for tools takes some 500, that for a summary some 1,000."""

SUMMARY_CALLS = 4
"""How many calls of the model a summary of the API's own may have been."""


class BodyNotJson(ValueError):
    """The text is no JSON, or none that can be kept; `str()` says why in a few words."""


def parse(text: str | bytes) -> Json:
    """The value of a JSON text. Numbers that JSON cannot hold are given as the text that stood there. Raises `BodyNotJson`."""
    try:
        value: Json = json.loads(text, parse_constant=str, parse_float=_finite)
    except RecursionError:
        raise BodyNotJson("it is nested too deep") from None
    except UnicodeDecodeError:
        raise BodyNotJson("it is not in UTF-8") from None
    except ValueError as error:
        raise BodyNotJson(f"{error}"[:LONGEST_WORD]) from None
    return value


def parse_object(text: str | bytes) -> Mapping[str, Json]:
    """The object of a JSON text. Raises `BodyNotJson`, also where it is no object or is nested deeper than `DEEPEST`."""
    value = parse(text)
    if not isinstance(value, dict):
        raise BodyNotJson("it is no object")
    if is_too_deep(value):
        raise BodyNotJson("it is nested too deep")
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
    """The value if it is an object, else an empty one."""
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, object]]:
    """The objects of a list; none where the value is no list."""
    return [mapping(each) for each in cast(list[object], value)] if isinstance(value, list) else []


def string(values: Mapping[str, object], name: str) -> str:
    """The text under that name; empty if there is none."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def word(values: Mapping[str, object], name: str) -> str:
    """The short text without control characters under that name, such as a name; empty if there is none."""
    found = string(values, name)[: LONGEST_WORD + 1]
    printable = "".join(character for character in found if character.isprintable())
    return printable if len(found) <= LONGEST_WORD else f"{printable[:LONGEST_WORD]}…"


def integer(value: object) -> int | None:
    """The value if it is an integer; None for everything else, `true` included."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _finite(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


@dataclass(frozen=True, slots=True)
class RequestSize:
    """The size of a request: its bytes, what its images take (tokens, worked out where it matters), and the longest reply."""

    bytes: int
    shown: Callable[[], int]
    max_tokens: int
    """The most tokens that may have been used for the reply: of a summary of the API's own `SUMMARY_CALLS` times what was asked for."""

    def shows_media(self) -> bool:
        """Whether images or documents are part of the request, whose bytes say nothing of their tokens."""
        return self.shown() > 0

    def can_have(self, tokens: int) -> bool:
        """Whether the request can have had that many tokens of input."""
        return 0 <= tokens <= LARGEST_WINDOW and (tokens <= self.bytes + ADDED or tokens <= self.bytes + ADDED + self.shown())


def size_of(request: Request, body: bytes, max_tokens: int) -> RequestSize:
    """The size of a request with this body."""
    return RequestSize(len(body), lambda: _shown(request), max_tokens * (SUMMARY_CALLS if request.summarise is not None else 1))


def _shown(request: Request) -> int:
    """The tokens that the images and documents of a request take at most: twice what they should, since the model may see them
    otherwise."""
    return 2 * sum(shown_tokens(block) for message in request.messages for block in message.blocks)


def why_not_believed(usage: Usage, size: RequestSize, received: int) -> str | None:
    """Why a reported usage cannot be, in words that go on after the endpoint's name; None if it can be.

    `received` are the characters of the reply.
    """
    counts = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_5m_tokens,
        usage.cache_write_1h_tokens,
    )
    if min(counts) < 0:
        return f"reported a negative count of tokens ({said(min(counts))})"
    if not size.can_have(usage.total_input_tokens):
        return f"reported {said(usage.total_input_tokens)} tokens for a request of {size.bytes:,} bytes"
    if usage.output_tokens > size.max_tokens + received + ADDED:
        return f"reported a reply of {said(usage.output_tokens)} tokens, where {size.max_tokens:,} were asked for"
    return None


def plausible_window(tokens: int | None) -> int | None:
    """The window in tokens that an endpoint names; None if it names none, or one that cannot be."""
    return tokens if tokens is not None and LEAST_WINDOW <= tokens <= LARGEST_WINDOW else None


def said(number: int) -> str:
    """The number as it stands in a message; an endpoint's number may have any number of digits."""
    return f"{number:,}" if abs(number) < 10**15 else f"about {float(number):.0e}" if abs(number) < 10**300 else "endlessly many"
