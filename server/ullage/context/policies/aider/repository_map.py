"""The repository map: of many source texts, the definitions that matter most to what is being worked on, in a fixed budget.

How much a definition matters is told by who refers to it. The weights are those of aider's `repomap.py`.

PageRank is ours, since every package that is kept brings much more than these lines: NetworkX and fast-pagerank need NumPy and SciPy for
it, rustworkx NumPy, and igraph is under the GPL. The numbers are NetworkX's: a test holds some that it gave.

The texts of files are known as far as a log shows them: read, written and edited by tools of several programs (`known_texts`). Patches as
Codex writes them (`*** Update File: …`) are applied too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from pathlib import PurePosixPath

from ullage.context.blocks import Json
from ullage.context.calls import PATH_KEYS, Call, answered_calls, strings_of
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged
from ullage.context.symbols.symbols import Symbols, symbols

PREFERENCE = 100
"""How much a file that is worked on or spoken of counts as a place to begin; divided by the number of files."""
SPOKEN_OF = 10
"""How many times as much a name counts that was spoken of ..."""
TELLING = 10
"""... and one of several words, with at least this many characters:"""
TELLING_CHARACTERS = 8
PRIVATE = 0.1
"""How much a name counts that begins with an underscore, against others ..."""
COMMON = 0.1
COMMON_FILES = 5
"""... and one that more files than this define."""
WORKED_ON = 50
"""How many times as much a reference counts in a file that is worked on."""
UNREFERENCED = 0.1
"""How much a definition counts that nothing refers to."""
LINE_CHARACTERS = 100

DAMPING = 0.85
TOLERANCE = 1e-6
"""By how much, for each node, the ranks may still change in the last round."""
MOST_ROUNDS = 100


def repository_map(
    texts: Mapping[str, str],
    tokens: int,
    *,
    worked_on: Collection[str] = (),
    spoken_of: Collection[str] = (),
) -> str:
    """The definitions that matter most, as many as fit into `tokens`, by file with their lines; empty if none fits.

    `texts` are the files by path, `worked_on` paths among them, `spoken_of` words of the conversation: names and names of files.
    """
    found = {path: read for path, text in texts.items() if (read := symbols(path, text)) is not None}
    order = _ranked(found, frozenset(worked_on), frozenset(spoken_of))
    lines_of = {path: texts[path].split("\n") for path in found}
    fits, too_many = 0, len(order) + 1
    while fits + 1 < too_many:
        middle = (fits + too_many) // 2
        if estimate_text(_drawn(order[:middle], lines_of)) <= tokens:
            fits = middle
        else:
            too_many = middle
    return _drawn(order[:fits], lines_of)


def _ranked(found: Mapping[str, Symbols], worked_on: frozenset[str], spoken_of: frozenset[str]) -> list[tuple[str, int]]:
    """Paths with the lines of definitions, those that matter most first. A file without any stands at the end, with line 0."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    definers: dict[str, list[str]] = defaultdict(list)
    referring: dict[str, Counter[str]] = defaultdict(Counter)
    for path, read in found.items():
        for symbol in read.definitions:
            places[path, symbol.name].append(symbol.line)
        for name in dict.fromkeys(symbol.name for symbol in read.definitions):
            definers[name].append(path)
        for symbol in read.references:
            referring[symbol.name][path] += 1
    weights = _weights(definers, referring, worked_on, spoken_of)
    edges: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (source, target, _), weight in weights.items():
        edges[source][target] += weight
    preferred = {path: PREFERENCE / len(found) for path in found if path in worked_on or not spoken_of.isdisjoint(_words(path))}
    rank_of = ranks(edges, preferred)
    worth: dict[tuple[str, str], float] = defaultdict(float)
    for (source, target, name), weight in weights.items():
        worth[target, name] += rank_of[source] * weight / sum(edges[source].values())
    best = sorted(worth, key=lambda key: (-worth[key], key))
    ordered = [(path, line) for path, name in best for line in places[path, name]]
    shown = {path for path, _ in ordered}
    rest = sorted((path for path in found if path not in shown), key=lambda path: (-rank_of.get(path, 0.0), path))
    return [*ordered, *((path, 0) for path in rest)]


def _weights(
    definers: Mapping[str, Sequence[str]],
    referring: Mapping[str, Mapping[str, int]],
    worked_on: frozenset[str],
    spoken_of: frozenset[str],
) -> dict[tuple[str, str, str], float]:
    """How much each file (first) refers to each other one (second) by a name (third)."""
    weights: dict[tuple[str, str, str], float] = {}
    for name, paths in definers.items():
        times = _telling(name, len(paths), spoken_of)
        for target in paths:
            if name not in referring:
                weights[target, target, name] = UNREFERENCED
            for source, count in referring.get(name, {}).items():
                weights[source, target, name] = times * sqrt(count) * (WORKED_ON if source in worked_on else 1)
    return weights


def _telling(name: str, files: int, spoken_of: frozenset[str]) -> float:
    letters = any(character.isalpha() for character in name)
    of_words = (letters and ("_" in name or "-" in name)) or (name != name.lower() and name != name.upper())
    times = SPOKEN_OF if name in spoken_of else 1.0
    times *= TELLING if of_words and len(name) >= TELLING_CHARACTERS else 1
    times *= PRIVATE if name.startswith("_") else 1
    return times * (COMMON if files > COMMON_FILES else 1)


def _words(path: str) -> set[str]:
    place = PurePosixPath(path)
    return {*place.parts, place.name, place.stem, path}


def _drawn(order: Iterable[tuple[str, int]], lines_of: Mapping[str, Sequence[str]]) -> str:
    by_path: dict[str, set[int]] = defaultdict(set)
    for path, line in order:
        by_path[path].add(line)
    drawn: list[str] = []
    for path in sorted(by_path):
        drawn.append(path + (":" if any(by_path[path]) else ""))
        drawn += [f"{line}: {lines_of[path][line - 1].rstrip()[:LINE_CHARACTERS]}" for line in sorted(by_path[path]) if line]
    return "\n".join(drawn)


def ranks(edges: Mapping[str, Mapping[str, float]], preferred: Mapping[str, float]) -> dict[str, float]:
    """The rank of every node; together they make 1.

    `edges` has for each node the nodes that it points to, with positive weights. `preferred` says where a reader who follows no edge
    goes on, by weight; anywhere where it is empty. It may name nodes without edges.
    """
    nodes = list(dict.fromkeys([*edges, *(to for out in edges.values() for to in out), *preferred]))
    if not nodes:
        return {}
    start = _shares(preferred) if preferred else dict.fromkeys(nodes, 1 / len(nodes))
    ways = {node: _shares(out) for node, out in edges.items() if out}
    dead_ends = [node for node in nodes if node not in ways]
    current = dict.fromkeys(nodes, 1 / len(nodes))
    for _ in range(MOST_ROUNDS):
        lost = 1 - DAMPING + DAMPING * sum(current[node] for node in dead_ends)
        following = {node: lost * start.get(node, 0.0) for node in nodes}
        for node, out in ways.items():
            passed = DAMPING * current[node]
            for to, share in out.items():
                following[to] += passed * share
        change = sum(abs(following[node] - current[node]) for node in nodes)
        current = following
        if change < len(nodes) * TOLERANCE:
            break
    return current


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {node: weight / total for node, weight in weights.items()}


WRITTEN_KEYS = ("content", "file_text")
"""The keys under which a tool's input has the whole text that it writes: Ullage's, Claude Code's and most others'; Anthropic's text
editor."""
EDIT_KEYS = (("old_text", "new_text"), ("old_string", "new_string"), ("old_str", "new_str"))
"""The keys under which a tool's input has the text that it replaces, and the new one: Ullage's, Claude Code's, Anthropic's text editor."""
MOST_LINES = 50_000
"""The largest line number that is believed."""

_NUMBERED = re.compile(r"^ *(\d{1,6})[\t→](.*)$", re.MULTILINE)
"""A line of a file as tools for reading show it."""

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_END = re.compile(r"^\*\*\* End Patch", re.MULTILINE)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)


def known_texts(entries: Sequence[Logged]) -> dict[str, str]:
    """The texts of files by path, in the order in which the files were first seen. If only a part of a file was read, its other lines are
    empty."""
    texts: dict[str, str] = {}
    for call in answered_calls(entries):
        path = next((path for key in PATH_KEYS if isinstance(path := call.input.get(key), str)), "")
        if call.returned.is_error:
            continue
        if path:
            texts[path] = _after(call, texts.get(path, ""))
        else:
            texts.update((path, text) for said in strings_of(call.input) for path, text in patched(said, texts).items())
    return {path: text for path, text in texts.items() if text}


def _after(call: Call, before: str) -> str:
    written = next((text for key in WRITTEN_KEYS if isinstance(text := call.input.get(key), str)), None)
    if written is not None:
        return written
    edits = list(_edits(call.input))
    if not edits:
        return _with_lines(before, call.returned.content)
    for old, new in edits:
        if old and old in before:
            before = before.replace(old, new, 1)
    return before or "\n".join(new for _, new in edits)


def _edits(input: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for old_key, new_key in EDIT_KEYS:
        old, new = input.get(old_key), input.get(new_key)
        if isinstance(old, str) and isinstance(new, str):
            yield old, new
    more = input.get("edits")
    for edit in more if isinstance(more, list) else []:
        if isinstance(edit, dict):
            yield from _edits(edit)


def _with_lines(before: str, shown: str) -> str:
    read = {int(number): line for number, line in _NUMBERED.findall(shown)}
    read = {number: line for number, line in read.items() if 0 < number <= MOST_LINES}
    if not read:
        return before
    lines = before.split("\n") if before else []
    lines += [""] * (max(read) - len(lines))
    for number, line in read.items():
        lines[number - 1] = line
    return "\n".join(lines)


def patched(patch: str, before: Mapping[str, str]) -> dict[str, str]:
    """The texts of the patched files, by path, empty if one was deleted; no files if the text is no patch.

    In a file that is known in part only, what the patch puts in stands at the end.
    """
    files = list(_FILE.finditer(patch))
    after: dict[str, str] = {}
    for index, match in enumerate(files):
        end = files[index + 1].start() if index + 1 < len(files) else len(patch)
        body = _END.split(patch[match.end() : end])[0]
        path = match.group(2).strip()
        match match.group(1):
            case "Add":
                after[path] = _side(body, "+")
            case "Update":
                after[path] = _updated(after.get(path, before.get(path, "")), body)
            case _:
                after[path] = ""
    return after


def _updated(text: str, body: str) -> str:
    for hunk in _HUNK.split(body):
        old, new = _side(hunk, "- "), _side(hunk, "+ ")
        if old and old in text:
            text = text.replace(old, new, 1)
        elif new:
            text = f"{text}\n{new}" if text else new
    return text


def _side(hunk: str, marks: str) -> str:
    """The lines of the hunk that begin with one of the marks, without the mark."""
    return "\n".join(line[1:] for line in hunk.split("\n") if line[:1] and line[0] in marks)
