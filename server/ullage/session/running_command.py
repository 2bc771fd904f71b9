"""The command `/running`: what goes on in the background, in words, for front ends that have no list of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ullage.context.calls import one_line
from ullage.context.quoting import visible_line
from ullage.context.running_commands import LINE_CHARACTERS, RunsNow, how_long
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # it is given to it
    from ullage.session.session import Session

NOTHING_RUNS = "Nothing runs in the background."
HOW = "`/running output ID` shows what one said last, `/running stop ID` ends it. All end with this session."
WAYS = "Write `/running`, or `/running output ID` or `/running stop ID`"

MOST_CHARACTERS = 4_000
"""Of an output; the newest."""


def running_in_words(session: Session, words: str) -> str:
    """What the command did. Raises `SessionError`."""
    way, _, id = words.partition(" ")
    if way and (way not in ("stop", "output") or not id.strip()):
        raise SessionError("invalid", WAYS)
    if way == "stop":
        session.stop_command(id.strip())
        return f"{id.strip()} is being stopped, with everything that it had started."
    if way == "output":
        said = session.running_command(id.strip()).shown()[-MOST_CHARACTERS:].strip()
        return "\n".join(f"    {visible_line(line)}" for line in said.splitlines()) or f"{id.strip()} has said nothing yet."
    listed = [_line(each, session.now()) for each in session.running.shown()]
    return "\n".join((*listed, "", HOW)) if listed else NOTHING_RUNS


def _line(each: RunsNow, now: float) -> str:
    command = visible_line(one_line(each.command, LINE_CHARACTERS)).replace("`", "'")
    last = visible_line(each.last_line).replace("`", "'")
    time = how_long((each.ended_at or now) - each.began)
    if each.end is None:
        first = f"- {each.id}: `{command}`, for {time}"
    elif each.exit_code is not None:
        first = f"- {each.id}: `{command}`, ended after {time} with exit code {each.exit_code}"
    else:
        first = f"- {each.id}: `{command}`, ended after {time}"
    return f"{first}\n  > `{last}`" if last else first
