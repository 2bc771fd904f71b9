"""One command from its start: what it says, what of that the model has read, and how it ended. `running.py` has all of a session."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ullage.context.calls import one_line
from ullage.context.running_commands import LINE_CHARACTERS, End, RunsNow
from ullage.tools.limit import Limit
from ullage.tools.sandbox.network.local_ports import CommandSpan
from ullage.tools.tool import ToolCall, ToolOutcome

UNREAD_CHARACTERS = 200_000
"""How many of the newest characters that the model has not read are kept. Those before them are counted."""

SHOWN_CHARACTERS = 400_000
"""How many of the newest characters of the output are kept for the user to look at."""

CUT = "[{} characters before this are not kept here]"

_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


def plain_text(text: str) -> str:
    """The text without what only steers a terminal. Of a line that was written over again and again, the last writing is left."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _SEQUENCE.sub("", text).split("\n"))
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class New:
    """Output that the model had not read before."""

    text: str
    dropped: int = 0
    """How many characters before it were not kept."""


class _Kept:
    """The newest characters of an output, in pieces."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pieces = deque[str]()
        self.length = 0
        self.dropped = 0

    def add(self, text: str) -> None:
        if len(text) > self._most:
            self.dropped += len(text) - self._most
            text = text[-self._most :]
        self._pieces.append(text)
        self.length += len(text)
        while self.length > self._most:
            oldest = self._pieces.popleft()
            self.length -= len(oldest)
            self.dropped += len(oldest)
        if len(self._pieces) > 1_000:  # a program that says one character at a time
            self._pieces = deque(["".join(self._pieces)])

    def text(self) -> str:
        return "".join(self._pieces)


class StartedCommand:
    """One command, from its start on."""

    def __init__(self, call: ToolCall, line: str, limit: Limit, began: float, changed: Callable[[], None]) -> None:
        self.tool_use_id = call.id
        self.line = line
        self.limit = limit
        self.began = began
        self.id = ""
        """Its id, such as `run1`, once it was left running; else empty."""
        self.left = asyncio.Event()
        self.ended_at: float | None = None
        self.outcome: ToolOutcome | None = None
        """The outcome, once it has ended; else None."""
        self.is_told = False
        """Whether the model knows that it has ended."""
        self.news = asyncio.Event()
        """Set when it says something or ends."""
        self.when_recorded: Awaitable[None] | None = None
        self.place: CommandSpan | None = None
        """Its place among its neighbours, if it runs in a sandbox; else None."""
        self.task: asyncio.Task[ToolOutcome] | None = None
        self.is_stopped_by_user = False
        self.waiting = 0
        """How many calls wait for it now."""
        self._live: Callable[[str], None] | None = call.output
        self._changed = changed
        self._unread = _Kept(UNREAD_CHARACTERS)
        self._newest = _Kept(SHOWN_CHARACTERS)
        self._end_of_line = ""

    def take(self, text: str) -> None:
        """Takes a piece of the command's output."""
        if self._live is not None:
            self._live(text)
        self._unread.add(text)
        self._newest.add(text)
        self._end_of_line = f"{self._end_of_line}{text}"[-2_000:]
        self.news.set()
        if self.id:
            self._changed()

    def leave(self) -> None:
        """Notes that no call waits for the command any more. If the user wanted that, it may take as long as it takes."""
        self._live = None
        if self.left.is_set():
            self.limit.lift()

    def peek(self) -> str:
        """The output that the model has not read."""
        return self._unread.text()

    @property
    def unread_dropped(self) -> int:
        """How many characters before that were not kept."""
        return self._unread.dropped

    def read(self) -> New:
        """The output that the model has not read, which counts as read from now on."""
        unread, self._unread = self._unread, _Kept(UNREAD_CHARACTERS)
        return New(plain_text(unread.text()), unread.dropped)

    def shown(self) -> str:
        """The newest output, read or not, for the user."""
        text = plain_text(self._newest.text())
        return "\n".join((CUT.format(f"{self._newest.dropped:,}"), text)) if self._newest.dropped else text

    @property
    def how_it_ended(self) -> str:
        """How the command ended, in a few words; empty while it runs."""
        if self.outcome is None:
            return ""
        last = self.outcome.content.rpartition("\n")[2]
        if not self.outcome.is_error or not last.startswith("("):
            return "it failed" if self.outcome.is_error else "exit code 0"
        said = f"{last[1].lower()}{last[2:-1]}".rstrip(".")
        return f"{said}; the user stopped it" if self.is_stopped_by_user else said

    def now(self) -> RunsNow:
        """The state of the command as it is now, for lists."""
        lines = (line for line in reversed(plain_text(self._end_of_line).splitlines()) if line.strip())
        last = one_line(next(lines, ""), LINE_CHARACTERS)
        unread = self._unread.length + self._unread.dropped
        end, code = (None, None) if self.outcome is None else _end_of(self.outcome)
        failed = self.outcome is not None and self.outcome.is_error and end != "stopped"
        return RunsNow(
            *(self.id, self.line, self.tool_use_id, self.began, last, unread, self.how_it_ended, self.ended_at, failed),
            *(end, code, () if self.place is None else self.place.ports),
        )


_LAST_WORDS: Sequence[tuple[End, re.Pattern[str]]] = (
    ("exited", re.compile(r"\(exit code (\d+)\)")),
    ("killed", re.compile(r"\(Ended by signal \d+\.\)")),
    ("late", re.compile(r"\(Ended after .*\)")),
    ("stopped", re.compile(r"\((?:Stopped, |Ended with the session).*\)")),
)


def _end_of(outcome: ToolOutcome) -> tuple[End, int | None]:
    """How a command ended, and its exit code if it has one. They are known by the last line, which `bash.py` and `_until_ended` write."""
    if not outcome.is_error:
        return "exited", 0
    last = outcome.content.rpartition("\n")[2]
    for end, words in _LAST_WORDS:
        if (found := words.fullmatch(last)) is not None:
            return end, int(found[1]) if words.groups else None
    return "failed", None
