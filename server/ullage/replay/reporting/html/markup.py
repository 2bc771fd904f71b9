"""A small writer of HTML and SVG, and what the pictures share.

What is not markup already is escaped, so that no name can be forgotten. Pictures share scales and their marks, short numbers, and the
fillings that tell classes apart without colour.
"""

from __future__ import annotations

import re
from html import escape, unescape
from math import ceil, floor, log10
from typing import TypeAlias

from ullage.recorded.readers.values import printable


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
    """The markup of several things, one after another."""
    return Markup("".join(child if isinstance(child, Markup) else text(child) for child in children if child is not None))


def text(words: str) -> Markup:
    """Words, escaped; what could play tricks (control characters, changes of direction, halves of characters) as question marks."""
    return Markup(escape(printable(words), quote=True))


def words_of(child: Markup | str) -> str:
    """The words that are to be read of a child, without markup."""
    return unescape(_TAG.sub("", child)) if isinstance(child, Markup) else printable(child)


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{text(shown)}"'


_PATTERNS: dict[int, str] = {1: "f1", 2: "f2", 3: "f3", 4: "f4", 5: "f5", 8: "f1", 9: "f2", 10: "f5"}
"""What is drawn over the colour of a class of bars (`.c0`…, by its number), so that classes can be told apart without colour. 0 to 5 are
the price classes, 7 to 10 what became of facts; the first of each is plain."""


def marks(largest: float, about: int = 4, smallest: float = 0.0) -> list[float]:
    """The round values between `smallest` and `largest`, about that many."""
    if largest <= smallest:
        return [smallest]
    step = _round_step((largest - smallest) / about)
    return [index * step for index in range(ceil(smallest / step - 1e-9), floor(largest / step + 1e-9) + 1)]


_ROUNDED_UP = 0.9995
"""From this share on, a power of ten is reached with three digits."""


def short(value: float) -> str:
    """The number in few characters: 950, 12K, 1.5M."""
    sizes = ((1_000_000, "M"), (1_000, "K"))
    size, letter = next((each for each in sizes if value >= each[0] * _ROUNDED_UP), (1, ""))
    shown = value / size
    return f"{shown:.3g}{letter}" if shown < 1_000 * _ROUNDED_UP else f"{shown:,.0f}{letter}"


def patterns() -> Markup:
    """The definitions of the fillings, which a page needs once, where nothing is to be seen of them."""
    drawn = (
        _pattern(1, 6, tag("path", d="M-1 1l2-2M0 6l6-6M5 7l2-2")),
        _pattern(2, 5, tag("path", d="M2 2h1v1h-1z")),
        _pattern(3, 5, tag("path", d="M0 2h5")),
        _pattern(4, 6, tag("path", d="M-1 5l2 2M0 0l6 6M5-1l2 2")),
        _pattern(5, 6, tag("path", d="M0 6l6-6M0 0l6 6")),
    )
    triangles = (_triangle("summary"), _triangle("moves"))
    return tag("svg", tag("defs", *drawn, *triangles), class_="hidden-defs", width=0, height=0, aria_hidden="true", focusable="false")


def segment(number: int, from_share: float, share: float, words: str) -> Markup:
    """A part of a bar that is as wide as its surroundings: class `number`, where it begins and how long it is, as shares of the whole."""
    place = {"x": f"{from_share * 100:.2f}%", "width": f"{share * 100:.2f}%", "height": "100%"}
    return tag("g", tag("title", words), tag("rect", **place, class_=f"c{number}"), _over(number, place))


def legend(names: tuple[str, ...], first: int = 0) -> Markup:
    """The list of the names of the classes of bars, each with its filling."""

    def entry(number: int, name: str) -> Markup:
        place = {"width": "100%", "height": "100%"}
        swatch = tag("svg", tag("rect", **place, class_=f"c{number}"), _over(number, place), class_="swatch", aria_hidden="true")
        return tag("li", swatch, name)

    return tag("ul", *(entry(number, name) for number, name in enumerate(names, first)), class_="legend")


def _triangle(kind: str) -> Markup:
    """The mark of a compaction; the style sheet puts it at every corner of a path of its class."""
    drawn = tag("path", d="M4 7l-3-6h6z", class_=f"triangle {kind}")
    return tag("marker", drawn, id=f"t-{kind}", markerUnits="userSpaceOnUse", markerWidth=8, markerHeight=8, refX=4, refY=7)


def _over(number: int, place: dict[str, str]) -> Markup | None:
    return tag("rect", **place, fill=f"url(#{_PATTERNS[number]})") if number in _PATTERNS else None


def _pattern(number: int, size: int, drawn: Markup) -> Markup:
    return tag("pattern", joined(drawn), id=f"f{number}", width=size, height=size, patternUnits="userSpaceOnUse", class_="filling")


def _round_step(step: float) -> float:
    power = 10.0 ** floor(log10(step))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= step * (1 - 1e-9))
