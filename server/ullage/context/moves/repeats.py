"""Results that stand in view already: one that comes again gives way to a short reference, with what is different.

An agent reads a file that it has read, and runs a command whose output has hardly changed: 13 to 16 % of all result text stood in the
context already, in recorded sessions. The reference says where the text stands. The same call again gives the whole: then the newest result
of that call is the reference, which is not what would be returned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ullage.context.blocks import Json, ToolResult, ToolUse
from ullage.context.calls import PATH_KEYS, one_line, plain
from ullage.context.entries import FileTouch, ToolReturned
from ullage.context.moves.cheap import Arrival, Clip, Earlier
from ullage.context.policy import RepeatOptions
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import EpochKey, Projection

SOURCE_CHARACTERS = 90
"""Characters of the words for a call."""
FILES_LOOKED_AT = 3
"""Newest results that show one file that are compared. Older ones are earlier states of it, or other parts."""
ANCHOR = 3
"""Lines in a row by which a text is found in another one."""
NOTES = 2
"""Lines, at most, at the beginning and at the end of a text in which a tool tells of the text: which lines it shows of how many."""

_NUMBER = re.compile(r"^ *\d{1,7}(?:\t|→)")
"""The line number that tools for reading print before a line. Lines that only moved are the same without it."""


@dataclass
class InView:
    """The results that the next request holds, by their call and by the files that they show. Looking again costs only what is new."""

    _key: EpochKey | None = None
    _read: int = 0
    _calls: dict[str, ToolUse] = field(default_factory=dict[str, ToolUse])
    _by_call: dict[str, Earlier] = field(default_factory=dict[str, Earlier])
    _by_file: dict[str, list[Earlier]] = field(default_factory=dict[str, list[Earlier]])

    def earlier(self, view: Projection, tool_use_id: str, touched: Sequence[FileTouch]) -> tuple[Earlier, ...]:
        """The texts that a result which is to be logged may repeat, the likeliest first: the newest result of the same call; without one,
        the newest results that show the same files. A result of the same reply is none: calls of one reply may run in any order."""
        self._look(view)
        call = self._calls.get(tool_use_id)
        if call is None:
            return ()
        same = self._by_call.get(_named(call))
        if same is not None:
            return (same,)
        return tuple(held for touch in touched if touch.kind == "read" for held in self._by_file.get(touch.path, ())[::-1])

    def _look(self, view: Projection) -> None:
        if view.key != self._key:
            self._key, self._read = view.key, 0
            self._calls, self._by_call, self._by_file = {}, {}, {}
            for file in (file for each in view.active for file in each.restored if file.is_read):
                self._show(
                    file.path, Earlier(f"what was read again of {one_line(file.path, SOURCE_CHARACTERS)} after the compaction", file.text)
                )
        messages = view.messages
        newest = next((index for index in range(len(messages) - 1, self._read - 1, -1) if messages[index].role == "assistant"), self._read)
        for message in messages[self._read : newest]:
            for block, source in zip(message.blocks, message.sources, strict=True):
                if isinstance(block, ToolResult):
                    self._take(block, view, source)
                elif isinstance(block, ToolUse):
                    self._calls[block.id] = block
        self._read = newest
        self._calls.update((block.id, block) for message in messages[newest:] for block in message.blocks if isinstance(block, ToolUse))

    def _take(self, result: ToolResult, view: Projection, seq: int) -> None:
        call = self._calls.get(result.tool_use_id)
        if call is None:
            return
        held = Earlier(f"the result of {_said(call)}", result.content)
        self._by_call[_named(call)] = held
        entry = entry_at(view.entries, seq)
        if isinstance(entry, ToolReturned):
            for path in {touch.path for touch in entry.touched if touch.kind == "read"}:
                self._show(path, held)

    def _show(self, path: str, held: Earlier) -> None:
        self._by_file.setdefault(path, []).append(held)
        del self._by_file[path][:-FILES_LOOKED_AT]


def refer(arrivals: Sequence[Arrival], options: RepeatOptions, path_of: Callable[[str], str]) -> tuple[Clip | None, ...]:
    """The reference that stands for each result; None for a result that is not in view already, or too short for a reference to be worth
    it.

    `path_of` is called for each result that gives way, so that the whole is kept.
    """
    referred = tuple(_reference(arrival, options) for arrival in arrivals)
    for arrival, reference in zip(arrivals, referred, strict=True):
        if reference is not None:
            path_of(arrival.tool_use_id)
    return referred


def _reference(arrival: Arrival, options: RepeatOptions) -> Clip | None:
    content = arrival.content
    if options.smallest_characters is None or len(content) < options.smallest_characters:
        return None
    given = content.splitlines()
    lines = lines_of(content)
    for held in arrival.earlier:
        found = _found(lines, lines_of(held.text), options.changed_share)
        if found is None:
            continue
        told = "\n".join(_told(given, found, held.source))
        if len(told) <= len(content) * options.longest_share:
            return Clip(told, clipped=True, characters=len(content))
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    """The lines of a text that stand in another one: all but the first `begin`, those from `differ_from` up to `differ_to`, and those from
    `end` on."""

    begin: int
    differ_from: int
    differ_to: int
    end: int
    replaced: int
    """The number of lines of the other text that the differing ones take the place of."""
    part: tuple[int, int, int] | None = None
    """If the other text has more: the first and the last of its lines that are meant (counted from 1), and how many it has. Else None."""


def _found(lines: Sequence[str], held: Sequence[str], changed_share: float) -> _Found | None:
    """The lines of the text that stand in `held`, found by its first lines and its last: what differs is one stretch between them. None if
    they do not. In linear time."""
    for begin in range(NOTES + 1):
        anchor = lines[begin : begin + ANCHOR]
        if len(anchor) < ANCHOR:
            return None
        for start in _places(anchor, held):
            same = _common(lines[begin:], held[start:])
            upper = begin + same
            if upper >= len(lines) - NOTES:
                # Where each line before and behind them stands in the place of one, it is clear which lines are meant. Else it is said.
                whole = start == begin and len(held) - start - same == len(lines) - upper
                return _Found(begin, upper, upper, upper, 0, None if whole else (start + 1, start + same, len(held)))
            if start > NOTES:
                return None
            below = _common(lines[upper:][::-1], held[start + same :][::-1])
            lower = len(lines) - below
            changed = lower - upper
            if below and changed <= changed_share * len(lines):
                return _Found(begin, upper, lower, len(lines), len(held) - below - start - same)
            break  # only one place is tried: trying all would take long where lines repeat
    return None


def _places(anchor: Sequence[str], held: Sequence[str]) -> Iterator[int]:
    if not any(line.strip() for line in anchor):
        return
    for index, line in enumerate(held):
        if line == anchor[0] and list(held[index : index + ANCHOR]) == list(anchor):
            yield index


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of lines that are the same, counted from the start."""
    for index, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return index
    return min(len(one), len(other))


def _told(given: Sequence[str], found: _Found, source: str) -> Iterator[str]:
    yield from given[: found.begin]
    same = found.end - found.begin - (found.differ_to - found.differ_from)
    if found.differ_from == found.differ_to and not found.replaced:
        where = source if found.part is None else f"lines {found.part[0]} to {found.part[1]} of the {found.part[2]} of {source}"
        yield f"[The same {same} lines stand above, unchanged: {where}. The same call again gives them in full.]"
    else:
        yield f"[As above, {source}, but for one place. The same call again gives all of it in full.]"
        yield from _place(given, found)
    yield from given[found.end :]


def _place(given: Sequence[str], found: _Found) -> Iterator[str]:
    """The lines that are different, between the line before them and the line after them."""
    yield given[found.differ_from - 1]
    yield f"[in place of {found.replaced} line{'' if found.replaced == 1 else 's'}:]"
    yield from given[found.differ_from : found.differ_to]
    yield "[and on as before]"
    yield given[found.differ_to]


def lines_of(text: str) -> list[str]:
    """The lines of a text, without the numbers that a tool printed before them."""
    return [_NUMBER.sub("", line) for line in text.splitlines()]


def _named(call: ToolUse) -> str:
    return f"{call.name} {json.dumps(call.input, sort_keys=True, ensure_ascii=False)}"


def _said(call: ToolUse) -> str:
    """The words for a call: `read_file src/tank.py`, or the command that was run."""
    command = call.input.get("command")
    if isinstance(command, str) and command.strip():
        return f"`{one_line(plain(command), SOURCE_CHARACTERS)}`"
    return f"`{one_line(f'{call.name} {_path(call.input)}'.strip(), SOURCE_CHARACTERS)}`"


def _path(input: Mapping[str, Json]) -> str:
    return next((path for key in PATH_KEYS if isinstance(path := input.get(key), str)), "")
