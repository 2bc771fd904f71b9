"""Narrowing of parsed JSON, so that the rest of the package can walk it with exact types."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object as `json.loads` gives it; key order is kept."""


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether `value` is a JSON array."""
    return isinstance(value, list)


def is_integer(value: object) -> TypeGuard[int]:
    """Whether `value` is a JSON integer (`true` and `false` are none, though Python says so)."""
    return isinstance(value, int) and not isinstance(value, bool)


def objects(value: object) -> list[JsonObject]:
    """The objects of an array; nothing where `value` is no array."""
    return [item for item in value if is_object(item)] if is_array(value) else []


def blocks_of(content: object) -> list[JsonObject]:
    """The content blocks of a message, a system prompt or a tool result; a string stands for one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects(content)
