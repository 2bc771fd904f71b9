"""A small writer of HTML and SVG. What is not markup already is escaped, so that no name can be forgotten.

What the elements of the report are is known to the other files of this folder.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TypeAlias

from ullage.replay.readers.values import printable


class Markup(str):
    """Text that is HTML (or SVG) already."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | None"
"""What stands in an element: markup as it is, a string escaped, None nothing."""

Attribute: TypeAlias = "str | int | float | bool | None"

_TAG = re.compile(r"<[^>]*>")
_VOID = frozenset({"meta", "br", "hr"})
_CLOSED = frozenset({"path", "rect", "use"})


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element. `class_` and `for_` lose their underscore, others become hyphens; True is an attribute without a value, False and
    None are left out."""
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{opening}>")
    if name in _CLOSED and not children:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """Several things, one after another."""
    return Markup("".join(child if isinstance(child, Markup) else text(child) for child in children if child is not None))


def text(words: str) -> Markup:
    """Words, escaped; what could play tricks (control characters, changes of direction, halves of characters) as question marks."""
    return Markup(escape(printable(words), quote=True))


def words_of(child: Markup | str) -> str:
    """What is to be read of it, without markup."""
    return unescape(_TAG.sub("", child)) if isinstance(child, Markup) else printable(child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{text(shown)}"'
