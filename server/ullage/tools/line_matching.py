"""Waiting for a line: a regular expression held against lines as they come, in a process of its own.

A regular expression can take for ever, and while Python matches one, nothing else in its process runs. So it runs in a process
that is ended with the wait, and one that takes too long for some lines is given up. Here are both ends: `matcher` starts it,
`main` is what it runs.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ullage.processes.programs import own_python
from ullage.processes.start import Asker, Running, start

SECONDS = 5.0
"""How long a pattern may take for the lines of a moment before it is given up."""

LINE_CHARACTERS = 2_000
"""How many characters of a line are looked at."""

START_SECONDS = 20.0
"""How long the process may take to start, on a machine that is busy."""


class BadLinePattern(Exception):
    """The regular expression is not valid, or takes too long; the message is for the model."""


class LineMatcher:
    """Holds lines against one pattern."""

    def __init__(self, process: Running) -> None:
        self._process = process

    async def finds(self, lines: Sequence[str]) -> bool:
        """Whether one of the lines has the pattern. Raises `BadLinePattern` if that takes too long, `OSError` if the process has ended."""
        return await self._ask([line[:LINE_CHARACTERS] for line in lines], SECONDS) is True

    async def begin(self, pattern: str) -> None:
        """Tells the process the pattern. Raises `BadLinePattern`, or `OSError` if the process has ended."""
        said = await self._ask(pattern, START_SECONDS)
        if isinstance(said, str):
            raise BadLinePattern(f"`pattern` is no valid regular expression: {said}")

    async def _ask(self, value: Any, seconds: float) -> Any:
        try:
            async with asyncio.timeout(seconds):
                await self._process.send(f"{json.dumps(value)}\n".encode())
                answer = await self._process.output.readline()
        except TimeoutError:
            raise BadLinePattern("`pattern` takes too long to be matched. Use a simpler one.") from None
        if not answer:
            raise OSError("the process that matches lines has ended")
        return json.loads(answer)


@asynccontextmanager
async def matcher(pattern: str) -> AsyncGenerator[LineMatcher]:
    """A matcher for that pattern, which ends with the block. Raises `BadLinePattern`, `OSError`."""
    process = await start(Asker.PATTERN_MATCHER, own_python("ullage.tools.line_matching"), feeds=True)
    try:
        made = LineMatcher(process)
        await made.begin(pattern)
        yield made
    finally:
        await process.end()


def main() -> None:
    """Reads a pattern, then lists of lines, as JSON in a line each; answers each with a line."""
    asked = iter(sys.stdin.readline, "")
    try:
        pattern = re.compile(json.loads(next(asked)), re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        _say(str(error) or type(error).__name__)
        return
    _say(None)
    for asked_of in asked:
        lines: list[str] = json.loads(asked_of)
        _say(any(pattern.search(line) for line in lines))


def _say(value: object) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
