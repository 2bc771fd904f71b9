"""One line of Markdown for each fact, with its place in the log (`#12` is entry 12, which `recall` opens)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ullage.context.calls import one_line
from ullage.context.quoting import in_a_line
from ullage.context.summary.command_history import CommandFact, ErrorFact
from ullage.context.summary.facts import Said, Task
from ullage.context.summary.file_history import FileFact
from ullage.context.summary.sections import Place, Places
from ullage.context.summary.words import basename

DECISION_CHARACTERS = 200
TRIED_SHOWN = 2
COMMAND_CHARACTERS, LAST_LINE_CHARACTERS = 70, 50
FILE_CHARACTERS = 540
"""Of the names in a line: so that none is far from its file."""
ELSEWHERE_CHARACTERS = 480


def said_line(said: Said) -> str:
    """A constraint: the sentence as it was said."""
    return f"- {said.text} (#{said.seq})"


def decision_line(said: Said) -> str:
    """A decision: the sentence, shortened."""
    return f"- {one_line(said.text, DECISION_CHARACTERS)} (#{said.seq})"


def file_line(fact: FileFact) -> str:
    """A file: what was done to it, how often, where last."""
    return f"- {in_a_line(fact.path)}: {_done(fact)}{_place(fact)}"


def file_lines(found: Places) -> list[str]:
    """Files by folder, each with the names that belong to it; those without any at the end of their folder."""
    folders: dict[str, list[Place]] = {}
    for place in found.places:
        folders.setdefault(in_a_line(place.path).replace("\\", "/").rpartition("/")[0], []).append(place)
    lines: list[str] = []
    for folder, inside in folders.items():
        lines.append(_folder_line(folder))
        bare: list[str] = []
        for place in inside:
            if place.names or place.fact is not None:
                lines += _place_lines(place)
            else:
                bare.append(basename(in_a_line(place.path)))
        if bare:
            lines.append(f"- {', '.join(bare)}")
    if found.changed_left_out:
        lines.append(f"- … and {found.changed_left_out} more changed files; `recall` finds them")
    return lines


def elsewhere_lines(found: Places, last_seqs: Mapping[str, int]) -> list[str]:
    """Names that belong to no file, by the part of the log where they were seen last, the newest first."""
    lines: list[str] = []
    for names in _filled(found.elsewhere, ELSEWHERE_CHARACTERS):
        newest, oldest = last_seqs[names[0]], last_seqs[names[-1]]
        lines.append(f"- #{oldest}{f'–#{newest}' if newest != oldest else ''}: {' '.join(names)}")
    return lines


def _place_lines(place: Place) -> Iterator[str]:
    name = basename(in_a_line(place.path))
    head = f"- {name}" if place.fact is None else f"- {name} ({_done(place.fact)}{_place(place.fact)})"
    if not place.names:
        yield head
    for names in _filled(place.names, FILE_CHARACTERS, len(head) - len(name)):
        yield f"{head}: {' '.join(names)}"
        head = f"- {name}"


def _filled(names: Sequence[str], characters: int, taken: int = 0) -> Iterator[Sequence[str]]:
    """The names in groups of about so many characters, of which some are taken in the first."""
    first, size = 0, taken
    for index, name in enumerate(names):
        if index > first and size + len(name) > characters:
            yield names[first:index]
            first, size = index, 0
        size += len(name) + 1
    if names:
        yield names[first:]


def _folder_line(folder: str) -> str:
    """A folder; its name cannot pass for Markdown."""
    return f"{folder}/" if folder[:1].isalnum() or folder[:1] in ("/", "~", "_", ".") else f"./{folder}/".replace(".//", "./")


def _done(fact: FileFact) -> str:
    done: list[str] = []
    if fact.created:
        done.append("created")
    if fact.edits:
        done.append(f"edited {fact.edits}×" if fact.edits > 1 else "edited")
    if fact.deleted:
        done.append("deleted")
    if fact.reads and not fact.changed:
        done.append(f"read: {fact.shows}," if fact.shows else "read")
    return f"{', '.join(done)} #{fact.changed_seq or fact.seq}"


def _place(fact: FileFact) -> str:
    return f"; last: `{fact.place}`" if fact.changed and fact.place else f"; {fact.place}" if fact.place else ""


def command_line(fact: CommandFact) -> str:
    """A command: how it ended, how often it ran, its last line."""
    runs = f", {fact.runs} runs" if fact.runs > 1 else ""
    last = f": {one_line(fact.last_line, LAST_LINE_CHARACTERS)}" if fact.last_line else ""
    return f"- `{one_line(fact.command, COMMAND_CHARACTERS)}`: {fact.ended}{runs} (#{fact.seq}){last}"


def error_line(fact: ErrorFact) -> str:
    """An error: what gave it, and what was done about it."""
    if not fact.is_open:
        return f"- {fact.text} (`{one_line(fact.source, 40)}`, #{fact.seq}): {fact.fix}"
    more = len(fact.tried) - TRIED_SHOWN
    tried = ", ".join(basename(path) for path in fact.tried[:TRIED_SHOWN]) + (f" and {more} more" if more > 0 else "")
    since = f", tried: {tried}" if tried else ""
    return f"- {fact.text} (`{one_line(fact.source, 40)}`, #{fact.seq}): open{since}"


def task_line(task: Task) -> str:
    """A task with its state."""
    mark = {"completed": "x", "in_progress": "~"}.get(task.status, " ")
    return f"- [{mark}] {task.content}"
