"""The JSON in the body of a message."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""How one is written in JSON. Mostly they come in pairs, each a whole character."""


def parse_body(
    body: bytes, *, object_hook: Callable[[dict[str, Any]], Any] | None = None, parse_int: Callable[[str], Any] | None = None
) -> Any:
    """What stands in a body, with the hooks of `json.loads`. Raises `ValueError` or `RecursionError` for what is no JSON in UTF-8.

    Half a character (a single surrogate, which JSON can name and UTF-8 cannot write) comes as U+FFFD, which is as long in UTF-16: the
    places of edits stay right.
    """
    message = json.loads(body.decode("utf-8"), parse_constant=_no_constant, object_hook=object_hook, parse_int=parse_int)
    if not _SURROGATE.search(body):
        return message
    written = json.dumps(message, ensure_ascii=False)
    try:
        written.encode("utf-8")
    except UnicodeEncodeError:
        return json.loads(written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return message


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
