"""JSON with comments and commas behind the last element, as editors write their configuration files."""

from __future__ import annotations

import json
import re
from typing import cast

from ullage.context.blocks import Json

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"?+|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=(?:\s|//[^\n]*|/\*(?>.*?(?:\*/|\Z)))*+[\]}])', re.DOTALL)
"""A text, which stays; a comment or a comma too many, which goes. Nothing is tried in two ways: with a file of a workspace that could take
for ever."""


class NotJson(Exception):
    """What is written is no JSON; the message says where."""


def read_commented(text: str) -> Json:
    """What the text says. Raises `NotJson`."""
    plain = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text.removeprefix("\ufeff"))
    try:
        return cast("Json", json.loads(plain))
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise NotJson(f"it is no JSON{where}") from error
