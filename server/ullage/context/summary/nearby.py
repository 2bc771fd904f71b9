"""Files near the work that are not read again after a compaction: their names by folder, and what they define, as far as the log shows it.

An agent goes on to files that it has only seen in a listing, and to names in files that it has read and that found no room. To tell of them
takes a line a folder. They stand beside the files that are read again, not in the summary: nobody reads that for lists of names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ullage.context.calls import Call
from ullage.context.counting.tokens import estimate_text
from ullage.context.quoting import in_a_line
from ullage.context.redact import redact
from ullage.context.summary.facts import Facts
from ullage.context.summary.file_history import definitions_in, new_lines
from ullage.context.summary.names import files_of
from ullage.context.summary.sections import beside_work
from ullage.context.summary.words import TOKEN, WORD, basename, tail_of

MOST_FILES = 200
"""Files that are considered, the likeliest needed first."""
READ_FOR_NAMES = 30
"""Files that are looked through for what they define: the likeliest needed of those that calls were about."""
WITH_NAMES, NAMES_CHARACTERS = 10, 400
"""The number of files that are told with what they define, and the characters for the names of each."""
AROUND_A_NAME = 8
"""Characters that a path is taken to cost beside its name, so that length alone does not decide."""

_BEGIN = '<files note="seen in this work and not read again, by folder; in brackets what a file defines, as far as it was seen">\n'
_END = "\n</files>"

_ANYWHERE = "folder not known"
_NO_WORK = re.compile(r"(?:^|/)(?:\.git|node_modules|path/to)/")
"""Paths of files that nobody works on: in git's own folder, in installed packages, in examples."""


@dataclass(frozen=True, slots=True)
class NearbyFile:
    """A file that was seen, and the names that it defines where it was read or written, the newest first."""

    path: str
    defines: tuple[str, ...] = ()


def nearby_files(found: Facts) -> tuple[NearbyFile, ...]:
    """The files of the newest entries, the likeliest needed first."""
    by_tail = {tail_of(fact.path): fact for fact in reversed(found.files)}
    worth = {tail: weight for tail, weight in beside_work(found.names, by_tail).items() if not _NO_WORK.search(found.names.paths[tail])}
    ranked = sorted(worth, key=lambda tail: (-worth[tail], tail))
    shown = {tail: by_tail[tail].path if tail in by_tail else found.names.paths[tail] for tail in ranked}
    calls = [read.call for read in found.newest if read.call is not None and not read.call.returned.is_error]
    about = {tail_of(path) for call in calls for path in _paths(call)}
    defined = _defined(calls, frozenset([tail for tail in ranked if tail in about][:READ_FOR_NAMES]))
    first = [tail for tail in ranked if tail in defined]
    others = sorted((tail for tail in ranked if tail not in defined), key=lambda tail: (-worth[tail] / _cost(tail), tail))
    return tuple(NearbyFile(shown[tail], defined.get(tail, ())) for tail in (*first, *others)[:MOST_FILES])


def nearby_text(files: Sequence[NearbyFile], standing: str, tokens: int) -> str:
    """The text that tells of these files, in at most about `tokens` tokens; empty if there is nothing left to tell.

    `standing` is the text in view without it: files and names in that are not told again.
    """
    room = tokens - estimate_text(_BEGIN + _END)
    known = set(WORD.findall(standing))
    named = {basename(token.rstrip(".")) for token in TOKEN.findall(standing)}
    folders: defaultdict[str, list[str]] = defaultdict(list)
    with_names = 0
    for file in files:
        folder, slash, name = _written(file.path).rpartition("/")
        names = " ".join(_fitting(file.defines, known)) if with_names < WITH_NAMES else ""
        if not names and basename(file.path) in named:
            continue
        told = f"{name} ({names})" if names else name
        line = f"{folder}/" if slash else "./" if file.defines else _ANYWHERE
        cost = estimate_text(f"{told}, ") + (0 if line in folders else estimate_text(f"{line}: \n"))
        if cost > room:
            if names:
                continue  # a shorter line may fit
            break
        room -= cost
        with_names += bool(names)
        folders[line].append(told)
    if not folders:
        return ""
    lines = "\n".join(f"{line}: {', '.join(told)}" for line, told in sorted(folders.items(), key=lambda each: each[0] == _ANYWHERE))
    return redact(f"{_BEGIN}{lines}{_END}")


def lines_of(nearby: str) -> tuple[str, ...]:
    """The lines of a text that `nearby_text` gave, one for each folder, without what stands around them."""
    return tuple(nearby.split("\n")[1:-1])


def _written(path: str) -> str:
    """A path on one line, with nothing in it that could close a tag: the name of a file must not begin a text of its own."""
    return escape(in_a_line(path))


def _cost(tail: str) -> int:
    return len(tail) + AROUND_A_NAME


def _fitting(names: Sequence[str], known: Collection[str]) -> Iterator[str]:
    room = NAMES_CHARACTERS
    for name in names:
        if name not in known:
            room -= len(name) + 1
            if room < 0:
                return
            yield name


def _defined(calls: Sequence[Call], tails: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The names that these files define, as far as calls showed or wrote them, the newest call first."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for call in reversed(calls):
        for path, text in _texts(call, tails):
            names[tail_of(path)].update(dict.fromkeys(definitions_in(text)))
    return {tail: tuple(defined) for tail, defined in names.items() if defined}


def _texts(call: Call, tails: Collection[str]) -> Iterator[tuple[str, str]]:
    """For each of these files in a call, the text that the call showed of it or wrote into it."""
    kinds = {touch.path: touch.kind for touch in call.returned.touched}
    for path in _paths(call):
        if tail_of(path) in tails:
            yield path, call.returned.content if kinds.get(path, "read") == "read" else "\n".join(new_lines(call, path))


def _paths(call: Call) -> tuple[str, ...]:
    """The files that a call read or wrote, or the one that its command printed."""
    if call.returned.touched:
        return tuple(touch.path for touch in call.returned.touched)
    printed = files_of(call.input)
    return printed if len(printed) == 1 else ()
