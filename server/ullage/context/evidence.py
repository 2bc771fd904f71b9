"""Which files the agent is likely to need again, by the signs that there are in the log and in the editor.

What is done with them is `restore.py`'s business. Here nothing is read: where a sign comes from does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import ToolUse
from ullage.context.entries import AssistantReply, Logged, Notice, ToolReturned
from ullage.context.shell_reads import files_printed

SignKind: TypeAlias = Literal["read", "edited", "disk", "unsaved", "problems", "uncommitted"]
"""Read or edited by the agent or edited by the user; changed on disk by something else; open in the editor with text that is not saved;
with problems that its language server reports as errors; changed since the last commit."""

WEIGHTS: Mapping[SignKind, float] = {"read": 1.0, "edited": 1.0, "disk": 0.25, "unsaved": 2.0, "problems": 1.0, "uncommitted": 0.5}
"""Of one sign that is new. Reads and edits weigh the same: over recorded sessions no other proportion between a half and two did
better. The editor's signs are not in any recorded session; their weights are a guess: unsaved text counts as two edits of this moment."""

HALVED_AFTER = 80.0
"""Entries of the log after which a sign counts half as much, then a third, a quarter ... Anything between 40 and 320 did as well."""

INSTRUCTIONS = ("SKILL.md", "AGENTS.md", "CLAUDE.md")
"""Files that say how to work. Once the agent has read one it is bound by it as by the user's word, so these come first."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that a file is in use. `age` is how many entries of the log ago it was."""

    path: str
    kind: SignKind
    age: int


def signs_in(entries: Sequence[Logged]) -> Iterator[Sign]:
    """What the log shows of the agent's own doings: files that tools touched, and those that shell commands printed."""
    last = entries[-1].seq if entries else 0
    for logged in entries:
        entry, age = logged.entry, last - logged.seq
        if isinstance(entry, ToolReturned | Notice):
            yield from (Sign(touch.path, "read" if touch.kind == "read" else "edited", age) for touch in entry.touched)
        elif isinstance(entry, AssistantReply):
            for block in entry.blocks:
                if isinstance(block, ToolUse):
                    yield from (Sign(path, "read", age) for path in files_printed(block.input))


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
