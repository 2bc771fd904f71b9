"""Which names stood only in the part of a result that was clipped away: the model never saw it, but a record can say what is where."""

from __future__ import annotations

from ullage.context.record.words import words_in
from ullage.context.redact import redact

READ_CHARACTERS = 100_000
"""Of the whole; that takes about 15 ms."""
MOST_NAMES = 2_000
ENDS = "\n\t \"',;"
"""What a secret ends with, at the latest."""


def names_left_out(whole: str, content: str) -> tuple[str, ...]:
    """Names and paths in `whole` that are not in `content`, which is what stayed of it; in the order of the alphabet."""
    words = words_in(redact(_begun(whole)))  # here, since a name by itself does not show what it is the value of
    stayed = words_in(content)
    return tuple(sorted((words.names - stayed.names) | (words.paths - stayed.paths))[:MOST_NAMES])


def _begun(whole: str) -> str:
    """As much of it as is read. A secret that was cut in two would not be known for one, so it ends after what ends one."""
    if len(whole) <= READ_CHARACTERS:
        return whole
    return whole[: 1 + max(whole.rfind(end, 0, READ_CHARACTERS) for end in ENDS)]
