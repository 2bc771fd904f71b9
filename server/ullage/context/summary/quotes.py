"""What a program summary quotes of the user's words: verbatim, the newest first in line for the room there is.

What somebody types is quoted whole. What is longer than anybody types was mostly pasted (a plan, a log, a page): of that its beginning and
its end are quoted, and `recall` opens the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ullage.context.calls import one_line
from ullage.context.counting.tokens import estimate_text
from ullage.context.summary.sentences import LONGEST, gives_a_reason, is_strong
from ullage.context.summary.settled import SHORTENED_CHARACTERS, EntryWords, TypedMessages

FIRST_SHARE, FIRST_LONGER = 0.25, 1.5
"""Share of the room that is kept for the first message, which mostly says what all of it is about; and how many times as long it may be as
others, since it is often a plan that was made before."""
SHORTENED_SHARE, SHORTENED_LEAST_SHARE, SHORTENED_LEAST = 0.1, 0.4, 800
"""Share of the room, on top of it, for the beginnings of messages that do not fit. In a small room it is the larger share, up to that many
tokens."""
BETWEEN = 0.5
"""Share of what may be quoted of one message at most, for messages between the first and the last."""
HEAD, TAIL = 0.5, 0.25
"""Shares of a message that is quoted in part, for its beginning and its end. The rest is for lines between them that say why; else it goes
to the beginning."""
FRAME = re.compile(r"\s*(?:at\s+\S|File \"|#\d+\s+\S|in\s+\S+\s+\()")
"""A line of a stack trace."""
FRAMES_SHOWN = 2
"""Frames of a stack trace that are shown of many in a row."""
TRACED_TOKENS = 250
"""Tokens that are quoted of a message with more frames than that: it was copied from a console, after a sentence or two."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A quoted message of the user. If it is not `whole`, `text` is a part of it."""

    seq: int
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Quotes:
    """The quoted messages, in the order in which they were said, and the number of messages that are not quoted."""

    quotes: tuple[Quote, ...]
    left_out: int


def quote(asked: Sequence[EntryWords], tokens: int, longest: int) -> Quotes:
    """Quotes the newest messages and the first one, and of others the beginning; in about `tokens` tokens, and no message but the first in
    more than `longest`."""
    quotes: dict[int, Quote] = {}
    room = tokens
    if asked:
        quotes[0] = _fitted(asked[0], min(int(longest * FIRST_LONGER), tokens if len(asked) == 1 else int(tokens * FIRST_SHARE)))
        room -= estimate_text(quotes[0].text)
    shortened_room = max(int(tokens * SHORTENED_SHARE), min(int(tokens * SHORTENED_LEAST_SHARE), SHORTENED_LEAST))
    for index in range(len(asked) - 1, 0, -1):  # for most messages of a long session only the size is looked at
        is_last = index == len(asked) - 1
        most = longest if is_last else int(longest * BETWEEN)
        size = _size(asked, index)
        if min(size, most) <= room or is_last:
            quotes[index] = _fitted(asked[index], min(most, room))
            room -= estimate_text(quotes[index].text)
        elif (size := _shortened_size(asked, index)) <= shortened_room:
            said = asked[index]
            quotes[index] = Quote(said.seq, one_line(said.text, SHORTENED_CHARACTERS), False)
            shortened_room -= size
    return Quotes(tuple(quotes[index] for index in sorted(quotes)), len(asked) - len(quotes))


def _size(asked: Sequence[EntryWords], index: int) -> int:
    return asked.size(index) if isinstance(asked, TypedMessages) else estimate_text(asked[index].text)


def _shortened_size(asked: Sequence[EntryWords], index: int) -> int:
    if isinstance(asked, TypedMessages):
        return asked.shortened_size(index)
    return estimate_text(one_line(asked[index].text, SHORTENED_CHARACTERS))


def _fitted(said: EntryWords, tokens: int) -> Quote:
    """The message, quoted whole; or, if it is too long, its beginning, its end and lines between them that say why."""
    if estimate_text(said.text) <= tokens:
        return Quote(said.seq, said.text, True)
    text = without_frames(said.text)
    if text != said.text:
        tokens = min(tokens, TRACED_TOKENS)
    size = estimate_text(text)
    kept = max(int(len(text) * tokens / size), SHORTENED_CHARACTERS) if size > tokens else len(text)
    if kept >= len(text):
        return Quote(said.seq, text, text == said.text)
    between = _telling(text[int(kept * HEAD) : -int(kept * TAIL)], int(kept * (1 - HEAD - TAIL)))
    last = int(kept * TAIL)
    head = text[: kept - last - len(between)]
    left_out = len(text) - len(head) - len(between) - last
    middle = f"{between}\n…\n" if between else ""
    return Quote(said.seq, f"{head}\n… ({left_out:,} characters left out) …\n{middle}{text[len(text) - last :]}", False)


def without_frames(text: str) -> str:
    """The text with all but the first frames of each stack trace only counted."""
    lines: list[str] = []
    left_out = 0
    for number, is_frame, line in _frames(text.splitlines()):
        if is_frame and number > FRAMES_SHOWN:
            left_out += 1
            continue
        if left_out:
            lines.append(f"    … ({left_out} frames left out)")
            left_out = 0
        lines.append(line)
    if left_out:
        lines.append(f"    … ({left_out} frames left out)")
    return "\n".join(lines) if len(lines) + 2 * FRAMES_SHOWN < text.count("\n") else text


def _frames(lines: Sequence[str]) -> Iterator[tuple[int, bool, str]]:
    """For each line its place among consecutive frames (0 if it is no frame), whether it is a frame, and the line."""
    number = 0
    for line in lines:
        number = number + 1 if FRAME.match(line) else 0
        yield number, number > 0, line


def _telling(text: str, characters: int) -> str:
    """The first lines that give a reason or forbid something, unchanged, in at most `characters` characters."""
    taken: list[str] = []
    for line in text.splitlines()[1:-1]:
        if len(line) <= min(characters, LONGEST) and (gives_a_reason(line) or is_strong(line)):
            characters -= len(line) + 1
            taken.append(line)
    return "\n".join(taken)
