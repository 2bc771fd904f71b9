"""Which of the user's words stand in a summary: verbatim, the newest first in line for the room there is.

What somebody types is quoted whole. What is longer than anybody types was mostly pasted (a plan, a log, a page): of that its beginning and
its end are quoted, and `recall` opens the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.calls import one_line
from ullage.context.counting.tokens import estimate_text
from ullage.context.summary.settled import SHORTENED_CHARACTERS, Asked, Said

FIRST_SHARE = 0.25
"""Of the room: kept for the first message, which mostly says what all of it is about."""
SHORTENED_SHARE, SHORTENED_LEAST_SHARE, SHORTENED_LEAST = 0.1, 0.4, 800
"""Of the room, on top of it: for the beginnings of messages that do not fit. Of a small room the larger share, up to so many tokens."""
BETWEEN = 0.5
"""Of the most that is quoted of one message: for those between the first and the last."""
HEAD = 0.7
"""Of a message that is quoted in part: its beginning."""


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


@dataclass(frozen=True, slots=True)
class Staying:
    """What the model goes on seeing beside a summary. `said` are the user's words in it: a tool may print the same, but that is data."""

    text: str = ""
    said: str = ""


def quote(asked: Sequence[Said], tokens: int, longest: int) -> Quotes:
    """Quotes the newest messages, and the first one; of others the beginning; in about `tokens` tokens, and of none more than `longest`."""
    quotes: dict[int, Quote] = {}
    room = tokens
    if asked:
        quotes[0] = _fitted(asked[0], min(longest, tokens if len(asked) == 1 else int(tokens * FIRST_SHARE)))
        room -= estimate_text(quotes[0].text)
    shortened_room = max(int(tokens * SHORTENED_SHARE), min(int(tokens * SHORTENED_LEAST_SHARE), SHORTENED_LEAST))
    for index in range(len(asked) - 1, 0, -1):  # of most messages of a long session no more than the size is looked at
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


def _size(asked: Sequence[Said], index: int) -> int:
    return asked.size(index) if isinstance(asked, Asked) else estimate_text(asked[index].text)


def _shortened_size(asked: Sequence[Said], index: int) -> int:
    return asked.shortened_size(index) if isinstance(asked, Asked) else estimate_text(one_line(asked[index].text, SHORTENED_CHARACTERS))


def _fitted(said: Said, tokens: int) -> Quote:
    """The message, or its beginning and end where it is too long."""
    size = estimate_text(said.text)
    if size <= tokens:
        return Quote(said.seq, said.text, True)
    kept = max(int(len(said.text) * tokens / size), SHORTENED_CHARACTERS)
    head = int(kept * HEAD)
    left_out = len(said.text) - kept
    if left_out <= 0:
        return Quote(said.seq, said.text, True)
    return Quote(said.seq, f"{said.text[:head]}\n… ({left_out:,} characters left out) …\n{said.text[-(kept - head) :]}", False)
