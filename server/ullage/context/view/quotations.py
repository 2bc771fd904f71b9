"""Nothing that is written of the log may repeat what the user took out of the conversation.

Entries that are taken out are left out of what is written later. Of texts that were written before, what repeats their words goes. Words of
one's own that tell of the same no program can find.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from ullage.context.blocks import Text
from ullage.context.calls import told_answer
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import AssistantReply, Entry, FilePinned, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.view.epoch import bare
from ullage.context.view.log_places import Entries, entry_at, place_of
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import (
    Gone,
    all_taken_out,
    gone_by,
    gone_by_all,
    seq_of,
    texts_alone,
    without_texts,
)

RUN_WORDS = 6
"""Consecutive words of an entry that count as a quotation of it, by chance or not."""
FEWEST_WITHIN = 4
"""Words. A sentence of fewer than `RUN_WORDS` is a quotation if all of it stands in another one; with fewer words than this that is
chance."""
FEWEST_WORDS = 3
"""Words. A sentence of fewer is nobody's own."""

_WORD = re.compile(r"\w+")
_LINE_NUMBER = re.compile(r"^ *\d{1,6}[\t→]", re.MULTILINE)
"""The line number that tools for reading put before a line, and nobody who quotes it does."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) +|(?<= )/ ")


class Quotations:
    """Finds what repeats the words of some entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._runs: set[tuple[str, ...]] = set()
        self._sentences: set[tuple[str, ...]] = set()
        for text in (_LINE_NUMBER.sub("", text) for entry in entries for text in _texts(entry)):
            for line in text.splitlines():
                self._sentences.update(words for sentence in _sentences(line) if len(words := _words(sentence)) >= FEWEST_WORDS)
            words = _words(text)
            self._runs.update(words[at : at + RUN_WORDS] for at in range(len(words) - RUN_WORDS + 1))
        self._runs.update(words for words in self._sentences if FEWEST_WITHIN <= len(words) < RUN_WORDS)

    def taken_from(self, text: str) -> str:
        """`text` without the sentences that repeat these words, and without lines of which nothing is left."""
        lines = (("".join(kept) if (kept := self._left(line)) is not None else None) for line in text.split("\n"))
        return "\n".join(line for line in lines if line is not None)

    def _left(self, line: str) -> list[str] | None:
        sentences = _sentences(line)
        kept = [sentence for sentence in sentences if not self._repeats(sentence)]
        if len(kept) == len(sentences):
            return kept
        return kept if any(_WORD.search(sentence) for sentence in kept) else None

    def _repeats(self, sentence: str) -> bool:
        words = _words(sentence)
        lengths = range(FEWEST_WITHIN, RUN_WORDS + 1)
        return words in self._sentences or any(words[at : at + n] in self._runs for n in lengths for at in range(len(words) - n + 1))


def what_is_gone(gone: Iterable[Gone], entries: Sequence[Logged]) -> Iterator[Entry]:
    """The entries that are taken out. An entry that is taken out in part is given with that part alone."""
    for each in gone:
        entry = entry_at(entries, seq_of(each))
        if entry is not None:
            yield entry if isinstance(each, int) else texts_alone(entry, {each[1]})


def to_be_read(active: Mapping[int, Compaction], entries: Sequence[Logged]) -> Mapping[int, Compaction]:
    """The compactions in force (`as_they_read`) for whoever writes or shows what the log says of them: nothing that is taken out is
    repeated in what the API wrote, either. Such a block is for reading alone; the API gets the one that it signed."""
    if not any(each.summarised is not None and each.summarised.block is not None for each in active.values()):
        return active
    out = gone_by_all(active.values())
    quotations = Quotations(what_is_gone(out, entries))
    return {seq: _read(each, quotations) for seq, each in active.items()} if out else active


def _read(made: Compaction, quotations: Quotations) -> Compaction:
    told = made.summarised
    if told is None or told.block is None:
        return made
    words = told.block.content
    left = quotations.taken_from(words)
    unsigned = replace(told.block, json=json.dumps({"type": "compaction", "content": left}, ensure_ascii=False))
    return made if left == words else replace(made, summarised=replace(told, block=unsigned))


def _sentences(line: str) -> list[str]:
    """The parts of a line, which together are the line."""
    cuts = [0, *(found.end() for found in _SENTENCE_END.finditer(line)), len(line)]
    return [line[start:end] for start, end in pairwise(cuts)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case UserPrompt():
            yield entry.text
            yield from (attachment.text for attachment in entry.attachments)
        case AssistantReply():
            yield from (block.text for block in entry.blocks if isinstance(block, Text))
        case ToolReturned():
            yield entry.content
            yield from (told_answer(answer) for answer in entry.answers)
        case Notice():
            yield entry.text
        case Compaction():
            yield from (file.text for file in entry.restored)
        case _:
            return


def excluded(projection: Projection) -> frozenset[int]:
    """The seqs of the entries that are taken out by compactions in force."""
    return all_taken_out(projection.active)


def is_anything_excluded(projection: Projection) -> bool:
    """Whether the user took anything out, be it a file or a whole entry."""
    return any(gone_by(each) for each in projection.active)


def files_out(projection: Projection) -> frozenset[str]:
    """The files that the user took out and that nothing has brought back: the agent has not read or written them again, and the user has
    neither attached nor pinned them."""
    since = {file.path: seq for seq, each in projection.active_by_seq.items() for file in each.without_files}
    if not since:
        return frozenset()
    entries, out = projection.entries, excluded(projection)
    for logged in islice(entries, place_of(entries, min(since.values())), None):
        for path in _brought_by(logged.entry) if logged.seq not in out else ():
            if since.get(path, logged.seq) < logged.seq:
                del since[path]
    return frozenset(since)


def _brought_by(entry: Entry) -> Iterator[str]:
    match entry:
        case ToolReturned(touched=touched):
            yield from (touch.path for touch in touched)
        case UserPrompt(attachments=attachments):
            yield from (each.name for each in attachments)
        case FilePinned(path=path, pinned=True):
            yield path
        case _:
            return


def without_excluded(projection: Projection, entries: Iterable[Logged]) -> list[Logged]:
    """The entries that are not taken out, without the texts of files that are. Compactions in force have their texts as they read without
    these."""
    left_out, active = excluded(projection), to_be_read(projection.active_by_seq, projection.entries)
    paths_out = projection.paths_out
    return [_as_left(logged, active, paths_out) for logged in entries if logged.seq not in left_out]


def log_without_excluded(projection: Projection, entries: Entries, without: Collection[int] = ()) -> Entries:
    """A log, or the beginning of one, as `without_excluded` gives it, each entry when it is asked for; also without the entries with the
    seqs in `without`."""
    return _Left(projection, entries, without)


class _Left(Entries):
    """A log without the entries that were taken out."""

    def __init__(self, projection: Projection, entries: Entries, without: Collection[int]) -> None:
        self._entries = entries
        out = excluded(projection) | frozenset(without)
        self._active = to_be_read(projection.active_by_seq, projection.entries)
        self._paths_out = projection.paths_out
        places = ((seq, entries.place(seq)) for seq in sorted(out))
        self._out = [place for seq, place in places if place < len(entries) and entries[place].seq == seq]
        """The indexes of the entries that are left out."""
        self._before = [place - index for index, place in enumerate(self._out)]
        """The number of entries that stay before each of these."""
        self._root = entries.root, tuple(self._out), frozenset(self._paths_out.items())

    @property
    def root(self) -> Hashable | None:
        """A value that stands for the log and what was taken out of it."""
        return self._root

    def place(self, seq: int) -> int:
        """The index in the log, less the entries that are left out before it."""
        place = self._entries.place(seq)
        return place - bisect_left(self._out, place)

    def at(self, index: int) -> Logged:
        """The entry at that index, as it reads without what was taken out."""
        return self._read(self._entries.at(index + bisect_right(self._before, index)))

    def between(self, start: int, stop: int) -> Iterator[Logged]:
        """The entries between two indexes, as they read without what was taken out."""
        out = set(self._out)
        first, last = (index + bisect_right(self._before, index) for index in (start, stop))
        for place, logged in enumerate(self._entries.between(first, last), first):
            if place not in out:
                yield self._read(logged)

    def __len__(self) -> int:
        return len(self._entries) - len(self._out)

    def _read(self, logged: Logged) -> Logged:
        return _as_left(logged, self._active, self._paths_out)


def _as_left(logged: Logged, active: Mapping[int, Compaction], paths_out: Mapping[int, frozenset[str]]) -> Logged:
    entry, made = logged.entry, active.get(logged.seq)
    if made is not None and isinstance(entry, Compaction) and made != bare(entry):  # else none of its texts was changed
        entry = made
    entry = without_texts(entry, paths_out.get(logged.seq, ()))
    return logged if entry is logged.entry else Logged(logged.seq, logged.at, entry)
