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
"""A line with its place in its section. The order in which lines are picked is another one."""

FAVOURED = 1_000.0
"""How many times as much a name or file is worth that the focus speaks of."""
NEIGHBOUR = 3.0
"""How many times its weight is added, at most, to a path in a folder whose files are being worked on: what is opened next was often seen in
a listing alone, but mostly stands beside what was opened last. Anything between 1 and 8 did better than nothing."""
EDITED, READ = 3.0, 1.0
"""How much an edit counts for a file being worked on, and how much a read."""

CHANGED_SHOWN = 40
CHANGED_TOKENS = 4_000
"""The number of last changed files that get more than their name; and the tokens, reached with hundreds of files, beyond which files are
only counted."""
EDITS_SHOWN = 10
"""The number of last changed files of which it is said what the last edit put there."""
NAMES_AT_A_FILE, FILES_WITH_NAMES, NAMES_ELSEWHERE, IDS, IDS_TOKENS = 4, 12, 6, 12, 90
"""Names at a file, files with names, names elsewhere, hashes and URLs, and the tokens for these. More names are found in the file itself,
which is mostly put back, or by `recall`. Hashes and ids stand in no file."""
MOST_FILES_OF_A_NAME = 3
"""Files. A name that stood in more of them says nothing of any: the name of the project, say."""
AROUND_FILE, AROUND_FACT, AROUND_FOLDER = 4, 14, 2
"""Characters that are written around a file, around what was done to it, and around a folder, which has a line of its own."""


@dataclass(frozen=True, slots=True)
class Staying:
    """The text that the model still sees beside a summary. `said` are the user's words in it: what a tool prints is only data."""

    text: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the summary: a heading and its lines."""

    heading: str
    lines: tuple[str, ...]

    def markdown(self) -> str:
        """The section as it stands in the program summary."""
        return "\n".join((f"## {self.heading}", *self.lines))


class Focus:
    """What the user or the model wants a summary to favour, in their words."""

    def __init__(self, focus: str) -> None:
        self._words = [word for word in focus.casefold().replace(",", " ").split() if len(word) > 2]

    def concerns(self, line: str) -> bool:
        """Whether `line` speaks of the focus."""
        return any(word in line.casefold() for word in self._words)

    def newest(self, facts: Sequence[Fact], line: Callable[[Fact], str]) -> list[Placed]:
        """The lines for these facts, each with its place in `facts`, which are in the order in which they happened: those that speak of the
        focus first, then the newest."""
        return self.favoured([(index, line(fact)) for index, fact in reversed(list(enumerate(facts)))])

    def favoured(self, lines: Sequence[Placed]) -> list[Placed]:
        """The lines with those first that speak of the focus, else in their order."""
        return sorted(lines, key=lambda each: not self.concerns(each[1]))


@dataclass(slots=True)
class SectionShare:
    """One section while its lines are picked."""

    heading: str
    share: float
    """Share of the budget that it may take as long as others want theirs."""
    required: list[str]
    """Lines that stand in it whatever the budget."""
    wanted: list[Placed]
    """Lines that may be picked, the most wanted first."""
    taken: list[Placed] = field(default_factory=list[Placed])

    def take(self, tokens: int) -> int:
        """Takes the next lines that fit into `tokens`; gives the tokens that they cost."""
        spent = 0
        while self.wanted:
            cost = estimate_text(self.wanted[0][1]) + 1
            if spent + cost > tokens:
                break
            spent += cost
            self.taken.append(self.wanted.pop(0))
        return spent

    def section(self) -> Section:
        """The section with the lines that were taken; it has no lines if there are none."""
        lines = [*self.required, *(line for _, line in sorted(self.taken))]
        if self.wanted and lines:
            lines.append(f"- … {len(self.wanted)} more: `recall`")
        return Section(self.heading, tuple(lines))


def spend(shares: Sequence[SectionShare], budget: int, rest: int, heirs: Sequence[str]) -> None:
    """Picks lines for every section, each within its share of `budget`. What is left of `rest` after that goes to the sections in
    `heirs`."""
    rest -= sum(share.take(int(budget * share.share)) for share in shares)
    for share in (share for heading in heirs for share in shares if share.heading == heading):
        rest -= share.take(rest)


def fitting(lines: Sequence[str], tokens: int) -> int:
    """The number of first lines that together take no more than `tokens` tokens."""
    for index, line in enumerate(lines):
        tokens -= estimate_text(line) + 1
        if tokens < 0:
            return index
    return len(lines)


@dataclass(frozen=True, slots=True)
class FileWithNames:
    """A file with the names that belong to it, the likeliest needed first. `fact` is None if the file was only mentioned. Only for the last
    edited files does it tell where they were edited."""

    path: str
    fact: FileFact | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesWithNames:
    """The files and names that are told of."""

    places: tuple[FileWithNames, ...]
    """The files with their names: changed ones first, the last changed first."""
    ids: tuple[str, ...]
    """Hashes and URLs, the likeliest needed first."""
    elsewhere: tuple[str, ...]
    """Names that belong to none of the files, the likeliest needed first."""
    changed_left_out: int
    """The number of changed files for which there was no room."""


def places(found: NamesInUse, facts: Sequence[FileFact], standing: str, focus: Focus, characters: int) -> FilesWithNames:
    """The files to tell of, the likeliest needed first, in about `characters` characters, each with a few names. Changed files are there in
    any case.

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
    """The files to tell of: the last changed ones, the last first; then those that were read or spoken of, the likeliest needed for their
    length first."""
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
            continue  # the file was only seen in a listing or in the output of a build
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
    """The weight of each file, larger if files of its folder are being worked on."""
    busy = _busy_folders(facts)
    return {tail: weight * (1 + NEIGHBOUR * min(1.0, busy.get(_folder(found.paths[tail]), 0.0))) for tail, weight in found.files.items()}


def _ids_and_names(found: NamesInUse, known: Collection[str], focus: Focus) -> tuple[list[str], list[str]]:
    """The hashes and URLs, wherever they stood; and the names that the user or the agent wrote last, or that the focus speaks of. Both with
    the likeliest needed first."""
    worth = {name: weight * (FAVOURED if focus.concerns(name) else 1.0) for name, weight in found.names.items()}
    ranked = sorted(worth, key=lambda name: (-worth[name], name))
    ids = [name for name in ranked if is_opaque(name) and name not in known]
    return ids[: fitting(ids[:IDS], IDS_TOKENS)], [
        name for name in ranked if not is_opaque(name) and (name in found.own or focus.concerns(name))
    ]


def _at_files(
    found: NamesInUse, names: Sequence[str], tails: Sequence[str], known: Collection[str], brought: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """A few names for each of the first files, those first that its last edits `brought`; and a few more that belong to none of the
    files."""
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
    """How much the files of each folder are being worked on together, by the folder's path."""
    busy: defaultdict[str, float] = defaultdict(float)
    for tail, work in _work(facts).items():
        busy[_folder(facts[tail].path)] += work
    return busy


def _folder(path: str) -> str:
    return basename(path.rpartition("/")[0])


def _work(facts: Mapping[str, FileFact]) -> dict[str, float]:
    """How much each file is being worked on, between 0 and 1, which the most has."""
    last = max((fact.seq for fact in facts.values()), default=0)
    work: dict[str, float] = {}
    for tail, fact in facts.items():
        work[tail] = READ / (1 + (last - fact.seq) / FRESH_ENTRIES)
        if fact.changed:
            work[tail] += EDITED * fact.edits**0.5 / (1 + (last - fact.changed_seq) / FRESH_ENTRIES)
    most = max(work.values(), default=1.0)
    return {tail: each / most for tail, each in work.items()}
