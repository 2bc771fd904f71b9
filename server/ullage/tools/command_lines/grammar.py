"""The second reader of command lines: the pieces of a line as the grammar of the shell (tree-sitter-bash) has them.

Only kinds of nodes that are listed are followed; every other kind (substitutions, expansions, assignments, groups, functions, tests,
errors and what the parser made up) means that the line is not.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ullage.tools.command_lines.words import Kind, Span

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

_GROUPS = frozenset({"program", "list", "pipeline", "redirected_statement", "command", "command_name"})
"""Their children are the pieces."""

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


def spans_by_grammar(text: str) -> tuple[Span, ...] | None:
    """The pieces of a line in order; None where it holds anything else. Places are in characters."""
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
    """One for each line: a parser serves one thread at a time. Imported late: most sessions run no command at all."""
    from tree_sitter import Parser

    return Parser(_language())


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())
