"""One line of Markdown for each fact, with its place in the log (`#12` is entry 12, which `recall` opens)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ullage.context.calls import one_line
from ullage.context.quoting import in_a_line
from ullage.context.summary.checkouts import Checkout
from ullage.context.summary.command_history import CommandFact, ErrorFact
from ullage.context.summary.facts import EntryWords, ListedTask
from ullage.context.summary.file_history import FileFact
from ullage.context.summary.sections import FilesWithNames, FileWithNames
from ullage.context.summary.sentences import ReplySentences, ends_of, gist, gives_a_reason, is_strong
from ullage.context.summary.state_of_work import NOT_ACCEPTED, GuidingDocument, StateOfWork
from ullage.context.summary.words import basename

TRIED_SHOWN = 2
COMMAND_CHARACTERS, LAST_LINE_CHARACTERS = 70, 50
ERROR_SHOWN, ERROR_WORDS_SHOWN, CHAIN_SHOWN = 120, 200, 4
COMMITS_SHOWN, UNCOMMITTED_SHOWN, RUNNING_SHOWN, CHECKOUTS_SHOWN = 5, 12, 3, 2
DONE_SHOWN, DONE_TASK_CHARACTERS = 12, 60
ANNOUNCED = "Announced: "
"""Stands before a step that the agent said it would take; the next lines tell what came of it."""
INSIDE = "  > "
"""Stands before each line of a text of several lines that is not the user's."""
POINTING = ("←", "→", "↳", "└", "├", "│")
"""Beginnings of lines that only point to another issue."""
BEGINNING_SHARE = 0.6
"""Share of what is told of a plan or an issue that is too long, for its beginning. The rest is for lines after that which say why, or
forbid."""
WRAPPED = re.compile(r"^(?:Chunk ID|Wall time|Process exited with code|Original token count|Output):?(?: |$)")
"""Lines that Codex' tool puts before the output of a command."""
ABOUT_IT = re.compile(r"(?:author|assignees|labels|reviewers|projects|milestone|number|url|additions|deletions|auto-merge|comments):\t")
"""Beginnings of lines that a tracker puts before the text of an issue or a pull request, and that say little of the work."""
LONGEST_LINE = 220
"""Characters of a line of a plan or an issue."""


def said_line(said: EntryWords) -> str:
    """The line for a constraint: the sentence as it was said."""
    return f"- {said.text} (#{said.seq})"


def told_line(told: ReplySentences, characters: int) -> str:
    """What the agent said in one reply. No line of it can pass for a part of the summary, nor for the user's words."""
    if not told.closing:
        return begun_line(told, characters)
    first, *more = (line for line in ends_of(told.text, characters).splitlines() if line.strip())
    return "\n".join((f"- {first} (#{told.seq})", *(f"{INSIDE}{line}" for line in more)))


def begun_line(told: ReplySentences, characters: int) -> str:
    """What the agent said in one reply, on one line. If it is too long, only the sentences that tell most."""
    return f"- {ANNOUNCED if told.acts else ''}{gist(told.text, characters)} (#{told.seq})"


def state_lines(work: StateOfWork) -> list[str]:
    """The lines on commits, edits since, checks, and what still runs."""
    lines: list[str] = []
    if work.commits:
        shown = work.commits[-COMMITS_SHOWN:]
        before = len(work.commits) - len(shown)
        told = "; ".join(
            f"{f'{commit.hash} ' if commit.hash else ''}{commit.subject or '(no subject seen)'} (#{commit.seq})" for commit in shown
        )
        lines.append(f"- Committed: {f'… {before} before; ' if before else ''}{told}")
        if work.pushed_seq:
            unpushed = sum(commit.seq > work.pushed_seq for commit in work.commits)
            lines.append(
                f"- Pushed (#{work.pushed_seq})" + (f"; {unpushed} commits since are not" if unpushed else ", the last commit too")
            )
    lines += _checkout_lines(work.checkouts[-CHECKOUTS_SHOWN:], work.changed_seq)
    if work.uncommitted:
        names = [basename(path) for path in reversed(work.uncommitted)]
        more = f" and {len(names) - UNCOMMITTED_SHOWN} more" if len(names) > UNCOMMITTED_SHOWN else ""
        since = "since the last commit" if work.commits else "and not committed"
        lines.append(f"- Edited {since}: {', '.join(names[:UNCOMMITTED_SHOWN])}{more}")
    if work.changed_seq and not work.commits and not work.uncommitted:
        lines.append("- No commit was made")
    for check in work.checks:
        since = "; files were edited since" if work.changed_seq > check.seq else ""
        lines.append(
            f"- {check.kind.capitalize()}: `{check.command}` {check.ended}{f': {check.told}' if check.told else ''} (#{check.seq}){since}"
        )
    if work.is_unchecked:
        lines.append("- **The last edits are not checked yet**" if work.checks else "- **Nothing was checked yet**")
    lines += [f"- Sent into the background, its end not seen: `{command}` (#{seq})" for seq, command in work.running[-RUNNING_SHOWN:]]
    return lines


def _checkout_lines(checkouts: Sequence[Checkout], changed_seq: int) -> list[str]:
    lines: list[str] = []
    for found in reversed(checkouts):
        left = ", ".join(f"{count} {what}" for what, count in found.counts or ())
        left = "nothing uncommitted" if found.counts == () else left
        told = "; ".join(part for part in (f"`{found.branch}`" if found.branch else "", found.apart, left) if part)
        if not told:
            continue
        where = f", in {found.folder}" if len(checkouts) > 1 and found.folder else ""
        since = "; files were edited since" if found.counts is not None and changed_seq > found.seq else ""
        lines.append(f"- Git, as last seen: {told} (#{found.seq}{where}){since}")
    return lines


def document_lines(document: GuidingDocument, what: str, characters: int, named: str = "") -> list[str]:
    """The lines on a plan or an issue, in short; from the part on that `named` names, if it names one. Empty if there is nothing in it to
    read."""
    words = [word.strip("'\"`,;") for word in named.split()]
    lines = _lines_of(document.text)
    ids = [word for word in reversed(words) if len(word) > 2 and any(map(str.isdigit, word))]
    found = (place for id in ids for place, line in enumerate(lines) if id in line and not line.lstrip().startswith(POINTING))
    lines = lines[next(found, 0) :]
    if not lines:
        return []
    name = f" {NOT_ACCEPTED}" if document.name == NOT_ACCEPTED else f" `{document.name}`" if document.name else ""
    shown = [f"- {what}{name} (#{document.seq}):"]
    places = _telling(lines, characters)
    for place, before in zip(places, (-1, *places), strict=False):
        if place != before + 1:
            shown.append(f"{INSIDE}[…]")
        shown.append(f"{INSIDE}{one_line(lines[place], LONGEST_LINE)}")
    if len(places) < len(lines):
        shown.append(f"{INSIDE}… ({len(lines) - len(places)} more lines: `recall` #{document.seq})")
    return shown


def _lines_of(text: str) -> list[str]:
    """The lines of the text that have words. What a tool puts before a command's output is left out, and JSON is read by the lines of its
    texts."""
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    lines = [line.rstrip() for line in lines if not WRAPPED.match(line.rstrip()) and not ABOUT_IT.match(line)]
    if lines and lines[0].lstrip().startswith(("{", "[")):
        lines = [part for line in lines for part in line.split("\\n") if any(map(str.isalnum, part))]
    return lines


def _telling(lines: Sequence[str], characters: int) -> list[int]:
    """The indexes of the lines that are shown: all if they fit, else those at the beginning, and of the others first those that say why."""
    costs = [min(len(line), LONGEST_LINE) + len(INSIDE) + 2 for line in lines]
    if sum(costs) <= characters:
        return [*range(len(lines))]
    taken: list[int] = []
    left = int(characters * BEGINNING_SHARE)
    for place, cost in enumerate(costs):
        if cost > left:
            break
        left -= cost
        taken.append(place)
    left += characters - int(characters * BEGINNING_SHARE)
    after = [*range(len(taken), len(lines))]
    for place in (*(each for each in after if gives_a_reason(lines[each]) or is_strong(lines[each])), *after):
        if place not in taken and costs[place] <= left:
            left -= costs[place]
            taken.append(place)
    return sorted(taken)


def task_lines(tasks: Sequence[ListedTask]) -> list[str]:
    """The lines on the task list: one for each open task, and one for all that are done."""
    done = [one_line(task.content, DONE_TASK_CHARACTERS) for task in tasks if not task.is_open]
    lines = [task_line(task) for task in tasks if task.is_open]
    if done:
        lines.insert(0, f"- {len(done)} of {len(tasks)} tasks done: {'; '.join(done[-DONE_SHOWN:])}")
    return lines


def file_line(fact: FileFact) -> str:
    """The line for a file: what was done to it, how often, where last."""
    return f"- {in_a_line(fact.path)}: {_done(fact)}{_place(fact)}"


def file_lines(found: FilesWithNames) -> list[str]:
    """The lines for files, by folder, each file with the names that belong to it; those without any at the end of their folder."""
    folders: dict[str, list[FileWithNames]] = {}
    for place in found.places:
        folders.setdefault(in_a_line(place.path).replace("\\", "/").rpartition("/")[0], []).append(place)
    lines: list[str] = []
    for folder, inside in folders.items():
        lines.append(_folder_line(folder))
        lines += [_place_line(place) for place in inside if _has_own_line(place)]
        bare = [basename(in_a_line(place.path)) for place in inside if not _has_own_line(place)]
        if bare:
            lines.append(f"- {', '.join(bare)}")
    if found.changed_left_out:
        lines.append(f"- … and {found.changed_left_out} more changed files; `recall` finds them")
    return lines


def elsewhere_lines(found: FilesWithNames) -> list[str]:
    """The lines for names that belong to no file, and for hashes."""
    lines = [("Other names in use", found.elsewhere), ("Hashes and addresses seen last", found.ids)]
    return [f"{what}: {' '.join(names)}" for what, names in lines if names]


def _has_own_line(place: FileWithNames) -> bool:
    return bool(place.names) or (place.fact is not None and (place.fact.changed or bool(place.fact.shows)))


def _place_line(place: FileWithNames) -> str:
    name = basename(in_a_line(place.path))
    head = f"- {name}" if place.fact is None else f"- {name} ({_done(place.fact)}{_place(place.fact)})"
    return f"{head}: {' '.join(place.names)}" if place.names else head


def _folder_line(folder: str) -> str:
    """The line for a folder, whose name cannot pass for Markdown."""
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
    """The line for a command: how it ended, how often it ran, its last line."""
    runs = f", {fact.runs} runs" if fact.runs > 1 else ""
    last = f": {one_line(fact.last_line, LAST_LINE_CHARACTERS)}" if fact.last_line else ""
    return f"- `{one_line(fact.command, COMMAND_CHARACTERS)}`: {fact.ended}{runs} (#{fact.seq}){last}"


def error_line(fact: ErrorFact) -> str:
    """The line for an error: what gave it, and what was done about it."""
    return f"- {_error(fact)} (`{one_line(fact.source, 60)}`, #{fact.seq}){_words(fact)}{_after(fact)}"


def error_chains(facts: Sequence[ErrorFact]) -> list[str]:
    """The lines for errors, the last first. Errors that one call gave one after the other stand in one line, in the order in which each
    took the place of the one before."""
    chains: dict[str, list[ErrorFact]] = {}
    for fact in facts:
        chains.setdefault(fact.source, []).append(fact)
    lines: list[tuple[int, str]] = []
    for chain in chains.values():
        if len(chain) == 1:
            lines.append((chain[0].seq, error_line(chain[0])))
            continue
        steps = " → then ".join(f"{_error(fact)} (#{fact.seq}){_words(fact)}" for fact in chain[-CHAIN_SHOWN:])
        before = f"… {len(chain) - CHAIN_SHOWN} before; " if len(chain) > CHAIN_SHOWN else ""
        lines.append((chain[-1].seq, f"- `{one_line(chain[-1].source, 60)}`: {before}{steps}{_after(chain[-1])}"))
    return [line for _, line in sorted(lines, key=lambda each: -each[0])]


def _error(fact: ErrorFact) -> str:
    return one_line(fact.text, ERROR_SHOWN)


def _words(fact: ErrorFact) -> str:
    return f", the agent: “{one_line(fact.words, ERROR_WORDS_SHOWN)}”" if fact.words else ""


def _after(fact: ErrorFact) -> str:
    if not fact.is_open:
        return f"; {fact.fix}"
    more = len(fact.tried) - TRIED_SHOWN
    tried = ", ".join(basename(path) for path in fact.tried[:TRIED_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"; open{f', tried: {tried}' if tried else ''}"


def task_line(task: ListedTask) -> str:
    """The line for a task, with its state."""
    mark = {"completed": "x", "in_progress": "~"}.get(task.status, " ")
    return f"- [{mark}] {task.content}"
