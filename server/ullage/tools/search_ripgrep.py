"""Searching with ripgrep. Which files it looks at is told it such that it finds what `search_python.py` would."""

from __future__ import annotations

import asyncio
import os
from asyncio import StreamReader
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import cast

from ullage.tools.environment import tool_environment
from ullage.tools.search_types import MATCHES, SECONDS, BadPattern, Found, Match, Search, shown_line
from ullage.workspace.ignore import ALWAYS_IGNORED, IgnoreRules
from ullage.workspace.text_file import MAXIMUM_BYTES

BUFFER_BYTES = 1_000_000
"""Longest line of output that is taken; ripgrep itself cuts long lines."""

CUT_COLUMNS = 2_000


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
    process = await asyncio.create_subprocess_exec(
        *command, env=tool_environment(os.environ), stdin=DEVNULL, stdout=PIPE, stderr=PIPE, limit=BUFFER_BYTES
    )
    matches: list[Match] = []
    try:
        async with asyncio.timeout(SECONDS):
            cut_short = await _collect(process, search, wanted, matches)
    except TimeoutError:
        cut_short = True
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return Found(tuple(matches), cut_short)


async def _collect(process: Process, search: Search, wanted: int, matches: list[Match]) -> bool:
    """Adds to `matches` as they come; True where there are more than `wanted`."""
    output, complaints = cast("StreamReader", process.stdout), cast("StreamReader", process.stderr)  # both are pipes
    while raw := await output.readline():
        match = _parse(raw)
        if match is None or match.path in search.skipped or not search.wanted(match.path):
            continue
        if len(matches) == wanted:
            return True
        matches.append(match)
    complaint = (await complaints.read()).decode(errors="replace").strip()
    if await process.wait() == 2 and not matches and "regex" in complaint:
        raise BadPattern(complaint.splitlines()[-1].removeprefix("error: "))
    return False


def _parse(raw: bytes) -> Match | None:
    """One line of output; None for a remark (about a binary file)."""
    name, _, rest = raw.rstrip(b"\r\n").partition(b"\0")
    number, _, text = rest.partition(b":")
    if not number.isdigit():
        return None
    return Match(Path(name.decode(errors="surrogateescape")), int(number), shown_line(text.decode(errors="replace")))
