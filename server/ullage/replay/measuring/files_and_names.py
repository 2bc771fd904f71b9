"""Files and names in code: what the calls of a session are about, what was read again, and what a summary says of names.

A call names its file in its input, in a patch or a command in its input, or in what its result says that it touched. Tools of several
programs are known. From this follows which files were read again after a compaction, and whether a policy had put those back.

A name alone does not say where it is at home, so it counts whether it stands beside its file. A summary could keep every name by listing
all of them, but nobody could read it. So it also counts how many of the listed names are used later.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from ullage.context.blocks import Json, ToolUse
from ullage.context.calls import printing_arguments, strings_of
from ullage.context.compaction.needed import identifiers_in, paths_in, tail_of, written_text
from ullage.context.entries import AssistantReply, Logged, ToolReturned
from ullage.recorded.readers.entries import PATCHED
from ullage.recorded.retention import Cut, HitShare, entries_after

_PATH_KEYS = ("file_path", "path", "notebook_path", "filePath", "absolute_path")
"""Claude Code's and Gemini CLI's file tools; Ullage's and most others'; Claude Code's for notebooks; OpenCode's; Gemini CLI's once."""
_TEXT_KEYS = ("new_string", "new_text", "new_str", "new_source", "content", "file_text", "newString", "newText", "diff")
"""What a write or an edit puts into the file: Claude Code, Ullage, Anthropic's text editor tool, notebooks, OpenCode, pi, Cline."""
_READING_TOOLS = frozenset({"Read", "NotebookRead", "read_file", "read"})


@dataclass(frozen=True, slots=True)
class FileCall:
    """A part of a call that is about a file: the call itself, with seq of the reply, or its result.

    `path` is the last two components. `identifiers` are all identifiers in it, each once, `written` those that it puts into the file.
    """

    seq: int
    path: str
    reads: bool
    identifiers: tuple[str, ...]
    written: tuple[str, ...]


def file_calls(entries: Sequence[Logged]) -> tuple[FileCall, ...]:
    """The parts of calls that are about a file, in the order of the log."""
    return tuple(_file_calls(entries))


def _file_calls(entries: Sequence[Logged]) -> Iterator[FileCall]:
    files_of: dict[str, list[str]] = {}
    for logged in entries:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            for block in entry.blocks:
                if isinstance(block, ToolUse):
                    calls = _calls(logged.seq, block)
                    files_of[block.id] = [call.path for call in calls]
                    yield from calls
        elif isinstance(entry, ToolReturned):
            yield from _results(logged.seq, entry, files_of.get(entry.tool_use_id, []))


def _calls(seq: int, use: ToolUse) -> list[FileCall]:
    written = _written(use.input)
    printed = [] if written else files_printed(use.input)
    if not written and not printed:
        return []
    identifiers = _names("\n".join(strings_of(use.input)))
    reads = use.name in _READING_TOOLS
    return [
        *(FileCall(seq, path, reads, identifiers, _names(text)) for path, text in written.items()),
        *(FileCall(seq, path, True, identifiers, ()) for path in printed),
    ]


def _names(text: str) -> tuple[str, ...]:
    """The identifiers in a text. The same few stand in many calls of a session, so each is in memory once. A set would take six times as
    much."""
    return tuple(map(sys.intern, identifiers_in(text)))


def _results(seq: int, returned: ToolReturned, files: Sequence[str]) -> Iterator[FileCall]:
    read = {tail_of(touch.path) for touch in returned.touched if touch.kind == "read"}
    paths = dict.fromkeys([*files, *(tail_of(touch.path) for touch in returned.touched)])
    if not paths:
        return
    identifiers = _names(returned.content)
    for path in paths:
        yield FileCall(seq, path, path in read, identifiers, ())


def _written(input: Mapping[str, Json]) -> dict[str, str]:
    """The files that the input names, each with what is put into it (nothing, where it is only read)."""
    for key in _PATH_KEYS:
        path = input.get(key)
        if isinstance(path, str) and tail_of(path):
            return {tail_of(path): "\n".join(_new_texts(input))}
    return _patched("\n".join(strings_of(input)))


def _new_texts(input: Mapping[str, Json]) -> Iterator[str]:
    for key in _TEXT_KEYS:
        text = input.get(key)
        if isinstance(text, str):
            yield text
    edits = input.get("edits")
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            yield from _new_texts(edit)


def _patched(text: str) -> dict[str, str]:
    found = list(PATCHED.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    added: dict[str, str] = {}
    for match, end in zip(found, ends, strict=False):  # without a file there is one end too many
        path = tail_of(match.group(2).strip())
        lines = "\n".join(line[1:] for line in text[match.end() : end].split("\n") if line.startswith("+"))
        added[path] = f"{added[path]}\n{lines}" if path in added else lines
    return added


def files_printed(input: Mapping[str, Json]) -> list[str]:
    """The last two components of each file that the command in a call's input prints; none where it runs no command."""
    return sorted({path for arguments in printing_arguments(input) for path in paths_in(arguments)})


def files_read_again(entries: Sequence[Logged], calls: Sequence[FileCall], after_seq: int) -> frozenset[str]:
    """The files (last two components) that were read in the window after the entry `after_seq` and had been read before it. `calls` are
    those of `entries`."""
    last_seq = max((logged.seq for logged in entries_after(entries, after_seq)), default=after_seq)
    read = {call.path for call in calls if call.seq <= after_seq and call.reads}
    return frozenset(call.path for call in calls if after_seq < call.seq <= last_seq and call.reads and call.path in read)


def restoring(read_again: Collection[str], in_view: Collection[str]) -> HitShare:
    """The share of the files `read_again` whose text a policy had put in view; `in_view` are paths of any form."""
    restored = {tail_of(path) for path in in_view}
    return HitShare(sum(1 for path in read_again if tail_of(path) in restored), len(read_again))


NEAR_CHARACTERS = 600
"""How far apart a file's name and another name may stand, from the end of the one to the beginning of the other."""

_IN_WORDS = re.compile(r"\w")
_IN_FILE_NAMES = re.compile(r"[\w.-]")

_NAME = re.compile(r"\b(?:[a-z]+[A-Z]\w{5,}|[A-Z][a-z]+[A-Z]\w{4,}|[a-z]+_[a-z]\w{5,}|[A-Z]{2,}_[A-Z_]{4,})\b")
"""A name that can be told from a word: in a stricter form than in `facts.py`, with an inner capital or an underscore, of some length, whole
words."""


def tied(entries: Sequence[Logged], calls: Sequence[FileCall], cuts: Iterable[Cut]) -> HitShare:
    """The share of names that stand near their file's basename in the text kept. Those counted are identifiers that the assistant writes
    into a file in the window after a cut, and that stood in a call on that file before it. `calls` are those of `entries`."""
    return sum((_tied_in(needed_pairs(entries, calls, cut.after_seq), cut.kept) for cut in cuts), HitShare())


def needed_pairs(entries: Sequence[Logged], calls: Sequence[FileCall], after_seq: int) -> set[tuple[str, str]]:
    """The pairs of a file (last two components) and an identifier of which it should be known that they belong together."""
    last_seq = max((logged.seq for logged in entries_after(entries, after_seq)), default=after_seq)
    written: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        if after_seq < call.seq <= last_seq and call.written:
            written[call.path].update(call.written)
    return {
        (call.path, name)
        for call in calls
        if call.seq <= after_seq and call.path in written
        for name in written[call.path].intersection(call.identifiers)
    }


def _tied_in(pairs: set[tuple[str, str]], text: str) -> HitShare:
    names = {name: _spans(name, text, _IN_WORDS) for _, name in pairs}
    files = {path: _spans(path.rpartition("/")[2], text, _IN_FILE_NAMES) for path, _ in pairs}
    return HitShare(sum(_near(files[path], names[name]) for path, name in pairs), len(pairs))


def _spans(name: str, text: str, inside: re.Pattern[str]) -> list[tuple[int, int]]:
    """The places (start, end) where `name` stands by itself: with nothing of `inside` before it and no letter, digit or underscore after
    it."""
    spans: list[tuple[int, int]] = []
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not inside.match(text, start - 1, start) and not _IN_WORDS.match(text, end):
            spans.append((start, end))
        start = text.find(name, end)
    return spans


def _near(files: list[tuple[int, int]], names: list[tuple[int, int]]) -> bool:
    for start, end in names:
        after = bisect_left(files, (start, end))
        if after < len(files) and files[after][0] - end <= NEAR_CHARACTERS:
            return True
        if after > 0 and start - files[after - 1][1] <= NEAR_CHARACTERS:
            return True
    return False


@dataclass(frozen=True, slots=True)
class NamedInSummaries:
    """The sums over summaries: how many there were, how long they were, and of the names in them those that the agent then wrote."""

    summaries: int = 0
    characters: int = 0
    names: HitShare = field(default_factory=HitShare)

    @property
    def mean_characters(self) -> float | None:
        """The mean length of a summary in characters; None if there is no summary."""
        return self.characters / self.summaries if self.summaries else None

    def __add__(self, other: NamedInSummaries) -> NamedInSummaries:
        return NamedInSummaries(self.summaries + other.summaries, self.characters + other.characters, self.names + other.names)


def named(entries: Sequence[Logged], summaries: Iterable[Cut]) -> NamedInSummaries:
    """How long the summaries of one session are, and how many names in them the agent then used.

    `summaries` are in their order, `kept` their texts; empty ones and those after which nothing comes are not counted. A name is used where
    the agent writes it, in text or in a call, in the window after it, and before the next summary.
    """
    found = NamedInSummaries()
    for cut, following in pairwise(chain[Cut | None](summaries, (None,))):
        if cut is None:
            break
        until = following.after_seq if following is not None else None
        window = [logged for logged in entries_after(entries, cut.after_seq) if until is None or logged.seq <= until]
        if not window or not cut.kept:
            continue
        used = {name for logged in window if isinstance(logged.entry, AssistantReply) for name in _NAME.findall(written_text(logged.entry))}
        names = set(_NAME.findall(cut.kept))
        found += NamedInSummaries(1, len(cut.kept), HitShare(len(names & used), len(names)))
    return found
