"""Commands with how they ended, and errors with what was done about them, as far as the log tells."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from ullage.context.calls import EXIT_CODE, LEADING, PARTS, Call, one_line, only_looks, without_quoted
from ullage.context.quoting import in_a_line
from ullage.context.summary.words import basename
from ullage.context.view.fold import NO_OUTPUT

OUTCOME_CHARACTERS = 60
CALLS_FOR_ERRORS = 1_000
"""Newest calls in which errors are looked for: an older error that was not met again has gone, or `recall` finds it."""
MOST_COMMANDS = 2_000
"""Different commands that are kept, those that ran last: many times more than a program summary has room for."""
LONGEST_KEY = 200
"""Characters up to which a command is its own key; a longer one is known by its hash."""
ERROR_CHARACTERS = 120
SEARCHED_CHARACTERS = 3_000
"""The end of a failed output is where the error stands; the start is looked at as well."""
LAST_OPEN = 3
CHANGED_NAMED = 4
NOT_RUN = ("Sibling tool call errored",)
"""Beginnings of what Claude Code says of a call that it left out since another one beside it had failed."""
CHANGES_LOOKED_AT = 60
"""Changes since an error came up that are looked at, for the files that are named with the error."""
OTHER_WAY_CHARACTERS = 60
FAMILY_CHARACTERS = 2_000
"""Characters of a command that are looked at for the programs that it runs."""
MATCHED_CHARACTERS = 500
"""Characters of a line that are looked at; a longer one is packed data."""


@dataclass(frozen=True, slots=True)
class CommandFact:
    """One command: how often it ran and how it ended the last time."""

    command: str
    runs: int
    ended: str
    """How it ended: `ok`, `failed`, `exit N`, `ran` if the log does not tell, or `refused by the user`."""
    last_line: str
    """The last line that it printed, shortened; empty if there was none."""
    seq: int
    only_looks: bool = False
    """Whether it listed, printed or searched: what it showed is past, and what matters of it is among the names."""


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error that a tool returned and what followed."""

    text: str
    source: str
    """The command or tool that gave the error."""
    seq: int
    fix: str
    """What was changed before the same call worked; empty if it has not worked since."""
    tried: tuple[str, ...]
    """Files that were changed since, if the call has not worked yet."""
    words: str = ""
    """What the agent said about it right after it; empty if nothing."""

    @property
    def is_open(self) -> bool:
        """Whether it is not known that the error was fixed."""
        return not self.fix


def command_history(calls: Iterable[Call]) -> tuple[CommandFact, ...]:
    """One fact for each command, the one that ran last at the end. Where it ran and how much of its output was wanted make no
    difference."""
    history = CommandHistory()
    for call in calls:
        history.add(call)
    return history.facts()


class CommandHistory:
    """The commands of a session as it goes on. Of those that ran longest ago it keeps no more than is ever told."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[Call | CommandFact, int]] = {}
        """For each command its last call, or what there is to tell of that, and how often it ran."""

    def add(self, call: Call) -> None:
        """Takes in the next call of the session."""
        if call.plain is None:
            return
        key = _key(call.plain)
        _, runs = self._latest.pop(key, (call, 0))
        self._latest[key] = (call, runs + 1)
        if len(self._latest) > MOST_COMMANDS:
            del self._latest[next(iter(self._latest))]

    def settle(self) -> None:
        """Keeps of each call only what there is to tell of it, so that the call itself need not stay in memory."""
        for key in reversed(self._latest):
            last, runs = self._latest[key]
            if isinstance(last, CommandFact):
                return  # and so is every command that ran before it
            self._latest[key] = (_command_fact(last, runs), runs)

    def copy(self) -> CommandHistory:
        """A copy that goes on by itself."""
        other = CommandHistory()
        other._latest = self._latest.copy()
        return other

    def facts(self) -> tuple[CommandFact, ...]:
        """One fact for each command, the one that ran last at the end."""
        return tuple(last if isinstance(last, CommandFact) else _command_fact(last, runs) for last, runs in self._latest.values())


def _key(plain: str) -> str:
    """The key by which a command is recognised: itself, or a hash of a long one."""
    return plain if len(plain) <= LONGEST_KEY else f"{len(plain)} {blake2b(plain.encode(errors='replace'), digest_size=16).hexdigest()}"


def _command_fact(call: Call, runs: int) -> CommandFact:
    last = last_line(call.returned.content) if call.returned.refusal is None else ""
    return CommandFact(call.source, runs, ended(call), last, call.seq, call.only_looks)


@dataclass(frozen=True, slots=True)
class _Step:
    """What a call tells about errors."""

    seq: int
    key: str
    """A text that tells the call from others; empty if the call tells nothing."""
    source: str
    error: str | None
    """The line that says what went wrong; None if the call worked."""
    changed: tuple[str, ...]
    family: frozenset[str] = frozenset()
    """The programs that it ran, without their arguments. That another call of these works shows that a way was found."""
    words: str = ""


class ErrorHistory:
    """The errors of the newest calls of a session, as it goes on. The same error from the same call counts once, where it came last.

    That a tool could not read or edit a file as it was asked to is no error here: the agent saw it and went on in another way.
    """

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque(maxlen=CALLS_FOR_ERRORS)

    def add(self, call: Call) -> None:
        """Takes in the next call of the session."""
        changed = tuple(_changed(call))
        if call.returned.refusal is not None or (call.command is None and call.is_of_a_file):
            self._steps.append(_Step(call.seq, "", "", None, changed))
            return
        error = error_line(call.returned.content) if call.seems_failed else None
        if error in NOT_RUN:
            self._steps.append(_Step(call.seq, "", "", None, ()))
        else:
            ran = family(call.plain) if call.plain is not None else frozenset[str]()
            self._steps.append(_Step(call.seq, _key(call.plain or call.source), call.source, error, changed, ran))

    def add_words(self, words: str) -> None:
        """Takes in what the agent said next, which is about the errors that came right before it."""
        for place in range(len(self._steps) - 1, -1, -1):
            step = self._steps[place]
            if step.error is None or step.words:
                return
            self._steps[place] = replace(step, words=words)

    def copy(self) -> ErrorHistory:
        """A copy that goes on by itself."""
        other = ErrorHistory()
        other._steps = self._steps.copy()
        return other

    def facts(self) -> tuple[ErrorFact, ...]:
        """The errors in order. The same error from the same call is there once, where it came last."""
        return _errors_of(self._steps)


def _errors_of(steps: Iterable[_Step]) -> tuple[ErrorFact, ...]:
    pending: dict[str, _Pending] = {}
    settled: list[ErrorFact] = []
    changes: list[str] = []
    for step in steps:
        if not step.key:
            changes += step.changed
            continue
        source = step.key
        if step.error is not None:
            known = pending.pop(source, None)
            if known is not None and known.text != step.error:
                settled.append(known.fact(f"gave way to another error (#{step.seq})", changes))
                known = None
            pending[source] = known or _Pending(step.error, step.source, step.seq, len(changes), step.family)
            pending[source].seq = step.seq
            pending[source].words = step.words or pending[source].words
        else:
            solved = [key for key, was in pending.items() if key == source or step.family & was.family]
            settled += [_settled_by(pending.pop(key), step, changes) for key in solved]
        changes += step.changed
    facts = {(fact.source, fact.text): fact for fact in settled}
    facts.update({(each.source, each.text): each.fact("", changes) for each in pending.values()})
    return tuple(sorted(facts.values(), key=lambda fact: fact.seq))


def _settled_by(was: _Pending, step: _Step, changes: Sequence[str]) -> ErrorFact:
    changed = was.changed(changes)
    how = f"after changes in {', '.join(map(basename, changed))}" if changed else "without a change of files"
    if step.source != was.source:
        how = f"as `{one_line(step.source, OTHER_WAY_CHARACTERS)}`" + (f", {how}" if changed else "")
    return was.fact(f"worked later (#{step.seq}), {how}", changes)


def family(plain: str) -> frozenset[str]:
    """The programs that a command runs to do something, each with its subcommand: `git push`, `mix test`."""
    parts = (LEADING.sub("", part).split() for part in PARTS.split(without_quoted(plain[:FAMILY_CHARACTERS])) if not only_looks(part))
    found = ([word for word in part if not word.startswith("-")] for part in parts)
    return frozenset(" ".join(words[:2]) for words in found if words)


def _changed(call: Call) -> list[str]:
    return [in_a_line(touch.path) for touch in call.returned.touched if touch.kind != "read"]


def last_open(errors: Sequence[ErrorFact]) -> tuple[ErrorFact, ...]:
    """The newest errors that are not fixed, which no summary may lose."""
    return tuple(error for error in errors if error.is_open)[-LAST_OPEN:]


@dataclass(slots=True)
class _Pending:
    text: str
    source: str
    seq: int
    changes_before: int
    family: frozenset[str]
    words: str = ""

    def changed(self, changes: Sequence[str]) -> tuple[str, ...]:
        """The first files that were changed since the error came up."""
        since = changes[self.changes_before : self.changes_before + CHANGES_LOOKED_AT]
        return tuple(dict.fromkeys(since))[:CHANGED_NAMED]

    def fact(self, fix: str, changes: Sequence[str]) -> ErrorFact:
        """The fact about this error. `fix` is what was changed before the call worked; empty if it has not."""
        return ErrorFact(self.text, self.source, self.seq, fix, self.changed(changes), self.words)


def ended(call: Call) -> str:
    """How a command ended, as in `CommandFact.ended`."""
    if call.returned.refusal is not None:
        return "refused by the user"
    if call.exit_code:
        return f"exit {call.exit_code}"
    if call.seems_failed:
        return "failed"
    return "ran" if call.hides_its_end else "ok"


NAMING = re.compile(r"error|exception|fatal|panic", re.IGNORECASE)
TELLING = re.compile(
    rf"{NAMING.pattern}|(?<!\w)(?:fail|cannot|not found|no such|denied|refused|undefined|timed out|warning(?!\w))", re.IGNORECASE
)
WARNING = re.compile(r"\W*(?:\[?warn(?:ing)?\b)", re.IGNORECASE)
NAMED_ERROR = re.compile(r"^(?:E\s+)?[\w.]*(?:Error|Exception)\b.*:|^(?:error|fatal|panic)\b[^:]*:|\berror(?:\[\w+\])?: ", re.IGNORECASE)


def error_line(output: str) -> str:
    """The line that says what went wrong, shortened: the last that names an error, else the first with a telling word, else the first."""
    searched = output
    if len(output) > 2 * SEARCHED_CHARACTERS:
        searched = f"{output[:SEARCHED_CHARACTERS]}\n{output[-SEARCHED_CHARACTERS:]}"
    lines = [line.strip() for line in searched.splitlines() if any(map(str.isalnum, line))]
    lines = [line for line in lines if not EXIT_CODE.fullmatch(line)] or lines
    telling = [line for line in lines if TELLING.search(line)]
    telling = [line for line in telling if not WARNING.match(line)] or telling
    named = [line for line in telling if NAMING.search(line) and NAMED_ERROR.search(line[:MATCHED_CHARACTERS])]
    told = named[-1] if named else (telling or lines or ["(no output)"])[0]
    return one_line(WRAPPED.sub("", told), ERROR_CHARACTERS)


WRAPPED = re.compile(r"^<\w+>|</\w+>$")
"""The tag that some agents put around what a tool says of its failure."""


ADDED_LINES = (NO_OUTPUT, "Shell cwd was reset to ", "Output:")
"""Beginnings of lines that the tools of Ullage, Claude Code and Codex add to an output."""


def last_line(output: str) -> str:
    """The last line with a word in it, shortened; empty if there is none. Lines that a tool adds do not count."""
    for line in reversed(output[-2_000:].splitlines()):
        stripped = line.strip()
        if any(map(str.isalnum, stripped)) and not stripped.startswith(ADDED_LINES) and not EXIT_CODE.fullmatch(stripped):
            return one_line(stripped, OUTCOME_CHARACTERS)
    return ""


# Checks

_RUNNERS = (
    r"go|cargo|mix|npm|pnpm|yarn|bun|deno|dotnet|mvn|gradlew?|make|mise|just|swift|zig|rake|task|uv|nx|turbo|composer|sbt|bazel|flutter"
)
_RUNNER = rf"(?<![\w.-])(?:{_RUNNERS})"  # no ending of a file: `git add a.go a_test.go` tests nothing
_OPTIONS = r"(?:\s+(?:run|-\S+|exec))*\s+"
CHECKS = {
    "tests": re.compile(rf"\b(?:pytest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|unittest|playwright)\b|{_RUNNER}{_OPTIONS}\S*test"),
    "types": re.compile(r"\btype-?check\b|\btsc\b|\bmypy\b|\bpyright\b|\bdialyzer\b|\bcheck:types\b"),
    "lint": re.compile(r"lint\b|\bruff\b|\bcredo\b|\bclippy\b|\bbiome\b|\brubocop\b|\bshellcheck\b|\bflake8\b|\bgo vet\b"),
    "build": re.compile(rf"{_RUNNER}{_OPTIONS}(?:build|compile|assemble|package)\b|^make$|\bwebpack\b|\bvite build\b"),
}
"""Commands that look at the work and say whether it holds, by kind."""
WRITTEN = re.compile(r"<<-?\s*['\"\\]?(\w+)['\"]?\n(.*?)(?:\n[ \t]*+\1\b|\Z)", re.DOTALL)
"""Text that is handed to a command as a file (a here-document). It may hold quotes of any kind, so it is taken out first."""
SAID = re.compile(
    r"(?:\s-[a-z]*m|\s--(?:message|title|body|notes|reason|description|design|acceptance)|\becho)[ =]+(?:\"(?:[^\"\\]|\\.)*\"|'[^']*')|"
    r"\b(?:rg|[ef]?grep|pgrep|ag|ps)\s(?:\"[^\"]*\"|'[^']*'|[^|;&\n'\"])*",
    re.DOTALL,
)
"""What a command only says or searches for: the text of a commit or of an issue; a pattern. A check that is named there was not run."""


def checks_in(command: str) -> list[str]:
    """The kinds of checks that a command runs (see `CHECKS`)."""
    done = SAID.sub(" ", WRITTEN.sub(" ", command))
    return [kind for kind, pattern in CHECKS.items() if pattern.search(done)]
