"""Commands with how they ended, and errors with what was done about them, as far as the log tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.record.calls import EXIT_CODE, Call, one_line, path_in_a_line
from ullage.context.view.fold import NO_OUTPUT

OUTCOME_CHARACTERS = 60
ERROR_CHARACTERS = 120
SEARCHED_CHARACTERS = 3_000
"""The end of a failed output is where the error stands; the start is looked at as well."""
LAST_OPEN = 3
CHANGED_NAMED = 4
CHANGES_LOOKED_AT = 60
"""Since an error came up, for the files among them that are named with it."""
MATCHED_CHARACTERS = 500
"""Of a line; a longer one is packed data."""


@dataclass(frozen=True, slots=True)
class CommandFact:
    """One command: how often it ran and how it ended the last time."""

    command: str
    runs: int
    ended: str
    """`ok`, `failed`, `exit N`, or `refused by the user`."""
    last_line: str
    """The last line that it printed, shortened; may be empty."""
    seq: int


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error that a tool returned and what followed."""

    text: str
    source: str
    """The command or tool that gave it."""
    seq: int
    fix: str
    """What was changed before the same call worked; empty where it has not worked since."""
    tried: tuple[str, ...]
    """Files that were changed since, where it has not worked yet."""

    @property
    def is_open(self) -> bool:
        """Whether it is not known to be fixed."""
        return not self.fix


def command_history(calls: Sequence[Call]) -> tuple[CommandFact, ...]:
    """One fact a command, the last run last."""
    latest: dict[str, tuple[Call, int]] = {}
    for call in calls:
        if call.command is None:
            continue
        _, runs = latest.pop(call.command, (call, 0))
        latest[call.command] = (call, runs + 1)
    return tuple(_command_fact(call, runs) for call, runs in latest.values())


def _command_fact(call: Call, runs: int) -> CommandFact:
    last = last_line(call.returned.content) if call.returned.refusal is None else ""
    return CommandFact(call.source, runs, _ended(call), last, call.seq)


def error_history(calls: Sequence[Call]) -> tuple[ErrorFact, ...]:
    """The errors in order; the same one from the same call only once, where it came last."""
    pending: dict[str, _Pending] = {}
    settled: list[ErrorFact] = []
    changes: list[str] = []
    for call in calls:
        if call.returned.refusal is not None:
            continue
        source = call.command or call.source
        if call.failed:
            text = error_line(call.returned.content)
            known = pending.pop(source, None)
            if known is not None and known.text != text:
                settled.append(known.fact(f"gave way to another error (#{call.seq})", changes))
                known = None
            pending[source] = known or _Pending(text, call.source, call.seq, len(changes))
            pending[source].seq = call.seq
        elif source in pending:
            was = pending.pop(source)
            changed = was.changed(changes)
            how = f"after changes in {', '.join(changed)}" if changed else "without a change of files"
            settled.append(was.fact(f"worked later (#{call.seq}), {how}", changes))
        changes += (path_in_a_line(touch.path) for touch in call.returned.touched if touch.kind != "read")
    facts = {(fact.source, fact.text): fact for fact in settled}
    facts.update({(each.source, each.text): each.fact("", changes) for each in pending.values()})
    return tuple(sorted(facts.values(), key=lambda fact: fact.seq))


def last_open(errors: Sequence[ErrorFact]) -> tuple[ErrorFact, ...]:
    """Those that no summary may lose."""
    return tuple(error for error in errors if error.is_open)[-LAST_OPEN:]


@dataclass(slots=True)
class _Pending:
    text: str
    source: str
    seq: int
    changes_before: int

    def changed(self, changes: Sequence[str]) -> tuple[str, ...]:
        """The first files that were changed since it came up."""
        since = changes[self.changes_before : self.changes_before + CHANGES_LOOKED_AT]
        return tuple(dict.fromkeys(since))[:CHANGED_NAMED]

    def fact(self, fix: str, changes: Sequence[str]) -> ErrorFact:
        return ErrorFact(self.text, self.source, self.seq, fix, self.changed(changes))


def _ended(call: Call) -> str:
    if call.returned.refusal is not None:
        return "refused by the user"
    if call.exit_code:
        return f"exit {call.exit_code}"
    return "failed" if call.returned.is_error else "ok"


NAMING_WORDS = ("error", "exception", "fatal", "panic")
TELLING_WORDS = (*NAMING_WORDS, "fail", "cannot", "not found", "no such", "denied", "refused", "undefined", "timed out", "warning")
NAMED_ERROR = re.compile(r"^(?:E\s+)?[\w.]*(?:Error|Exception)\b.*:|^(?:error|fatal|panic)\b[^:]*:|\berror(?:\[\w+\])?: ", re.IGNORECASE)


def error_line(output: str) -> str:
    """The line that says what went wrong, shortened: the last that names an error, else the first with a telling word, else the first."""
    searched = output
    if len(output) > 2 * SEARCHED_CHARACTERS:
        searched = f"{output[:SEARCHED_CHARACTERS]}\n{output[-SEARCHED_CHARACTERS:]}"
    lines = [line.strip() for line in searched.splitlines() if any(map(str.isalnum, line))]
    lines = [line for line in lines if not EXIT_CODE.fullmatch(line)] or lines
    telling = [line for line in lines if _has_word(line, TELLING_WORDS)]
    named = [line for line in telling if _has_word(line, NAMING_WORDS) and NAMED_ERROR.search(line[:MATCHED_CHARACTERS])]
    if named:
        return one_line(named[-1], ERROR_CHARACTERS)
    return one_line((telling or lines or ["(no output)"])[0], ERROR_CHARACTERS)


def _has_word(line: str, words: Sequence[str]) -> bool:
    lowered = line.lower()
    return any(word in lowered for word in words)


def last_line(output: str) -> str:
    """The last line with a word in it, shortened; empty where there is none. What a tool adds itself is no such line."""
    for line in reversed(output[-2_000:].splitlines()):
        stripped = line.strip()
        if any(map(str.isalnum, stripped)) and stripped != NO_OUTPUT and not EXIT_CODE.fullmatch(stripped):
            return one_line(stripped, OUTCOME_CHARACTERS)
    return ""
