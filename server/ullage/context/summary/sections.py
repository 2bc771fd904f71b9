"""What a program summary has room for: sections that share a budget of tokens, and the files and names that are picked.

A section has what must be in it, and what is picked by rank as far as there is room. `quotes.py` picks the words of the user.

Names are hard to foretell: a list of hundreds holds most that is needed next, and nobody can read it. So only those stand in it that the
user or the agent wrote last, a few at each file. The others stand in the files that are put back, or are found by `recall`.
`wording.py` says how all that reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from ullage.context.counting.tokens import estimate_text
from ullage.context.summary.file_history import FileFact
from ullage.context.summary.names import FRESH_ENTRIES, NamesInUse
from ullage.context.summary.words import TOKEN, WORD, basename, is_opaque, tail_of

Fact = TypeVar("Fact")
Placed: TypeAlias = tuple[int, str]
"""A line with its place in its section. Which line is picked first is another matter."""

FAVOURED = 1_000.0
"""What a name or file that the focus speaks of is worth, against others."""
NEIGHBOUR = 3.0
"""By how much more than its mentions say a path is worth at most, where files of its folder are being worked on: what is opened next was
often seen in a listing alone, but mostly stands beside what was opened last. Anything between 1 and 8 did better than nothing."""
EDITED, READ = 3.0, 1.0
"""How much a file counts as being worked on: edited, read."""

CHANGED_SHOWN = 40
CHANGED_TOKENS = 4_000
"""Of the last changed files, how many get more than their name; and the tokens, reached with hundreds of files, beyond which they are only
counted."""
EDITS_SHOWN = 10
"""For this many of the last changed files it is said what the last edit put there."""
NAMES_AT_A_FILE, FILES_WITH_NAMES, NAMES_ELSEWHERE, IDS, IDS_TOKENS = 4, 12, 6, 12, 90
"""More names are found in the file itself, which is mostly put back, or by `recall`. Hashes and ids stand in no file."""
MOST_FILES_OF_A_NAME = 3
"""A name that stood in more of the files says nothing of any of them: the name of the project, say."""
AROUND_FILE, AROUND_FACT, AROUND_FOLDER = 4, 14, 2
"""Characters that stand around a file, and what was done to it; and around a folder, which has a line of its own."""


@dataclass(frozen=True, slots=True)
class Staying:
    """The text that the model still sees beside a summary. `said` are the user's words in it: what a tool prints is only data."""

    text: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines."""

    heading: str
    lines: tuple[str, ...]

    def markdown(self) -> str:
        """As it stands in the program summary."""
        return "\n".join((f"## {self.heading}", *self.lines))


class Focus:
    """What the user or the model wants a summary to favour, in their words."""

    def __init__(self, focus: str) -> None:
        self._words = [word for word in focus.casefold().replace(",", " ").split() if len(word) > 2]

    def concerns(self, line: str) -> bool:
        """Whether `line` speaks of it."""
        return any(word in line.casefold() for word in self._words)

    def newest(self, facts: Sequence[Fact], line: Callable[[Fact], str]) -> list[Placed]:
        """Lines with their places in `facts`, which are in the order in which they happened: those that speak of the focus first, then the
        newest."""
        return self.favoured([(index, line(fact)) for index, fact in reversed(list(enumerate(facts)))])

    def favoured(self, lines: Sequence[Placed]) -> list[Placed]:
        """Those that speak of the focus first, else as they are."""
        return sorted(lines, key=lambda each: not self.concerns(each[1]))


@dataclass(slots=True)
class SectionShare:
    """One section while lines are picked for it."""

    heading: str
    share: float
    """Of the budget, as long as others want theirs."""
    required: list[str]
    """Stand in it whatever the budget."""
    wanted: list[Placed]
    """By rank, with the place where they stand."""
    taken: list[Placed] = field(default_factory=list[Placed])

    def take(self, tokens: int) -> int:
        """Takes the next lines that fit; gives what they cost."""
        spent = 0
        while self.wanted:
            cost = estimate_text(self.wanted[0][1]) + 1
            if spent + cost > tokens:
                break
            spent += cost
            self.taken.append(self.wanted.pop(0))
        return spent

    def section(self) -> Section:
        """The section with what was taken; empty if nothing was."""
        lines = [*self.required, *(line for _, line in sorted(self.taken))]
        if self.wanted and lines:
            lines.append(f"- … {len(self.wanted)} more: `recall`")
        return Section(self.heading, tuple(lines))


def spend(shares: Sequence[SectionShare], budget: int, rest: int, heirs: Sequence[str]) -> None:
    """Picks lines for every section, each within its share of `budget`. What all leave of `rest` goes to the sections named in `heirs`."""
    rest -= sum(share.take(int(budget * share.share)) for share in shares)
    for share in (share for heading in heirs for share in shares if share.heading == heading):
        rest -= share.take(rest)


def fitting(lines: Sequence[str], tokens: int) -> int:
    """How many of the first lines take no more than that many tokens together."""
    for index, line in enumerate(lines):
        tokens -= estimate_text(line) + 1
        if tokens < 0:
            return index
    return len(lines)


@dataclass(frozen=True, slots=True)
class FileWithNames:
    """A file with the names that belong to it, the likeliest first. `fact` is None if the file was only mentioned. Where it was edited it
    says for the last edits only."""

    path: str
    fact: FileFact | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesWithNames:
    """The files and the names that there was room for."""

    places: tuple[FileWithNames, ...]
    """Changed files first, the last changed first."""
    ids: tuple[str, ...]
    """Hashes and URLs, the likeliest needed first."""
    elsewhere: tuple[str, ...]
    """Names that belong to none of the files, the likeliest needed first."""
    changed_left_out: int
    """How many files were changed for which there was no room."""


def places(found: NamesInUse, facts: Sequence[FileFact], standing: str, focus: Focus, characters: int) -> FilesWithNames:
    """Files, the likeliest needed first, in about that many characters, each with a few names; changed files stand in it in any case.

    `facts` are as `file_history` gives them. `standing` is the text that the reader has before them already: what is in it needs no room.
    """
    facts = [fact if fact.changed and number < EDITS_SHOWN else replace(fact, place="") for number, fact in enumerate(facts)]
    by_tail = {tail_of(fact.path): fact for fact in reversed(facts)}
    known = set(WORD.findall(standing))
    named = {basename(token.rstrip(".")) for token in TOKEN.findall(standing)}
    tails = _files(found, by_tail, named, focus, characters)
    shown = {tail: by_tail[tail].path if tail in by_tail else found.paths[tail] for tail in tails}
    known.update(word for tail in tails for word in WORD.findall(basename(tail)))
    ids, rest = _ids_and_names(found, known, focus)
    at, elsewhere = _at_files(found, rest, tails, known, {tail: fact.brought for tail, fact in by_tail.items()})
    with_names = [FileWithNames(shown[tail], by_tail.get(tail), tuple(at.get(tail, ()))) for tail in tails]
    paths = set(shown.values())
    changed = [FileWithNames(fact.path, fact, ()) for fact in facts if fact.changed and fact.path not in paths]
    more = fitting([place.path for place in changed], CHANGED_TOKENS)
    return FilesWithNames((*with_names, *changed[:more]), tuple(ids), tuple(elsewhere), len(changed) - more)


def _files(found: NamesInUse, facts: Mapping[str, FileFact], named: Collection[str], focus: Focus, characters: int) -> list[str]:
    """The last changed ones, the last first; then those that were read or spoken of, the likeliest for their length first."""
    changed = sorted((tail for tail, fact in facts.items() if fact.changed), key=lambda tail: -facts[tail].changed_seq)
    chosen = dict.fromkeys(changed[:CHANGED_SHOWN])
    folders = {_in_folder(facts[tail].path) for tail in chosen}
    room = characters - sum(_cost(tail, True) for tail in chosen) - sum(map(_folder_cost, folders))
    busy = _busy_folders(facts)
    rivals: list[tuple[float, int, str]] = []
    for tail, weight in beside_work(found, facts).items():
        cost = _cost(tail, tail in facts)
        if tail in chosen or (basename(tail) in named and tail not in facts):
            continue
        is_wanted = focus.concerns(found.paths[tail])
        if not is_wanted and tail not in facts and tail not in found.near_files and _folder(found.paths[tail]) not in busy:
            continue  # it stood in a listing or in the output of a build
        rivals.append((weight * (FAVOURED if is_wanted else 1.0) / cost, cost, tail))
    for _, cost, tail in sorted(rivals, key=lambda rival: (-rival[0], rival[2])):
        folder = _in_folder(facts[tail].path if tail in facts else found.paths[tail])
        room -= cost + (0 if folder in folders else _folder_cost(folder))
        if room < 0:
            break
        folders.add(folder)
        chosen[tail] = None
    return list(chosen)


def beside_work(found: NamesInUse, facts: Mapping[str, FileFact]) -> dict[str, float]:
    """What each file weighs; more, where files of its folder are being worked on."""
    busy = _busy_folders(facts)
    return {tail: weight * (1 + NEIGHBOUR * min(1.0, busy.get(_folder(found.paths[tail]), 0.0))) for tail, weight in found.files.items()}


def _ids_and_names(found: NamesInUse, known: Collection[str], focus: Focus) -> tuple[list[str], list[str]]:
    """What is worth a place of its own, the likeliest needed first: hashes and URLs, wherever they stood; and of the names what the user or
    the agent wrote last, or what the focus speaks of."""
    worth = {name: weight * (FAVOURED if focus.concerns(name) else 1.0) for name, weight in found.names.items()}
    ranked = sorted(worth, key=lambda name: (-worth[name], name))
    ids = [name for name in ranked if is_opaque(name) and name not in known]
    return ids[: fitting(ids[:IDS], IDS_TOKENS)], [
        name for name in ranked if not is_opaque(name) and (name in found.own or focus.concerns(name))
    ]


def _at_files(
    found: NamesInUse, names: Sequence[str], tails: Sequence[str], known: Collection[str], brought: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """A few names for each of the first files, those first that its last edits `brought`, and of those that belong to none a few more."""
    at: defaultdict[str, list[str]] = defaultdict(list)
    elsewhere: list[str] = []
    every, with_names = set(tails), set(tails[:FILES_WITH_NAMES])
    told: set[str] = set()
    for tail in tails[:FILES_WITH_NAMES]:
        at[tail] += [name for name in brought.get(tail, ()) if name not in told][:NAMES_AT_A_FILE]
        told.update(at[tail])
    for name in names:
        belongs = [tail for tail in found.belonging.get(name, {}) if tail in every]
        if len(belongs) > MOST_FILES_OF_A_NAME:
            belongs = []
        for tail in belongs:
            if tail in with_names and len(at[tail]) < NAMES_AT_A_FILE and name not in told:
                at[tail].append(name)
        if not belongs and name not in known and len(elsewhere) < NAMES_ELSEWHERE:
            elsewhere.append(name)
    return at, elsewhere


def _cost(tail: str, has_fact: bool) -> int:
    return len(basename(tail)) + AROUND_FILE + (AROUND_FACT if has_fact else 0)


def _folder_cost(folder: str) -> int:
    return len(folder) + AROUND_FOLDER


def _in_folder(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[0]


def _busy_folders(facts: Mapping[str, FileFact]) -> Mapping[str, float]:
    """How much the files of each folder are being worked on together, by the folder's name."""
    busy: defaultdict[str, float] = defaultdict(float)
    for tail, work in _work(facts).items():
        busy[_folder(facts[tail].path)] += work
    return busy


def _folder(path: str) -> str:
    return basename(path.rpartition("/")[0])


def _work(facts: Mapping[str, FileFact]) -> dict[str, float]:
    """How much each file is being worked on, the most as 1."""
    last = max((fact.seq for fact in facts.values()), default=0)
    work: dict[str, float] = {}
    for tail, fact in facts.items():
        work[tail] = READ / (1 + (last - fact.seq) / FRESH_ENTRIES)
        if fact.changed:
            work[tail] += EDITED * fact.edits**0.5 / (1 + (last - fact.changed_seq) / FRESH_ENTRIES)
    most = max(work.values(), default=1.0)
    return {tail: each / most for tail, each in work.items()}
