"""Searching without ripgrep: slower, and with Python's regular expressions, which differ in rare corners only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ullage.tools.search_process import match_lines
from ullage.tools.search_types import SECONDS, Found, Search
from ullage.workspace.ignore import IgnoreRules
from ullage.workspace.walk import walk_files


async def search_with_python(search: Search, rules: IgnoreRules, texts: Mapping[Path, str]) -> Found:
    """Matches in `texts`, then in the files. Raises `BadPattern`."""
    files, all_of_them = await asyncio.to_thread(_files_in_time, search, rules)
    found = await match_lines(search, texts, files)
    return found if all_of_them else replace(found, cut_short=True)


def _files_in_time(search: Search, rules: IgnoreRules) -> tuple[list[Path], bool]:
    """The files to look at, and whether there was time for all of them."""
    deadline = time.monotonic() + SECONDS
    files: list[Path] = []
    for path in _files(search, rules):
        if time.monotonic() > deadline:
            return files, False
        if path not in search.skipped and search.wanted(path):
            files.append(path)
    return files, True


def _files(search: Search, rules: IgnoreRules) -> Iterator[Path]:
    for place in search.places:
        yield from walk_files(place, rules.below(place)) if place.is_dir() else (place,)
