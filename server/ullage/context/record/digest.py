"""The digest: a summary written by program from the facts of the log. Always available, free, instant.

What stands in which section: here. What is picked where there is not room for all: `sections.py`. How a fact reads: `wording.py`. The
user's words: `quotes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged
from ullage.context.policy import SummaryNumbers
from ullage.context.record import wording
from ullage.context.record.calls import one_line
from ullage.context.record.facts import Facts, Said, facts
from ullage.context.record.file_history import FileFact
from ullage.context.record.names import NameFact
from ullage.context.record.quotes import Quotes, quote
from ullage.context.record.sections import Focus, Section, Share, fitting, spend
from ullage.context.redact import redact

DIGEST_TOKENS = 3_600
"""For everything but the user's own words. With those of a usual session the whole stays under 12,000 characters."""

CONSTRAINT_TOKENS = 4_000
FILE_TOKENS = 2_000
"""Files beyond that are named without particulars ..."""
PATH_TOKENS = 4_000
"""... and beyond that, which takes hundreds of changed files, counted. Likewise the oldest constraints."""

NAMES_SHARE = 0.28
"""Of the budget; what the other sections leave comes on top."""
NAME_TOKENS = 2
"""For the comma and a part of the place before each name."""

ASKED = "What the user asked for"
CONSTRAINTS = "Constraints and preferences"
DECISIONS = "Decisions and why"
FILES = "Files"
COMMANDS = "Commands and how they ended"
ERRORS = "Errors and what was done about them"
TASKS = "Task list"
NAMES = "Names and hashes, with where they were last seen"
CUT = "What was being done where this record ends"
NEXT = "Next step, as of the end of this record"


def digest(entries: Sequence[Logged], focus: str, budget_tokens: int = DIGEST_TOKENS) -> str:
    """The digest of `entries` as Markdown, in fixed sections; `focus` says what to favour.

    Every constraint, every changed path and every open task is in it (up to ceilings that only a very long session
    reaches). The rest takes up to `budget_tokens`, and the user's own words come on top.
    """
    found = facts(entries)
    sections = digest_sections(found, quote(found.asked, SummaryNumbers().user_message_tokens), focus, budget_tokens)
    return "\n\n".join(section.markdown() for section in sections)


def digest_sections(found: Facts, quotes: Quotes, focus: str, budget_tokens: int) -> tuple[Section, ...]:
    """The sections of the digest in reading order; empty ones are left out."""
    favoured = Focus(focus)
    shares = _shares(found, quotes, favoured)
    for_names = int(budget_tokens * NAMES_SHARE)
    for_names += spend(shares, budget_tokens - for_names)
    sections = [_asked(quotes), *(share.section() for share in shares), _names(found.names, favoured, for_names), _cut(found), _next(found)]
    return tuple(section for section in sections if section.lines)


def brief(entries: Sequence[Logged]) -> str:
    """A few lines on a range of entries, for the marker that stands in its place; empty where nothing is worth saying."""
    found = facts(entries)
    lines: list[str] = []
    if found.asked:
        lines.append("The user said: " + " / ".join(one_line(said.text, 120) for said in found.asked[-6:]))
    changed = [fact.path for fact in found.files if fact.changed]
    if changed:
        lines.append("Changed: " + _some(changed, 12))
    read = [fact.path for fact in found.files if not fact.changed]
    if read:
        lines.append("Read: " + _some(read, 8))
    if found.commands:
        lines.append("Ran: " + _some([f"`{one_line(fact.command, 60)}` ({fact.ended})" for fact in found.commands[-4:]], 4))
    return redact("\n".join(lines))


def _some(words: Sequence[str], most: int) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def _shares(found: Facts, quotes: Quotes, focus: Focus) -> list[Share]:
    quoted = {each.seq for each in quotes.quotes if each.whole}
    unquoted = [said for said in found.constraints if said.seq not in quoted]
    requoted = [said for said in found.constraints if said.seq in quoted]
    changed = [fact for fact in found.files if fact.changed]
    read = [fact for fact in found.files if not fact.changed]
    open_tasks = [task for task in found.tasks if task.is_open]
    done_tasks = [task for task in found.tasks if not task.is_open]
    errors = sorted(found.errors, key=lambda fact: (not fact.is_open, -fact.seq))
    return [
        Share(CONSTRAINTS, 0.08, _constraint_lines(unquoted), focus.newest(requoted, wording.said_line)),
        Share(DECISIONS, 0.18, [], focus.newest(found.decisions, wording.decision_line)),
        Share(FILES, 0.24, _changed_lines(changed), focus.first(read, wording.file_line)),
        Share(COMMANDS, 0.22, [], focus.newest(found.commands, wording.command_line)),
        Share(ERRORS, 0.2, [], focus.first(errors, wording.error_line)),
        Share(TASKS, 0.08, [wording.task_line(task) for task in open_tasks], focus.first(done_tasks, wording.task_line)),
    ]


def _constraint_lines(unquoted: Sequence[Said]) -> list[str]:
    lines = [wording.said_line(said) for said in reversed(unquoted)]
    shown = fitting(lines, CONSTRAINT_TOKENS)
    older = [f"- … and {len(lines) - shown} older ones; `recall` finds them"] if shown < len(lines) else []
    return older + lines[:shown][::-1]


def _changed_lines(changed: Sequence[FileFact]) -> list[str]:
    lines = [wording.file_line(fact) for fact in changed]
    shown = fitting(lines, FILE_TOKENS)
    paths = [fact.path for fact in changed[shown:]]
    if not paths:
        return lines
    named = fitting(paths, PATH_TOKENS)
    more = f" and {len(paths) - named} more; `recall` finds them" if named < len(paths) else ""
    return [*lines[:shown], f"- also changed: {', '.join(paths[:named])}{more}"]


def _names(names: Sequence[NameFact], focus: Focus, tokens: int) -> Section:
    picked: list[NameFact] = []
    for fact in sorted(names, key=lambda fact: not focus.concerns(fact.name)):
        tokens -= estimate_text(fact.name) + NAME_TOKENS
        if tokens < 0:
            break
        picked.append(fact)
    return Section(NAMES, tuple(wording.name_lines(picked)))


def _asked(quotes: Quotes) -> Section:
    lines: list[str] = []
    if quotes.left_out:
        lines.append(f"({quotes.left_out} older messages are left out; `recall` finds them.)")
    for each in quotes.quotes:
        if lines:
            lines.append("")  # else Markdown takes what follows a quote for a part of it
        lines.append(f"#{each.seq}{'' if each.whole else ' (a part of it)'}:")
        lines.extend(f"> {line}" for line in each.text.splitlines())
    return Section(ASKED, tuple(lines))


def _cut(found: Facts) -> Section:
    lines: list[str] = []
    if found.last_words:
        lines.append(f"The assistant's last words (#{found.last_words.seq}):")
        lines.extend(f"> {line}" for line in found.last_words.text.splitlines())
    if found.last_call:
        if lines:
            lines.append("")
        lines.append(f"Last call (#{found.last_call.seq}): {found.last_call.text}")
    return Section(CUT, tuple(lines))


def _next(found: Facts) -> Section:
    open_tasks = sorted((task for task in found.tasks if task.is_open), key=lambda task: task.status != "in_progress")
    if open_tasks:
        return Section(NEXT, (f"Go on with: {open_tasks[0].content}",))
    if found.cut_at_work and found.asked:
        return Section(NEXT, (f"Go on with what the user asked last (#{found.asked[-1].seq})",))
    return Section(NEXT, ("Nothing is left open that the log knows of; the user speaks next",) if found.asked else ())
