"""A command line followed to the last character, or not followed, with the reason.

Two readers have to agree on it: `characters.py`, which knows nothing but plain words, and `grammar.py`, which knows the language of
the shell. What they follow means the same to bash (3.2 and 5), dash and other shells of POSIX. It is not meant for zsh.
"""

from __future__ import annotations

from ullage.tools.command_lines.characters import read_characters
from ullage.tools.command_lines.grammar import spans_by_grammar
from ullage.tools.command_lines.words import Followed, NotFollowed

LONGEST = 4_000
"""Characters. A longer line is not read at all, so that reading takes no time that anybody feels."""

MOST_COMMANDS = 30
"""Of one line. The grammar takes quadratic time over long pipelines."""

MOST_WORDS = 300


def follow(text: str) -> Followed | NotFollowed:
    """The plain commands of a line, or why it is not followed. Time is linear in its length."""
    if len(text) > LONGEST:
        return NotFollowed("it is too long to be checked")
    read = read_characters(text)
    if isinstance(read, NotFollowed):
        return read
    if len(read.commands) > MOST_COMMANDS or sum(map(len, read.commands)) > MOST_WORDS:
        return NotFollowed("it has too many parts to be checked")
    if spans_by_grammar(text) != read.spans:
        return NotFollowed("it can be read in more than one way")
    return read
