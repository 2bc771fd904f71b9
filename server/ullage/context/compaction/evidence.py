"""Which files the agent is likely to need after a summary, by the signs that the log and the editor hold.

The same live and in replay. Nothing is read here. `restore.py` decides how much of a file comes back.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Literal, TypeAlias

from ullage.context.blocks import Text, ToolUse
from ullage.context.calls import files_printed
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.policy import RestoreOptions
from ullage.context.view.log_places import said_of

SignKind: TypeAlias = Literal["read", "edited", "mentioned", "disk", "unsaved", "problems", "uncommitted", "missed"]
"""The kinds of signs: read or edited by the agent or edited by the user; named in the last messages; changed on disk by something else;
open in the editor with text that is not saved; with problems that its language server reports as errors; changed since the last commit;
read again after an earlier compaction, which had taken its text out of view."""

WEIGHTS: Mapping[SignKind, float] = {
    "read": 1.0,
    "edited": 1.0,
    "mentioned": 0.25,
    "disk": 0.25,
    "unsaved": 2.0,
    "problems": 1.0,
    "uncommitted": 0.5,
    "missed": 1.0,
}
"""The weight of one new sign of each kind. Reads and edits weigh the same: over recorded sessions no other proportion between a half and
two did better; what mentions weigh made hardly a difference. The editor's signs are not in any recorded session; their weights are a guess:
unsaved text counts as two edits of this moment. That a file was missed made hardly a difference either: over 200 compactions of 24 recorded
sessions, at a window of 100,000 tokens, 1.3 % less text came again with this weight, 0.7 % more with three times as much."""

HALVED_AFTER = 40.0
"""Entries of the log after which a sign counts half as much, then a third, a quarter ... Anything between 40 and 320 did as well."""

MISSED_ELSEWHERE = 160
"""Entries: the age given to the sign that a file was missed in another session. It counts only where something of this session speaks for
the file, too. A guess."""

MENTIONS_IN = 60
"""Entries at the end of the log in which a file counts as mentioned."""
RUN = re.compile(r"[\w@+.-]+")
FILE_NAME = re.compile(r"[\w@+.-]*\w\.\w+")
"""What may be a file name, at the beginning of a run of such characters."""
LONGEST_NAME = 255
"""Characters of a file name: no file system takes more."""

INSTRUCTIONS = ("SKILL.md", "AGENTS.md", "CLAUDE.md")
"""Files that say how to work. Once the agent has read one it is bound by it as by the user's word, so these come first."""
AGENTS_FOLDERS = frozenset({".agents", ".claude", ".codex", ".cursor", ".gemini", ".ullage", ".windsurf"})
"""Folders in which any Markdown file says how to work: what instructions refer to, rules, plans. Agents read that again after a
compaction."""

_TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|\w+_tests?)/|(?:^|/)test_[^/]*$|[._-](?:tests?|spec)\.[^/]*$|[a-z](?:Tests?|Spec)\.[^/.]*$"
)
"""Paths of tests: in folders of tests, or named like `test_a.py`, `a_test.go`, `a.spec.ts`, `ATest.java`."""

CONSIDERED = 20
"""Files that are looked at, the likeliest first, until as many as wanted are read again."""

DISK_HANDICAP = 120.0
"""Seconds by which a change on disk counts as older: a formatter or a checkout must not push out what somebody edited."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that a file is in use. `age` is how many entries of the log ago it was."""

    path: str
    kind: SignKind
    age: int


def signs_in(entries: Sequence[Logged]) -> Iterator[Sign]:
    """The signs in the log: files that tools touched, files that shell commands printed, and which of these were named lately."""
    last = entries[-1].seq if entries else 0
    used = [Sign(path, kind, last - seq) for stretch in said_of(entries, _uses) for path, kind, seq in stretch]
    yield from used
    yield from _mentions(entries[-MENTIONS_IN:], last, {sign.path for sign in used})


def missed_elsewhere(signs: Sequence[Sign], paths: Collection[str]) -> Iterator[Sign]:
    """An old sign for each file that other sessions missed after a compaction (`paths`) and that has signs here."""
    yield from (Sign(path, "missed", MISSED_ELSEWHERE) for path in {sign.path for sign in signs} if path in paths)


def _uses(entries: Sequence[Logged]) -> tuple[tuple[str, SignKind, int], ...]:
    """Each use of a file: its path, what was done with it, and the seq."""
    used: list[tuple[str, SignKind, int]] = []
    for logged in entries:
        entry, seq = logged.entry, logged.seq
        if isinstance(entry, ToolReturned) and entry.media:
            continue  # an image or a document: no text that could be read again
        if isinstance(entry, ToolReturned | Notice):
            used.extend((intern(touch.path), "read" if touch.kind == "read" else "edited", seq) for touch in entry.touched)
        elif isinstance(entry, AssistantReply):
            calls = (block for block in entry.blocks if isinstance(block, ToolUse))
            used.extend((intern(path), "read", seq) for call in calls for path in files_printed(call.input))
        elif isinstance(entry, Compaction) and entry.fetched_again is not None:
            used.extend((intern(path), "missed", seq) for path in entry.fetched_again.files)
    return tuple(used)


def _mentions(entries: Sequence[Logged], last: int, paths: Collection[str]) -> Iterator[Sign]:
    """The signs of files that were named lately. A name alone is enough where no other file has it, else it must be the path."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        named[path.rpartition("/")[2]].append(path)
    for logged in entries:
        text = _words(logged.entry)
        for name in dict.fromkeys(_file_names(text)):
            same = named.get(name, ())
            yield from (Sign(path, "mentioned", last - logged.seq) for path in same if len(same) == 1 or path in text)


def _file_names(text: str) -> Iterator[str]:
    """The runs of characters in the text that could be names of files. The time grows with the text alone, also where it is one run of
    letters without end."""
    for run in RUN.findall(text):
        found = FILE_NAME.match(run) if "." in run and len(run) <= LONGEST_NAME else None
        if found is not None:
            yield found.group()


def _words(entry: Entry) -> str:
    if isinstance(entry, UserPrompt):
        return entry.text
    if isinstance(entry, AssistantReply):
        return "\n".join(block.text for block in entry.blocks if isinstance(block, Text))
    return ""


def likely(signs: Iterable[Sign], most: int, tests_share: float = 1.0) -> tuple[str, ...]:
    """The likeliest files, at most `most`, the likeliest first: instructions that were read, then those with the most and newest signs."""
    found = list(signs)
    score: dict[str, float] = defaultdict(float)
    for sign in found:
        score[sign.path] += WEIGHTS[sign.kind] / (1 + max(sign.age, 0) / HALVED_AFTER)
    score.update({path: score[path] * tests_share for path in score if holds_tests(path)})
    read = {sign.path for sign in found if sign.kind == "read"}
    ranked = sorted(score, key=lambda path: (not instructs(path) or path not in read, -score[path], path))
    return tuple(ranked[:most])


def instructs(path: str) -> bool:
    """Whether a file says how to work, by its name or its folder."""
    *folders, name = path.split("/")
    return name in INSTRUCTIONS or (name.endswith((".md", ".mdc")) and not AGENTS_FOLDERS.isdisjoint(folders))


def holds_tests(path: str) -> bool:
    """Whether a file holds tests, by the names that most languages use."""
    return _TEST.search(path) is not None


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One change of a file: where, when (Unix seconds) and by whom. `disk` stands for anything but an editor or a tool of the agent."""

    path: str
    at: float
    by: Literal["agent", "user", "disk"]
    line: int | None = None
    """The line of the change, counted from 1; None if it is not known."""


def last_edited(edits: Sequence[FileEdit], options: RestoreOptions) -> tuple[str, ...]:
    """The paths to read again: last edited first, each once, at most `options.files`."""
    ranked = sorted(edits, key=lambda edit: (-_when(edit), edit.by == "disk", edit.path))
    return tuple(dict.fromkeys(edit.path for edit in ranked))[: options.files]


def _when(edit: FileEdit) -> float:
    return edit.at - DISK_HANDICAP if edit.by == "disk" else edit.at


def logged_edits(entries: Sequence[Logged], *, by_seq: bool = False) -> list[FileEdit]:
    """The agent's last edit of each file in the log, the newest first. With `by_seq` the seqs stand for the times, which that log does not
    tell."""
    edits: dict[str, FileEdit] = {}
    for path, at, seq, line in (each for stretch in reversed([*said_of(entries, _edits)]) for each in stretch):
        if path not in edits:
            edits[path] = FileEdit(path, float(seq) if by_seq else at, "agent", line)
    return list(edits.values())


def _edits(entries: Sequence[Logged]) -> tuple[tuple[str, float, int, int | None], ...]:
    """The path, the time, the seq and the line of the agent's last edit of each file, the newest first."""
    edits: dict[str, tuple[str, float, int, int | None]] = {}
    for logged in reversed(entries):
        if isinstance(logged.entry, ToolReturned):
            for touch in logged.entry.touched:
                if touch.kind != "read":
                    edits.setdefault(touch.path, (intern(touch.path), logged.at, logged.seq, logged.entry.line))
    return tuple(edits.values())


def candidates(
    signs: Iterable[Sign], edits: Sequence[FileEdit], options: RestoreOptions, pinned: Collection[str] = (), out: Collection[str] = ()
) -> tuple[str, ...]:
    """The files that may be read again, the likeliest first. There are more than will be read, since some may be in view already. `out` are
    those that the user took out."""
    if options.by == "last edited":
        return last_edited([edit for edit in edits if edit.path not in out], options)
    found = likely((sign for sign in signs if sign.path not in out), CONSIDERED, options.tests_share)
    return tuple(path for path in dict.fromkeys((*sorted(pinned), *found)) if path not in out)
