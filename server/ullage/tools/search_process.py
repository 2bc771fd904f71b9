"""Matching lines in a process of its own: a regular expression can take for ever, and while Python matches one, nothing else
in its process runs.

Here are both ends of it: `match_lines` starts the process, `main` is what it runs.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ullage.processes.askers import Asker
from ullage.processes.own_python import own_python
from ullage.processes.start import Running, start
from ullage.tools.search_types import MATCHES, SECONDS, BadPattern, Found, Match, Search, shown_line
from ullage.workspace.text_file import NotText, TooLarge, read_text


async def match_lines(search: Search, texts: Mapping[Path, str], files: Sequence[Path]) -> Found:
    """The lines of `texts`, then of `files`, that match; for up to `SECONDS`. Raises `BadPattern`, or `OSError` where it fails."""
    try:
        re.compile(search.pattern)
    except re.error as error:
        raise BadPattern(str(error)) from error
    if not texts and not files:
        return Found((), cut_short=False)
    process = await start(Asker.PATTERN_MATCHER, own_python("ullage.tools.search_process"), feeds=True)
    matches: list[Match] = []
    try:
        async with asyncio.timeout(SECONDS):
            await _ask(process, search, texts, files)
            await _collect(process, matches)
    except TimeoutError:
        return Found(tuple(matches), cut_short=True)
    finally:
        await process.end()
    return Found(tuple(matches[:MATCHES]), cut_short=len(matches) > MATCHES)


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
    """The text that came along, else that of the file; empty where that is no text."""
    if text is not None:
        return text
    try:
        return read_text(Path(path)).text
    except (OSError, NotText, TooLarge):
        return ""


async def _ask(process: Running, search: Search, texts: Mapping[Path, str], files: Sequence[Path]) -> None:
    asked = {
        "pattern": search.pattern,
        "case_sensitive": search.case_sensitive,
        "texts": [(str(path), text) for path, text in texts.items()],
        "files": [str(path) for path in files],
    }
    await process.feed(json.dumps(asked).encode())


async def _collect(process: Running, matches: list[Match]) -> None:
    """Adds to `matches` as they come, so that what was found by the end of the time is there."""
    while raw := await process.output.readline():
        path, line, text = json.loads(raw)
        matches.append(Match(Path(path), line, text))
    code = await process.wait()
    if code:
        raise OSError(f"the process that searches ended with code {code}")


if __name__ == "__main__":
    main()
