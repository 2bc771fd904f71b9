"""The user's own words for the handoff: verbatim, the newest first in line for the room there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.counting.tokens import estimate_text
from ullage.context.record.calls import one_line
from ullage.context.record.facts import Said

FIRST_SHARE = 0.25
"""Of the room: kept for the first message, which mostly says what all of it is about."""
SHORTENED_SHARE = 0.1
"""Of the room, on top of it: for the beginnings of messages that do not fit."""
SHORTENED_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Quote:
    """A message of the user. Where it is not `whole`, `text` is a part of it."""

    seq: int
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Quotes:
    """What is quoted, in the order in which it was said, and how many messages are not."""

    quotes: tuple[Quote, ...]
    left_out: int


def quote(asked: Sequence[Said], tokens: int) -> Quotes:
    """Quotes the newest messages whole, and the first one; of others the beginning; in about `tokens` tokens."""
    quotes: dict[int, Quote] = {}
    room = tokens
    if asked:
        quotes[0] = _fitted(asked[0], tokens if len(asked) == 1 else int(tokens * FIRST_SHARE))
        room -= estimate_text(quotes[0].text)
    shortened_room = int(tokens * SHORTENED_SHARE)
    for index in range(len(asked) - 1, 0, -1):
        said = asked[index]
        whole = Quote(said.seq, said.text, True)
        size = estimate_text(said.text)
        if size <= room:
            quotes[index] = whole
            room -= size
            continue
        newest = index == len(asked) - 1
        part = _fitted(said, room) if newest else Quote(said.seq, one_line(said.text, SHORTENED_CHARACTERS), False)
        size = estimate_text(part.text)
        if newest:
            room -= size
        elif size > shortened_room:
            continue
        else:
            shortened_room -= size
        quotes[index] = part
    return Quotes(tuple(quotes[index] for index in sorted(quotes)), len(asked) - len(quotes))


def _fitted(said: Said, tokens: int) -> Quote:
    """The message, or its beginning and end where it is too long."""
    size = estimate_text(said.text)
    if size <= tokens:
        return Quote(said.seq, said.text, True)
    half = max(int(len(said.text) * tokens / size / 2), SHORTENED_CHARACTERS // 2)
    left_out = len(said.text) - 2 * half
    if left_out <= 0:
        return Quote(said.seq, said.text, True)
    return Quote(said.seq, f"{said.text[:half]}\n… ({left_out:,} characters left out) …\n{said.text[-half:]}", False)
