"""Names and hashes that may be needed again: identifiers, commit hashes, URLs, versions, numbers of issues, with where they were seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Logged, ToolReturned, UserPrompt

NameKind = Literal["hash", "url", "name"]

RECENT_ENTRIES = 600
"""What was said longer ago is found by its paths, commands and errors; names of then are rarely needed now."""
SCANNED_CHARACTERS = 4_000
"""Of each text, so that one long result costs no more than a short one."""

HASH = re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
URL = re.compile(r"https?://[^\s\"'<>)\]}`,\\]+")
FILE_SUFFIX = r"(?!\.[a-z]{1,5}\b(?!\())"
"""A name with a file's suffix is a part of a path; paths are kept with the files."""
NAME = re.compile(
    r"(?<![/\\\w.-])(?:[A-Za-z]\w*(?:\.[A-Za-z_]\w*)*(?=\(\))"  # call()
    rf"|[a-z]+(?:[A-Z][a-z0-9]+)+\b{FILE_SUFFIX}"  # camelCase
    rf"|(?:[A-Z][a-z0-9]+){{2,}}\b{FILE_SUFFIX}"  # PascalCase
    rf"|[A-Za-z][a-z0-9]*(?:_[A-Za-z0-9]+)+\b{FILE_SUFFIX}"  # snake_case
    rf"|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b{FILE_SUFFIX})"  # CONSTANT_CASE
)
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class NameFact:
    """A name or hash: how often it was seen and where last."""

    name: str
    kind: NameKind
    times: int
    first_seq: int
    seq: int
    weight: float
    """How likely it is needed again: often, lately, and by the user or in an edit."""


def names_in_use(entries: Sequence[Logged]) -> tuple[NameFact, ...]:
    """The names of the last entries, the weightiest first."""
    recent = entries[-RECENT_ENTRIES:]
    seen: dict[str, _Sight] = {}
    for age, logged in zip(range(len(recent) - 1, -1, -1), recent, strict=True):
        freshness = 1.0 / (1.0 + age / 40)
        for text, weight in _texts(logged):
            for name, kind in _names(text[:SCANNED_CHARACTERS]):
                sight = seen.setdefault(name, _Sight(kind, logged.seq))
                sight.times += 1
                if sight.seq != logged.seq:
                    sight.seq = logged.seq
                    sight.weight += weight * freshness
    facts = (NameFact(name, sight.kind, sight.times, sight.first_seq, sight.seq, sight.weight) for name, sight in seen.items())
    return tuple(sorted(facts, key=lambda fact: (-fact.weight, -fact.seq, fact.name)))


@dataclass(slots=True)
class _Sight:
    kind: NameKind
    first_seq: int
    times: int = 0
    seq: int = 0
    weight: float = 0.0


def _texts(logged: Logged) -> Iterator[tuple[str, float]]:
    entry = logged.entry
    if isinstance(entry, UserPrompt):
        yield entry.text, 4.0
    elif isinstance(entry, AssistantReply):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text, 2.0
            elif isinstance(block, ToolUse):
                yield "\n".join(value for value in block.input.values() if isinstance(value, str)), 1.5
    elif isinstance(entry, ToolReturned):
        yield entry.content, 0.5


def _names(text: str) -> Iterable[tuple[str, NameKind]]:
    for found in HASH.finditer(text):
        yield found.group(), "hash"
    for found in URL.finditer(text):
        if len(found.group()) <= LONGEST_NAME:
            yield found.group().rstrip("."), "url"
    for found in NAME.finditer(text):
        if len(found.group()) <= LONGEST_NAME:
            yield found.group(), "name"
