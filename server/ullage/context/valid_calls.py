"""What a call of a tool must be so that it can go back to the API: its id and its name.

The API takes only what matches its own patterns (`tests/fake_api/rules/blocks.py` has them, by its error reports). A model behind another
server, or a log of an earlier version, may have others; a request that holds one is refused, and so is every later one.
"""

from __future__ import annotations

import re

_ID = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_NOT_IN_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

LONGEST_ID = 128
"""Characters. The API names no limit; its own ids have 30, and each is sent twice in every later request."""

NO_ID = "call"
"""The id of a call that came without one."""
NOT_A_NAME = "invalid_tool_name"
"""Stands where a model called a tool by what no tool can be called. No tool has this name."""
CALLED_AS = "called_as"
"""In the input of such a call: what it called."""


def is_valid_id(text: str) -> bool:
    """Whether a call can go back with this id."""
    return _ID.fullmatch(text) is not None


def valid_id(text: str) -> str:
    """An id that the API takes, made of any text; the same for the same text. Two texts may give the same."""
    return _NOT_IN_AN_ID.sub("_", text[:LONGEST_ID]) or NO_ID


def is_valid_name(text: str) -> bool:
    """Whether a tool can have this name."""
    return _NAME.fullmatch(text) is not None


def valid_name(text: str) -> str:
    """The name where the API takes it, else `NOT_A_NAME`: another spelling of it could be the name of a tool that nobody called."""
    return text if is_valid_name(text) else NOT_A_NAME
