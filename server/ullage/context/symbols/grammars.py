"""Which language a file is in, and its compiled grammar with the query that finds names in it.

The grammars are imported when a text in their language is first read: that must not slow down start-up.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Query

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
"""A header may be C or C++; the grammar for C++ reads both."""

QUERIES_OF = {
    "javascript": ("ecmascript", "javascript"),
    "typescript": ("ecmascript", "typescript"),
    "tsx": ("ecmascript", "typescript", "tsx"),
    "cpp": ("c", "cpp"),
}
"""The files in `queries/` where it is not just the one of the language's name."""


def language_of(path: str) -> str | None:
    """The language of a file by the end of its name; None where there is no grammar for it."""
    return LANGUAGE_OF_SUFFIX.get(PurePosixPath(path.replace("\\", "/")).suffix.lower())


@cache
def grammar(language: str) -> Language:
    """The grammar of a language that `language_of` names."""
    from tree_sitter import Language

    return Language(_compiled(language))


@cache
def query(language: str) -> Query:
    """Finds the names in a text: the captures `definition` (what has a body of its own), `value` (a constant) and `reference`."""
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
