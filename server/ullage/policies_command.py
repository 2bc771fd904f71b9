"""`ullage policies`: the policies that can be used, and what each does.

In words: its threshold, what it does, its options with their units, its engine, its prompts and its sources, and where it differs from its
source. `installed_policies.py` knows which there are.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from typing import Any, Literal, TextIO, TypeAlias, cast

from ullage.context.engines.engine import Engine
from ullage.context.engines.staged import Staged
from ullage.context.policies.table import BUILT_IN
from ullage.context.policies.ullage import UllageEngine
from ullage.context.policy import BelowWindow, FixedCharacters, FixedTokens, Measure, Never, Policy, ShareOfWindow
from ullage.context.summary.summary_prompt import asking
from ullage.installed_policies import installed

_LONG_CHARACTERS = 120
"""How many characters a text among an engine's values may have to be shown among the options; a longer one is shown beside the prompts."""

_MOVES = {
    "ClipOptions": "clip on arrival",
    "ClearOptions": "clear",
    "SnipOptions": "snip",
    "WindowOptions": "window",
    "SummaryOptions": "summary",
    "SummaryShape": "summary",
    "PruneOptions": "prune on arrival",
    "LosslessOptions": "summaries over summaries",
    "MemgptOptions": "summary, memory blocks",
    "MemoryBlocksOptions": "blocks of facts",
    "AiderOptions": "summary, repository map",
}
"""What an engine does, by the class of its options. An engine with none of these is named itself."""

_MEASURES: Mapping[Measure, str] = {
    "usage": "",
    "messages": ", of the messages alone",
    "characters / 4": ", by a quarter of the messages' characters",
}

_UNITS = ("tokens", "characters", "messages", "results", "turns", "lines", "files", "seconds", "words", "facts", "sections")
"""The ends of names of options that are their unit."""

_UNITS_BY_ENDING = {"fanout": "summaries", "factor": "times"} | dict.fromkeys(
    ("chunk", "target", "smallest", "fallback", "most", "least"), "tokens"
)

_UNITS_BY_NAME = {
    "reserve": "tokens",
    "margin": "tokens",
    "cap": "tokens",
    "at_most": "tokens",
    "at_least": "tokens",
    "minimum_gain": "tokens",
    "map": "tokens",
    "keep_first": "messages",
    "keep_last": "messages",
    "recalled": "passages",
    "sweeps": "compactions",
}

_PROMPTS = ("prompt", "update", "check")
"""The ends of names of prompts."""

_OTHER_TEXTS = ("placeholder", "preface", "acknowledgement")

Format: TypeAlias = Literal["table", "json"]

_USAGE_ERROR = 2


def run(name: str | None, format: Format = "table") -> int:
    """Writes the list of policies, or all of that one, to stdout, and what is wrong with packages to stderr; gives the exit code: 2 for an
    unknown name."""
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
        "line": threshold_in_words(policy),
        "moves": list(moves_of(policy)),
        "package": packages.get(policy.name, "ullage"),
    }


def _plain(value: object) -> Any:
    """The value as JSON can hold it: plain values as they are, sets in order, engines and other values by their class."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"class": class_of(value), **inside}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, cast("frozenset[object]", value)))
    if isinstance(value, (tuple, list)):
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
    return "\n".join(
        [*lines, '`ullage policies NAME` shows the whole of one. The setting "Ullage › Compaction: Policy" puts it in force.', ""]
    )


def _whole(policy: Policy, summary: Mapping[str, Any]) -> str:
    columns = _columns()
    numbers = list(options_of(policy))
    width = max((len(name) for name, _ in numbers), default=0) + 2
    parts = [
        f"{policy.name}: {policy.title}",
        f"Full at: {summary['line']}\nMoves: {', '.join(summary['moves'])}",
        f"Engine: {class_of(policy.engine)}\nPackage: {summary['package']}",
        textwrap.fill(" ".join(differences(policy).split()), columns),
        "Options (those that are off and were not switched on are left out; `--format json` has all):\n"
        + "\n".join(f"  {name:{width}}{value}".rstrip() for name, value in numbers),
        _titled("What a model is asked:", prompts_in(policy.engine, "engine"), columns),
        _titled("What stands in messages:", other_texts_in(policy.engine, "engine"), columns),
        "Sources:\n" + "\n".join(f"  {source}" for source in policy.sources),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _titled(title: str, texts: Iterator[tuple[str, str]], columns: int) -> str:
    shown = [f"  {name} ({len(text):,} characters):\n{_paragraphs(text, columns, '    ')}" for name, text in texts]
    return "\n".join((title, *shown)) if shown else ""


def _paragraphs(text: str, columns: int, indent: str) -> str:
    """The whole text, line by line, wrapped so that none is wider than the terminal."""
    wrapped = (textwrap.fill(line, columns, initial_indent=indent, subsequent_indent=indent) for line in text.split("\n"))
    return "\n".join(wrapped)


def _columns() -> int:
    return max(60, shutil.get_terminal_size((120, 24)).columns)


def _complain(text: str) -> None:
    _write(sys.stderr, f"ullage policies: {text}\n")


def _write(stream: TextIO, text: str) -> None:
    """Writes a text to a stream, with `?` for characters that its encoding does not have."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))


def threshold_in_words(policy: Policy) -> str:
    """In words: when the context counts as full under that policy."""
    match policy.threshold.full_at:
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
    """What a policy does, in few words, as far as the classes of its options say it."""
    engine = policy.engine
    found = [_MOVES[kind] for kind in _classes_in(engine) if kind in _MOVES]
    if engine.keeps_up:
        found.insert(0, f"upkeep {_when_kept_up(engine)}")
    if type(engine).__name__ not in ("UllageEngine", "Staged", "Unchanging"):
        found.append(f"an engine of its own ({type(engine).__name__})")
    if engine.tools:
        found.append("tools: " + ", ".join(sorted(engine.tools)))
    if engine.sweeps > 1:
        found.append(f"up to {engine.sweeps} compactions at once")
    if policy.restore is not None:
        found.append("restore files")
    if policy.saves:
        found.append("before its threshold where that costs less")
    return tuple(dict.fromkeys(found)) or ("none",)


def _when_kept_up(engine: Engine) -> str:
    if isinstance(engine, Staged) and engine.every_call.between_turns:
        return "between turns"
    if isinstance(engine, Staged) and engine.every_call.after_seconds:
        return f"after {engine.every_call.after_seconds / 60:.4g} minutes without a call"
    return "before every call"


def _classes_in(value: object) -> Iterator[str]:
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for field in fields(value):
            yield from _classes_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in cast("tuple[object, ...]", value):
            yield from _classes_in(each)


def differences(policy: Policy) -> str:
    """How a policy of Ullage's own differs from what it reproduces, and what it is based on: the text below the first line in its file.
    Empty for other policies."""
    if BUILT_IN.get(policy.name) is not policy:
        return ""
    told = import_module(f"ullage.context.policies.{policy.name.replace('-', '_')}").__doc__ or ""
    return told.partition("\n\n")[2].strip()


def options_of(policy: Policy) -> Iterator[tuple[str, str]]:
    """The options of a policy, each with its path and its value with the unit. Texts are left out, and options that are off by default and
    were not switched on."""
    for part, path in ((policy.threshold, "threshold"), (policy.engine, "engine"), (policy.restore, "restore")):
        for where, value in _values(part, path) if part is not None else ():
            if not isinstance(value, str) or not _is_text(value, _name(where)):
                yield where, in_words(value, _name(where))


def prompts_in(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The texts among an engine's values that a model is asked, each with the path of its option."""
    yield from ((where, text) for where, text in _texts(value, path) if _is_prompt(_name(where)))


def other_texts_in(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The texts among an engine's values that stand in messages in the place of others, and other long ones, each with the path of its
    option."""
    yield from ((where, text) for where, text in _texts(value, path) if not _is_prompt(_name(where)))


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    yield from ((where, text) for where, text in _values(value, path) if isinstance(text, str) and _is_text(text, _name(where)))


def _values(value: object, path: str) -> Iterator[tuple[str, object]]:
    """The values in dataclasses, however deep, with their paths."""
    if isinstance(value, UllageEngine):
        yield f"{path}.prompt", asking("", "")  # it stands in a file of its own
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            inside = getattr(value, field.name)
            if not _is_off(inside, field):
                yield from _values(inside, f"{path}.{field.name}")
    elif isinstance(value, tuple) and any(is_dataclass(each) for each in cast("tuple[object, ...]", value)):
        for index, each in enumerate(cast("tuple[object, ...]", value), 1):
            yield from _values(each, f"{path}[{index} {_MOVES.get(type(each).__name__, type(each).__name__)}]")
    elif "." in path:
        yield path, cast("object", value)


def _is_off(value: object, field: Field[Any]) -> bool:
    return not value and field.default is not MISSING and bool(field.default == value)


def _is_text(value: str, name: str) -> bool:
    return _is_prompt(name) or name in _OTHER_TEXTS or len(value) > _LONG_CHARACTERS or "\n" in value


def _is_prompt(name: str) -> bool:
    return name.rpartition("_")[2] in _PROMPTS


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def in_words(value: object, name: str) -> str:
    """A value in words, with the unit that its name says."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float() if "share" in name or name.endswith(("ratio", "rate")):
            return f"{value:.4g} ({100 * value:.4g} %)"
        case int():
            return f"{value:,} {unit_of(name)}".rstrip()
        case float():
            return f"{value:,.10g} {unit_of(name)}".rstrip()
        case frozenset() | tuple():
            return ", ".join(sorted(map(str, cast("frozenset[object]", value)))) or "none"
        case str():
            return repr(value)
        case _:
            return class_of(value)


def unit_of(name: str) -> str:
    """The unit of a number with that name; empty if the name does not say it."""
    last = name.rpartition("_")[2]
    return _UNITS_BY_NAME.get(name) or (last if last in _UNITS else _UNITS_BY_ENDING.get(last, ""))


def class_of(value: object) -> str:
    """The name of a value's class with its module, as it would be imported."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
