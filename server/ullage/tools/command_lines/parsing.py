"""A command line followed to the last character, or not followed, with the reason.

Two readers have to agree on it. What they follow means the same to bash (3.2 and 5), dash and other shells of POSIX. It is not meant for
zsh. What the words do is judged elsewhere.

- `read_characters` is our own. It knows plain words between `&&`, `||`, `;` and `|`, and outputs that are thrown away. It leaves out the
  language of the shell rather than follow it. What is not understood to the last character is not followed, however harmless it is.
- `spans_by_grammar` has the pieces of a line as the grammar of the shell has them (tree-sitter-bash). Only kinds of nodes that are listed
  are followed; every other kind (substitutions, expansions, assignments, groups, functions, tests, errors and what the parser made up)
  means that the line is not.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from ullage.context.symbols.symbols import has_grammars

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

Kind: TypeAlias = Literal["word", "operator", "redirection"]

Span: TypeAlias = tuple[Kind, int, int]
"""A piece of the line: its kind, and where it begins and ends, in characters. Between two pieces there are only blanks."""

OPERATORS = frozenset({"&&", "||", ";", "|"})
"""The operators that may stand between two plain commands. Not `&`: what goes on in the background is not done when the call is."""

_BLANK = re.compile(r"[ \t]+")

_OPERATOR = re.compile(r"[;&|]+")

_REDIRECTION = re.compile(r"(?:[12]?>>?[ \t]*/dev/null|2>&1|1?>&2)(?=[ \t;&|]|$)")
"""A redirection that throws output away, or joins it with the other one. Not `&>`: dash reads it as `&` and then `>`."""

_BARE = re.compile(r"[A-Za-z0-9_\-./:=,+@%^~*?\x80-\U0010ffff]+")
"""A part of a word without quotes: no brackets of any kind, no `$`, backquote, backslash, `!` and `#`. `_is_letter` says more of what is
not ASCII."""

_SINGLE = re.compile(r"'([^']*)'")

_DOUBLE = re.compile(r'"([^"$`\\!]*)"')

_TILDE = re.compile(r"(?<![A-Za-z0-9_^~])~")
"""A `~` that becomes a home folder: at the start of a word and after `=` or `:`. Elsewhere (`HEAD~1`) it stands for itself."""

_READ_DIFFERENTLY = frozenset({*range(0x80, 0x90), 0xA0})
"""Bytes that shells read differently. Those of macOS take 85 and A0 for blanks also within a letter of UTF-8; dash marks things in a word
with those from 81 to 88."""

_GLOB = frozenset("*?")

_GROUPS = frozenset({"program", "list", "pipeline", "redirected_statement", "command", "command_name"})
"""The kinds of nodes whose children are the pieces."""

_PIECES: dict[str, Kind] = {
    "word": "word",
    "number": "word",
    "raw_string": "word",
    "string": "word",
    "concatenation": "word",
    "file_redirect": "redirection",
    "&&": "operator",
    "||": "operator",
    ";": "operator",
    "|": "operator",
}

_WITHIN_PIECES = frozenset({*_PIECES, "string_content", '"', "file_descriptor", ">", ">>", ">&"}) - {"file_redirect", "&&", "||", ";", "|"}

LONGEST = 4_000
"""The most characters of a line. A longer one is not read at all, so that reading takes no time that anybody feels."""

MOST_COMMANDS = 30
"""The most commands of one line. The grammar takes quadratic time over long pipelines."""

MOST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program gets it, except for `*` and `?`, which the shell expands to names of files."""

    text: str
    bare: bool
    """Whether nothing of it was quoted."""
    has_glob: bool
    """Whether it has `*` or `?`, so that the shell may put any number of words in its place."""


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """The words of each command of a line, in order, and the pieces that the line consists of."""

    commands: tuple[tuple[Word, ...], ...]
    spans: tuple[Span, ...]

    def joins(self, line: str) -> tuple[str, ...]:
        """The operators between the commands, in order (`&&`)."""
        return tuple(line[start:end] for kind, start, end in self.spans if kind == "operator")

    def texts(self, line: str) -> tuple[str, ...]:
        """The text of each command in the line, without its redirections."""
        found: list[list[Span]] = [[]]
        for span in self.spans:
            if span[0] == "operator":
                found.append([])
            elif span[0] == "word":
                found[-1].append(span)
        return tuple(line[spans[0][1] : spans[-1][2]] for spans in found if spans)


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """The line may do anything; `reason` says what in it is not followed."""

    reason: str


def follow(text: str) -> ParsedLine | NotFollowed:
    """The plain commands of a line, or why it is not followed. Time is linear in its length."""
    if len(text) > LONGEST:
        return NotFollowed("it is too long to be checked")
    read = read_characters(text)
    if isinstance(read, NotFollowed):
        return read
    if len(read.commands) > MOST_COMMANDS or sum(map(len, read.commands)) > MOST_WORDS:
        return NotFollowed("it has too many parts to be checked")
    if not has_grammars():
        return NotFollowed("the second reader of command lines, tree-sitter, is not installed on this system")
    if spans_by_grammar(text) != read.spans:
        return NotFollowed("it can be read in more than one way")
    return read


def read_characters(text: str) -> ParsedLine | NotFollowed:
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
    return ParsedLine(tuple(map(tuple, commands)), tuple(spans))


def _word(text: str, place: int) -> tuple[Word, int] | NotFollowed:
    """The word that begins at `place`, and where it ends; or why it is not followed."""
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


def spans_by_grammar(text: str) -> tuple[Span, ...] | None:
    """The pieces of a line in order, as the grammar reads it; None if it holds anything else. Places are in characters."""
    root = _parser().parse(text.encode()).root_node
    if root.has_error:
        return None
    found: list[tuple[Kind, int, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_missing or node.is_error or node.is_extra:
            return None
        kind = _PIECES.get(node.type)
        if kind is not None:
            if not _is_plain(node):
                return None
            found.append((kind, node.start_byte, node.end_byte))
        elif node.type in _GROUPS:
            waiting.extend(reversed(node.children))
        else:
            return None
    return _in_characters(text, found)


def _is_plain(piece: Node) -> bool:
    waiting = list(piece.children)
    while waiting:
        node = waiting.pop()
        if node.type not in _WITHIN_PIECES or node.is_missing or node.is_extra:
            return False
        waiting.extend(node.children)
    return True


def _in_characters(text: str, spans: list[Span]) -> tuple[Span, ...]:
    if text.isascii():
        return tuple(spans)
    at_byte: dict[int, int] = {}
    byte = 0
    for index, character in enumerate(text):
        at_byte[byte] = index
        byte += len(character.encode())
    at_byte[byte] = len(text)
    return tuple((kind, at_byte[start], at_byte[end]) for kind, start, end in spans)


def _parser() -> Parser:
    """A new parser for one line: a parser serves one thread at a time. Imported late: most sessions run no command at all."""
    from tree_sitter import Parser

    return Parser(_language())


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())
