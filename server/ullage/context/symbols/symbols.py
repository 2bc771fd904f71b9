"""The names that a source text defines and refers to, with their lines.

The language of a file is told by its name. Each language has a compiled grammar and a query that finds names. The grammars are imported
when a text in their language is first read: that must not slow down start-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query


LONGEST_TEXT = 500_000
"""Characters. A longer text is generated or packed code, which has no outline worth showing."""
KEPT_TEXTS = 512
"""Texts whose symbols are kept: the same ones are asked for again at the next compaction."""

LANGUAGE_OF_SUFFIX = {
    ".c": "c",
    ".cc": "cpp",
    ".cjs": "javascript",
    ".cpp": "cpp",
    ".cts": "typescript",
    ".cxx": "cpp",
    ".go": "go",
    ".h": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
    ".java": "java",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".mts": "typescript",
    ".py": "python",
    ".pyi": "python",
    ".rake": "ruby",
    ".rb": "ruby",
    ".rs": "rust",
    ".ts": "typescript",
    ".tsx": "tsx",
}
"""The language of a file by the suffix of its name. A header may be C or C++; the grammar for C++ reads both."""

QUERIES_OF = {
    "javascript": ("ecmascript", "javascript"),
    "typescript": ("ecmascript", "typescript"),
    "tsx": ("ecmascript", "typescript", "tsx"),
    "cpp": ("c", "cpp"),
}
"""The files in `queries/` for a language, where it is not just the one of the language's name."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name in a text. `line` is counted from 1, as `read_file` counts lines."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Symbols:
    """The names that one text defines and refers to, each group in the order of its lines."""

    definitions: tuple[Symbol, ...]
    """Things with a body of their own: functions, classes, types, modules."""
    values: tuple[Symbol, ...]
    """Constants and variables of the whole file."""
    references: tuple[Symbol, ...]
    """Calls, imports, types and base classes."""


def symbols(path: str, text: str) -> Symbols | None:
    """The symbols in `text`, the text of the file `path`; None if there is no grammar for the file or the text is too long to be source.

    If the text has errors, the symbols are those that can be made out.
    """
    language = language_of(path)
    if language is None or len(text) > LONGEST_TEXT or not has_grammars():
        return None
    return _read(language, text)


@cache
def has_grammars() -> bool:
    """Whether tree-sitter is installed. Alpine on ARM has none: there is no wheel of it (`scripts/lib/wheels.py`)."""
    return find_spec("tree_sitter") is not None


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


def language_of(path: str) -> str | None:
    """The language of a file by the end of its name; None if there is no grammar for it."""
    return LANGUAGE_OF_SUFFIX.get(PurePosixPath(path.replace("\\", "/")).suffix.lower())


@cache
def grammar(language: str) -> Language:
    """The grammar of a language that `language_of` names."""
    from tree_sitter import Language

    return Language(_compiled(language))


@cache
def query(language: str) -> Query:
    """The query that finds the names in a text. Its captures are `definition` (what has a body of its own), `value` (a constant) and
    `reference`."""
    from tree_sitter import Query

    folder = files(__package__ or "ullage.context.symbols").joinpath("queries")
    names = QUERIES_OF.get(language, (language,))
    return Query(grammar(language), "\n".join(folder.joinpath(f"{name}.scm").read_text(encoding="utf-8") for name in names))


def _compiled(language: str) -> object:
    match language:
        case "c":
            import tree_sitter_c

            return tree_sitter_c.language()
        case "cpp":
            import tree_sitter_cpp

            return tree_sitter_cpp.language()
        case "go":
            import tree_sitter_go

            return tree_sitter_go.language()
        case "java":
            import tree_sitter_java

            return tree_sitter_java.language()
        case "javascript":
            import tree_sitter_javascript

            return tree_sitter_javascript.language()
        case "python":
            import tree_sitter_python

            return tree_sitter_python.language()
        case "ruby":
            import tree_sitter_ruby

            return tree_sitter_ruby.language()
        case "rust":
            import tree_sitter_rust

            return tree_sitter_rust.language()
        case "tsx":
            import tree_sitter_typescript

            return tree_sitter_typescript.language_tsx()
        case "typescript":
            import tree_sitter_typescript

            return tree_sitter_typescript.language_typescript()
        case _:
            raise KeyError(language)
