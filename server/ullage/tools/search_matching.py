"""What is searched for and what was found, and matching lines in a process of its own.

A regular expression can take for ever, and while Python matches one, nothing else in its process runs. Here are both ends: `match_lines`
starts the process, `main` is what it runs.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, Running, start
from ullage.workspace.text_file import FileTooLarge, NotText, read_text

MATCHES = 200
"""The most matching lines that a search gives."""

LINE_CHARACTERS = 300
"""The most characters of a line that are shown."""

SECONDS = 20.0
"""How long a search may take; then it gives back what it has found."""


class BadSearchPattern(Exception):
    """The regular expression is not valid; the message says where."""


@dataclass(frozen=True, slots=True)
class FileSearch:
    """One search. `wanted` says whether a file is to be searched; `skipped` are files that are searched elsewhere (open documents)."""

    pattern: str
    case_sensitive: bool
    places: tuple[Path, ...]
    wanted: Callable[[Path], bool]
    skipped: frozenset[Path]


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """One matching line; `line` counts from 1, `text` is without its indentation and cut at `LINE_CHARACTERS`."""

    path: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FoundLines:
    """The lines that a search found; `cut_short` says that there may be more."""

    matches: tuple[MatchingLine, ...]
    cut_short: bool


def shown_line(line: str) -> str:
    """A line as a match shows it."""
    line = line.strip()
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]} ..."


async def match_lines(search: FileSearch, texts: Mapping[Path, str], files: Sequence[Path]) -> FoundLines:
    """The lines of `texts`, then of `files`, that match, as far as they are found in `SECONDS`. Raises `BadSearchPattern`, or `OSError` if
    the process fails."""
    try:
        re.compile(search.pattern)
    except re.error as error:
        raise BadSearchPattern(str(error)) from error
    if not texts and not files:
        return FoundLines((), cut_short=False)
    process = await start(Asker.PATTERN_MATCHER, own_python("ullage.tools.search_matching"), feeds=True)
    matches: list[MatchingLine] = []
    try:
        async with asyncio.timeout(SECONDS):
            await _ask(process, search, texts, files)
            await _collect(process, matches)
    except TimeoutError:
        return FoundLines(tuple(matches), cut_short=True)
    finally:
        await process.end()
    return FoundLines(tuple(matches[:MATCHES]), cut_short=len(matches) > MATCHES)


def main() -> None:
    """Reads what to search from standard input; writes `[path, line, text]` for each match, one more than is shown at most."""
    asked = json.load(sys.stdin)
    pattern = re.compile(asked["pattern"], 0 if asked["case_sensitive"] else re.IGNORECASE)
    left = MATCHES + 1
    for path, text in (*asked["texts"], *((path, None) for path in asked["files"])):
        for number, line in enumerate(_text_of(path, text).split("\n"), start=1):
            if pattern.search(line):
                sys.stdout.write(f"{json.dumps([path, number, shown_line(line)])}\n")
                sys.stdout.flush()
                left -= 1
            if not left:
                return


def _text_of(path: str, text: str | None) -> str:
    """The text that came along, else that of the file; empty if it cannot be read as text."""
    if text is not None:
        return text
    try:
        return read_text(Path(path)).text
    except (OSError, NotText, FileTooLarge):
        return ""


async def _ask(process: Running, search: FileSearch, texts: Mapping[Path, str], files: Sequence[Path]) -> None:
    asked = {
        "pattern": search.pattern,
        "case_sensitive": search.case_sensitive,
        "texts": [(str(path), text) for path, text in texts.items()],
        "files": [str(path) for path in files],
    }
    await process.feed(json.dumps(asked).encode())


async def _collect(process: Running, matches: list[MatchingLine]) -> None:
    """Adds matches to `matches` as they come, so that those found by the end of the time are there. Raises `OSError` if the process
    fails."""
    while raw := await process.output.readline():
        path, line, text = json.loads(raw)
        matches.append(MatchingLine(Path(path), line, text))
    code = await process.wait()
    if code:
        raise OSError(f"the process that searches ended with code {code}")


if __name__ == "__main__":
    main()
