"""Trees of Python's source texts, and what is in them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import cast

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    """The source of a file. Whoever reads all of a package has it looked through once, and lets go of it with `parsed.cache_clear`."""
    return ast.parse(path.read_text("utf-8"))


def below(root: ast.AST) -> Iterator[ast.AST]:
    """All nodes under it, in no order that counts."""
    return _walked(root, _children)


def own_nodes(root: ast.AST, *, itself: bool = False) -> Iterator[ast.AST]:
    """All nodes of a function but those of functions and classes inside; these themselves are among them."""
    if itself:
        yield root
        if isinstance(root, FunctionNode | ast.ClassDef):
            return
    yield from _walked(root, _children, _WITH_OWN_NODES)


_WITH_OWN_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _walked(root: ast.AST, below_it: Callable[[ast.AST], list[ast.AST]], ends: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.AST]:
    """All that `below_it` leads to from the root; beyond those of the kinds in `ends` it does not go."""
    waiting = below_it(root)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ends):
            waiting += below_it(node)


@cache
def _fields(kind: type[ast.AST]) -> Sequence[str]:
    """Where a node of that kind can have others, the last first. Without what only says that a name is read or set: every name has one."""
    return [name for name in reversed(kind._fields) if name not in _WITHOUT_NODES]


_WITHOUT_NODES = {"arg", "attr", "ctx", "id", "kind", "level", "module", "type_comment"}


def _children(node: ast.AST) -> list[ast.AST]:
    """The last first."""
    found: list[ast.AST] = []
    for name in _fields(type(node)):
        value: object = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif value and isinstance(value, list):
            found += [each for each in reversed(cast("list[object]", value)) if isinstance(each, ast.AST)]
    return found


def statements(root: ast.AST) -> Iterator[ast.AST]:
    """Those below it, with the handlers and cases between them. They are a tenth of the nodes: no expression has statements in it."""
    return _walked(root, right_below)


def own_statements(root: ast.AST) -> Iterator[ast.AST]:
    """Those of `own_nodes`."""
    return _walked(root, right_below, _WITH_OWN_NODES)


def right_below(node: ast.AST) -> list[ast.AST]:
    """The statements right below it, the last first, with handlers and cases."""
    return [each for name in _WITH_STATEMENTS if name in node._fields for each in reversed(cast("list[ast.AST]", getattr(node, name)))]


_WITH_STATEMENTS = ("finalbody", "orelse", "handlers", "body", "cases")
