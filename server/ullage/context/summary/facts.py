"""What a program knows of a session from its log alone: the facts that no summary may lose.

Each kind has its own file: `file_history.py`, `command_history.py`, `sentences.py`, `names.py`; `settled.py` adds them up entry by entry,
and `reading.py` keeps the sum. How they are put into words is in `digest.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.entries import Logged
from ullage.context.summary.command_history import CommandFact, ErrorFact
from ullage.context.summary.file_history import FileFact
from ullage.context.summary.names import RECENT_ENTRIES, NamesInUse, names_in_use
from ullage.context.summary.reading import Reading
from ullage.context.summary.settled import Said as Said
from ullage.context.summary.settled import Task as Task


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the digest is written from, each kind in the order in which it happened unless said otherwise."""

    asked: Sequence[Said]
    """What the user typed, verbatim; where something was attached, its name on a line of its own."""
    constraints: tuple[Said, ...]
    """Sentences of the user; the same sentence only once, where it was said last. What they refused, and with which words."""
    decisions: tuple[Said, ...]
    files: tuple[FileFact, ...]
    """Changed ones first, then the last touched first."""
    commands: tuple[CommandFact, ...]
    errors: tuple[ErrorFact, ...]
    tasks: tuple[Task, ...]
    names: NamesInUse
    last_words: Said | None
    """The end of the assistant's last text."""
    last_call: Said | None
    """The last tool call, in a line."""
    cut_at_work: bool
    """Whether a turn was running where the entries end."""
    record: int | None
    """The seq of the newest compaction in force that has a summary; None where there is none."""


def facts(entries: Sequence[Logged], reading: Reading | None = None) -> Facts:
    """Reads the facts out of `entries`, which should begin with the session's first.

    `reading` is what was read of the same log before: it saves time and changes nothing.
    """
    found, newest = (reading or Reading()).up_to_end(entries)
    return Facts(
        asked=found.asked(entries),
        constraints=found.constraints,
        decisions=found.decisions,
        files=found.files.facts(),
        commands=found.commands.facts(),
        errors=found.errors.facts(),
        tasks=found.tasks,
        names=names_in_use(newest),
        last_words=found.last_words,
        last_call=found.last_call,
        cut_at_work=found.at_work,
        record=found.record,
    )


def read_ahead(entries: Sequence[Logged], reading: Reading) -> int:
    """Reads now what the digest of `entries` and of some more will ask of them, so that it need not wait for that.

    Costs what was not read ahead yet; gives how many entries these were.
    """
    new, count = reading.ahead(entries)
    for entry in new:
        _ = entry.constraints
        if entry.call is not None:
            entry.call.look_ahead()
    for entry in new[-RECENT_ENTRIES:]:
        _ = entry.mentions, entry.decisions
    return count
