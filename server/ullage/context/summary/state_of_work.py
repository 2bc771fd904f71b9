"""Where the work stands, by arithmetic over calls: commits, edits since, checks and how they ended, what still runs, the plan at hand.

"Edited, not checked, not committed" is the most useful line that a summary can have. All of it is told by the text of commands and of what
they printed: good enough to tell the reader, never to act on.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ullage.context.blocks import Json
from ullage.context.calls import Call, one_line, strings_of
from ullage.context.entries import Notice
from ullage.context.quoting import in_a_line
from ullage.context.redact import redact
from ullage.context.summary.checkouts import Checkout, Checkouts
from ullage.context.summary.command_history import WRITTEN, checks_in, ended, last_line
from ullage.context.summary.task_list import PLAN_ACCEPTED, PROPOSING

MOST_COMMITS = 20
SUBJECT_CHARACTERS = 100
TOLD_CHARACTERS, COUNTED_SHOWN = 90, 3
"""Characters that are told of how a check went, and the lines that count something of which that consists at most."""
DOCUMENT_CHARACTERS = 6_000
"""Characters of a plan or an issue that are kept."""
NOT_ACCEPTED = "that is not accepted"
"""The words that stand for the name of a plan that was not accepted."""
MOST_RUNNING = 20
COMMAND_CHARACTERS = 4_000
"""Characters of a command that are looked at: a longer one writes a file."""

RESETTING = re.compile(r"\bgit\b[^|;&\n]*?\sreset\b[^|;&\n]*?\s(?:HEAD|@)(?:~(\d*)|(\^+))(?=\s|$)")
"""A command that takes the last commits back."""
_GIT = r"\bgit\b[^|;&\n]*?\s"
COMMITTING, PUSHING, ADDING = (re.compile(_GIT + word) for word in (r"commit\b([^|;&\n]*)", r"push\b", r"add\s+([^|;&\n]*)"))
COMMITTED = re.compile(r"^\[([^\]\n]*?)([0-9a-f]{7,40})\] (\S.*)$", re.MULTILINE)
"""The line in which git tells of a commit: `[main 3bb8701] feat: read the level`."""
MESSAGE = re.compile(r"""\s-[a-z]*m\s*(?:"\$\(cat <<-?\s*['"\\]?\w+['"]?\n\s*([^\n]+)|"([^"\n]+)|'([^'\n]+))""")
AMENDING = re.compile(r"(?:^|\s)--amend\b")
ALL = re.compile(r"(?:^|\s)(?:\.|-A|--all|-u|\*|-[a-z]*a[a-z]*)(?=\s|$)")

COUNTED = re.compile(
    r"\b\d[\d,]*\s+(?:\w+\s+)?(?:pass(?:ed|es|ing)?|fail(?:ed|ures?|ing)?|tests?|errors?|issues?|problems?|warnings?|examples?)\b|"
    r"\b(?:no (?:issues|errors|problems)|all checks passed|test result:|success)",
    re.IGNORECASE,
)
PRINTED_CHARACTERS = 1_500
_COLOUR = re.compile(r"\x1b\[[0-9;]*m|\[\d{1,2}m")

BACKGROUND = re.compile(
    r"(?:running in (?:the )?background with ID|session ID|background (?:job|task|process))[: ]+([\w-]{2,40})", re.IGNORECASE
)
STILL = re.compile(r"timeout<|<status>running|still running|process running with|running in background", re.IGNORECASE)
OVER = re.compile(r"completed|finished|failed|exit", re.IGNORECASE)

OPENING = re.compile(r"\b(?:bd|br|issues?|tk) show\b|\bgh (?:issue|pr) view\b|\bglab (?:issue|mr) view\b|\bjira (?:issue )?view\b")
TRACKING = re.compile(
    r"\b(?:bd|br|issues?|tk) (?:create|update|comment|close)\b|\b(?:gh|glab) (?:issue|pr|mr) (?:create|edit|comment|review|note|update)\b|"
    r"\bjira (?:issue )?(?:create|edit|comment)\b"
)
BODY = re.compile(
    r"(?<!\S)--?(?:b|d|m|body|description|design|notes|acceptance|comment|message)[ =](?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
"""The text of an issue, a pull request or a comment, as a command passes it on."""
WRITTEN_CHARACTERS, MOST_WRITTEN = 200, 3
"""Characters that such a text must have to be kept, and the number of such texts that are kept."""
OPENING_TOOL = re.compile(r"(?:get|read|view|fetch|show)_?(?:issue|ticket|task)|issue_?(?:get|read|view)", re.IGNORECASE)
PLAN_FILE = re.compile(r"(?:^|[/\\])plans?[/\\][^/\\]+\.\w+$|(?:^|[/\\_.-])plan[\w.-]*\.(?:md|txt|org|rst)$", re.IGNORECASE)


PROSE = (".md", ".txt", ".rst", ".adoc", ".org")
"""Endings of the names of files that no test looks at."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that the agent made. `hash` is empty if git did not print it."""

    seq: int
    hash: str
    subject: str


@dataclass(frozen=True, slots=True)
class Check:
    """The newest run of one kind of check. `told` is the line in which it says how it went; empty if it has none."""

    kind: str
    seq: int
    command: str
    ended: str
    told: str


@dataclass(frozen=True, slots=True)
class GuidingDocument:
    """A text that told the agent what to do: a plan, an issue. `name` is its file, or the command or call that opened it."""

    seq: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class StateOfWork:
    """The state of the agent's work at one moment."""

    commits: tuple[Commit, ...] = ()
    pushed_seq: int = 0
    """The seq of the last push that went well; 0 if there was none."""
    uncommitted: tuple[str, ...] = ()
    """Files that were changed since they were committed last, the last changed last; empty if git was never used."""
    checkouts: tuple[Checkout, ...] = ()
    """The checkouts that git told of; the one it told of last comes last."""
    checks: tuple[Check, ...] = ()
    """The newest run of each kind of check, the last run last."""
    changed_seq: int = 0
    """The seq of the last change of a file that is no plain text."""
    running: tuple[tuple[int, str], ...] = ()
    """Commands that were sent into the background and not heard of since, each with its seq."""
    plan: GuidingDocument | None = None
    issue: GuidingDocument | None = None
    written: tuple[GuidingDocument, ...] = ()
    """The newest texts that the agent itself wrote for others by a command: an issue, a pull request, a comment. The last one comes
    last."""
    claimed: str = ""
    """The newest command or call that names an issue after that one was opened."""

    @property
    def is_unchecked(self) -> bool:
        """Whether files were changed after the last run of every check."""
        return self.changed_seq > max((check.seq for check in self.checks), default=0)


class WorkHistory:
    """The state of the work as the session goes on."""

    def __init__(self) -> None:
        self._commits: deque[Commit] = deque(maxlen=MOST_COMMITS)
        self._changed: dict[str, int] = {}
        self._added: list[str] = []
        self._checkouts = Checkouts()
        self._checks: dict[str, Check] = {}
        self._running: dict[str, tuple[int, str]] = {}
        self._state = StateOfWork()
        self._uses_git = False

    def copy(self) -> WorkHistory:
        """A copy that goes on by itself."""
        other = WorkHistory()
        other._commits, other._changed, other._added = self._commits.copy(), self._changed.copy(), [*self._added]
        other._checkouts, other._checks, other._running = self._checkouts.copy(), self._checks.copy(), self._running.copy()
        other._state, other._uses_git = self._state, self._uses_git
        return other

    def state(self) -> StateOfWork:
        """The state of the work as it is now."""
        checks = tuple(sorted(self._checks.values(), key=lambda check: (check.seq, check.kind)))
        uncommitted = tuple(map(in_a_line, self._changed)) if self._uses_git else ()
        return replace(
            self._state,
            commits=tuple(self._commits),
            uncommitted=uncommitted,
            checkouts=self._checkouts.all(),
            checks=checks,
            running=tuple(self._running.values()),
        )

    def add(self, call: Call) -> None:
        """Takes in the next call of the session."""
        if call.returned.refusal is not None:
            return
        if self._running:
            self._hear(call)
        for touch in call.returned.touched:
            if touch.kind != "read":
                self._changed.pop(touch.path, None)
                self._changed[touch.path] = call.seq
                if not touch.path.endswith(PROSE):
                    self._state = replace(self._state, changed_seq=call.seq)
        self._add_document(call)
        if call.plain is not None:
            self._add_command(call, call.plain)

    def add_notice(self, notice: Notice) -> None:
        """Takes in what the program told the agent: that something in the background is over, say."""
        for id in [id for id in self._running if id in notice.text and OVER.search(notice.text)]:
            del self._running[id]

    def _add_command(self, call: Call, whole: str) -> None:
        command = whole[:COMMAND_CHARACTERS]
        kinds = checks_in(command)
        begun = BACKGROUND.search(call.returned.content[:600])
        if begun:
            self._running[begun[1]] = call.seq, one_line(command, 100)
            if len(self._running) > MOST_RUNNING:
                del self._running[next(iter(self._running))]
        elif not call.only_looks:
            self._check(kinds, call.seq, command, ended(call), call.returned.content)
        if not call.failed:
            self._add_written(call, command)
        if "git" not in command:
            return
        self._uses_git = True
        if call.failed:
            return
        self._checkouts.add(call)
        self._added += [each[1] for each in ADDING.finditer(command)]
        for resetting in RESETTING.finditer(command):
            for _ in range(min(int(resetting[1] or 1) if resetting[2] is None else len(resetting[2]), len(self._commits))):
                self._commits.pop()
        for committing in COMMITTING.finditer(command):
            self._commit(call, command, committing[1])
        if PUSHING.search(command):
            self._state = replace(self._state, pushed_seq=call.seq)

    def _check(self, kinds: list[str], seq: int, command: str, how: str, output: str) -> None:
        for kind in kinds:
            self._checks[kind] = Check(kind, seq, one_line(command, 100), how, _told(output))

    def _commit(self, call: Call, command: str, options: str) -> None:
        made = COMMITTED.findall(call.returned.content)
        named = MESSAGE.search(command)
        if AMENDING.search(options) and self._commits:
            self._commits.pop()
        if made:
            self._commits.extend(Commit(call.seq, hash, one_line(subject, SUBJECT_CHARACTERS)) for _, hash, subject in made)
        else:
            subject = next(filter(None, named.groups()), "") if named else ""
            self._commits.append(Commit(call.seq, "", one_line(subject, SUBJECT_CHARACTERS)))
        words = " ".join(self._added)
        whole = not words or ALL.search(words) or ALL.search(options.partition(" -m")[0])
        wanted = () if whole else tuple(word.strip("'\"").removeprefix("./").rstrip("/") for word in words.split())
        kept = {path: seq for path, seq in self._changed.items() if wanted and not any(_is_of(path, word) for word in wanted)}
        self._changed = {} if len(kept) == len(self._changed) else kept
        self._added = []

    def _hear(self, call: Call) -> None:
        """Takes in what a call tells of commands in the background. If one of them is over, the call tells how it ended."""
        said = {text if isinstance(text, str) else str(text) for text in call.input.values()}
        over = [id for id in self._running if id in said and not STILL.search(call.returned.content[:400])]
        for id in over:
            _, command = self._running.pop(id)
            self._check(checks_in(command), call.seq, command, "failed" if call.seems_failed else "ran", call.returned.content)

    def _add_written(self, call: Call, command: str) -> None:
        """Keeps the longest text that a command passes on, if the command writes to a tracker."""
        if not TRACKING.search(WRITTEN.sub(" ", command)):
            return
        tracker = TRACKING.search(command)
        handed = command[tracker.start() :] if tracker else ""
        files = (match[2] for match in WRITTEN.finditer(handed))
        quoted = (match[1] or match[2] for match in BODY.finditer(WRITTEN.sub(" ", handed)))
        text = max((*filter(None, files), *filter(None, quoted)), key=len, default="")
        if len(text) >= WRITTEN_CHARACTERS:
            made = GuidingDocument(call.seq, one_line(redact(command), 60), text.replace("\\n", "\n")[:DOCUMENT_CHARACTERS])
            before = tuple(each for each in self._state.written if each.text != made.text)
            self._state = replace(self._state, written=(*before[1 - MOST_WRITTEN :], made))

    def _add_document(self, call: Call) -> None:
        plan = call.input.get("plan")
        path = next((path for key in ("path", "file_path") if isinstance(path := call.input.get(key), str)), "")
        content = call.input.get("content", call.input.get("file_text"))
        if call.returned.tool == PROPOSING and isinstance(plan, str):
            self._state = replace(self._state, plan=_proposed(call, plan, self._state.plan))
        elif isinstance(plan, str) and plan.strip():
            self._state = replace(self._state, plan=GuidingDocument(call.seq, "", plan[:DOCUMENT_CHARACTERS]))
        elif isinstance(content, str) and PLAN_FILE.search(path) and not call.failed:
            self._state = replace(self._state, plan=GuidingDocument(call.seq, in_a_line(path), content[:DOCUMENT_CHARACTERS]))
        command = call.plain or ""
        if call.failed or call.returned.is_error:
            return
        if OPENING.search(command) or OPENING_TOOL.search(call.returned.tool):
            text = call.returned.content[:DOCUMENT_CHARACTERS]
            self._state = replace(self._state, issue=GuidingDocument(call.seq, one_line(call.source, 60), text), claimed=_words(call.input))
        elif self._state.issue is not None and _names_it(command or call.returned.tool):
            self._state = replace(self._state, claimed=_words(call.input))


def _proposed(call: Call, plan: str, before: GuidingDocument | None) -> GuidingDocument | None:
    """The plan that holds after the call, as the user accepted it and may have changed it. A refused plan counts only if there is no
    other."""
    answer = call.returned.content
    if not call.returned.is_error and answer.startswith(PLAN_ACCEPTED):
        return GuidingDocument(call.seq, "", (answer.partition("\n\n")[2] or plan)[:DOCUMENT_CHARACTERS])
    is_refused = before is None or before.name == NOT_ACCEPTED
    return GuidingDocument(call.seq, NOT_ACCEPTED, plan[:DOCUMENT_CHARACTERS]) if is_refused and plan.strip() else before


def _names_it(called: str) -> bool:
    return re.match(r"\s*(?:bd|br|issues?|tk|gh issue|jira)\b", called) is not None or "issue" in called.lower()


def _words(input: Mapping[str, Json]) -> str:
    return one_line(" ".join(strings_of(input)), 300)


def _is_of(path: str, word: str) -> bool:
    """Whether `path` is the file, or lies in the folder, that `word` names."""
    return bool(word) and (f"/{path}".endswith(f"/{word}") or f"/{word}/" in f"/{path}" or word.endswith(f"/{path}"))


def _told(output: str) -> str:
    """The words with which a check says how it went: the last lines that count something, else the last line."""
    printed = _COLOUR.sub("", output[-PRINTED_CHARACTERS:])
    counted = [line.strip() for line in printed.splitlines() if COUNTED.search(line[:300])]
    return one_line("; ".join(counted[-COUNTED_SHOWN:]), TOLD_CHARACTERS) if counted else last_line(printed)
