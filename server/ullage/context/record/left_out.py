"""Which names stood only in the part of a result that was clipped away: the model never saw it, but a record can say what is where."""

from __future__ import annotations

from ullage.context.record.words import words_in
from ullage.context.redact import redact

READ_CHARACTERS = 100_000
"""Of the whole; that takes about 15 ms."""
MOST_NAMES = 2_000


def names_left_out(whole: str, content: str) -> tuple[str, ...]:
    """Names and paths in `whole` that are not in `content`, which is what stayed of it; in the order of the alphabet."""
    words = words_in(redact(whole[:READ_CHARACTERS]))  # here, since a name by itself does not show what it is the value of
    stayed = words_in(content)
    return tuple(sorted((words.names - stayed.names) | (words.paths - stayed.paths))[:MOST_NAMES])
