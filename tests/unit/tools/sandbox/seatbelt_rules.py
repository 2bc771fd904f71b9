"""A small reader of Seatbelt's profiles: what a profile says about one operation on one path. The last rule that matches decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

Expression: TypeAlias = "str | Quoted | list[Expression]"

TOKEN = re.compile(r'\s+|(?P<open>\()|(?P<close>\))|"(?P<string>(?:[^"\\]|\\.)*)"|(?P<word>[^\s()"]+)', re.DOTALL)

Kind: TypeAlias = Literal["file", "directory"]


class Quoted(str):
    """What stood in quotation marks."""


def parse(text: str) -> list[Expression]:
    """All expressions. Raises `ValueError` where it is none."""
    stack: list[list[Expression]] = [[]]
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"no expression: {text[at : at + 40]!r}")
        at = found.end()
        if found["open"]:
            stack.append([])
        elif found["close"]:
            inner = stack.pop()
            stack[-1].append(inner)
        elif found["string"] is not None:
            stack[-1].append(Quoted(re.sub(r"\\(.)", r"\1", found["string"], flags=re.DOTALL)))
        elif found["word"]:
            stack[-1].append(found["word"])
    if len(stack) != 1:
        raise ValueError("a bracket is not closed")
    return stack[0]


def allows(rules: Sequence[Expression], operation: str, path: str = "", kind: Kind = "file", remote: str = "") -> bool:
    """Whether it may be done."""
    allowed = False
    for rule in rules:
        match rule:
            case ["allow" | "deny" as action, *rest] if _is_of(operation, _words(rest)) and _matches(rest, path, kind, remote):
                allowed = action == "allow"
            case _:
                pass
    return allowed


def _words(rest: Sequence[Expression]) -> Iterator[str]:
    return (each for each in rest if isinstance(each, str))


def _is_of(operation: str, named: Iterator[str]) -> bool:
    return any(name == operation or name == "default" or (name.endswith("*") and operation.startswith(name[:-1])) for name in named)


def _matches(rest: Sequence[Expression], path: str, kind: Kind, remote: str) -> bool:
    filters = [each for each in rest if isinstance(each, list)]
    return not filters or any(_one(each, path, kind, remote) for each in filters)


def _one(condition: list[Expression], path: str, kind: Kind, remote: str) -> bool:
    match condition:
        case ["subpath", Quoted() as folder]:
            return path == folder or path.startswith(f"{folder.rstrip('/')}/")
        case ["literal", Quoted() as name]:
            return path == name
        case ["vnode-type", "DIRECTORY"]:
            return kind == "directory"
        case ["remote", "ip", Quoted() as address]:
            return remote == address
        case ["target", "same-sandbox"] | ["sysctl-name-prefix" | "global-name", Quoted()]:
            return path == condition[1]
        case _:
            raise ValueError(f"this reader does not know {condition}")
