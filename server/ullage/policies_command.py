"""`ullage policies`: which policies there are, and the whole of one: its numbers with their units, its engine, its prompts, its sources.

Which there are is known in `installed_policies.py`, what they are in `context/policy.py`, how that is put in words in `policy_words.py`.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TextIO, TypeAlias, cast

from ullage.context.policy import Policy
from ullage.installed_policies import installed
from ullage.policy_words import class_of, differences, line_in_words, moves_of, numbers_of, other_texts_in, prompts_in

Format: TypeAlias = Literal["table", "json"]

_USAGE_ERROR = 2


def run(name: str | None, format: Format = "table") -> int:
    """Writes the list, or that policy, to stdout, and what is wrong with packages to stderr; gives the exit code: 2 for an unknown name."""
    found = installed()
    for problem in found.problems:
        _complain(problem)
    if name is None:
        rows = [_summary(policy, found.packages) for policy in found.policies.values()]
        _write(sys.stdout, f"{json.dumps(rows, ensure_ascii=False, indent=2)}\n" if format == "json" else _table(rows))
        return 0
    policy = found.policies.get(name)
    if policy is None:
        _complain(f"there is no policy {name!r}. There are: {', '.join(found.policies)}")
        return _USAGE_ERROR
    if format == "json":
        whole = {
            **_summary(policy, found.packages),
            "differences": " ".join(differences(policy).split()),
            "values": _plain(policy),
            "prompts": dict(prompts_in(policy.engine, "engine")),
        }
        _write(sys.stdout, f"{json.dumps(whole, ensure_ascii=False, indent=2)}\n")
    else:
        _write(sys.stdout, _whole(policy, _summary(policy, found.packages)))
    return 0


def _summary(policy: Policy, packages: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": policy.name,
        "title": policy.title,
        "line": line_in_words(policy),
        "moves": list(moves_of(policy)),
        "package": packages.get(policy.name, "ullage"),
    }


def _plain(value: object) -> Any:
    """For JSON: values as they are, sets in order, engines and other values by their class."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"class": class_of(value), **inside}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, cast("frozenset[object]", value)))
    if isinstance(value, tuple | list):
        return [_plain(each) for each in cast("tuple[object, ...]", value)]
    return value if value is None or isinstance(value, str | int | float | bool) else class_of(value)


def _table(rows: list[dict[str, Any]]) -> str:
    width = max(len(row["name"]) for row in rows) + 2
    columns = _columns()
    lines: list[str] = []
    for row in rows:
        brought = "" if row["package"] == "ullage" else f" (from {row['package']})"
        texts = (f"{row['title']}{brought}", f"Full at: {row['line']}", f"Moves: {', '.join(row['moves'])}")
        wrapped = [part for text in texts for part in textwrap.wrap(text, columns - width, subsequent_indent="  ")]
        lines += [f"{row['name'] if index == 0 else '':{width}}{part}" for index, part in enumerate(wrapped)]
        lines.append("")
    return "\n".join([*lines, "`ullage policies NAME` shows the whole of one; ullage.compaction.policy puts it in force.", ""])


def _whole(policy: Policy, summary: Mapping[str, Any]) -> str:
    columns = _columns()
    numbers = list(numbers_of(policy))
    width = max((len(name) for name, _ in numbers), default=0) + 2
    parts = [
        f"{policy.name}: {policy.title}",
        f"Full at: {summary['line']}\nMoves: {', '.join(summary['moves'])}",
        f"Engine: {class_of(policy.engine)}\nPackage: {summary['package']}",
        textwrap.fill(" ".join(differences(policy).split()), columns),
        "Numbers (those that are off and were not switched on are left out; `--format json` has all):\n"
        + "\n".join(f"  {name:{width}}{value}".rstrip() for name, value in numbers),
        _texts("What a model is asked:", prompts_in(policy.engine, "engine"), columns),
        _texts("What stands in messages:", other_texts_in(policy.engine, "engine"), columns),
        "Sources:\n" + "\n".join(f"  {source}" for source in policy.sources),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _texts(title: str, texts: Iterator[tuple[str, str]], columns: int) -> str:
    shown = [f"  {name} ({len(text):,} characters):\n{_paragraphs(text, columns, '    ')}" for name, text in texts]
    return "\n".join((title, *shown)) if shown else ""


def _paragraphs(text: str, columns: int, indent: str) -> str:
    """The whole of it, line by line, each no wider than the terminal."""
    wrapped = (textwrap.fill(line, columns, initial_indent=indent, subsequent_indent=indent) for line in text.split("\n"))
    return "\n".join(wrapped)


def _columns() -> int:
    return max(60, shutil.get_terminal_size((120, 24)).columns)


def _complain(text: str) -> None:
    _write(sys.stderr, f"ullage policies: {text}\n")


def _write(stream: TextIO, text: str) -> None:
    """Also where the terminal cannot show every character."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
