"""Names and files that may be needed again: what one entry mentions, and how likely each is needed.

`ReadEntry` is what is read out of one entry alone: what was said in it, and where names and paths stand in it, with what weight, and to
which files they belong (`Mention`). `names_in_use` adds the mentions up. Each counts by what it stands in and by how long ago it was;
nothing else is weighed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.calls import COMMAND_KEYS, PATH_KEYS, Call, strings_of
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.redact import redact
from ullage.context.summary.sentences import ReplySentences, constraints_in, decisions_in, told_in
from ullage.context.summary.words import Words, basename, is_opaque, tail_of, words_in

NO_INPUT: Mapping[str, Json] = {}
"""The input of a result whose call is not in the log."""

USER, WRITTEN, REPLACED, SAID, CALLED, SHOWN, RETURNED = 4.0, 3.0, 2.0, 2.0, 1.5, 1.0, 0.5
"""How much a mention counts: by the user, written into a file, replaced in one, in the assistant's words, in another input of a tool, in
what was attached or noticed, in a result. Set by hand: weights fitted to one half of the recorded sessions did no better on the other."""
NAMED_FILE = 4.0
"""How much a mention counts for the file that a call is about."""
OPAQUE = 0.5
"""Factor for hashes, numbers and URLs in a result: until somebody speaks of one, it is at most half as likely needed as a name that weighs
the same (counted at 213 places in the recorded sessions, most of them no recorded compactions)."""
PARLANCE = frozenset({"in_progress", "files_with_matches"})
"""Words that tools use for their options: no names of this work."""
_CROWD = 10
"""A mention among n others counts 1 / √(n + this): a long listing says little of each."""

NEW_TEXT_KEYS = ("new_text", "new_string", "new_str", "new_source", "content", "file_text", "newString", "newText")
"""The keys under which a tool's input has what a write or an edit puts into a file: Ullage, Claude Code, Anthropic's text editor tool,
notebooks; last OpenCode and pi."""
OLD_TEXT_KEYS = ("old_text", "old_string", "old_str", "oldString", "oldText")

PRINTING = re.compile(r"(?:^|&&|\|\||[;\n])[ \t]*(?:cat|nl|head|tail|sed\s+-n)\s([^|;&<>\n]*)((?<![0-9])>|<<)?")
"""A command that prints files, up to the next command. A command whose output is sent into a file shows none."""
MATCHED_LINE = re.compile(r"^([\w@~+/.-]+\.\w+)[:-]\d+[:-](.*)$", re.MULTILINE)
"""A line as searches give it: `path:line: text`."""


@dataclass(frozen=True)
class ReadEntry:
    """An entry of the log, with what stands in it, which is read when it is first asked for."""

    logged: Logged
    call: Call | None = None
    """The call with its result, if the entry is a result; else None."""

    @property
    def seq(self) -> int:
        """The entry's seq in the log."""
        return self.logged.seq

    def answers(self, use: ToolUse | None) -> bool:
        """Whether this is the result of that call; for None, of a call that is not in the log."""
        return self.call is not None and self.call.input is (use.input if use else NO_INPUT)

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """The user's sentences that say what must or must not be."""
        entry = self.logged.entry
        return tuple(constraints_in(entry.text)) if isinstance(entry, UserPrompt) else ()

    @cached_property
    def decisions(self) -> tuple[str, ...]:
        """The assistant's sentences that state a decision or a reason."""
        entry = self.logged.entry
        texts = [block.text for block in entry.blocks if isinstance(block, Text)] if isinstance(entry, AssistantReply) else []
        return tuple(sentence for text in texts for sentence in decisions_in(text))

    @cached_property
    def told(self) -> ReplySentences | None:
        """What the assistant said in its own words; None if it said nothing, or the entry is not a reply."""
        entry = self.logged.entry
        return told_in(self.seq, entry) if isinstance(entry, AssistantReply) else None

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The names and paths that stand in the entry."""
        return mentions_in(self.logged.entry, self.call.input if self.call else {})


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that stand together in a text. `files` are the files that the text belongs to, under the names that it has there."""

    weight: float
    words: Words
    files: tuple[str, ...] = ()
    own: bool = False
    """Whether the user or the agent wrote these words. Words in a result were only seen."""


def mentions_in(entry: Entry, input: Mapping[str, Json]) -> tuple[Mention, ...]:
    """All mentions in an entry. `input` is that of the call, if the entry is its result."""
    return tuple(mention for mention in _mentions(entry, input) if mention.words.count)


def _mentions(entry: Entry, input: Mapping[str, Json]) -> Iterator[Mention]:
    match entry:
        case UserPrompt() as prompt:
            yield _mention(USER, prompt.text, own=True)
            for attachment in prompt.attachments:
                yield _mention(SHOWN, attachment.text, (attachment.name,))
        case Notice() as notice:
            yield _mention(SHOWN, notice.text)
        case AssistantReply() as reply:
            for block in reply.blocks:
                if isinstance(block, Text):
                    yield _mention(SAID, block.text, own=True)
                elif isinstance(block, ToolUse):
                    yield from _in_call(block.input)
        case ToolReturned() as returned:
            yield from _in_result(returned, input)
        case _:
            return


def files_of(input: Mapping[str, Json]) -> tuple[str, ...]:
    """The files that a call is about, under the names in its input: a path, or files that its command prints."""
    for key in PATH_KEYS:
        path = input.get(key)
        if isinstance(path, str) and path.strip():
            return (path,)
    for key in COMMAND_KEYS:
        command = input.get(key)
        if isinstance(command, str):
            printed = [arguments for arguments, sent in PRINTING.findall(command) if not sent]
            return tuple(sorted({path for arguments in printed for path in words_in(arguments).paths}))
    return ()


def _in_call(input: Mapping[str, Json]) -> Iterator[Mention]:
    files = files_of(input)
    if files:
        paths = frozenset(path for file in files for path in words_in(file).paths)
        yield Mention(NAMED_FILE / _CROWD**0.5, Words(paths=paths), own=True)
    written, replaced = written_and_replaced(input)
    other = [text for key, value in input.items() if key not in (*NEW_TEXT_KEYS, *OLD_TEXT_KEYS, "edits") for text in strings_of(value)]
    yield _mention(WRITTEN, written, files, own=True)
    yield _mention(REPLACED, replaced, files)
    yield _mention(CALLED, "\n".join(text for text in other if text not in PARLANCE), files, own=True)


def _in_result(returned: ToolReturned, input: Mapping[str, Json]) -> Iterator[Mention]:
    files = tuple(dict.fromkeys((*(touch.path for touch in returned.touched), *files_of(input))))
    found = MATCHED_LINE.findall(returned.content)
    yield from _returned("\n".join((returned.content, *returned.names_left_out)), files)
    for path, lines in groupby(found, key=lambda match: match[0]):
        yield from _returned("\n".join(text for _, text in lines), (path,))


def _returned(text: str, files: tuple[str, ...]) -> Iterator[Mention]:
    whole = _mention(RETURNED, text, files)
    opaque = frozenset(filter(is_opaque, whole.words.names))
    yield replace(whole, words=Words(whole.words.names - opaque, whole.words.paths))
    yield Mention(whole.weight * OPAQUE, Words(opaque), files)


def written_and_replaced(input: Mapping[str, Json]) -> tuple[str, str]:
    """The text that a write or an edit puts into its file, and the text that it takes out; both empty if a call does neither."""
    return "\n".join(_values(input, NEW_TEXT_KEYS)), "\n".join(_values(input, OLD_TEXT_KEYS))


def _values(input: Mapping[str, Json], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        yield from strings_of(input.get(key))
    edits = input.get("edits")
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            yield from _values(edit, keys)


def _mention(weight: float, text: str, files: tuple[str, ...] = (), *, own: bool = False) -> Mention:
    words = words_in(redact(text))  # redacted here: a name by itself does not show what it is the value of
    return Mention(weight / (words.count + _CROWD) ** 0.5, words, files, own)


RECENT_ENTRIES = 400
"""Entries at the end in which names are looked for. What was said longer ago is found by its commands and errors; names of then are rarely
needed now."""
FRESH_ENTRIES = 20
"""A mention this many entries ago counts half, one twice as many entries ago a third."""

OWN_ENTRIES = 25
"""Newest entries, about a tenth of those between two compactions. Of the names that were written there one in four is written again, of
those before one in twenty, and of those that only stood in an old result one in a hundred (32 recorded compactions)."""

FOR_ITS_FILE = 0.05
"""Share of a file's weight that the names get which belong to it. From a third of that to twice as much changes little."""


@dataclass(frozen=True, slots=True)
class NamesInUse:
    """How likely each name and file is needed again: the larger the weight, the likelier. Files are known by the last two components of
    their paths."""

    names: Mapping[str, float]
    """The weights of identifiers, hashes and URLs."""
    files: Mapping[str, float]
    paths: Mapping[str, str]
    """The path by which each file is shown."""
    belonging: Mapping[str, Mapping[str, float]]
    """For each name the files that it stood in, in calls on these files."""
    own: frozenset[str] = frozenset()
    """Names that the user or the agent wrote in the newest entries."""
    near_files: frozenset[str] = frozenset()
    """Files that the user or the agent named in any of these entries, and files that were seen in the newest."""


def names_in_use(entries: Sequence[ReadEntry]) -> NamesInUse:
    """The names and files in the last `RECENT_ENTRIES` entries, with how likely each is needed again."""
    names: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, float] = defaultdict(float)
    belonging: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    own: set[str] = set()
    near: set[str] = set()
    recent = entries[-RECENT_ENTRIES:]
    paths = _Paths(recent)
    for age, entry in zip(range(len(recent) - 1, -1, -1), recent, strict=True):
        freshness = 1.0 / (1.0 + age / FRESH_ENTRIES)
        for mention in entry.mentions:
            weight = mention.weight * freshness
            if mention.own and age < OWN_ENTRIES:
                own |= mention.words.names
            if mention.own or age < OWN_ENTRIES:
                near.update(paths.file_of[path] for path in mention.words.paths)
            for name in mention.words.names:
                names[name] += weight
            for path in mention.words.paths:
                files[paths.file_of[path]] += weight
            for path in mention.files:
                tail = paths.file_of[path]
                files[tail] += 0.0
                for name in mention.words.names:
                    belonging[name][tail] += weight
    _raise(names, files, belonging)
    return NamesInUse(names, files, paths.shown, belonging, frozenset(own), frozenset(near))


class _Paths:
    """Tells which paths are of the same file, and by which path each file is shown."""

    def __init__(self, entries: Sequence[ReadEntry]) -> None:
        mentions = [mention for entry in entries for mention in entry.mentions]
        times = Counter(path for mention in mentions for path in (*mention.words.paths, *mention.files))
        absolute: dict[str, str] = {}
        self.shown: dict[str, str] = {}
        self.file_of = {path: tail_of(path) for path in times}
        for path, tail in self.file_of.items():
            self.shown[tail] = min(self.shown.get(tail, path), path, key=_outlandish)
            if _is_absolute(path):
                absolute[tail] = path
        self._show_from_the_root(absolute)
        self._join_bare_names(times, {path for mention in mentions for path in mention.files})

    def _show_from_the_root(self, absolute: Mapping[str, str]) -> None:
        """Shows all files relative to the work tree, whose place those files tell that are named both by an absolute and by a relative
        path."""
        roots = Counter(
            path.removesuffix(shown)
            for tail, path in absolute.items()
            if path.endswith(f"/{(shown := self.shown[tail]).removeprefix('./')}")
        )
        root = max(roots, key=lambda root: (roots[root], root), default="")
        self.shown = {tail: path.removeprefix(root) if root else path for tail, path in self.shown.items()}

    def _join_bare_names(self, times: Mapping[str, int], called: Collection[str]) -> None:
        """Takes a name without a folder for the file of that name that is spoken of most, unless calls show that it is a file of its
        own."""
        most: dict[str, tuple[int, str]] = {}
        for path, tail in self.file_of.items():
            if "/" in tail:
                most[basename(tail)] = max(most.get(basename(tail), (0, "")), (times[path], tail))
        for path, tail in self.file_of.items():
            if tail in most and tail not in called:
                self.file_of[path] = most[tail][1]
                self.shown.pop(tail, None)


def _raise(names: dict[str, float], files: Mapping[str, float], belonging: Mapping[str, Mapping[str, float]]) -> None:
    """Raises the weight of each name by those of the files that it belongs to; the more names a file has, the less it says of each."""
    counts = Counter(tail for belongs in belonging.values() for tail in belongs)
    worth = {tail: FOR_ITS_FILE * files[tail] / (counts[tail] + _CROWD) ** 0.5 for tail in counts}
    for name, belongs in belonging.items():
        names[name] += max(worth[tail] for tail in belongs)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or ":" in path


def _outlandish(path: str) -> tuple[bool, bool, int, str]:
    """The sort key by which the best path of a file comes first: relative before absolute, with its folder before without, short before
    long."""
    return _is_absolute(path), "/" not in path, len(path), path
