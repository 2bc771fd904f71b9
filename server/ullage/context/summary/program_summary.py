"""The program summary: a summary written by program from the facts of the log. Always available, free, instant.

Here is what stands in which section, and which of the user's words are quoted: verbatim, the newest first in line for the room there is.
What is picked where there is not room for all is in `sections.py`. How a fact reads is in `wording.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.calls import answered_calls, one_line
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Logged, UserPrompt
from ullage.context.quoting import in_a_line
from ullage.context.redact import redact
from ullage.context.summary import wording
from ullage.context.summary.command_history import command_history, last_open
from ullage.context.summary.facts import Facts, Said
from ullage.context.summary.file_history import file_history
from ullage.context.summary.sections import Focus, Section, Share, fitting, places, spend
from ullage.context.summary.sentences import is_firm
from ullage.context.summary.settled import SHORTENED_CHARACTERS, Asked

PROGRAM_TOKENS = 8_000
"""For everything but the user's own words, at most; half of it is usual (`places.LEAST_WORTH`)."""
OTHERS_SHARE = 0.05
"""Of it, for all but files and names; what these leave comes on top of it, and what they need in any case comes off."""
CHARACTERS_PER_TOKEN = 2.4
"""Of names of files and of things in code."""

CONSTRAINT_TOKENS = 4_000
"""The oldest constraints beyond that are counted."""
BURIED_CHARACTERS = 300
"""A constraint in a message longer than that is said again by itself, as far as there is room; in a shorter one it is seen."""

NAMED_CHARACTERS = 90
"""Of a message of the user that stays in view: enough to know it by."""

ASKED = "What the user asked for"
CONSTRAINTS = "Constraints and preferences"
DECISIONS = "Decisions and why"
FILES = "Files, with names that belong to them"
COMMANDS = "Commands and how they ended"
ERRORS = "Errors and what was done about them"
TASKS = "Task list"
NAMES = "Other names and hashes, by where they were last seen"
CUT = "What was being done where this record ends"
NEXT = "Next step, as of the end of this record"

HEADINGS = (ASKED, CONSTRAINTS, DECISIONS, FILES, COMMANDS, ERRORS, TASKS, NAMES, CUT, NEXT)
"""In reading order."""

FIRST_SHARE = 0.25
"""Of the room: kept for the first message, which mostly says what all of it is about."""
SHORTENED_SHARE = 0.1
"""Of the room, on top of it: for the beginnings of messages that do not fit."""


def program_sections(found: Facts, quotes: Quotes, focus: str, budget_tokens: int, staying: str = "") -> tuple[Section, ...]:
    """Its sections in reading order; empty ones are left out. `staying` is the text of the messages that stay beside it."""
    favoured = Focus(focus)
    shares = _shares(found, quotes, favoured)
    for_others = int(budget_tokens * OTHERS_SHARE)
    left = spend(shares, for_others)
    cut = [] if staying else [_cut(found)]  # the messages that stay begin before it, and show it
    others = [_asked(quotes, staying), *(share.section() for share in shares), *cut, _next(found)]
    standing = "\n".join((*(line for section in others for line in section.lines), staying))
    most = int((budget_tokens - for_others + max(left, 0)) * CHARACTERS_PER_TOKEN)
    placed = places(found.names, found.files, standing, favoured, most)
    files = Section(FILES, tuple(wording.file_lines(placed)))
    names = Section(NAMES, tuple(wording.elsewhere_lines(placed, found.names.last_seqs)))
    by_heading = {section.heading: section for section in (*others, files, names)}
    return tuple(section for heading in HEADINGS if (section := by_heading.get(heading)) and section.lines)


def brief(entries: Sequence[Logged]) -> str:
    """A few lines on a range of entries, for the marker that stands in its place; empty where nothing is worth saying."""
    said = [logged.entry.text for logged in entries if isinstance(logged.entry, UserPrompt)]
    calls = answered_calls(entries)
    lines: list[str] = []
    if said:
        lines.append("The user said: " + " / ".join(one_line(text, 120) for text in said[-6:]))
    files = file_history(calls)
    changed = [in_a_line(fact.path) for fact in files if fact.changed]
    if changed:
        lines.append("Changed: " + _some(changed, 12))
    read = [in_a_line(fact.path) for fact in files if not fact.changed]
    if read:
        lines.append("Read: " + _some(read, 8))
    commands = [fact for fact in command_history(calls) if not fact.only_looks][-4:]
    if commands:
        lines.append("Ran: " + _some([f"`{one_line(fact.command, 60)}` ({fact.ended})" for fact in commands], 4))
    return redact("\n".join(lines))


def _some(words: Sequence[str], most: int) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def _shares(found: Facts, quotes: Quotes, focus: Focus) -> list[Share]:
    quoted = {each.seq: each.text for each in quotes.quotes if each.whole}
    unquoted = [said for said in found.constraints if said.seq not in quoted]
    buried = [said for said in found.constraints if len(quoted.get(said.seq, "")) > BURIED_CHARACTERS]
    open_tasks = [task for task in found.tasks if task.is_open]
    done_tasks = [task for task in found.tasks if not task.is_open]
    open_errors = [wording.error_line(fact) for fact in last_open(found.errors)]
    errors = [fact for fact in reversed(found.errors) if wording.error_line(fact) not in open_errors]
    return [
        Share(CONSTRAINTS, 0.15, _constraint_lines(unquoted), focus.newest(buried, wording.said_line)),
        Share(DECISIONS, 0.2, [], focus.newest(found.decisions, wording.decision_line, lambda said: not is_firm(said.text))),
        Share(COMMANDS, 0.3, [], focus.newest(found.commands, wording.command_line, lambda fact: fact.only_looks)),
        Share(ERRORS, 0.25, open_errors, focus.first(errors, wording.error_line)),
        Share(TASKS, 0.1, [wording.task_line(task) for task in open_tasks], focus.first(done_tasks, wording.task_line)),
    ]


def _constraint_lines(unquoted: Sequence[Said]) -> list[str]:
    lines = [wording.said_line(said) for said in reversed(unquoted)]
    shown = fitting(lines, CONSTRAINT_TOKENS)
    older = [f"- … and {len(lines) - shown} older ones; `recall` finds them"] if shown < len(lines) else []
    return older + lines[:shown][::-1]


def _asked(quotes: Quotes, staying: str) -> Section:
    lines: list[str] = []
    if quotes.left_out:
        lines.append(f"({quotes.left_out} older messages are left out; `recall` finds them.)")
    for each in quotes.quotes:
        if each.whole and len(each.text) > NAMED_CHARACTERS and each.text in staying:
            lines.append(f"- #{each.seq} (whole in the messages that stayed): {one_line(each.text, NAMED_CHARACTERS)}")
            continue
        first, *more = each.text.splitlines() or [""]
        lines.append(f"- #{each.seq}{'' if each.whole else ' (a part of it)'}: {first}")
        lines.extend(f"    {line}" for line in more)
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


@dataclass(frozen=True, slots=True)
class Quote:
    """A message of the user. Where it is not `whole`, `text` is a part of it."""

    seq: int
    text: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Quotes:
    """What is quoted, in the order in which it was said, and how many messages are not."""

    quotes: tuple[Quote, ...]
    left_out: int


def quote(asked: Sequence[Said], tokens: int) -> Quotes:
    """Quotes the newest messages whole, and the first one; of others the beginning; in about `tokens` tokens."""
    quotes: dict[int, Quote] = {}
    room = tokens
    if asked:
        quotes[0] = _fitted(asked[0], tokens if len(asked) == 1 else int(tokens * FIRST_SHARE))
        room -= estimate_text(quotes[0].text)
    shortened_room = int(tokens * SHORTENED_SHARE)
    for index in range(len(asked) - 1, 0, -1):  # of most messages of a long session no more than the size is looked at
        size = _size(asked, index)
        if size <= room:
            quotes[index] = Quote(asked[index].seq, asked[index].text, True)
            room -= size
        elif index == len(asked) - 1:
            quotes[index] = _fitted(asked[index], room)
            room -= estimate_text(quotes[index].text)
        elif (size := _shortened_size(asked, index)) <= shortened_room:
            said = asked[index]
            quotes[index] = Quote(said.seq, one_line(said.text, SHORTENED_CHARACTERS), False)
            shortened_room -= size
    return Quotes(tuple(quotes[index] for index in sorted(quotes)), len(asked) - len(quotes))


def _size(asked: Sequence[Said], index: int) -> int:
    return asked.size(index) if isinstance(asked, Asked) else estimate_text(asked[index].text)


def _shortened_size(asked: Sequence[Said], index: int) -> int:
    return asked.shortened_size(index) if isinstance(asked, Asked) else estimate_text(one_line(asked[index].text, SHORTENED_CHARACTERS))


def _fitted(said: Said, tokens: int) -> Quote:
    """The message, or its beginning and end where it is too long."""
    size = estimate_text(said.text)
    if size <= tokens:
        return Quote(said.seq, said.text, True)
    half = max(int(len(said.text) * tokens / size / 2), SHORTENED_CHARACTERS // 2)
    left_out = len(said.text) - 2 * half
    if left_out <= 0:
        return Quote(said.seq, said.text, True)
    return Quote(said.seq, f"{said.text[:half]}\n… ({left_out:,} characters left out) …\n{said.text[-half:]}", False)
