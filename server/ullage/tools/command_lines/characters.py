"""The own reader of command lines: plain words between `&&`, `||`, `;` and `|`, and outputs that are thrown away.

It leaves out the language of the shell rather than follow it. What is not understood to the last character is not followed, however
harmless it is. What the words do is judged elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

from ullage.tools.command_lines.words import Followed, NotFollowed, Span, Word

OPERATORS = frozenset({"&&", "||", ";", "|"})
"""What may stand between two plain commands. Not `&`: what goes on in the background is not done when the call is."""

_BLANK = re.compile(r"[ \t]+")
_OPERATOR = re.compile(r"[;&|]+")
_REDIRECTION = re.compile(r"(?:[12]?>>?[ \t]*/dev/null|2>&1|1?>&2)(?=[ \t;&|]|$)")
"""Output that is thrown away, or joined with the other one. Not `&>`: dash reads it as `&` and then `>`."""

_BARE = re.compile(r"[A-Za-z0-9_\-./:=,+@%^~*?\x80-\U0010ffff]+")
"""No brackets of any kind, no `$`, backquote, backslash, `!` and `#`. Of what is not ASCII `_is_letter` says more."""

_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"([^"$`\\!]*)"')

_TILDE = re.compile(r"(?<![A-Za-z0-9_^~])~")
"""Becomes a home folder at the start of a word and after `=` or `:`. Elsewhere (`HEAD~1`) it is itself."""

_READ_DIFFERENTLY = frozenset({*range(0x80, 0x90), 0xA0})
"""Shells of macOS take 85 and A0 for blanks also within a letter of UTF-8; dash marks things in a word with those from 81 to 88."""

_GLOB = frozenset("*?")


def read_characters(text: str) -> Followed | NotFollowed:
    """The commands of the line, or the first thing in it that is not followed."""
    if any(unicodedata.category(character)[0] in "CZ" and character not in " \t" for character in text):
        return NotFollowed("it has line breaks, unusual spaces or invisible characters")
    commands: list[list[Word]] = [[]]
    spans: list[Span] = []
    place = 0
    redirected = False
    while place < len(text):
        if found := _BLANK.match(text, place):
            place = found.end()
            continue
        if found := _REDIRECTION.match(text, place):
            if not commands[-1]:
                return NotFollowed("a redirection comes before a command")
            redirected = True
            spans.append(("redirection", place, found.end()))
        elif found := _OPERATOR.match(text, place):
            if found.group() not in OPERATORS or not commands[-1]:
                return NotFollowed(f"it holds {found.group()!r} where no plain command ends")
            commands.append([])
            redirected = False
            spans.append(("operator", place, found.end()))
        else:
            read = _word(text, place)
            if isinstance(read, NotFollowed):
                return read
            if redirected:
                return NotFollowed("a word follows a redirection")
            word, end = read
            commands[-1].append(word)
            spans.append(("word", place, end))
        place = spans[-1][2]
    if not commands[-1] and spans and text[spans[-1][1] : spans[-1][2]] == ";":
        commands.pop()
    if not all(commands):
        return NotFollowed("a command is missing")
    return Followed(tuple(map(tuple, commands)), tuple(spans))


def _word(text: str, place: int) -> tuple[Word, int] | NotFollowed:
    """The word that begins at `place`, and where it ends."""
    parts: list[str] = []
    bare, has_glob = True, False
    while place < len(text) and text[place] not in " \t;&|":
        if found := _BARE.match(text, place):
            outside = found.group()
            if _TILDE.search(outside) or not all(character.isascii() or _is_letter(character) for character in outside):
                return NotFollowed("a word holds `~`, or characters that shells read differently")
            if not parts and outside[0] in "=^":
                return NotFollowed(f"a word begins with {outside[0]!r}")
            has_glob = has_glob or not _GLOB.isdisjoint(outside)
            parts.append(outside)
        elif found := _SINGLE.match(text, place) or _DOUBLE.match(text, place):
            bare = False
            parts.append(found.group(1))
        else:
            return NotFollowed(f"it holds {text[place]!r}, which has a special meaning for the shell")
        place = found.end()
    if has_glob and not bare:
        return NotFollowed("a word is quoted in part and has a `*` or `?` outside of the quotes")
    return Word("".join(parts), bare, has_glob), place


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] == "L" and _READ_DIFFERENTLY.isdisjoint(character.encode())
