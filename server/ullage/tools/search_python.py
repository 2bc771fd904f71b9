"""Searching without ripgrep: slower, and with Python's regular expressions, which differ in rare corners only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ullage.tools.search_process import match_lines
from ullage.tools.search_types import SECONDS, Found, Search
from ullage.workspace.ignore import IgnoreRules
from ullage.workspace.text_file import MAXIMUM_BYTES
from ullage.workspace.walk import walk_files

SECONDS_FOR_SIZES = 2.0
"""How long files are looked for that are too large to be searched: some 300,000 can be looked at."""


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


def too_large(search: Search, rules: IgnoreRules) -> list[Path]:
    """The files that no search looks into for their size, as far as they are found in `SECONDS_FOR_SIZES`."""
    deadline = time.monotonic() + SECONDS_FOR_SIZES
    found: list[Path] = []
    for path in _files(search, rules):
        if time.monotonic() > deadline:
            break
        with suppress(OSError):
            if search.wanted(path) and path not in search.skipped and path.lstat().st_size > MAXIMUM_BYTES:
                found.append(path)
    return found


def _files(search: Search, rules: IgnoreRules) -> Iterator[Path]:
    for place in search.places:
        yield from walk_files(place, rules.below(place)) if place.is_dir() else (place,)
