"""`ullage policies`: which policies there are, and the whole of one: its numbers with their units, its engine, its prompts, its sources.

Which there are is known in `installed_policies.py`, what they are in `context/policy.py`.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TextIO, TypeAlias, cast

from ullage.context.engines.engine import Engine, has_upkeep, sweeps, tools_wanted
from ullage.context.engines.ullage import UllageEngine
from ullage.context.policy import BelowWindow, FixedCharacters, FixedTokens, Measure, Never, Policy, ShareOfWindow
from ullage.context.record.summary_prompt import asking
from ullage.installed_policies import installed

Format: TypeAlias = Literal["table", "json"]

_USAGE_ERROR = 2

_PROMPT_CHARACTERS = 120
"""A longer text among an engine's values is a prompt: its beginning is shown."""
_SHOWN_CHARACTERS = 240

_MOVES = {
    "ClipNumbers": "clip on arrival",
    "ClearNumbers": "clear",
    "SnipNumbers": "snip",
    "WindowNumbers": "window",
    "SummaryNumbers": "summary",
    "SummaryShape": "summary",
    "PruneNumbers": "prune on arrival",
    "LosslessNumbers": "summaries over summaries",
    "MemgptNumbers": "summary, memory blocks",
    "MemoryBlocksNumbers": "blocks of facts",
    "AiderNumbers": "summary, repository map",
}
"""What an engine does, by the class of its numbers. An engine of another kind is named itself."""

_MEASURES: Mapping[Measure, str] = {
    "usage": "",
    "messages": ", of the messages alone",
    "characters / 4": ", by a quarter of the messages' characters",
}

_UNITS = ("tokens", "characters", "messages", "results", "turns", "lines", "files", "seconds")
"""As names of numbers end."""
_OTHER_UNITS = {
    "reserve": "tokens",
    "margin": "tokens",
    "cap": "tokens",
    "at_most": "tokens",
    "at_least": "tokens",
    "minimum_gain": "tokens",
    "map": "tokens",
    "keep_first": "messages",
    "keep_last": "messages",
}


_TOKENS = ("chunk", "target", "smallest", "fallback", "most", "least")


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
        whole = {**_summary(policy, found.packages), "values": _plain(policy)}
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


def line_in_words(policy: Policy) -> str:
    """Where the context counts as full."""
    match policy.line.full_at:
        case BelowWindow(reserve, margin, cap):
            words = f"{reserve + margin:,} tokens below the window{'' if cap is None else f', at {cap:,} at the latest'}"
        case ShareOfWindow(share, most, least):
            words = f"{100 * share:.4g} % of the window"
            words += "" if most is None else f", at {most:,} tokens at the latest"
            words += f", not before {least:,}" if least else ""
        case FixedTokens(tokens):
            words = f"{tokens:,} tokens"
        case FixedCharacters(characters):
            return f"{characters:,} characters of the messages"
        case Never():
            return "never by itself"
    return words + _MEASURES[policy.measure]


def moves_of(policy: Policy) -> tuple[str, ...]:
    """What it does, in few words: as far as the classes of its numbers say it."""
    engine = policy.engine
    found = [_MOVES[kind] for kind in _classes_in(engine) if kind in _MOVES]
    if has_upkeep(engine):
        found.insert(0, "upkeep before every call")
    if type(engine).__name__ not in ("UllageEngine", "Staged", "Unchanging"):
        found.append(f"an engine of its own, {type(engine).__name__}")
    if tools_wanted(engine):
        found.append("tools: " + ", ".join(sorted(tools_wanted(engine))))
    if sweeps(engine) > 1:
        found.append(f"up to {sweeps(engine)} compactions at once")
    if policy.restore is not None:
        found.append("restore files")
    return tuple(dict.fromkeys(found)) or ("none",)


def _classes_in(value: object) -> Iterator[str]:
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for field in fields(value):
            yield from _classes_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in cast("tuple[object, ...]", value):
            yield from _classes_in(each)


def _plain(value: object) -> Any:
    """For JSON: values as they are, sets in order, engines and other values by their class."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"class": _class_of(value), **inside}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, cast("frozenset[object]", value)))
    if isinstance(value, tuple | list):
        return [_plain(each) for each in cast("tuple[object, ...]", value)]
    return value if value is None or isinstance(value, str | int | float | bool) else _class_of(value)


def _class_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _table(rows: list[dict[str, Any]]) -> str:
    width = max(len(row["name"]) for row in rows) + 2
    columns = max(60, shutil.get_terminal_size((120, 24)).columns)
    lines: list[str] = []
    for row in rows:
        brought = "" if row["package"] == "ullage" else f" (from {row['package']})"
        texts = (f"{row['title']}{brought}", f"Full at: {row['line']}", f"Moves: {', '.join(row['moves'])}")
        wrapped = [part for text in texts for part in textwrap.wrap(text, columns - width, subsequent_indent="  ")]
        lines += [f"{row['name'] if index == 0 else '':{width}}{part}" for index, part in enumerate(wrapped)]
        lines.append("")
    return "\n".join([*lines, "`ullage policies NAME` shows the whole of one; ullage.compaction.policy puts it in force.", ""])


def _whole(policy: Policy, summary: Mapping[str, Any]) -> str:
    numbers = list(_numbers(policy))
    width = max((len(name) for name, _ in numbers), default=0) + 2
    prompts = list(prompts_in(policy.engine, "engine"))
    parts = [
        f"{policy.name}: {policy.title}",
        f"Full at: {summary['line']}\nMoves: {', '.join(summary['moves'])}",
        f"Engine: {_class_of(policy.engine)}\nPackage: {summary['package']}",
        "Numbers:\n" + "\n".join(f"  {name:{width}}{value}".rstrip() for name, value in numbers),
        "Prompts:\n" + "\n".join(f"  {name} ({len(text):,} characters): {_beginning(text)}" for name, text in prompts) if prompts else "",
        "Sources:\n" + "\n".join(f"  {source}" for source in policy.sources),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _numbers(policy: Policy) -> Iterator[tuple[str, str]]:
    yield from _values(policy.line, "line")
    yield from _values(policy.engine, "engine")
    if policy.restore is not None:
        yield from _values(policy.restore, "restore")


def _values(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The values in a dataclass with their paths, prompts aside."""
    if is_dataclass(value) and not isinstance(value, type):
        if path.count(".") and not fields(value):
            yield path, type(value).__name__
        for field in fields(value):
            yield from _values(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple) and any(is_dataclass(each) for each in cast("tuple[object, ...]", value)):
        for index, each in enumerate(cast("tuple[object, ...]", value), 1):
            yield from _values(each, f"{path}[{index}]")
    elif not _is_prompt(cast("object", value)):
        yield path, _in_words(cast("object", value), path.rpartition(".")[2])


def _in_words(value: object, name: str) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float() if "share" in name or name.endswith("ratio"):
            return f"{value:.4g} ({100 * value:.4g} %)"
        case int() | float():
            return f"{value:,} {unit_of(name)}".rstrip()
        case frozenset() | tuple():
            return ", ".join(sorted(map(str, cast("frozenset[object]", value)))) or "none"
        case str():
            return repr(value)
        case _:
            return _class_of(value)


def unit_of(name: str) -> str:
    """What a number of that name counts; empty where the name does not say it."""
    last = name.rpartition("_")[2]
    return _OTHER_UNITS.get(name) or (last if last in _UNITS else "tokens" if last in _TOKENS else "")


def prompts_in(value: Engine | object, path: str) -> Iterator[tuple[str, str]]:
    """The prompts among an engine's values, each with where it stands."""
    if isinstance(value, UllageEngine):
        yield "summary", asking("", "")
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from prompts_in(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, str) and _is_prompt(value):
        yield path, value


def _is_prompt(value: object) -> bool:
    return isinstance(value, str) and (len(value) > _PROMPT_CHARACTERS or "\n" in value)


def _beginning(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN_CHARACTERS else f"{one_line[:_SHOWN_CHARACTERS].rstrip()} …"


def _complain(text: str) -> None:
    _write(sys.stderr, f"ullage policies: {text}\n")


def _write(stream: TextIO, text: str) -> None:
    """Also where the terminal cannot show every character."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
