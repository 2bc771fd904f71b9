"""The names that a source text defines and refers to, with their lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ullage.context.symbols.grammars import grammar, language_of, query

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_TEXT = 500_000
"""Characters. A longer text is generated or packed code, which has no outline worth showing."""
KEPT_TEXTS = 512
"""Texts whose symbols are kept: the same ones are asked for again at the next compaction."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name in a text. `line` is counted from 1, as `read_file` counts lines."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Symbols:
    """What stands in one text, each in the order of its lines."""

    definitions: tuple[Symbol, ...]
    """What has a body of its own: functions, classes, types, modules."""
    values: tuple[Symbol, ...]
    """Constants and variables of the whole file."""
    references: tuple[Symbol, ...]
    """Calls, imports, types and base classes."""


def symbols(path: str, text: str) -> Symbols | None:
    """What stands in `text`, the file of that path; None where there is no grammar for it or it is too long to be source.

    A text with errors in it gives what can be made out.
    """
    language = language_of(path)
    if language is None or len(text) > LONGEST_TEXT:
        return None
    return _read(language, text)


@lru_cache(maxsize=KEPT_TEXTS)
def _read(language: str, text: str) -> Symbols:
    from tree_sitter import Parser, QueryCursor

    tree = Parser(grammar(language)).parse(text.encode("utf-8", "replace"))
    found = QueryCursor(query(language)).captures(tree.root_node)
    definitions = _symbols(found.get("definition", []))
    defined = {(symbol.name, symbol.line) for symbol in definitions}
    values = tuple(symbol for symbol in _symbols(found.get("value", [])) if (symbol.name, symbol.line) not in defined)
    return Symbols(definitions, values, _symbols(found.get("reference", [])))


def _symbols(nodes: list[Node]) -> tuple[Symbol, ...]:
    positions = sorted({(node.start_byte, node.start_point.row, node.text or b"") for node in nodes})
    return tuple(Symbol(name.decode("utf-8", "replace"), row + 1) for _, row, name in positions)
