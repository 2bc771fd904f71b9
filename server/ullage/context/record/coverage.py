"""The check after a handoff is written: what it must hold and does not is added. No model is asked."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.record import wording
from ullage.context.record.command_history import last_open
from ullage.context.record.facts import Facts
from ullage.context.record.words import basename
from ullage.context.redact import redact

HEADING = "## Also to be kept"
FILE_TOKEN = re.compile(r"[^\s`'\",;:()]+")
ADDED_TOKENS = 2_000
"""What is added at most; the newest first."""


def complete(text: str, found: Facts, staying: str = "") -> str:
    """`text`, and at its end the constraints, changed paths, open tasks and last open errors that it lacks and `staying` does, too: the
    messages that stay in view beside it."""
    lines = missing(f"{text}\n{staying}", found)
    added: list[str] = []
    left = ADDED_TOKENS
    for line in lines:
        tokens = estimate_text(line)
        if tokens <= left:  # a very long one must not keep out those after it
            left -= tokens
            added.append(line)
    return "\n".join((text, "", HEADING, *added)) if added else text


def missing(text: str, found: Facts) -> list[str]:
    """A line for each thing that must be in the handoff and is not; of each kind the newest first."""
    flat = _flat(text)
    files = {basename(token) for token in FILE_TOKEN.findall(text)}
    wanted = [
        *((said.text, wording.said_line(said)) for said in reversed(found.constraints)),
        *((task.content, wording.task_line(task)) for task in found.tasks if task.is_open),
        *((error.text, wording.error_line(error)) for error in reversed(last_open(found.errors))),
    ]
    lines = [redact(line) for needle, line in wanted if _flat(redact(needle)) not in flat]
    changed = [file for file in found.files if file.changed and not _named(file.path, flat, files)]
    return _unique([*lines, *(redact(wording.file_line(file)) for file in changed)])


def _named(path: str, flat: str, files: Collection[str]) -> bool:
    """Whether a file is named: by its path, or by its name in a line of its folder."""
    return basename(path) in files or _flat(redact(path)) in flat


def _flat(text: str) -> str:
    return " ".join(text.split())


def _unique(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(lines))
