"""What git said last of each checkout that the agent works in: the branch, how far it is from the remote one, and what is not committed.

It is read out of what `git status`, `git commit`, `git switch` and their like printed, whatever else the same command printed. That is good
enough to tell the reader, never to act on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ullage.context.calls import Call, one_line
from ullage.context.quoting import in_a_line

MOST_CHECKOUTS = 20
COMMAND_CHARACTERS, PRINTED_CHARACTERS = 2_000, 8_000
"""Of a command, and of what it printed, that are looked at."""
NAME_CHARACTERS = 80
"""Of a branch or a folder."""

_PLACE = re.compile(r"""(?:\A|[;&|\n])\s*(?:cd|git\s+-C)\s+("[^"\n]+"|'[^'\n]+'|[^\s;&|]+)""")
_FOLDER_KEYS = ("workdir", "cwd", "working_directory")
_ASKING = re.compile(r"\bgit\b[^|;&\n]*?\sstatus\b([^|;&\n]*)")
_SHORT = re.compile(r"\s(?:-\w*[sz]\w*|--short|--porcelain)\b")
_SHORT_HEAD = re.compile(r"^## (?:No commits yet on )?(.{1,250}?)(?:\.\.\.(\S{1,250}))?(?: \[([^\]\n]{0,60})\])?$", re.MULTILINE)
_SHORT_LINE = re.compile(r"^([ MADRCTU?])([ MADCTU?]) \S", re.MULTILINE)
_HEAD = re.compile(r"^On branch (\S+)|^HEAD detached (?:at|from) (\S+)", re.MULTILINE)
_AHEAD_OR_BEHIND = re.compile(r"^Your branch is (ahead of|behind) '([^'\n]+)' by (\d+) commits?", re.MULTILINE)
_DIVERGED = re.compile(r"^Your branch and '([^'\n]+)' have diverged,\nand have (\d+) and (\d+) different commits", re.MULTILINE)
_UP_TO_DATE = re.compile(r"^Your branch is up to date with '([^'\n]+)'", re.MULTILINE)
_SECTION = re.compile(r"^(Changes to be committed|Changes not staged for commit|Unmerged paths|Untracked files):")
_FILE = re.compile(r"^\t(?!\()\S")
_SWITCHED = re.compile(r"^Switched to (?:a new )?branch '([^'\n]+)'|^\[([^\]\s]+) (?:\(root-commit\) )?[0-9a-f]{7,40}\] ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Checkout:
    """As git told of it last. `counts` are files by what is with them; None where that is not known, or no longer."""

    folder: str
    """As it was named in the call; empty where it was not."""
    seq: int
    branch: str = ""
    apart: str = ""
    """How far it is from the branch that it follows, in words."""
    counts: tuple[tuple[str, int], ...] | None = None


class Checkouts:
    """Those of a session as it goes on."""

    def __init__(self) -> None:
        self._of: dict[str, Checkout] = {}

    def copy(self) -> Checkouts:
        """Another one that goes on by itself."""
        other = Checkouts()
        other._of = self._of.copy()
        return other

    def add(self, call: Call) -> None:
        """The next call that ran git and did not fail."""
        command = (call.command or "")[:COMMAND_CHARACTERS]
        printed = call.returned.content[:PRINTED_CHARACTERS].replace("\r", "")
        folder = _folder(call, command)
        known = self._of.get(folder, Checkout(folder, call.seq))
        switched = [first or second for first, second in _SWITCHED.findall(printed)]
        asked = _ASKING.search(command)
        found = _told(known, call.seq, printed, short=bool(_SHORT.search(asked[1]))) if asked else known
        if found is known and switched:
            found = replace(known, seq=call.seq, branch=_name(switched[-1]), apart="", counts=None)
        if found is not known:
            self._of.pop(folder, None)
            self._of[folder] = found
            if len(self._of) > MOST_CHECKOUTS:
                del self._of[next(iter(self._of))]

    def all(self) -> tuple[Checkout, ...]:
        """The one told of last at the end."""
        return tuple(self._of.values())


def _folder(call: Call, command: str) -> str:
    named = next((folder for key in _FOLDER_KEYS if isinstance(folder := call.input.get(key), str) and folder), "")
    place = _PLACE.search(command)
    return in_a_line(place[1].strip("'\"") if place else named).rstrip("/")[-200:]


def _told(known: Checkout, seq: int, printed: str, *, short: bool) -> Checkout:
    """What a status says; `known` itself where it says nothing."""
    if short:
        head = _SHORT_HEAD.search(printed)
        counts = _short_counts(printed[head.end() :] if head else printed)
        if head is None:
            return replace(known, seq=seq, counts=counts) if counts else known
        upstream = f"{head[3]} (of {_name(head[2])})" if head[3] and head[2] else f"level with {_name(head[2])}" if head[2] else ""
        return Checkout(known.folder, seq, _name(head[1]), upstream, counts)
    head = _HEAD.search(printed)
    if head is None:
        return known
    branch = head[1] or f"no branch, at {head[2]}"
    return Checkout(known.folder, seq, _name(branch), _apart(printed), _long_counts(printed[head.end() :].splitlines()))


def _apart(printed: str) -> str:
    if one := _AHEAD_OR_BEHIND.search(printed):
        return f"{one[1].split()[0]} {one[3]} (of {_name(one[2])})"
    if both := _DIVERGED.search(printed):
        return f"ahead {both[2]}, behind {both[3]} (of {_name(both[1])})"
    level = _UP_TO_DATE.search(printed)
    return f"level with {_name(level[1])}" if level else ""


def _short_counts(printed: str) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for staged, changed in _SHORT_LINE.findall(printed):
        if staged == "?":
            counts["untracked"] += 1
        else:
            counts["staged"] += staged != " "
            counts["changed, not staged"] += changed != " "
    return _ordered(counts)


_LONG = {
    "Changes to be committed": "staged",
    "Changes not staged for commit": "changed, not staged",
    "Unmerged paths": "unmerged",
    "Untracked files": "untracked",
}


def _long_counts(lines: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    what = ""
    for line in lines:
        if section := _SECTION.match(line):
            what = _LONG[section[1]]
        elif what and _FILE.match(line):
            counts[what] += 1
        elif line and not line.startswith((" ", "\t")):
            what = ""
    return _ordered(counts)


def _ordered(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple((what, counts[what]) for what in _LONG.values() if counts[what])


def _name(name: str) -> str:
    return one_line(in_a_line(name).replace("`", "'"), NAME_CHARACTERS)
