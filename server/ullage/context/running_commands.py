"""Commands that go on although their call is done: what is known of one, and what the model is told of them.

They run beside the conversation (`tools/running.py`). Here are values and words alone: the program that makes a summary, and the notice at
the end of a request, take them from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.calls import one_line
from ullage.context.entries import Logged, Notice, ToolReturned
from ullage.context.quoting import in_a_line, quoted

LINE_CHARACTERS = 200
"""Characters of a command, and of the last line that it printed."""

TAIL_LINES, TAIL_CHARACTERS = 15, 1_500
"""Lines and characters of what a command printed last, in the notice that it has ended."""


End: TypeAlias = Literal["exited", "killed", "late", "stopped", "failed"]
"""How a command ended: by itself, by a signal, at its time limit, stopped by somebody; or it could not be run."""


@dataclass(frozen=True, slots=True)
class RunsNow:
    """A command that was left running, as it is now. Times are Unix seconds."""

    id: str
    """The id that the model uses for it: `run1`."""
    command: str
    """The command line."""
    tool_use_id: str
    """The id of the call that began it."""
    began: float
    last_line: str = ""
    """The last line that it printed, shortened; empty if it printed nothing yet."""
    unread: int = 0
    """Characters of its output that the model has not read."""
    ended: str = ""
    """How it ended, in a few words; empty while it runs."""
    ended_at: float | None = None
    failed: bool = False
    """Whether it has ended in failure, and not because somebody stopped it."""
    end: End | None = None
    """How it ended, for programs; None while it runs."""
    exit_code: int | None = None
    """Its exit code, if it ended by itself; else None."""
    ports: tuple[int, ...] = ()
    """Ports of `localhost` on which it listens in its sandbox; empty for a command outside of one, of which none are known."""


RUNNING = "These commands are running in the background (`running_command` reads, waits and stops):"


def running_text(commands: Iterable[RunsNow], now: float) -> str:
    """The words about commands that go on, for a model that no longer sees how they began; empty if none do."""
    lines = [_line(each, now) for each in commands if not each.ended]
    return "\n".join((RUNNING, *lines)) if lines else ""


def _line(each: RunsNow, now: float) -> str:
    said = f"; its last line: {in_a_line(one_line(each.last_line, LINE_CHARACTERS))}" if each.last_line else "; it has said nothing yet"
    unread = f"; {each.unread:,} characters that you have not read" if each.unread else ""
    return f"- {each.id}: `{in_a_line(one_line(each.command, LINE_CHARACTERS))}`, for {how_long(now - each.began)}{said}{unread}"


def ended_text(each: RunsNow, tail: str, kept: str) -> str:
    """The words that a command has ended, with what it printed last and the model has not read. `kept` is the path of its whole output;
    empty if there is none."""
    seconds = max(0.0, (each.ended_at or each.began) - each.began)
    first = f"{each.id} has ended: `{in_a_line(one_line(each.command, LINE_CHARACTERS))}` ({each.ended}, after {how_long(seconds)})."
    lines = tail.strip()[-TAIL_CHARACTERS:].splitlines()[-TAIL_LINES:]
    parts = [first]
    if lines:
        parts.append(f"What it said last:\n{quoted(chr(10).join(lines))}")
    if kept:
        parts.append(f"All of its output: {kept}")
    return "\n".join(parts)


LOST = "What ran in the background does not run here any more: {}. Start it again if it is still needed."


def lost_notice(entries: Iterable[Logged]) -> Notice | None:
    """The notice that commands which go on by the log do so no longer; None if there are no such commands."""
    left = going_on(entries)
    if not left:
        return None
    return Notice("command", LOST.format(", ".join(left)), ended=tuple(left))


def going_on(entries: Iterable[Logged]) -> Sequence[str]:
    """The ids of the commands that were left running and whose end the log does not tell."""
    left: dict[str, None] = {}
    for logged in entries:
        match logged.entry:
            case ToolReturned(goes_on=id) if id:
                left[id] = None
            case Notice(ended=ended) if ended:
                for id in ended:
                    left.pop(id, None)
            case _:
                pass
    return list(left)


def how_long(seconds: float) -> str:
    """A duration for people: `12 s`, `3 min`, `2 h 5 min`."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
