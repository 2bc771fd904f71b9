"""A shell command taken apart into plain commands of plain words, where it consists of nothing else.

What the words do is judged elsewhere. Here a shell's language is left out rather than followed: what is not understood to the last
character gives None, however harmless it is.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

OPERATORS = frozenset({"&&", "||", ";", "|"})
"""What may stand between two plain commands. Not `&`: what goes on in the background is not done when the call is."""

_BLANK = re.compile(r"[ \t]+")
_OPERATOR = re.compile(r"[;&|]+")
_REDIRECTION = re.compile(r"(?:(?:[12]?>>?|&>>?)[ \t]*/dev/null|2>&1|[1]?>&2)(?=[ \t;&|]|$)")
"""Output that is thrown away, or joined with the other one: nothing is written anywhere."""

_PIECE = re.compile(r"""(?P<bare>[\w\-./:=,+@%^~*?\[\]]+)|'(?P<single>[^']*)'|"(?P<double>[^"$`\\!]*)\"""")
_TILDE = re.compile(r"(?<![\w^~])~")
"""Becomes a home folder at the start of a word and after `=` or `:`. Elsewhere (`HEAD~1`) it is itself."""

GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program gets it, but for globs, which the shell expands to names of files."""

    text: str
    bare: bool
    """Nothing of it was quoted."""
    has_glob: bool
    """Any number of words may stand in its place."""
    begins_with_glob: bool
    """They may be options: `--output=x` can be a file's name, too."""


def plain_commands(text: str) -> list[list[Word]] | None:
    """The words of each command of the line; None where it holds anything but plain words, `&&`, `||`, `;`, `|` and outputs thrown away."""
    if not all(map(_is_seen, text)):
        return None
    commands: list[list[Word]] = [[]]
    place, operator = 0, ""
    while place < len(text):
        if found := _BLANK.match(text, place):
            place = found.end()
        elif found := _REDIRECTION.match(text, place):
            place = found.end()
            if not commands[-1]:
                return None
        elif found := _OPERATOR.match(text, place):
            operator, place = found.group(), found.end()
            if operator not in OPERATORS or not commands[-1]:
                return None
            commands.append([])
        else:
            word, place = _word(text, place)
            if word is None:
                return None
            commands[-1].append(word)
    if not commands[-1] and operator == ";":
        commands.pop()
    return commands if all(commands) else None


def _is_seen(character: str) -> bool:
    """Not a line end, another control character, a direction mark, or a blank that only some shells take for one."""
    return character in " \t" or unicodedata.category(character)[0] not in "CZ"


def _word(text: str, place: int) -> tuple[Word | None, int]:
    """The word that begins at `place`, and where it ends; None where it does not end as a plain word does."""
    parts: list[str] = []
    bare, has_glob, begins_with_glob = True, False, False
    while place < len(text) and text[place] not in " \t;&|":
        piece = _PIECE.match(text, place)
        if piece is None:
            return None, place
        outside = piece.group("bare")
        if outside is None:
            bare = False
            parts.append(piece.group("single") or piece.group("double") or "")
        else:
            if _TILDE.search(outside):
                return None, place
            has_glob = has_glob or not GLOB.isdisjoint(outside)
            begins_with_glob = begins_with_glob or (outside[0] in GLOB and not any(parts))
            parts.append(outside)
        place = piece.end()
    return Word("".join(parts), bare, has_glob, begins_with_glob), place
