"""Searching without ripgrep: slower, and with Python's regular expressions, which differ in rare corners only."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from ullage.tools.search_types import MATCHES, SECONDS, BadPattern, Found, Match, Search, shown_line
from ullage.workspace.ignore import IgnoreRules
from ullage.workspace.text_file import NotText, TooLarge, read_text
from ullage.workspace.walk import walk_files


def search_with_python(search: Search, rules: IgnoreRules) -> Found:
    """Blocks for up to `SECONDS`. Raises `BadPattern`."""
    _compiled(search)
    deadline = time.monotonic() + SECONDS
    matches: list[Match] = []
    for path in _files(search, rules):
        if time.monotonic() > deadline:
            return Found(tuple(matches), cut_short=True)
        try:
            matches += lines_matching(path, read_text(path).text, search)
        except (OSError, NotText, TooLarge):
            continue
        if len(matches) > MATCHES:
            return Found(tuple(matches[:MATCHES]), cut_short=True)
    return Found(tuple(matches), cut_short=False)


def lines_matching(path: Path, text: str, search: Search) -> list[Match]:
    """The lines of a text that match, up to one more than is shown of all. Raises `BadPattern`."""
    compiled = _compiled(search)
    matches: list[Match] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if compiled.search(line):
            matches.append(Match(path, number, shown_line(line)))
            if len(matches) > MATCHES:
                break
    return matches


def _files(search: Search, rules: IgnoreRules) -> Iterator[Path]:
    for place in search.places:
        files = walk_files(place, rules.below(place)) if place.is_dir() else iter((place,))
        yield from (path for path in files if path not in search.skipped and search.wanted(path))


def _compiled(search: Search) -> re.Pattern[str]:
    try:
        return re.compile(search.pattern, 0 if search.case_sensitive else re.IGNORECASE)
    except re.error as error:
        raise BadPattern(str(error)) from error
