"""Commands with how they ended, and errors with what was done about them, as far as the log tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ullage.context.record.calls import EXIT_CODE, Call, command_of, exit_code, failed, one_line, path_in_a_line
from ullage.context.view.fold import NO_OUTPUT

COMMAND_CHARACTERS = 160
OUTCOME_CHARACTERS = 120
ERROR_CHARACTERS = 200
SEARCHED_CHARACTERS = 6_000
"""The end of a failed output is where the error stands; the start is looked at as well."""
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
    facts: dict[str, CommandFact] = {}
    for call in calls:
        command = command_of(call)
        if command is None:
            continue
        shown = one_line(command, COMMAND_CHARACTERS)
        earlier = facts.pop(shown, None)
        last = last_line(call.returned.content) if call.returned.refusal is None else ""
        facts[shown] = CommandFact(shown, earlier.runs + 1 if earlier else 1, _ended(call), last, call.seq)
    return tuple(facts.values())


def error_history(calls: Sequence[Call]) -> tuple[ErrorFact, ...]:
    """The errors in order; the same one from the same call only once, where it came last."""
    pending: dict[str, _Pending] = {}
    settled: list[ErrorFact] = []
    for call in calls:
        if call.returned.refusal is not None:
            continue
        source = source_of(call)
        if failed(call):
            text = error_line(call.returned.content)
            known = pending.pop(source, None)
            if known is not None and known.text != text:
                settled.append(known.fact(f"gave way to another error (#{call.seq})"))
                known = None
            pending[source] = known or _Pending(text, source, call.seq, [])
            pending[source].seq = call.seq
        elif source in pending:
            was = pending.pop(source)
            how = f"after changes in {', '.join(was.changed)}" if was.changed else "without a change of files"
            settled.append(was.fact(f"worked later (#{call.seq}), {how}"))
        for touch in call.returned.touched:
            if touch.kind != "read":
                for each in pending.values():
                    each.note(path_in_a_line(touch.path))
    facts = {(fact.source, fact.text): fact for fact in settled}
    facts.update({(each.source, each.text): each.fact("") for each in pending.values()})
    return tuple(sorted(facts.values(), key=lambda fact: fact.seq))


@dataclass(slots=True)
class _Pending:
    text: str
    source: str
    seq: int
    changed: list[str]

    def note(self, path: str) -> None:
        if path not in self.changed and len(self.changed) < 4:
            self.changed.append(path)

    def fact(self, fix: str) -> ErrorFact:
        return ErrorFact(self.text, self.source, self.seq, fix, tuple(self.changed))


def source_of(call: Call) -> str:
    """What was called, in a line: the command, or the tool with its path."""
    command = command_of(call)
    if command is not None:
        return one_line(command, COMMAND_CHARACTERS)
    path = call.input.get("path")
    return f"{call.returned.tool} {path}" if isinstance(path, str) else call.returned.tool


def _ended(call: Call) -> str:
    if call.returned.refusal is not None:
        return "refused by the user"
    code = exit_code(call)
    if code:
        return f"exit {code}"
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
