"""The check after a handoff is written: what it must hold and does not is added. No model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.record import wording
from ullage.context.record.facts import Facts
from ullage.context.redact import redact

HEADING = "## Also to be kept"
LAST_ERRORS = 3
ADDED_TOKENS = 2_000
"""What is added at most; the newest first."""


def complete(text: str, found: Facts) -> str:
    """`text`, and at its end the constraints, changed paths, open tasks and last open errors that it lacks."""
    lines = missing(text, found)
    added: list[str] = []
    tokens = ADDED_TOKENS
    for line in lines:
        tokens -= estimate_text(line)
        if tokens < 0:
            break
        added.append(line)
    return "\n".join((text, "", HEADING, *added)) if added else text


def missing(text: str, found: Facts) -> list[str]:
    """A line for each thing that must be in the handoff and is not; of each kind the newest first."""
    flat = _flat(text)
    open_errors = [error for error in found.errors if error.is_open][-LAST_ERRORS:]
    wanted = [
        *((said.text, wording.said_line(said)) for said in reversed(found.constraints)),
        *((task.content, wording.task_line(task)) for task in found.tasks if task.is_open),
        *((error.text, wording.error_line(error)) for error in reversed(open_errors)),
        *((file.path, wording.file_line(file)) for file in found.files if file.changed),
    ]
    return _unique([redact(line) for needle, line in wanted if _flat(redact(needle)) not in flat])


def _flat(text: str) -> str:
    return " ".join(text.split())


def _unique(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(lines))
