"""Searching with ripgrep. Which files it looks at is told it such that it finds what `search_python.py` would."""

from __future__ import annotations

import asyncio
import re
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader
from collections.abc import AsyncIterator
from pathlib import Path

from ullage.processes.askers import Asker
from ullage.processes.start import Running, start
from ullage.tools.search_types import MATCHES, SECONDS, BadPattern, Found, Match, Search, shown_line
from ullage.workspace.ignore import ALWAYS_IGNORED, IgnoreRules
from ullage.workspace.text_file import MAXIMUM_BYTES

CUT_COLUMNS = 2_000

REMARKS = re.compile(rb"\A(?:[^\n]*: [^\n]*binary file matches[^\n]*\n|[^\n]*: WARNING: stopped searching binary file[^\n]*\n)+")
"""What ripgrep says of binary files, in the midst of its matches."""


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
