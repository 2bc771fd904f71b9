"""Checks of single JSON values, worded as the API's schema layer words them. No rule about requests is here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.fake_api.json_values import is_array, is_integer, is_object
from tests.fake_api.refused import invalid

Check: TypeAlias = Callable[[str, Any], None]
"""Raises `Refused` where the value at a path is not what it should be."""


def check_object(path: str, value: Any, fields: Mapping[str, Check], required: tuple[str, ...] = ()) -> None:
    """An object with these fields and no others."""
    if not is_object(value):
        raise invalid(f"{path}: Input should be a valid dictionary")
    for name in required:
        if name not in value:
            raise invalid(f"{_join(path, name)}: Field required")
    for name, item in value.items():
        if name not in fields:
            raise invalid(f"{_join(path, name)}: Extra inputs are not permitted")
        fields[name](_join(path, name), item)


def string(path: str, value: Any) -> None:
    """A string."""
    if not isinstance(value, str):
        raise invalid(f"{path}: Input should be a valid string")


def boolean(path: str, value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise invalid(f"{path}: Input should be a valid boolean")


def dictionary(path: str, value: Any) -> None:
    """Any object."""
    if not is_object(value):
        raise invalid(f"{path}: Input should be a valid dictionary")


def anything(path: str, value: Any) -> None:
    """Any value: a field that the fake takes and does not look at."""


def integer_from(least: int) -> Check:
    """An integer of at least `least`."""

    def check(path: str, value: Any) -> None:
        if not is_integer(value):
            raise invalid(f"{path}: Input should be a valid integer")
        if value < least:
            raise invalid(f"{path}: Input should be greater than or equal to {least}")

    return check


def matching(pattern: str) -> Check:
    """A string that matches a regular expression."""
    compiled = re.compile(pattern)

    def check(path: str, value: Any) -> None:
        string(path, value)
        if not compiled.search(value):
            raise invalid(f"{path}: String should match pattern '{pattern}'")

    return check


def one_of(*values: str) -> Check:
    """One of some strings."""
    quoted = [f"'{value}'" for value in values]
    listed = f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]

    def check(path: str, value: Any) -> None:
        if value not in values:
            raise invalid(f"{path}: Input should be {listed}")

    return check


def nullable(check: Check) -> Check:
    """The same, or null."""

    def check_unless_null(path: str, value: Any) -> None:
        if value is not None:
            check(path, value)

    return check_unless_null


def array_of(check: Check) -> Check:
    """An array whose items pass a check."""

    def check_items(path: str, value: Any) -> None:
        if not is_array(value):
            raise invalid(f"{path}: Input should be a valid array")
        for index, item in enumerate(value):
            check(f"{path}.{index}", item)

    return check_items


def object_of(fields: Mapping[str, Check], required: tuple[str, ...] = ()) -> Check:
    """An object with these fields and no others."""

    def check(path: str, value: Any) -> None:
        check_object(path, value, fields, required)

    return check


def tagged(
    variants: Mapping[str, Mapping[str, Check]],
    required: Mapping[str, tuple[str, ...]],
) -> Check:
    """An object whose `type` says which fields it has; paths of its fields name the type, as the API does."""

    def check(path: str, value: Any) -> None:
        if not is_object(value):
            raise invalid(f"{path}: Input should be a valid dictionary")
        tag = value.get("type")
        if tag is None:
            raise invalid(f"{path}.type: Field required")
        if not isinstance(tag, str) or tag not in variants:
            expected = ", ".join(f"'{name}'" for name in variants)
            raise invalid(f"{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {expected}")
        fields = {"type": anything, **variants[tag]}
        check_object(f"{path}.{tag}", value, fields, required.get(tag, ()))

    return check


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
