"""A session's title: one line, from its first prompt or from the user. Front ends cut it where their room ends."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count

TITLE_CHARACTERS = 300
"""More than any list or tooltip shows; it goes into every list of sessions."""

NEW_SESSION = "New session"
"""What one without a title is called."""

_LOOKED_AT = 10_000
"""Characters of a prompt that may be whitespace before its first word, and of a title in which the white space is counted as one."""


_FORK = re.compile(r" \(fork(?: \d+)?\)$")


def title_of(prompt: str) -> str:
    """The first line that says something."""
    line = next((line for line in prompt[:_LOOKED_AT].splitlines() if line.strip()), NEW_SESSION)
    return one_line(line)


def one_line(title: str) -> str:
    """The title on one line, cut at a word where it is too long."""
    line = " ".join(title[:_LOOKED_AT].split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[: TITLE_CHARACTERS - 2]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut} …"


def title_of_fork(title: str, taken: Collection[str]) -> str:
    """`Mend the gauge (fork)`, `Mend the gauge (fork 2)` and so on, the first that is not taken; empty where it has no title yet."""
    base = _FORK.sub("", title)
    if not base:
        return ""
    numbered = (f"{base} (fork{'' if number == 1 else f' {number}'})" for number in count(1))
    return next(each for each in numbered if each not in taken)
