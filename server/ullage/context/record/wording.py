"""One line of Markdown for each fact, with its place in the log (`#12` is entry 12, which `recall` opens)."""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.record.calls import one_line
from ullage.context.record.command_history import CommandFact, ErrorFact
from ullage.context.record.facts import Said, Task
from ullage.context.record.file_history import FileFact
from ullage.context.record.names import NameFact

DECISION_CHARACTERS = 260
TRIED_SHOWN = 2


def said_line(said: Said) -> str:
    """A constraint: the sentence as it was said."""
    return f"- {said.text} (#{said.seq})"


def decision_line(said: Said) -> str:
    """A decision: the sentence, shortened."""
    return f"- {one_line(said.text, DECISION_CHARACTERS)} (#{said.seq})"


def file_line(fact: FileFact) -> str:
    """A file: what was done to it, how often, where last."""
    done: list[str] = []
    if fact.created:
        done.append("created")
    if fact.edits:
        done.append(f"edited {fact.edits}×" if fact.edits > 1 else "edited")
    if fact.deleted:
        done.append("deleted")
    if fact.reads:
        done.append(f"read {fact.reads}×" if fact.reads > 1 else "read")
    where = f"; last: `{fact.place}`" if fact.changed and fact.place else f"; {fact.place}" if fact.place else ""
    return f"- {fact.path}: {', '.join(done)} (#{fact.changed_seq or fact.seq}){where}"


def command_line(fact: CommandFact) -> str:
    """A command: how it ended, how often it ran, its last line."""
    runs = f", {fact.runs} runs" if fact.runs > 1 else ""
    last = f": {fact.last_line}" if fact.last_line else ""
    return f"- `{fact.command}`: {fact.ended}{runs} (#{fact.seq}){last}"


def error_line(fact: ErrorFact) -> str:
    """An error: what gave it, and what was done about it."""
    if not fact.is_open:
        return f"- {fact.text} (`{one_line(fact.source, 80)}`, #{fact.seq}): {fact.fix}"
    more = len(fact.tried) - TRIED_SHOWN
    tried = ", ".join(fact.tried[:TRIED_SHOWN]) + (f" and {more} more" if more > 0 else "")
    since = f"; changed since: {tried}" if tried else ""
    return f"- {fact.text} (`{one_line(fact.source, 80)}`, #{fact.seq}): not seen to work since{since}"


def task_line(task: Task) -> str:
    """A task with its state."""
    mark = {"completed": "x", "in_progress": "~"}.get(task.status, " ")
    return f"- [{mark}] {task.content}"


def name_lines(facts: Sequence[NameFact]) -> list[str]:
    """Names and hashes by the place where they were seen last, the newest place first."""
    by_place: dict[int, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: -fact.seq):
        by_place.setdefault(fact.seq, []).append(fact.name)
    return [f"- #{seq}: {', '.join(names)}" for seq, names in by_place.items()]
