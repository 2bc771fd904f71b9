"""Searching the files on disk: with ripgrep, or without it.

ripgrep is told which files to look at such that it finds what Python would. Python is slower, and its regular expressions differ in rare
corners only. Where ripgrep would wait for ever for ignore rules, Python searches.
"""

from __future__ import annotations

import asyncio
import re
import stat
import time
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ullage.processes.start import Asker, Running, start
from ullage.tools.search_matching import MATCHES, SECONDS, BadPattern, Found, Match, Search, match_lines, shown_line
from ullage.workspace.ignore import ALWAYS_IGNORED, IgnoreRules, meet_folders, walk_files
from ullage.workspace.text_file import MAXIMUM_BYTES

CUT_COLUMNS = 2_000

REMARKS = re.compile(rb"\A(?:[^\n]*: [^\n]*binary file matches[^\n]*\n|[^\n]*: WARNING: stopped searching binary file[^\n]*\n)+")
"""What ripgrep says of binary files, in the midst of its matches."""

OPENED_BY_RIPGREP = (".gitignore", ".rgignore", ".git/info/exclude")
"""In every folder that it meets, even in one that is ignored, and in those above. Version 13 opens `.rgignore` whatever it is told."""

SECONDS_FOR_RULES = 2.0
"""How long folders are looked at for something that would hold ripgrep up."""

SECONDS_FOR_SIZES = 2.0
"""How long files are looked for that are too large to be searched: some 300,000 can be looked at."""


async def search_with_ripgrep(program: str, search: Search, rules: IgnoreRules) -> Found:
    """Runs ripgrep and ends it when enough is found. Raises `BadPattern`."""
    matches: list[Match] = []
    cut_short = False
    for place in search.places:
        command = [program, *_options(search, place, rules), "--regexp", search.pattern, "--", str(place)]
        found = await _run(command, search, MATCHES - len(matches))
        matches += found.matches
        cut_short = cut_short or found.cut_short
        if cut_short:
            break
    return Found(tuple(matches), cut_short)


def holds_ripgrep_up(search: Search, rules: IgnoreRules) -> bool:
    """Whether ignore rules that ripgrep would read are a pipe or a device, which may never end; as far as seen in `SECONDS_FOR_RULES`."""
    deadline = time.monotonic() + SECONDS_FOR_RULES
    for place in search.places:
        if not place.is_dir():  # it reads no rules for one file
            continue
        met = (folder for folder, _ in meet_folders(place, rules.below(place)))
        for folder in chain(place.parents, met):
            if any(_may_never_end(folder / name) for name in OPENED_BY_RIPGREP):
                return True
            if time.monotonic() > deadline:
                return False
    return False


def _may_never_end(path: Path) -> bool:
    try:
        mode = path.stat().st_mode  # through links, as ripgrep opens it
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _options(search: Search, place: Path, rules: IgnoreRules) -> list[str]:
    options = [
        "--no-config",
        "--no-heading",
        "--with-filename",
        "--line-number",
        "--null",
        "--color=never",
        "--hidden",
        "--no-require-git",
        "--no-ignore-global",
        "--no-ignore-dot",
        "--no-messages",
        "--crlf",
        "--sort=path",
        f"--max-filesize={MAXIMUM_BYTES}",
        f"--max-columns={CUT_COLUMNS}",
        "--max-columns-preview",
        "--case-sensitive" if search.case_sensitive else "--ignore-case",
    ]
    if rules.below(place) is not rules:
        options.append("--no-ignore-vcs")
    return options + [f"--glob=!{name}/" for name in sorted(ALWAYS_IGNORED)]


async def _run(command: list[str], search: Search, wanted: int) -> Found:
    process = await start(Asker.RIPGREP, command, complaints=True)
    matches: list[Match] = []
    try:
        async with asyncio.timeout(SECONDS):
            cut_short = await _collect(process, search, wanted, matches)
    except TimeoutError:
        cut_short = True
    finally:
        await process.end()
    return Found(tuple(matches), cut_short)


async def _collect(process: Running, search: Search, wanted: int, matches: list[Match]) -> bool:
    """Adds to `matches` as they come; True where there are more than `wanted`."""
    async for match in _matches(process.output):
        if match.path in search.skipped or not search.wanted(match.path):
            continue
        if len(matches) == wanted:
            return True
        matches.append(match)
    complaint = (await process.complaints.read()).decode(errors="replace").strip()
    if await process.wait() == 2 and not matches and "regex" in complaint:
        raise BadPattern(complaint.splitlines()[-1].removeprefix("error: "))
    return False


async def _matches(output: StreamReader) -> AsyncIterator[Match]:
    """Each match: a path, which may hold ends of lines, NUL, the number of the line, `:`, the line. Remarks stand between them."""
    while True:
        try:
            name = await output.readuntil(b"\0")
        except IncompleteReadError:  # the end, after a remark at most
            return
        except LimitOverrunError as error:  # nothing but remarks
            await output.readexactly(error.consumed)
            continue
        rest = await output.readline()
        yield _match(REMARKS.sub(b"", name[:-1]), rest)


def _match(name: bytes, rest: bytes) -> Match:
    number, _, text = rest.rstrip(b"\r\n").partition(b":")
    return Match(Path(name.decode(errors="surrogateescape")), int(number), shown_line(text.decode(errors="replace")))


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
