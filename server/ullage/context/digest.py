"""The digest: a summary written by program from the facts of the log. Always available, free, instant.

What is picked where there is not room for all: here. How a fact reads: `wording.py`. The user's words: `quotes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ullage.context import wording
from ullage.context.calls import one_line
from ullage.context.entries import Logged
from ullage.context.facts import Facts, Said, facts
from ullage.context.file_history import FileFact
from ullage.context.names import NameFact
from ullage.context.policy import SummaryNumbers
from ullage.context.quotes import Quotes, quote
from ullage.context.redact import redact
from ullage.context.tokens import estimate_text

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

Fact = TypeVar("Fact")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines."""

    heading: str
    lines: tuple[str, ...]

    def markdown(self) -> str:
        """As it stands in the digest."""
        return "\n".join((f"## {self.heading}", *self.lines))


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
    favoured = _Focus(focus)
    shares = _shares(found, quotes, favoured)
    for_names = int(budget_tokens * NAMES_SHARE)
    for_names += _spend(shares, budget_tokens - for_names)
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


class _Focus:
    """What is to be favoured."""

    def __init__(self, focus: str) -> None:
        self._words = [word for word in focus.casefold().replace(",", " ").split() if len(word) > 2]

    def concerns(self, line: str) -> bool:
        return any(word in line.casefold() for word in self._words)

    def first(self, facts: Sequence[Fact], line: Callable[[Fact], str]) -> list[tuple[int, str]]:
        """Lines with their places in `facts`; those that speak of the focus first, else as they are."""
        numbered = [(index, line(fact)) for index, fact in enumerate(facts)]
        return sorted(numbered, key=lambda each: not self.concerns(each[1]))


@dataclass(slots=True)
class _Share:
    """One section while lines are picked for it."""

    heading: str
    share: float
    """Of the budget, as long as others want theirs."""
    required: list[str]
    """Stand in it whatever the budget."""
    wanted: list[tuple[int, str]]
    """By rank, with the place where they stand."""
    taken: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def take(self, tokens: int) -> int:
        """Takes the next lines that fit; gives what they cost."""
        spent = 0
        while self.wanted:
            cost = estimate_text(self.wanted[0][1]) + 1
            if spent + cost > tokens:
                break
            spent += cost
            self.taken.append(self.wanted.pop(0))
        return spent

    def section(self) -> Section:
        lines = [*self.required, *(line for _, line in sorted(self.taken))]
        if self.wanted and lines:
            lines.append(f"- … and {len(self.wanted)} more; `recall` finds them")
        return Section(self.heading, tuple(lines))


def _spend(shares: Sequence[_Share], budget: int) -> int:
    """Picks lines for every section; gives what is left of the budget."""
    left = budget - sum(estimate_text(line) for share in shares for line in share.required)
    for share in shares:
        left -= share.take(min(int(budget * share.share), left))
    for share in shares:
        left -= share.take(left)
    return left


def _shares(found: Facts, quotes: Quotes, focus: _Focus) -> list[_Share]:
    quoted = {each.seq for each in quotes.quotes if each.whole}
    unquoted = [said for said in found.constraints if said.seq not in quoted]
    requoted = [said for said in found.constraints if said.seq in quoted]
    changed = [fact for fact in found.files if fact.changed]
    read = [fact for fact in found.files if not fact.changed]
    open_tasks = [task for task in found.tasks if task.is_open]
    done_tasks = [task for task in found.tasks if not task.is_open]
    errors = sorted(found.errors, key=lambda fact: (not fact.is_open, -fact.seq))
    return [
        _Share(CONSTRAINTS, 0.08, _constraint_lines(unquoted), _newest(requoted, wording.said_line, focus)),
        _Share(DECISIONS, 0.18, [], _newest(found.decisions, wording.decision_line, focus)),
        _Share(FILES, 0.24, _changed_lines(changed), focus.first(read, wording.file_line)),
        _Share(COMMANDS, 0.22, [], _newest(found.commands, wording.command_line, focus)),
        _Share(ERRORS, 0.2, [], focus.first(errors, wording.error_line)),
        _Share(TASKS, 0.08, [wording.task_line(task) for task in open_tasks], focus.first(done_tasks, wording.task_line)),
    ]


def _constraint_lines(unquoted: Sequence[Said]) -> list[str]:
    lines = [wording.said_line(said) for said in reversed(unquoted)]
    fitting = _fitting(lines, CONSTRAINT_TOKENS)
    older = [f"- … and {len(lines) - fitting} older ones; `recall` finds them"] if fitting < len(lines) else []
    return older + lines[:fitting][::-1]


def _changed_lines(changed: Sequence[FileFact]) -> list[str]:
    lines = [wording.file_line(fact) for fact in changed]
    fitting = _fitting(lines, FILE_TOKENS)
    paths = [fact.path for fact in changed[fitting:]]
    if not paths:
        return lines
    named = _fitting(paths, PATH_TOKENS)
    more = f" and {len(paths) - named} more; `recall` finds them" if named < len(paths) else ""
    return [*lines[:fitting], f"- also changed: {', '.join(paths[:named])}{more}"]


def _fitting(lines: Sequence[str], tokens: int) -> int:
    """How many of the first lines take no more than so many tokens together."""
    for index, line in enumerate(lines):
        tokens -= estimate_text(line) + 1
        if tokens < 0:
            return index
    return len(lines)


def _names(names: Sequence[NameFact], focus: _Focus, tokens: int) -> Section:
    picked: list[NameFact] = []
    for fact in sorted(names, key=lambda fact: not focus.concerns(fact.name)):
        tokens -= estimate_text(fact.name) + NAME_TOKENS
        if tokens < 0:
            break
        picked.append(fact)
    return Section(NAMES, tuple(wording.name_lines(picked)))


def _newest(facts: Sequence[Fact], line: Callable[[Fact], str], focus: _Focus) -> list[tuple[int, str]]:
    """Ranked newest first, placed in the order in which they happened."""
    ranked = focus.first(list(reversed(facts)), line)
    return [(len(facts) - index, text) for index, text in ranked]


def _asked(quotes: Quotes) -> Section:
    lines: list[str] = []
    if quotes.left_out:
        lines.append(f"({quotes.left_out} older messages are left out; `recall` finds them.)")
    for each in quotes.quotes:
        lines.append(f"#{each.seq}{'' if each.whole else ' (a part of it)'}:")
        lines.extend(f"> {line}" for line in each.text.splitlines())
    return Section(ASKED, tuple(lines))


def _cut(found: Facts) -> Section:
    lines: list[str] = []
    if found.last_words:
        lines.append(f"The assistant's last words (#{found.last_words.seq}):")
        lines.extend(f"> {line}" for line in found.last_words.text.splitlines())
    if found.last_call:
        lines.append(f"Last call (#{found.last_call.seq}): {found.last_call.text}")
    return Section(CUT, tuple(lines))


def _next(found: Facts) -> Section:
    open_tasks = sorted((task for task in found.tasks if task.is_open), key=lambda task: task.status != "in_progress")
    if open_tasks:
        return Section(NEXT, (f"Go on with: {open_tasks[0].content}",))
    if found.cut_at_work and found.asked:
        return Section(NEXT, (f"Go on with what the user asked last (#{found.asked[-1].seq})",))
    return Section(NEXT, ("Nothing is left open that the log knows of; the user speaks next",) if found.asked else ())
