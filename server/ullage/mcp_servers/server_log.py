"""What one MCP server said besides its answers: its standard error, its log messages, and what happened to it. Bounded."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ullage.context.quoting import visible_line

MOST_LINES, LINE_CHARACTERS = 500, 1_000


class ServerLog:
    """The newest lines of what one server said and what happened to it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._clock = clock
        self._begun = b""
        self.last = ""
        """The newest line of its standard error."""

    def note(self, text: str) -> None:
        """Adds one line, with the time before it."""
        at = time.strftime("%H:%M:%S", time.localtime(self._clock()))
        self._lines.append(f"{at} {visible_line(text[:LINE_CHARACTERS])}")

    def take(self, data: bytes) -> None:
        """Takes bytes of the server's standard error; a line is noted once it is whole."""
        *lines, rest = (self._begun + data[-MOST_LINES * LINE_CHARACTERS :]).split(b"\n")
        for line in lines[-MOST_LINES:]:
            if line.strip():
                self.last = line.decode("utf-8", "replace").strip()[:LINE_CHARACTERS]
                self.note(self.last)
        self._begun = rest[:LINE_CHARACTERS]

    @property
    def text(self) -> str:
        """All lines that are kept."""
        return "\n".join(self._lines)
