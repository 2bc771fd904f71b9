"""A small reader of Seatbelt's profiles: what a profile says about one operation on one path. The last rule that matches decides.

Apple describes the language nowhere. What is known here as an operation or a filter stands in profiles that run on Macs: those that macOS
ships (listed at https://dnesting.com/2026/macos-sandbox-sbpl-reference/), and the one that @anthropic-ai/sandbox-runtime 0.0.78 makes.
`sandbox-exec` refuses a whole profile for one word that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
            if len(stack) == 1:
                raise ValueError("a bracket is closed that was not opened")
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
        case ["sysctl-name-prefix", Quoted() as begin]:
            return path.startswith(begin)
        case ["target", "same-sandbox"] | ["global-name", Quoted()]:
            return path == condition[1]
        case _:
            raise ValueError(f"this reader does not know {condition}")


LONGEST_STRING = 1_025
"""Bytes; `sandbox-exec` refuses a longer string ("Error reading string")."""

_PATHS = frozenset({"subpath", "literal", "vnode-type"})

OPERATIONS: Mapping[str, frozenset[str]] = {
    "process-exec": frozenset({"subpath", "literal"}),
    "process-fork": frozenset(),
    "process-info*": frozenset({"target"}),
    "signal": frozenset({"target"}),
    "ipc-posix-sem": frozenset(),
    "ipc-posix-shm": frozenset(),
    "sysctl-read": frozenset({"sysctl-name", "sysctl-name-prefix"}),
    "mach-lookup": frozenset({"global-name"}),
    "file-read*": _PATHS,
    "file-read-metadata": _PATHS,
    "file-write*": _PATHS,
    "file-write-data": _PATHS,
    "file-write-create": _PATHS,
    "file-write-unlink": _PATHS,
    "file-ioctl": _PATHS,
    "network-outbound": frozenset({"remote"}),
}
"""The operations that are used, and the filters that each takes."""

_VALUES: Mapping[str, str] = {
    "vnode-type": r"DIRECTORY|REGULAR-FILE|SYMLINK|CHARACTER-DEVICE|BLOCK-DEVICE|TTY",
    "target": "self|same-sandbox",
}
"""Filters whose value is a word, and which."""

_ADDRESS = re.compile(r"(localhost|\*):(\*|[1-9]\d{0,4})")
"""Of a machine `sandbox-exec` knows no other names ("host must be * or localhost")."""


def problems(text: str) -> list[str]:
    """What of a profile `sandbox-exec` would refuse, or take for something else. Raises `ValueError` where it cannot be read."""
    first, default, *rules = parse(text)
    found = [] if (first, default) == (["version", "1"], ["deny", "default"]) else ["it begins otherwise"]
    for rule in rules:
        match rule:
            case ["allow" | "deny", *rest] if any(isinstance(each, str) for each in rest):
                found += _problems_of(rest)
            case _:
                found.append(f"no rule: {rule}")
    return found


def _problems_of(rest: Sequence[Expression]) -> Iterator[str]:
    filters = [each for each in rest if isinstance(each, list)]
    names = [each for each in rest if isinstance(each, str)]
    if rest != [*names, *filters] or any(isinstance(name, Quoted) for name in names):
        yield f"operations come before filters, and without quotation marks: {rest}"
    for name in names:
        if name not in OPERATIONS:
            yield f"no operation: {name}"
        yield from (f"{name} takes no {each[:1]}" for each in filters if not each or each[0] not in OPERATIONS.get(name, ()))
    for each in filters:
        if not _is_well_formed(each):
            yield f"no filter: {each}"


def _is_well_formed(condition: list[Expression]) -> bool:
    match condition:
        case ["subpath" | "literal", Quoted() as path]:
            return path.startswith("/") and (path == "/" or not path.endswith("/")) and _fits(path)
        case ["sysctl-name" | "sysctl-name-prefix" | "global-name", Quoted() as name]:
            return bool(name) and _fits(name)
        case [("vnode-type" | "target") as kind, str() as word]:
            return not isinstance(word, Quoted) and re.fullmatch(_VALUES[kind], word) is not None
        case ["remote", "ip", Quoted() as address]:
            return _ADDRESS.fullmatch(address) is not None
        case _:
            return False


def _fits(text: str) -> bool:
    return "\0" not in text and len(text.encode()) <= LONGEST_STRING
