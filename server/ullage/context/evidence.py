"""Which files the agent is likely to need again, by the signs that there are in the log and in the editor.

What is done with them is `restore.py`'s business. Here nothing is read: where a sign comes from does not matter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.shell_reads import files_printed

SignKind: TypeAlias = Literal["read", "edited", "mentioned", "disk", "unsaved", "problems", "uncommitted"]
"""Read or edited by the agent or edited by the user; named in the last messages; changed on disk by something else; open in the editor with
text that is not saved; with problems that its language server reports as errors; changed since the last commit."""

WEIGHTS: Mapping[SignKind, float] = {
    "read": 1.0,
    "edited": 1.0,
    "mentioned": 0.25,
    "disk": 0.25,
    "unsaved": 2.0,
    "problems": 1.0,
    "uncommitted": 0.5,
}
"""Of one sign that is new. Reads and edits weigh the same: over recorded sessions no other proportion between a half and two did better;
what mentions weigh made hardly a difference. The editor's signs are not in any recorded session; their weights are a guess: unsaved text
counts as two edits of this moment."""

HALVED_AFTER = 80.0
"""Entries of the log after which a sign counts half as much, then a third, a quarter ... Anything between 40 and 320 did as well."""

MENTIONS_IN = 60
"""Entries at the end of the log in which it counts that somebody names a file."""
RUN = re.compile(r"[\w@+.-]+")
FILE_NAME = re.compile(r"[\w@+.-]*\w\.\w+")
"""At the beginning of such a run."""
LONGEST_NAME = 255
"""Characters: no file system takes more."""

INSTRUCTIONS = ("SKILL.md", "AGENTS.md", "CLAUDE.md")
"""Files that say how to work. Once the agent has read one it is bound by it as by the user's word, so these come first."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that a file is in use. `age` is how many entries of the log ago it was."""

    path: str
    kind: SignKind
    age: int


def signs_in(entries: Sequence[Logged]) -> Iterator[Sign]:
    """What the log shows: files that tools touched, those that shell commands printed, and which of them were spoken of lately."""
    last = entries[-1].seq if entries else 0
    used = list(_uses(entries, last))
    yield from used
    yield from _mentions(entries[-MENTIONS_IN:], last, {sign.path for sign in used})


def _uses(entries: Sequence[Logged], last: int) -> Iterator[Sign]:
    for logged in entries:
        entry, age = logged.entry, last - logged.seq
        if isinstance(entry, ToolReturned) and entry.media:
            continue  # no text that could be read again
        if isinstance(entry, ToolReturned | Notice):
            yield from (Sign(touch.path, "read" if touch.kind == "read" else "edited", age) for touch in entry.touched)
        elif isinstance(entry, AssistantReply):
            for block in entry.blocks:
                if isinstance(block, ToolUse):
                    yield from (Sign(path, "read", age) for path in files_printed(block.input))


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
