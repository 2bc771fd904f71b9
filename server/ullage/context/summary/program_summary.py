"""The program summary: a summary written by program from the facts of the log. Always available, free, instant.

Here is what stands in which section. A colleague who has nothing else reads it from top to bottom: what the user wants and what holds,
where the work stands, what was just done and found, what is next; then decisions, commands, errors, and at the end the files. `sections.py`
chooses which of the user's words are quoted, and what is picked where there is not room for all. `wording.py` says how a fact reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ullage.context.calls import answered_calls, one_line
from ullage.context.entries import Logged, UserPrompt
from ullage.context.quoting import in_a_line
from ullage.context.redact import redact
from ullage.context.summary import wording
from ullage.context.summary.command_history import CommandFact, checks_in, command_history, last_open
from ullage.context.summary.facts import EntryWords, Facts
from ullage.context.summary.file_history import file_history
from ullage.context.summary.quotes import Quotes
from ullage.context.summary.sections import Focus, Placed, Section, SectionShare, Staying, fitting, places, spend
from ullage.context.summary.sentences import QUESTION, ReplySentences, by_worth
from ullage.context.summary.state_of_work import ADDING, COMMITTING, StateOfWork

PROGRAM_TOKENS = 1_925
"""Tokens for everything but the user's own words: with these about 9,000 characters on average over the recorded compactions."""
CHARACTERS_PER_TOKEN = 2.4
"""Characters for each token of names of files and of things in code."""

CONSTRAINT_TOKENS = 4_000
"""Tokens of constraints that are quoted; the oldest ones beyond that are only counted."""
BURIED_CHARACTERS = 300
"""A constraint in a message of more characters is said again by itself, as far as there is room; in a shorter message it is seen."""

NAMED_CHARACTERS = 200
"""Characters of a message of the user that stays in view: enough to recognise it."""
CLOSINGS = 3
LAST_CLOSING_CHARACTERS, CLOSING_CHARACTERS, NEW_CHARACTERS = 1_200, 700, 420
"""Characters of the last reply that closed something, of each of the two before it, and of each of the newest others."""
EARLIER_CLOSING_CHARACTERS, EARLIER_CHARACTERS = 280, 200
"""Characters of each reply before these: of one that closed something, and of any other."""
ROOMIER = (4.0, 3.0, 2.0, 1.5)
"""Factors by which the agent's words and a plan are told longer, if the section has room for all of them so; the largest that fits is
taken."""
CLOSER = (0.75, 0.5)
"""Factors by which the newest words are told shorter, until the last that closed something fits in beside those after it."""
OFTEN = 3
"""Runs of a command, beyond which it counts as waiting for something."""
JUST_NOW, LOOKED_AT = 7, 20
"""Newest replies that are told as they come, and the number of newest replies that they are picked from. Of the ones before these, what
decides or explains comes first."""
ASKED_CHARACTERS, AT_CHARACTERS = 240, 120
PLAN_CHARACTERS, ISSUE_CHARACTERS, WRITTEN_CHARACTERS = 900, 800, 450

ASKED = "What the user wants"
CONSTRAINTS = "Constraints and preferences"
STATE = "Where the work stands"
NOW = "Just done and found, in the agent's own words"
NEXT = "What is next"
PLAN = "The plan and the task at hand"
DECISIONS = "Decided and found before, and why"
COMMANDS = "Commands and how they ended"
ERRORS = "Errors and what was done about them"
FILES = "Files and names"

HEADINGS = (ASKED, CONSTRAINTS, STATE, NOW, NEXT, PLAN, DECISIONS, COMMANDS, ERRORS, FILES)
"""The headings of the sections, in reading order."""

FILES_SHARE = 0.06
"""Share of the budget, at most, for files and names."""
FILLED = 0.80
"""Share of the budget, without files and names. Where the sections leave some of that, plan and decisions are told longer. In an open
examination of nine recorded compactions the shortest summaries told least: 71 and 81 % of the points, and 75 and 88 % with more room. To
fill the whole of a smaller budget, so that the average stays, lost as much elsewhere."""
NOW_SHARE, PLAN_SHARE, DECISIONS_SHARE = 0.34, 0.18, 0.34
"""Shares of the budget, at most, for these sections."""

NOTHING_STAYS = Staying()


def program_sections(found: Facts, quotes: Quotes, focus: str, budget_tokens: int, staying: Staying = NOTHING_STAYS) -> tuple[Section, ...]:
    """The sections of the program summary, in reading order; empty ones are left out. `staying` has the messages that stay beside it."""
    favoured = Focus(focus)
    shares = _shares(found, quotes, favoured, budget_tokens)
    spend(shares, budget_tokens, int(budget_tokens * FILLED), (PLAN, DECISIONS))
    others = [_asked(quotes, staying.said), *(share.section() for share in shares), _next(found)]
    standing = "\n".join((*(line for section in others for line in section.lines), staying.text))
    placed = places(found.names, found.files, standing, favoured, int(budget_tokens * FILES_SHARE * CHARACTERS_PER_TOKEN))
    files = Section(FILES, (*wording.file_lines(placed), *wording.elsewhere_lines(placed)))
    by_heading = {section.heading: section for section in (*others, files)}
    return tuple(section for heading in HEADINGS if (section := by_heading.get(heading)) and section.lines)


def brief(entries: Sequence[Logged]) -> str:
    """A few lines on a range of entries, for the marker in its place; empty if nothing is worth saying."""
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


def _shares(found: Facts, quotes: Quotes, focus: Focus, budget: int) -> list[SectionShare]:
    quoted = {each.seq: each.text for each in quotes.quotes if each.whole}
    partly = " ".join(" ".join(each.text.split()) for each in quotes.quotes if not each.whole)
    unquoted = [said for said in found.constraints if said.seq not in quoted and said.text not in partly]
    aside = [said for said in unquoted if said.is_aside]
    buried = [said for said in found.constraints if len(quoted.get(said.seq, "")) > BURIED_CHARACTERS]
    still_open = last_open(found.errors)
    sources = {fact.source for fact in still_open}
    open_errors = wording.error_chains([fact for fact in found.errors if fact.source in sources])
    errors = wording.error_chains([fact for fact in found.errors if fact.source not in sources])
    in_errors = " ".join(fact.words for fact in found.errors)
    told = [each for each in found.told if each.text not in in_errors]
    newest = _newest(told)
    now = focus.favoured(_now_at_length(newest, budget * NOW_SHARE))
    now = now[: fitting([line for _, line in now], int(budget * NOW_SHARE))]
    # Words without room there are told among the earlier ones: else those that closed a turn would be lost to those after it.
    told_now = {newest[place].seq for place, _ in now}
    before = [each for each in told if each.seq not in told_now]
    commands = [fact for fact in found.commands if not fact.only_looks and not _is_in_the_state(fact.command)]
    return [
        SectionShare(
            CONSTRAINTS,
            0.05,
            _constraint_lines([said for said in unquoted if not said.is_aside]),
            focus.newest([*aside, *buried], wording.said_line),
        ),
        SectionShare(STATE, 0.16, wording.task_lines(found.tasks), [*enumerate(wording.state_lines(found.work))]),
        SectionShare(NOW, NOW_SHARE, [], now),
        SectionShare(PLAN, PLAN_SHARE, [], _at_length(lambda by: [*enumerate(_documents(found.work, by))], budget * PLAN_SHARE)),
        SectionShare(DECISIONS, DECISIONS_SHARE, [], focus.favoured(_at_length(lambda by: _decided(before, by), budget * DECISIONS_SHARE))),
        SectionShare(COMMANDS, 0.07, [], focus.favoured(_commands(commands))),
        SectionShare(ERRORS, 0.17, open_errors, focus.favoured(list(enumerate(errors)))),
    ]


def _at_length(lines: Callable[[float], list[Placed]], tokens: float) -> list[Placed]:
    """The lines at the greatest length at which all of them fit; where they do not even fit at their usual length, at that."""
    for by in ROOMIER:
        longer = lines(by)
        if fitting([line for _, line in longer], int(tokens)) == len(longer):
            return longer
    return lines(1.0)


def _now_at_length(told: Sequence[ReplySentences], tokens: float) -> list[Placed]:
    """The lines for the newest words. What closed something last is never left out for its length, however dense its text is (tables,
    addresses)."""
    to_closing = next((place for place, each in enumerate(reversed(told), 1) if each.closing), 0)
    lines = _at_length(lambda by: _now(told, by), tokens)
    for by in CLOSER:
        if fitting([line for _, line in lines], int(tokens)) >= to_closing:
            break
        lines = _now(told, by)
    return lines


def _is_in_the_state(command: str) -> bool:
    return bool(checks_in(command)) or any(pattern.search(command) for pattern in (COMMITTING, ADDING))


def _newest(told: Sequence[ReplySentences]) -> list[ReplySentences]:
    """The newest replies to tell of: the last of all, those of the others that say something, and the newest that closed something."""
    closings = [each for each in told if each.closing][-CLOSINGS:]
    working = [each for each in told[-LOOKED_AT:] if not each.closing and (not each.announces or each.acts or each is told[-1])]
    return sorted({each.seq: each for each in (*closings, *working[-JUST_NOW:])}.values(), key=lambda each: each.seq)


def _now(told: Sequence[ReplySentences], by: float) -> list[Placed]:
    """The lines for the newest words, the last reply first. The last that closed something is told nearly whole, though it may stay in view
    beside the summary: who reads the summary alone, as the user does in the panel, looks for it first."""
    closings = [each.seq for each in told if each.closing]
    lengths = dict(zip(reversed(closings), (LAST_CLOSING_CHARACTERS, *[CLOSING_CHARACTERS] * len(told)), strict=False))
    lines = [(place, wording.told_line(each, int(by * lengths.get(each.seq, NEW_CHARACTERS)))) for place, each in enumerate(told)]
    return lines[::-1]


def _decided(told: Sequence[ReplySentences], by: float) -> list[Placed]:
    lengths = {True: EARLIER_CLOSING_CHARACTERS, False: EARLIER_CHARACTERS}
    return [(each.seq, wording.begun_line(each, int(by * lengths[each.closing]))) for each in by_worth(told)]


def _documents(work: StateOfWork, by: float) -> list[str]:
    plan = wording.document_lines(work.plan, "Plan", int(by * PLAN_CHARACTERS)) if work.plan is not None else []
    told = int(by * ISSUE_CHARACTERS)
    issue = wording.document_lines(work.issue, "Opened with", told, work.claimed) if work.issue is not None else []
    opened = work.issue.text if work.issue is not None else ""
    own = [each for each in reversed(work.written) if each.text[: WRITTEN_CHARACTERS // 4] not in opened]
    texts = [wording.document_lines(each, "Written with", int(by * WRITTEN_CHARACTERS)) for each in own]
    written = [line for lines in texts for line in _begun(lines)]
    plan, issue = _begun(plan), _begun(issue)
    first = issue + plan if work.plan is not None and work.issue is not None and work.issue.seq > work.plan.seq else plan + issue
    return first + written


def _begun(lines: Sequence[str]) -> list[str]:
    """The lines with the first two in one piece: the name of a text says nothing without the text's first line."""
    return ["\n".join(lines[:2]), *lines[2:]] if lines else []


def _commands(facts: Sequence[CommandFact]) -> list[Placed]:
    """The lines for commands, the newest first. A command that was run again and again, like one that waits for something, comes after all
    others."""
    lines = [(place, wording.command_line(fact), fact.runs > OFTEN) for place, fact in enumerate(facts)]
    return [(place, line) for place, line, _ in sorted(lines, key=lambda each: (each[2], -each[0]))]


def _constraint_lines(unquoted: Sequence[EntryWords]) -> list[str]:
    lines = [wording.said_line(said) for said in reversed(unquoted)]
    shown = fitting(lines, CONSTRAINT_TOKENS)
    older = [f"- … and {len(lines) - shown} older ones; `recall` finds them"] if shown < len(lines) else []
    return older + lines[:shown][::-1]


def _asked(quotes: Quotes, said: str) -> Section:
    lines: list[str] = []
    if quotes.left_out:
        lines.append(f"({quotes.left_out} older messages are left out; `recall` finds them.)")
    for each in quotes.quotes:
        if each.whole and len(each.text) > NAMED_CHARACTERS and each.text in said:
            lines.append(f"- #{each.seq} (whole in the messages that stayed): {one_line(each.text, NAMED_CHARACTERS)}")
            continue
        first, *more = each.text.splitlines() or [""]
        lines.append(f"- #{each.seq}{'' if each.whole else ' (a part of it)'}: {first}")
        lines.extend(f"    {line}" for line in more)
    return Section(ASKED, tuple(lines))


def _next(found: Facts) -> Section:
    """The section of what is open, in the order in which it binds: what the user said last, what the list says, what the agent was about to
    do."""
    last = found.told[-1] if found.told else None
    asked = found.asked[-1] if found.asked else None
    lines: list[str] = []
    if asked is not None and (last is None or asked.seq > last.seq):
        lines.append(f"- Nobody has answered yet what the user asked last (#{asked.seq}): “{one_line(asked.text, ASKED_CHARACTERS)}”")
    elif asked is not None and last is not None and not last.closing:
        lines.append(f"- Under way is what the user asked last (#{asked.seq}): “{one_line(asked.text, ASKED_CHARACTERS)}”")
    under_way = [task for task in found.tasks if task.status == "in_progress"] or [task for task in found.tasks if task.is_open][:1]
    lines += [f"- Go on with: {task.content}" for task in under_way[:3]]
    if last is not None and not last.closing:
        went_on = f" It went on: {last.about_to}" if last.about_to else ""
        lines.append(f"- The agent was at: {one_line(last.text, AT_CHARACTERS)}{went_on} (#{last.seq})")
        if found.last_call is not None:
            lines.append(f"- Last call: {found.last_call.text} (#{found.last_call.seq})")
    elif last is not None and asked is not None and asked.seq < last.seq and last.text.rstrip().endswith(QUESTION):
        lines.append(f"- The agent waits for an answer to: {one_line(last.text.strip().splitlines()[-1], ASKED_CHARACTERS)} (#{last.seq})")
    if found.work.is_unchecked and found.work.checks:
        lines.append("- Check what was edited since the last check")
    if not lines and asked is not None:
        at_work = f"- Go on with what the user asked last (#{asked.seq})"
        lines.append(
            at_work if found.cut_at_work and last is None else "- Nothing is left open that the log knows of; the user speaks next"
        )
    return Section(NEXT, tuple(lines))
