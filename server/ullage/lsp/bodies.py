"""What stands in the body of a message: at a glance, or as a whole, at once or in many small steps.

Parsing one large text in C would hold up every thread: a document of 60 MB for a tenth of a second. So what is large is read in another
thread (`parse_in_steps`), its long texts piece by piece.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn
from uuid import uuid4

from ullage.lsp.framing import Body

_PLAIN = rb"[ !#-\[\]-~]"
"""The characters that stand for themselves in a JSON text."""

_HEAD = re.compile(
    rb'\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*'
    rb'(?:"id"\s*:\s*(0|-?[1-9]\d{0,17}|"%b{0,200}")\s*,\s*)?'
    rb'"method"\s*:\s*"(%b{1,200})"' % (_PLAIN, _PLAIN)
)
"""The beginning of a message, its fields in the order in which clients write them. A message in any other order is valid too; it is read
as a whole."""

_ID = b'"id"'

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""A surrogate as JSON writes it. Mostly they come in pairs, each pair a whole character."""

_STEP = 1_000_000
"""How many bytes are gone through at once: these take some milliseconds."""

_TEXTS = 1_000
"""How many of the texts of a message, from its beginning, are looked at for long ones. A document has one."""

_PART = re.compile(
    rb'[^"\\]*(?:\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u(?![dD][89abAB])[0-9a-fA-F]{4})[^"\\]*)*', re.DOTALL
)
"""As much of a JSON text as can be read by itself: no sign is cut in two. It ends before half a character."""

_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")

_LONGEST_SIGN = 12
"""The bytes of the longest sign: a character that is written as two halves."""

_CLEAR = re.compile(rb"[^\\]{%d}" % _LONGEST_SIGN)
"""A piece of a text without escapes. At its end no sign is cut in two, except for a character of several bytes in UTF-8."""

_BACKSLASH = 0x5C


@dataclass(frozen=True, slots=True)
class Glance:
    """The parts of a request or a notification that are known at a glance. `id` is as it is written; None of a notification."""

    method: bytes
    id: bytes | None


def glance(body: Body) -> Glance | None:
    """The method and the id of a message, if they can be seen at its beginning; None if it has to be read as a whole."""
    found = _HEAD.match(body)
    if found is None or (found[1] is None and has_id(body)):  # the id may come last
        return None
    return Glance(bytes(found[2]), None if found[1] is None else bytes(found[1]))


def method_of(body: Body) -> bytes | None:
    """The method, however long the message is; None if it has to be read to know it. It may be a request or a notification."""
    found = _HEAD.match(body)
    return None if found is None else bytes(found[2])


def has_id(body: Body) -> bool:
    """Whether an id may stand in a message. Looks for it in small steps."""
    return any(body.find(_ID, start, start + _STEP + len(_ID)) >= 0 for start in range(0, len(body), _STEP))


def parse_body(
    body: Body, *, object_hook: Callable[[dict[str, Any]], Any] | None = None, parse_int: Callable[[str], Any] | None = None
) -> Any:
    """The value of a body, with the hooks of `json.loads`. Raises `ValueError` or `RecursionError` for what is no JSON in UTF-8.

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


def parse_in_steps(body: Body) -> Any:
    """Parses like `parse_body`, for another thread. It calls Python at each object and number, so that other threads have their turn."""
    long = _long_texts(body)
    if long:
        texts, rest = _taken_out(body, long)
        message = parse_body(rest, object_hook=texts.put_back, parse_int=_integer)
        if not texts.left:
            return message
    return parse_body(body, object_hook=_as_it_is, parse_int=_integer)


def _long_texts(body: Body) -> list[list[int]]:
    """The long texts of a message, each as the places at which it can be cut: from behind its first quote to its last one."""
    found: list[list[int]] = []
    at = 0
    for _ in range(_TEXTS):
        begin = _quote(body, at)
        if begin < 0:
            break
        places = _pieces(body, begin + 1)
        if places is None:  # no JSON: whoever reads it as a whole says so
            break
        if len(places) > 3:
            found.append(places)
        at = places[-1] + 1
    return found


def _quote(body: Body, at: int) -> int:
    for start in range(at, len(body), _STEP):
        found = body.find(b'"', start, start + _STEP)
        if found >= 0:
            return found
    return -1


def _pieces(body: Body, begin: int) -> list[int] | None:
    """The places at which the text that begins there can be cut; None if it has no end, or is no JSON."""
    places, at = [begin], begin
    while True:
        until = places[-1] + _STEP
        quote = body.find(b'"', at, until)
        if quote >= 0:
            if not _is_escaped(body, begin, quote):
                return [*places, quote]
            at = quote + 1
            continue
        cut = _cut(body, places[-1], until) if until < len(body) else None
        if cut is None:
            return None
        places.append(cut)
        at = max(at, cut)


def _is_escaped(body: Body, begin: int, at: int) -> bool:
    before = at
    while before > begin and body[before - 1] == _BACKSLASH:
        before -= 1
    return (at - before) % 2 == 1


def _cut(body: Body, begin: int, until: int) -> int | None:
    """A place between two signs at which a text can be cut, near `until`; None if there is none, since it is no JSON."""
    clear = _CLEAR.search(body, max(begin, until - 20 * _LONGEST_SIGN), until)
    if clear is not None:
        place = clear.end()
        while body[place] & 0xC0 == 0x80:  # within a character of UTF-8
            place -= 1
        return place
    part = _PART.match(body, begin, until)
    place = begin if part is None else part.end()
    if place < until - _LONGEST_SIGN:  # before half a character, or what is no JSON
        half = _HALF.match(body, place)
        return None if half is None else half.end()
    while body[place] & 0xC0 == 0x80:
        place -= 1
    return place if place > begin else None


class _Texts:
    """The long texts that were taken out of a message, by the name that stands in the place of each."""

    def __init__(self) -> None:
        self.left: dict[str, str] = {}

    def put_back(self, value: dict[str, Any]) -> dict[str, Any]:
        """Puts the texts that were taken out of an object's values back in, and gives the object."""
        for key, found in value.items():
            if isinstance(found, str) and found in self.left:
                value[key] = self.left.pop(found)
        return value


def _taken_out(body: Body, long: list[list[int]]) -> tuple[_Texts, bytes]:
    """The long texts of a message, and the message with a name that nobody knows in the place of each."""
    texts = _Texts()
    rest: list[bytes] = []
    at = 0
    for places in long:
        name = uuid4().hex
        texts.left[name] = "".join([parse_body(b'"%b"' % body[start:end]) for start, end in pairwise(places)])
        rest += (bytes(body[at : places[0]]), name.encode())
        at = places[-1]
    rest.append(bytes(body[at:]))
    return texts, b"".join(rest)


def _as_it_is(value: dict[str, Any]) -> dict[str, Any]:
    return value


def _integer(digits: str) -> int:
    return int(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
