"""What git said last of each checkout that the agent works in: the branch, how far it is from the remote one, and what is not committed.

It is read out of what `git status`, `git commit`, `git switch` and their like printed, where the command printed git's words alone. That is
good enough to tell the reader, never to act on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ullage.context.calls import Call, one_line, without_quoted
from ullage.context.quoting import in_a_line
from ullage.context.redact import redact
from ullage.context.summary.command_history import WRITTEN
from ullage.context.view.fold import NO_OUTPUT

MOST_CHECKOUTS = 20
COMMAND_CHARACTERS, PRINTED_CHARACTERS = 2_000, 8_000
"""Characters of a command, and of what it printed, that are looked at."""
NAME_CHARACTERS, FOLDER_CHARACTERS = 80, 200
"""Characters of a branch, and of the end of a folder, that are kept."""

_PLACE = re.compile(r"""(?:\A|[;&|\n])[ \t]*(?:cd|git[ \t]+-C)[ \t]+("[^"\n]+"|'[^'\n]+'|[^\s;&|]+)""")
_FOLDER_KEYS = ("workdir", "cwd", "working_directory")
_PARTS = re.compile(r"&&|\|\||[;\n]")
_OWN_WORDS = re.compile(
    r"[ \t]*(?:cd[ \t]|git(?:[ \t]+-[Cc][ \t]+\S+)*[ \t]+(?:status|add|commit|push|pull|fetch|switch|checkout|branch|stash|restore|reset|"
    r"rev-parse|remote|worktree|log[^\n]*--oneline|diff[^\n]*--(?:stat|name-only))\b|(?:true|:)?[ \t]*\Z)"
)
"""A part of a command that prints what git says, and no text of a file, a message or a page that may look the same."""
_FILTER = re.compile(r"\s*(?:head|tail|e?grep|sort|wc)\b|\s*cat\s*\Z")
"""A program after a pipe that prints nothing of its own."""
_ASKING = re.compile(r"\bgit\b[^|;&\n]*?\sstatus\b([^|;&\n]*)")
_CHANGING = re.compile(r"\bgit\b[^|;&\n]*?\s(?:add|commit|stash|restore|reset|checkout|switch|pull|merge|rebase)\b")
_BRANCHING = re.compile(r"\bgit\b[^|;&\n]*?\s(?:switch|checkout|commit)\b")
_SHORT = re.compile(r"\s(?:-\w*s\w*|--short|--porcelain)\b")
_IN_PART = re.compile(r"\s(?:-uno|--untracked-files=no|-\w*z\w*|--)(?:\s|\Z)|\s[^\s-]|--porcelain=")
"""Options with which a status does not tell of everything, or tells it in another form."""
_SHORT_HEAD = re.compile(
    r"^## (?:No commits yet on )?(\S{1,250}?|HEAD \(no branch\))(?:\.\.\.(\S{1,250}))?"
    r"(?: \[((?:ahead|behind) [0-9]{1,9}(?:, behind [0-9]{1,9})?|gone)\])?$",
    re.MULTILINE,
)
_SHORT_LINE = re.compile(r"^([ MADRCTU?])([ MADCTU?]) \S", re.MULTILINE)
_CLEAN = re.compile(r"^nothing to commit, working tree clean", re.MULTILINE)
_HEAD = re.compile(r"^On branch (\S+)|^HEAD detached (?:at|from) (\S+)", re.MULTILINE)
_AHEAD_OR_BEHIND = re.compile(r"^Your branch is (ahead of|behind) '([^'\n]+)' by (\d+) commits?", re.MULTILINE)
_DIVERGED = re.compile(r"^Your branch and '([^'\n]+)' have diverged,\nand have (\d+) and (\d+) different commits", re.MULTILINE)
_UP_TO_DATE = re.compile(r"^Your branch is up to date with '([^'\n]+)'", re.MULTILINE)
_SECTION = re.compile(r"^(Changes to be committed|Changes not staged for commit|Unmerged paths|Untracked files):")
_FILE = re.compile(r"^\t(?!\()\S")
_SWITCHED = re.compile(r"^Switched to (?:a new )?branch '([^'\n]+)'|^\[([^\]\s]+) (?:\(root-commit\) )?[0-9a-f]{7,40}\] ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Checkout:
    """One checkout, as git told of it last. `counts` are the numbers of files in each state; None if they are not known, or no longer."""

    folder: str
    """The folder as the call named it; empty if it named none."""
    seq: int
    branch: str = ""
    apart: str = ""
    """How far the branch is from the one that it follows, in words; empty if that is not known."""
    counts: tuple[tuple[str, int], ...] | None = None


class Checkouts:
    """The checkouts that the agent works in, as a session goes on."""

    def __init__(self) -> None:
        self._of: dict[str, Checkout] = {}

    def copy(self) -> Checkouts:
        """A copy that goes on by itself."""
        other = Checkouts()
        other._of = self._of.copy()
        return other

    def add(self, call: Call) -> None:
        """Takes in the next call that ran git and did not fail."""
        command = WRITTEN.sub(" ", (call.command or "")[:COMMAND_CHARACTERS])
        bare = without_quoted(command)
        places = _PLACE.findall(command)
        if len(places) > 1:
            return  # it cannot be told which words are about which folder
        folder = self._folder(call, places)
        known = found = self._of.get(folder, Checkout(folder, call.seq))
        says = all(map(_is_gits_word, _PARTS.split(bare)))
        printed = call.returned.content[:PRINTED_CHARACTERS].replace("\r", "")
        switched = [first or second for first, second in _SWITCHED.findall(printed)] if says and _BRANCHING.search(bare) else []
        if _CHANGING.search(bare) and known.counts is not None:
            found = replace(known, counts=None)
        if switched:
            found = replace(found, seq=call.seq, branch=_name(switched[-1]), apart="", counts=None)
        asked = _ASKING.search(bare)
        if asked and says:
            whole = "|" not in bare and not _IN_PART.search(asked[1]) and len(call.returned.content) <= PRINTED_CHARACTERS
            found = _told(found, call.seq, printed, short=bool(_SHORT.search(asked[1])), whole=whole)
        if found is not known:
            self._put(found)

    def all(self) -> tuple[Checkout, ...]:
        """All checkouts; the one that git told of last comes last."""
        return tuple(self._of.values())

    def _folder(self, call: Call, places: list[str]) -> str:
        """The folder of the checkout that a call is about. If it names none and there is just one checkout, it is that one's."""
        named = next((folder for key in _FOLDER_KEYS if isinstance(folder := call.input.get(key), str) and folder), "")
        folder = in_a_line(redact(places[0].strip("'\"") if places else named)).rstrip("/")[-FOLDER_CHARACTERS:]
        return next(iter(self._of)) if not folder and len(self._of) == 1 else folder

    def _put(self, found: Checkout) -> None:
        if found.folder and self._of.get("") is not None and self._of[""].branch == found.branch:
            del self._of[""]
        self._of.pop(found.folder, None)
        self._of[found.folder] = found
        if len(self._of) > MOST_CHECKOUTS:
            del self._of[next(iter(self._of))]


def _is_gits_word(part: str) -> bool:
    """Whether everything that a part of a command prints is said by git."""
    first, *filters = part.split("|")
    return _OWN_WORDS.match(first) is not None and all(map(_FILTER.match, filters))


def _told(known: Checkout, seq: int, printed: str, *, short: bool, whole: bool) -> Checkout:
    """The checkout with what a status says; `known` itself if it says nothing. Files are counted only in a `whole` status."""
    if short:
        head = _SHORT_HEAD.search(printed)
        counts = _short_counts(printed[head.end() :] if head else printed) if whole else None
        if head is None:
            is_empty = not printed.strip() or printed.strip() == NO_OUTPUT
            return replace(known, seq=seq, counts=counts) if counts or (whole and is_empty) else known
        upstream = f"{head[3]} (of {_name(head[2])})" if head[3] and head[2] else f"level with {_name(head[2])}" if head[2] else ""
        return Checkout(known.folder, seq, _name(head[1]), upstream, counts)
    head = _HEAD.search(printed)
    if head is None:
        return known
    branch = head[1] or f"no branch, at {head[2]}"
    counts = _long_counts(printed[head.end() :].splitlines()) or (() if _CLEAN.search(printed) else None)
    return Checkout(known.folder, seq, _name(branch), _apart(printed), counts if whole else None)


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
        elif "U" in staged + changed or staged + changed in ("AA", "DD"):
            counts["unmerged"] += 1
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
    return one_line(in_a_line(redact(name)).replace("`", "'"), NAME_CHARACTERS)
