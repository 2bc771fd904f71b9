"""Which files the words of a command could name, for rules that refuse reading them. Looks at the disk.

Of a command that was followed each word counts, and what stands in it behind `=`, `:` or `@` (`--env-file=.env`, `HEAD:.env`). Behind a
program that starts others, and in a line that is not followed, every piece counts. What a command reads without naming it (`grep -r x .`, a
script, a build) is not seen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import iglob
from itertools import islice
from pathlib import Path

from ullage.platforms.names import trap_in
from ullage.platforms.system import HERE
from ullage.tools.command_lines.judge import CHANGES_SHELL, LinePart, Site
from ullage.tools.command_lines.lookup import LONGEST_GLOB
from ullage.tools.rules.patterns import RUNS_OTHERS
from ullage.tools.rules.refusing import BETWEEN

MOST_WORDS = 200

MOST_FOLDERS = 10
"""The most folders in which the words may be names, too: `cd src && cat .env`."""

MOST_EXPANDED = 500
"""The most names that a word with `*` stands for."""

_WITHIN = re.compile(r"[=:@,]")


def files_named(line: str, parts: Sequence[LinePart], site: Site | None) -> tuple[str, ...]:
    """The files that the words of a command line could name, as files are shown: relative to the folder that it runs in, else absolute.
    Folders end in `/`."""
    words = tuple(dict.fromkeys(islice(_words(line, parts), MOST_WORDS)))
    if site is not None and not site.is_followed:
        words = tuple(dict.fromkeys((*words, *islice(_pieces(line.replace("\\", "/")), MOST_WORDS))))
    if site is None:
        return tuple(dict.fromkeys(_plain(word.replace("\\", "/")) for word in words))
    folders = [site.folder, *islice((site.folder / word for word in words if _is_folder(site, word)), MOST_FOLDERS)]
    return tuple(dict.fromkeys(name for folder in folders for word in words for name in _names(folder, word, site)))


def _words(line: str, parts: Sequence[LinePart]) -> Iterator[str]:
    if not parts:
        yield from _pieces(line)
    for part in parts:
        program = part.words[0].rsplit("/", 1)[-1]
        if re.sub(r"[\d.]+$", "", program) in RUNS_OTHERS or program in RUNS_OTHERS or program in CHANGES_SHELL:
            yield from _pieces(part.text)
            continue
        for word in part.words:
            yield word
            yield from (piece for piece in _WITHIN.split(word)[1:] if piece)
            if word.startswith("-") and len(word) > 2:
                yield word[2:]


def _pieces(text: str) -> Iterator[str]:
    for piece in BETWEEN.split(text.replace("\\", "")):
        if piece:
            yield piece
            yield from (each for each in _WITHIN.split(piece)[1:] if each)


def _names(folder: Path, word: str, site: Site) -> Iterator[str]:
    top = site.folder
    if trap_in(word, site.workspaces, HERE) is not None:
        yield _plain(word)
        return
    try:
        if len(word) > LONGEST_GLOB:  # to read it could take a minute, and it may stand for whatever is there
            yield from (_plain(word), f"{_shown(folder, top)}/")
            return
        if set(word) & set("*?["):
            found = [folder / each for each in islice(iglob(word, root_dir=folder), MOST_EXPANDED)]  # noqa: PTH207 - as a shell, without hidden names
        else:
            found = [folder / Path(word).expanduser()]
        for path in found:
            yield _shown(Path(os.path.normpath(path)), top)
            if path.exists():
                resolved = path.resolve()
                yield f"{_shown(resolved, top)}/" if resolved.is_dir() else _shown(resolved, top)
    except (OSError, RuntimeError, ValueError):  # a loop of links, NUL in the name, no home folder
        yield _plain(word)


def _shown(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else path.as_posix()


def _plain(word: str) -> str:
    return os.path.normpath(word).replace(os.sep, "/")


def _is_folder(site: Site, word: str) -> bool:
    try:
        return trap_in(word, site.workspaces, HERE) is None and (site.folder / word).is_dir()
    except (OSError, ValueError):
        return False
