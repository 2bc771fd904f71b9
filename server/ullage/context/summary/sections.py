"""What a program summary has room for: sections that share a budget of tokens, and the files and names that are picked for theirs.

A section has what must be in it, and what is picked by rank as far as there is room.

Names are cheap and hard to foretell: of those that a session needs next, many were only ever seen in passing. So most of the room goes to
them, the likeliest for their length first, down to those that are not worth their length: wide work gets a longer record than narrow work.
A name stands at the file that it belongs to most, and again at other files that are being worked on. How all that reads is in `wording.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from ullage.context.counting.tokens import estimate_text
from ullage.context.summary.file_history import FileFact
from ullage.context.summary.names import FRESH_ENTRIES, NamesInUse
from ullage.context.summary.words import TOKEN, WORD, basename, tail_of

Fact = TypeVar("Fact")
Placed: TypeAlias = tuple[int, str]
"""A line with its place in its section. Which line is picked first is another matter."""

LEAST_WORTH = 0.00088
"""Of a character: a name or file that is worth less is left out. This decides how long records are: with it half of those at the recorded
compactions were shorter than 12,000 characters, and a tenth more or less of it makes them 500 shorter or longer."""
KNOWN = 0.2
"""What a name is worth at its file that stands in another part of the program summary already."""
FAVOURED = 1_000.0
"""What a name or file that the focus speaks of is worth, against others."""
AGAIN = 0.7
"""What a name is worth at a second file, against the first."""
NEIGHBOUR = 3.0
"""By how much more than its mentions say a path is worth at most, where files of its folder are being worked on: what is opened next was
often seen in a listing alone, but mostly stands beside what was opened last. Anything between 1 and 8 did better than nothing."""
EDITED, READ, IDLE = 3.0, 1.0, 0.01
"""How much a file counts as being worked on: edited, read, neither."""

CHANGED_WITH_NAMES = 60
CHANGED_TOKENS = 4_000
"""Files that were changed before the last so many are only named, and beyond so many tokens, which takes hundreds of them, counted."""
EDITS_SHOWN = 5
"""Of so many of the last changed files it is said where."""
SEPARATOR, AROUND_FILE, AROUND_FACT, AROUND_EDIT, AROUND_FOLDER = 1, 4, 14, 10, 2
"""Characters that stand around a name, a file, what was done to it, where, a folder."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines."""

    heading: str
    lines: tuple[str, ...]

    def markdown(self) -> str:
        """As it stands in the program summary."""
        return "\n".join((f"## {self.heading}", *self.lines))


class Focus:
    """What is to be favoured, in words of the user or the model."""

    def __init__(self, focus: str) -> None:
        self._words = [word for word in focus.casefold().replace(",", " ").split() if len(word) > 2]

    def concerns(self, line: str) -> bool:
        """Whether `line` speaks of it."""
        return any(word in line.casefold() for word in self._words)

    def first(self, facts: Sequence[Fact], line: Callable[[Fact], str]) -> list[Placed]:
        """Lines with their places in `facts`; those that speak of the focus first, else as they are."""
        numbered = [(index, line(fact)) for index, fact in enumerate(facts)]
        return sorted(numbered, key=lambda each: not self.concerns(each[1]))

    def newest(self, facts: Sequence[Fact], line: Callable[[Fact], str], later: Callable[[Fact], bool] = lambda _: False) -> list[Placed]:
        """As `first`, but of `facts` in the order in which they happened: the newest first, each in its old place. Those of which `later`
        says so come after all others."""
        numbered = [(index, line(fact), later(fact)) for index, fact in reversed(list(enumerate(facts)))]
        return [(index, text) for index, text, _ in sorted(numbered, key=lambda each: (not self.concerns(each[1]), each[2]))]


@dataclass(slots=True)
class Share:
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
        """The section with what was taken; empty where nothing was."""
        lines = [*self.required, *(line for _, line in sorted(self.taken))]
        if self.wanted and lines:
            lines.append(f"- … {len(self.wanted)} more: `recall`")
        return Section(self.heading, tuple(lines))


def spend(shares: Sequence[Share], budget: int) -> int:
    """Picks lines for every section; gives what is left of the budget."""
    left = budget - sum(estimate_text(line) for share in shares for line in share.required)
    for share in shares:
        left -= share.take(min(int(budget * share.share), left))
    for share in shares:
        left -= share.take(left)
    return left


def fitting(lines: Sequence[str], tokens: int) -> int:
    """How many of the first lines take no more than so many tokens together."""
    for index, line in enumerate(lines):
        tokens -= estimate_text(line) + 1
        if tokens < 0:
            return index
    return len(lines)


@dataclass(frozen=True, slots=True)
class Place:
    """A file with the names that belong to it, the likeliest first. `fact` is None where it was only mentioned; where in the file it was
    edited it says for the last ones only."""

    path: str
    fact: FileFact | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """What there was room for."""

    places: tuple[Place, ...]
    """Changed files first, the last changed first."""
    elsewhere: tuple[str, ...]
    """Names that belong to none of the files, the last seen first."""
    changed_left_out: int
    """How many files were changed for which there was no room."""


def places(found: NamesInUse, facts: Sequence[FileFact], standing: str, focus: Focus, characters: int) -> Places:
    """Files and names that are worth it, in at most about so many characters; changed files stand in it in any case.

    `facts` are as `file_history` gives them. `standing` is the text that the reader has before them already: what is in it needs no room.
    """
    facts = [fact if fact.changed and number < EDITS_SHOWN else replace(fact, place="") for number, fact in enumerate(facts)]
    by_tail = {tail_of(fact.path): fact for fact in reversed(facts)}
    characters -= sum(len(fact.place) + AROUND_EDIT for fact in facts[:EDITS_SHOWN] if fact.place)
    known = set(WORD.findall(standing))
    worth = {name: weight * (FAVOURED if focus.concerns(name) else 1.0) for name, weight in found.names.items()}
    tails = _files(found, by_tail, worth, known, focus, characters)
    shown = {tail: by_tail[tail].path if tail in by_tail else found.paths[tail] for tail in tails}
    known.update(word for tail in tails for word in WORD.findall(basename(tail)))
    folders = {path.rpartition("/")[0] for path in shown.values()}
    room = characters - sum(len(folder) + AROUND_FOLDER for folder in folders) - sum(_cost(tail, tail in by_tail) for tail in tails)
    at: defaultdict[str, list[str]] = defaultdict(list)
    for each, name, tail in sorted(_wanted(found, worth, set(tails), _work(by_tail), known), key=_first):
        room -= len(name) + SEPARATOR
        if room < 0 or each < LEAST_WORTH:
            break
        at[tail].append(name)
    named = {basename(token.rstrip(".")) for token in TOKEN.findall(standing)}
    needed = [tail for tail in tails if tail in at or tail in by_tail or basename(tail) not in named]
    with_names = [Place(shown[tail], by_tail.get(tail), tuple(at[tail])) for tail in needed]
    paths = set(shown.values())
    changed = [Place(fact.path, fact, ()) for fact in facts if fact.changed and fact.path not in paths]
    more = fitting([place.path for place in changed], CHANGED_TOKENS)
    elsewhere = sorted(at[""], key=lambda name: (-found.last_seqs[name], name))
    return Places((*with_names, *changed[:more]), tuple(elsewhere), len(changed) - more)


def _files(
    found: NamesInUse, facts: Mapping[str, FileFact], worth: Mapping[str, float], known: Collection[str], focus: Focus, characters: int
) -> list[str]:
    """The last changed ones, the last first, then those that hold their own against the names, the likeliest for their length first."""
    changed = sorted((tail for tail, fact in facts.items() if fact.changed), key=lambda tail: -facts[tail].changed_seq)
    chosen = dict.fromkeys(changed[:CHANGED_WITH_NAMES])
    room = characters - sum(_cost(tail, True) for tail in chosen)
    rivals = [(each / (len(name) + SEPARATOR), len(name) + SEPARATOR, "") for name, each in worth.items() if name not in known]
    busy = _busy_folders(facts)
    for tail, weight in found.files.items():
        cost = _cost(tail, tail in facts)
        weight *= 1 + NEIGHBOUR * min(1.0, busy.get(_folder(found.paths[tail]), 0.0))
        rivals.append((weight * (FAVOURED if focus.concerns(found.paths[tail]) else 1.0) / cost, cost, tail))
    for each, cost, tail in sorted(rivals, key=lambda rival: (-rival[0], rival[2])):
        if tail in chosen:
            continue
        room -= cost
        if room < 0 or each < LEAST_WORTH:
            break
        if tail:
            chosen[tail] = None
    return list(chosen)


def _cost(tail: str, has_fact: bool) -> int:
    return len(basename(tail)) + AROUND_FILE + (AROUND_FACT if has_fact else 0)


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


def _wanted(
    found: NamesInUse, worth: Mapping[str, float], tails: Collection[str], work: Mapping[str, float], known: Collection[str]
) -> Iterator[tuple[float, str, str]]:
    """What a character of each name is worth at each place, the empty place included."""
    for name, weight in worth.items():
        size = len(name) + SEPARATOR
        belongs = found.belonging.get(name, {})
        places = [(each * (IDLE + work.get(tail, 0.0)) ** 0.5, tail) for tail, each in belongs.items() if tail in tails]
        _, first = max(places, default=(0.0, ""))
        if name not in known:
            yield weight / size, name, first
        for each, tail in places:
            if tail != first:
                yield AGAIN * each / size, name, tail
            elif name in known:
                yield KNOWN * weight / size, name, tail


def _first(wanted: tuple[float, str, str]) -> tuple[float, str, str]:
    worth, name, tail = wanted
    return -worth, name, tail
