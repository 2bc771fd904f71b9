"""JSON that is one document and not lines, read part by part: a list, or an object that holds a long list.

Only one part is in memory at a time, however large the file is. A part that is cut off or damaged ends the reading: where the next one
begins cannot be told.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from typing import cast

from ullage.context.blocks import Json
from ullage.replay.readers.flaws import BREAKS_OFF, NO_OBJECT, Tally
from ullage.replay.readers.values import JsonObject

LONGEST_PART = 64 * 1024 * 1024
"""Characters. A longer part is not read, so that memory is bounded."""

LISTS = frozenset({"messages", "history", "clientHistory"})
"""Names under which a document holds the conversation: its elements are given one by one."""

_STEP = 1024 * 1024
"""Bytes that are read at once."""
_NEAR_THE_END = 16
"""Characters. An error this close to the end of what was read may be no error: more of the text is needed to know."""
_SPACE = " \t\r\n\ufeff"
_DECODER = json.JSONDecoder()


class _Broken(Exception):
    """Here the document cannot be read on."""


def objects(read: Callable[[int], bytes], tally: Tally) -> Iterator[JsonObject]:
    """The objects of a list; of an object first what stands before its list, then the list's objects, then what stands after it.

    `read` gives as many of the next bytes as it is asked for, none at the end. What is no object, and where the document breaks off, is
    counted in `tally`. Raises what `read` raises.
    """
    text = _Text(read)
    try:
        if text.next() == "[":
            yield from _elements(text, tally)
        elif text.next() == "{":
            yield from _members(text, tally)
        else:
            raise _Broken
    except _Broken:
        tally.count(BREAKS_OFF, line=text.line)


def _elements(text: _Text, tally: Tally) -> Iterator[JsonObject]:
    text.expect("[")
    while text.next() != "]":
        line = text.line
        value = text.value()
        if isinstance(value, dict):
            yield value
        else:
            tally.count(NO_OBJECT, line=line)
        if text.next() != "]":
            text.expect(",")
    text.expect("]")


def _members(text: _Text, tally: Tally) -> Iterator[JsonObject]:
    about: dict[str, Json] = {}
    try:
        text.expect("{")
        while text.next() != "}":
            name = text.value()
            text.expect(":")
            if name in LISTS and text.next() == "[":
                yield about
                about = {}
                yield from _elements(text, tally)
            else:
                about[str(name)] = text.value()
            if text.next() != "}":
                text.expect(",")
        text.expect("}")
    except _Broken:
        if about:
            yield about
        raise
    if about:
        yield about


class _Text:
    """The text of a file, as much of it as is needed next."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._at = 0
        self._ended = False
        self._lines_before = 0

    @property
    def line(self) -> int:
        """The number of the line that is read next, from 1."""
        return self._lines_before + self._text.count("\n", 0, self._at) + 1

    def next(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def expect(self, character: str) -> None:
        """Passes over it. Raises `_Broken` where something else comes."""
        if self.next() != character:
            raise _Broken
        self._at += 1

    def value(self) -> Json:
        """The value that comes next. Raises `_Broken`."""
        self.next()
        while True:
            try:
                value, end = cast("tuple[Json, int]", _DECODER.raw_decode(self._text, self._at))
            except json.JSONDecodeError as error:
                may_go_on = error.pos >= len(self._text) - _NEAR_THE_END or error.msg.startswith("Unterminated string")
                if self._ended or not may_go_on or len(self._text) - self._at > LONGEST_PART:
                    raise _Broken from error
            except (ValueError, RecursionError) as error:
                raise _Broken from error
            else:
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            self._read_on()

    def _read_on(self) -> None:
        """What was read is let go; as much again is read as is still needed, so that long parts are not tried too often."""
        self._lines_before += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        read = self._read(max(_STEP, len(rest)))
        self._ended = not read
        self._text = rest + self._decoder.decode(read, final=not read)
        self._at = 0
