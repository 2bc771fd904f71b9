"""What the agent gets back after a summary: which files are read again, how much of each, and how to go on.

The same live and in replay. Signs in the log and in the editor say which files the agent is likely to need. `Choosing` says which text it
wants next and is given that. Where signs and texts come from (the disk, a transcript) does not matter here: nothing is read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from sys import intern
from typing import Literal, TypeAlias

from ullage.context.blocks import Text, ToolUse
from ullage.context.calls import files_printed
from ullage.context.compaction.outline import in_parts, newest_parts, outline, parts
from ullage.context.compaction.seen import SeenText, bare_lines, runs, texts_in
from ullage.context.compaction_entries import DELETED, NO_ROOM, ONLY_NAME, Compaction, RestoredFile
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.policy import RestoreOptions
from ullage.context.quoting import in_a_line
from ullage.context.view.fates import whole_in_view
from ullage.context.view.log_places import said_of
from ullage.context.view.projection import Projection

SignKind: TypeAlias = Literal["read", "edited", "mentioned", "disk", "unsaved", "problems", "uncommitted", "missed"]
"""Read or edited by the agent or edited by the user; named in the last messages; changed on disk by something else; open in the editor with
text that is not saved; with problems that its language server reports as errors; changed since the last commit; read again after an earlier
compaction, which had taken its text out of view."""

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
"""Of one sign that is new. Reads and edits weigh the same: over recorded sessions no other proportion between a half and two did better;
what mentions weigh made hardly a difference. The editor's signs are not in any recorded session; their weights are a guess: unsaved text
counts as two edits of this moment. That a file was missed made hardly a difference either: over 200 compactions of 24 recorded sessions,
at a window of 100,000 tokens, 1.3 % less text came again with this weight, 0.7 % more with three times as much."""

HALVED_AFTER = 40.0
"""Entries of the log after which a sign counts half as much, then a third, a quarter ... Anything between 40 and 320 did as well."""

MISSED_ELSEWHERE = 160
"""Entries: so old a sign is that a file was missed in another session, where something of this one speaks for it, too. A guess."""

MENTIONS_IN = 60
"""Entries at the end of the log in which it counts that somebody names a file."""
RUN = re.compile(r"[\w@+.-]+")
FILE_NAME = re.compile(r"[\w@+.-]*\w\.\w+")
"""At the beginning of such a run."""
LONGEST_NAME = 255
"""Characters: no file system takes more."""

INSTRUCTIONS = ("SKILL.md", "AGENTS.md", "CLAUDE.md")
"""Files that say how to work. Once the agent has read one it is bound by it as by the user's word, so these come first."""

CONSIDERED = 20
"""Files that are looked at, the likeliest first, until as many as wanted are read again."""

DISK_HANDICAP = 120.0
"""Seconds by which a change on disk counts as older: a formatter or a checkout must not push out what somebody edited."""
FRAME_TOKENS = 60
"""For the tags around a file and the words between its parts, which together take a little more than one by one."""
OUTLINE_SHARE = 0.08
"""Of the room of a file that is not shown whole. The text itself is needed more often than where the rest of it is."""
SMALL_FILE = 2_000
"""Tokens. So much is shown whole, though the model has seen only a part of it."""
SEEN_RUN, VIEW_RUN = 3, 5
"""Lines in a row by which it is told that the model has seen them, and that they stand in view."""
NEAR_EDIT = 8
"""Lines on each side of the newest edit that count as just seen."""
WORTH_A_GAP = 10
"""Lines in a row that stand in view already. Fewer are shown again: a text with holes is harder to read."""
RESERVED = 300
"""Tokens that a long file leaves for each of the others that are told of, so that it does not take the place of all."""
MOST_OFF = 3.0
"""Real tokens for one that is estimated, at most, that files read again may turn out to have without filling the window. Columns of numbers
have up to 1.9 by the tokenizers that we know."""
SMALLEST_ROOM = 200
"""Tokens. With less than that nothing of a long file is worth showing."""

_CLOSING_TAG = re.compile(r"<(?=\s*/\s*file\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that a file is in use. `age` is how many entries of the log ago it was."""

    path: str
    kind: SignKind
    age: int


def signs_in(entries: Sequence[Logged]) -> Iterator[Sign]:
    """What the log shows: files that tools touched, those that shell commands printed, and which of them were spoken of lately."""
    last = entries[-1].seq if entries else 0
    used = [Sign(path, kind, last - seq) for stretch in said_of(entries, _uses) for path, kind, seq in stretch]
    yield from used
    yield from _mentions(entries[-MENTIONS_IN:], last, {sign.path for sign in used})


def missed_elsewhere(signs: Sequence[Sign], paths: Collection[str]) -> Iterator[Sign]:
    """Of the files that have signs here those that other sessions missed after a compaction (`paths`), as an old sign."""
    yield from (Sign(path, "missed", MISSED_ELSEWHERE) for path in {sign.path for sign in signs} if path in paths)


def _uses(entries: Sequence[Logged]) -> tuple[tuple[str, SignKind, int], ...]:
    """Which file, what was done with it, and the seq."""
    used: list[tuple[str, SignKind, int]] = []
    for logged in entries:
        entry, seq = logged.entry, logged.seq
        if isinstance(entry, ToolReturned) and entry.media:
            continue  # no text that could be read again
        if isinstance(entry, ToolReturned | Notice):
            used.extend((intern(touch.path), "read" if touch.kind == "read" else "edited", seq) for touch in entry.touched)
        elif isinstance(entry, AssistantReply):
            calls = (block for block in entry.blocks if isinstance(block, ToolUse))
            used.extend((intern(path), "read", seq) for call in calls for path in files_printed(call.input))
        elif isinstance(entry, Compaction) and entry.fetched_again is not None:
            used.extend((intern(path), "missed", seq) for path in entry.fetched_again.files)
    return tuple(used)


def _mentions(entries: Sequence[Logged], last: int, paths: Collection[str]) -> Iterator[Sign]:
    """A file is known by its name alone where no other has it, else by its path."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        named[path.rpartition("/")[2]].append(path)
    for logged in entries:
        text = _words(logged.entry)
        for name in dict.fromkeys(_file_names(text)):
            same = named.get(name, ())
            yield from (Sign(path, "mentioned", last - logged.seq) for path in same if len(same) == 1 or path in text)


def _file_names(text: str) -> Iterator[str]:
    """What could be names of files. The time is that of reading the text, also where it is one run of letters without end."""
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


def likely(signs: Iterable[Sign], most: int) -> tuple[str, ...]:
    """At most so many files, the likeliest first: instructions that were read, then those with the most and newest signs."""
    found = list(signs)
    score: dict[str, float] = defaultdict(float)
    for sign in found:
        score[sign.path] += WEIGHTS[sign.kind] / (1 + max(sign.age, 0) / HALVED_AFTER)
    read = {sign.path for sign in found if sign.kind == "read"}
    ranked = sorted(score, key=lambda path: (not _instructs(path) or path not in read, -score[path], path))
    return tuple(ranked[:most])


def _instructs(path: str) -> bool:
    return path.rpartition("/")[2] in INSTRUCTIONS


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One change of a file: where, when (Unix seconds) and by whom. `disk` is whatever is no editor and no tool of the agent."""

    path: str
    at: float
    by: Literal["agent", "user", "disk"]
    line: int | None = None
    """Where in the file, counted from 1; None where that is not known."""


def choose(edits: Sequence[FileEdit], options: RestoreOptions) -> tuple[str, ...]:
    """The paths to read again: last edited first, each once, at most `options.files`."""
    ranked = sorted(edits, key=lambda edit: (-_when(edit), edit.by == "disk", edit.path))
    return tuple(dict.fromkeys(edit.path for edit in ranked))[: options.files]


def _when(edit: FileEdit) -> float:
    return edit.at - DISK_HANDICAP if edit.by == "disk" else edit.at


def logged_edits(entries: Sequence[Logged], *, by_seq: bool = False) -> list[FileEdit]:
    """The agent's edits as the log has them, newest first, one a file. `by_seq`: of a log that tells no times."""
    edits: dict[str, FileEdit] = {}
    for path, at, seq, line in (each for stretch in reversed([*said_of(entries, _edits)]) for each in stretch):
        if path not in edits:
            edits[path] = FileEdit(path, float(seq) if by_seq else at, "agent", line)
    return list(edits.values())


def _edits(entries: Sequence[Logged]) -> tuple[tuple[str, float, int, int | None], ...]:
    """Which files, when, the seq and the line; the newest first, each once."""
    edits: dict[str, tuple[str, float, int, int | None]] = {}
    for logged in reversed(entries):
        if isinstance(logged.entry, ToolReturned):
            for touch in logged.entry.touched:
                if touch.kind != "read":
                    edits.setdefault(touch.path, (intern(touch.path), logged.at, logged.seq, logged.entry.line))
    return tuple(edits.values())


@dataclass(frozen=True, slots=True)
class FileNow:
    """A file as it is now. `text` is None where it is gone, `sha256` is None where its version is not known."""

    text: str | None
    sha256: str | None = None
    near_line: int = 0
    """Where it was edited last, counted from 1; 0 where it was not, or that is not known."""


def candidates(
    signs: Iterable[Sign], edits: Sequence[FileEdit], options: RestoreOptions, pinned: Collection[str] = (), out: Collection[str] = ()
) -> tuple[str, ...]:
    """The likeliest first; more than are read again where some of them are in view already. `out`: what the user took out."""
    if options.by == "last edited":
        return choose([edit for edit in edits if edit.path not in out], options)
    found = likely((sign for sign in signs if sign.path not in out), CONSIDERED)
    return tuple(path for path in dict.fromkeys((*sorted(pinned), *found)) if path not in out)


class Choosing:
    """The files to be read again after one compaction.

    `seen` is what the model saw before it, each text with its seq, `after` the view that it leaves, `edited` what is known to have been
    edited.
    """

    def __init__(
        self,
        seen: Iterable[tuple[int, str]],
        after: Projection,
        candidates: Sequence[str],
        edited: Collection[str],
        options: RestoreOptions,
    ) -> None:
        self._whole_in_view = whole_in_view(after)
        self._seen, self._in_view = SeenText(seen, SEEN_RUN), SeenText(texts_in(after), VIEW_RUN)
        self._left = list(reversed(candidates))
        self._edited = edited
        self._options = options
        self._budget = options.total_tokens
        self.files: tuple[RestoredFile, ...] = ()
        """What was taken so far."""

    def wants(self) -> str | None:
        """The path whose text is to be given next; None where enough was taken or nothing is left."""
        taken, options = len(self.files), self._options
        if taken >= options.files and (taken >= options.files + options.more_files or self._budget < FRAME_TOKENS + SMALLEST_ROOM):
            return None
        return self._left[-1] if self._left else None

    def give(self, now: FileNow | None) -> None:
        """The file that was wanted; None where it has no text that could be shown, or nothing is known of it."""
        path = self._left.pop()
        if now is None or (now.text is None and path not in self._edited):  # gone, and was only read: nothing to know about it
            return
        if now.text is not None and now.sha256 is not None and self._whole_in_view.get(path) == now.sha256:
            return
        lines = looked_at(now.text or "", now.near_line, self._seen, self._in_view)
        if now.text and all(lines.in_view):
            return
        file = take(path, now.text, lines, self._options, self._budget_for(now.text or ""), now.sha256 or "")
        self._budget -= estimate_text(file.text)
        self.files += (file,)

    def _budget_for(self, text: str) -> int:
        """A long file leaves something for those after it."""
        if estimate_text(text) <= SMALL_FILE:
            return self._budget
        to_come = max(0, min(self._options.files - len(self.files) - 1, len(self._left)))
        return max(self._budget // 2, self._budget - RESERVED * to_come)


@dataclass(frozen=True, slots=True)
class LookedAt:
    """Of each line of a file when the model saw it last (0: never), and whether it stands in a message that stays, with many others.

    `edited`: whether the newest are those around an edit.
    """

    seen: Sequence[int] = ()
    in_view: Sequence[bool] = ()
    edited: bool = False

    @property
    def is_mostly_seen(self) -> bool:
        """Whether the model has seen at least half of it."""
        return 2 * sum(1 for when in self.seen if when) >= len(self.seen)


def looked_at(text: str, near_line: int, seen: SeenText, in_view: SeenText | None = None) -> LookedAt:
    """What the model has seen of a file, and what of it stands `in_view`. `near_line`: where it was edited last, 0 where it was not."""
    lines = bare_lines(text)
    last = seen.last(lines)
    if near_line:
        newest = max(last) + 1
        for line in range(max(0, near_line - 1 - NEAR_EDIT), min(len(lines), near_line + NEAR_EDIT)):
            last[line] = newest
    stands = [bool(when) for when in in_view.last(lines)] if in_view is not None else [False] * len(lines)
    for start, end in runs(stands):
        if end - start < min(WORTH_A_GAP, len(lines)):
            stands[start:end] = [False] * (end - start)
    return LookedAt([0 if stand else when for when, stand in zip(last, stands, strict=True)], stands, bool(near_line))


def in_room(options: RestoreOptions, free: int, left: float, ratio: float = 1.0) -> RestoreOptions:
    """The options where so many tokens are free before any file is read again: `free` below the threshold, `left` where calls are held.

    Files are measured by the estimate, so what is free is, too: by `ratio`, which is learned, and in no case by less than `MOST_OFF` says.
    """
    most = left / max(MOST_OFF, ratio)
    if options.room_share is not None:
        most = min(most, options.room_share * free / max(1.0, ratio))
    return replace(options, total_tokens=min(options.total_tokens, max(0, int(most))))


def take(path: str, text: str | None, lines: LookedAt, options: RestoreOptions, budget: int, sha256: str = "") -> RestoredFile:
    """What the model gets of one file, in about `budget` tokens and never more than `options.file_tokens`.

    The whole text where it fits and is small or was mostly seen. Else the parts that were seen last, or the beginning where none was, and
    an outline of the rest; else only its name. What stands in view in long stretches is left out. `text` is None where the file is gone.
    `sha256` is of the whole text.
    """
    if text is None:
        return RestoredFile(path, _empty(path, "deleted or renamed since"), DELETED, sha256, whole=False)
    room = min(options.file_tokens, budget) - FRAME_TOKENS
    size = estimate_text(text)
    if size <= room and (size <= SMALL_FILE or lines.is_mostly_seen or not any(lines.seen)):
        if not any(lines.in_view):
            return RestoredFile(path, _framed(path, "read again now, whole", text), "whole", sha256)
        note = "read again now; the lines that are left out stand above, as they are"
        return RestoredFile(
            path, _framed(path, note, in_parts(text, lines.in_view)), "without what is in view already", sha256, whole=False
        )
    if room < SMALLEST_ROOM:
        return RestoredFile(
            path, _empty(path, "not read again, there is no room; read it where it is needed"), NO_ROOM, sha256, whole=False
        )
    for_text = int(room * (1 - OUTLINE_SHARE))
    near, shown = newest_parts(text, lines.seen, for_text) if any(lines.seen) else (parts(text, (), for_text), frozenset[int]())
    found = outline(path, text, min(int(room * OUTLINE_SHARE), room - estimate_text(near)), shown)
    inside = "\n\n".join(part for part in (f"outline of the rest, with line numbers:\n{found}" if found else "", near) if part)
    what = _shown_of_it(bool(found), bool(near), lines)
    note = f"read again now, {text.count(chr(10)) + 1:,} lines: {what}; read the rest where it is needed"
    return RestoredFile(path, _framed(path, note, inside), what, sha256, whole=False)


def resume_text(todo: str, rules_changed: bool, at_work: bool) -> str:
    """How to go on after a compaction. `todo` is the task list as Markdown, empty where there is none."""
    lines: list[str] = []
    if todo.strip():
        lines += ["The task list as it stands:", todo.strip(), ""]
    if rules_changed:
        lines.append("The rules files have changed; the system prompt has them as they are now.")
    lines.append("The messages before this point gave way to the summary above, to make room.")
    if at_work:
        lines.append("You were at work: go on from where the summary and the messages after it end, without commenting on this.")
    else:
        lines.append("Nothing is to be done because of this: the user speaks next.")
    return "\n".join(lines)


def _shown_of_it(outlined: bool, in_part: bool, lines: LookedAt) -> str:
    """What is shown of a file that is too long to be shown whole."""
    seen = "the parts seen and edited last" if lines.edited else "the parts seen last"
    part = seen if any(lines.seen) else "the beginning"
    return " and ".join(each for each in (in_part and part, outlined and "an outline") if each) or ONLY_NAME


def _framed(path: str, note: str, text: str) -> str:
    """The text between tags that nothing inside it can close."""
    inside = _CLOSING_TAG.sub("&lt;", text)
    return f'<file path="{escape(in_a_line(path))}" note="{escape(note)}">\n{inside}\n</file>'


def _empty(path: str, note: str) -> str:
    return f'<file path="{escape(in_a_line(path))}" note="{escape(note)}" />'
