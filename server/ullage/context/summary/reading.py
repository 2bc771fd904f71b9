"""What was read out of the entries of a log, kept from one digest to the next: an entry never changes, so each is read once.

A `Reading` is a memory and nothing else: with the same entries a kept one gives what a new one gives. Where names and paths stand in an
entry, with what weight, and to which files they belong, is told of one entry alone (`Mention`). `names.py` adds them up.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter, is_

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.calls import COMMAND_KEYS, PATH_KEYS, Call, strings_of
from ullage.context.entries import (
    AssistantReply,
    Compaction,
    CompactionRedone,
    CompactionUndone,
    Entry,
    Logged,
    Notice,
    ToolReturned,
    UserPrompt,
)
from ullage.context.redact import redact
from ullage.context.summary.sentences import constraints_in, decisions_in
from ullage.context.summary.words import Words, is_opaque, words_in

NO_INPUT: Mapping[str, Json] = {}
"""Of a result whose call is not in the log."""

TASK_LIST = "todo"
"""The tool by which the agent writes its list of tasks."""

SEQ = attrgetter("seq")

MENTIONS_KEPT = 1_000
"""Of so many entries at the end; older ones are read again where somebody asks, and hardly anybody does."""

USER, WRITTEN, REPLACED, SAID, CALLED, SHOWN, RETURNED = 4.0, 3.0, 2.0, 2.0, 1.5, 1.0, 0.5
"""What a mention counts: by the user, written into a file, replaced in one, in the assistant's words, in another input of a tool, in
what was attached or noticed, in a result. Set by hand: weights fitted to one half of the recorded sessions did no better on the other."""
NAMED_FILE = 4.0
"""The file that a call is about."""
OPAQUE = 0.5
"""Of a result, for hashes, numbers and URLs: until somebody speaks of one, it is at most half as likely needed as a name that weighs the
same (counted at 213 places in the recorded sessions, most of them no recorded compactions)."""
CROWD = 10
"""A mention among n others counts 1 / √(n + this): a long listing says little of each."""

NEW_TEXT_KEYS = ("new_text", "new_string", "new_str", "new_source", "content", "file_text")
"""What a write or an edit puts into a file: Ullage, Claude Code, Anthropic's text editor tool, notebooks."""
OLD_TEXT_KEYS = ("old_text", "old_string", "old_str")

PRINTING = re.compile(r"(?:^|&&|\|\||[;\n])[ \t]*(?:cat|nl|head|tail|sed\s+-n)\s([^|;&<>\n]*)((?<![0-9])>|<<)?")
"""A command that prints files, up to the next command; what is sent into a file is not shown."""
MATCHED_LINE = re.compile(r"^([\w@~+/.-]+\.\w+)[:-]\d+[:-](.*)$", re.MULTILINE)
"""`path:line: text`, as searches give it."""


@dataclass(frozen=True)
class ReadEntry:
    """An entry. What stands in it is read when it is first asked for."""

    logged: Logged
    call: Call | None = None
    """The call with its result, where the entry is one."""

    @property
    def seq(self) -> int:
        """Its place in the log."""
        return self.logged.seq

    def answers(self, use: ToolUse | None) -> bool:
        """Whether that is the call of which this is the result."""
        return self.call is not None and self.call.input is (use.input if use else NO_INPUT)

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """What the user said must or must not be."""
        entry = self.logged.entry
        return tuple(constraints_in(entry.text)) if isinstance(entry, UserPrompt) else ()

    @cached_property
    def decisions(self) -> tuple[str, ...]:
        """What the assistant said it decided, or why."""
        entry = self.logged.entry
        texts = [block.text for block in entry.blocks if isinstance(block, Text)] if isinstance(entry, AssistantReply) else []
        return tuple(sentence for text in texts for sentence in decisions_in(text))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The names and paths in it."""
        return mentions_in(self.logged.entry, self.call.input if self.call else {})


@dataclass(frozen=True, slots=True)
class Kinds:
    """The entries of one log by what they are, so that nobody has to go through all for a few; each kind in log order."""

    prompts: list[ReadEntry] = field(default_factory=list[ReadEntry])
    replies: list[ReadEntry] = field(default_factory=list[ReadEntry])
    task_lists: list[ReadEntry] = field(default_factory=list[ReadEntry])
    """Replies that write the agent's list of tasks."""
    results: list[ReadEntry] = field(default_factory=list[ReadEntry])
    told: list[ReadEntry] = field(default_factory=list[ReadEntry])
    """Where the user said something: prompts, and calls that they refused."""
    compactions: list[ReadEntry] = field(default_factory=list[ReadEntry])
    """Compactions, and what was undone and redone."""

    def add(self, read: ReadEntry) -> None:
        """The log's next entry."""
        match read.logged.entry:
            case UserPrompt():
                self.prompts.append(read)
                self.told.append(read)
            case AssistantReply() as reply:
                self.replies.append(read)
                if any(isinstance(block, ToolUse) and block.name == TASK_LIST for block in reply.blocks):
                    self.task_lists.append(read)
            case ToolReturned() as returned:
                self.results.append(read)
                if returned.refusal is not None:
                    self.told.append(read)
            case Compaction() | CompactionUndone() | CompactionRedone():
                self.compactions.append(read)
            case _:
                pass

    def up_to(self, seq: int) -> Kinds:
        """Those with this seq or a lower one."""
        lists = (self.prompts, self.replies, self.task_lists, self.results, self.told, self.compactions)
        return Kinds(*(each[: bisect_right(each, seq, key=SEQ)] for each in lists))


class Reading:
    """The entries of one log that were read so far."""

    def __init__(self) -> None:
        self._logged: list[Logged] = []
        self._read: list[ReadEntry] = []
        self._kinds = Kinds()
        self._uses: dict[str, ToolUse] = {}
        self._without_mentions = 0
        self._ahead = 0

    def of(self, entries: Sequence[Logged]) -> list[ReadEntry]:
        """`entries`, read. Costs what is new. In another log than before, or one that some entries were left out of, the same entries
        are known by their place."""
        known: Mapping[int, ReadEntry] = {}
        if not all(map(is_, self._logged, entries)):
            known = {read.seq: read for read in self._read}
            self._logged, self._read, self._kinds, self._uses, self._without_mentions, self._ahead = [], [], Kinds(), {}, 0, 0
        for logged in entries[len(self._read) :]:
            self._logged.append(logged)
            read = self._reading_of(logged, known.get(logged.seq))
            self._read.append(read)
            self._kinds.add(read)
        for read in self._read[self._without_mentions : -MENTIONS_KEPT]:
            vars(read).pop("mentions", None)
            self._without_mentions += 1
        return self._read[: len(entries)]

    def kinds(self, entries: Sequence[Logged]) -> Kinds:
        """The same by what they are."""
        self.of(entries)
        return self._kinds.up_to(entries[-1].seq) if entries else Kinds()

    def ahead(self, entries: Sequence[Logged]) -> Sequence[ReadEntry]:
        """The last of `entries`, from the first one that was not given before, for whoever looks ahead."""
        read = self.of(entries)
        new, self._ahead = read[self._ahead :], max(len(read), self._ahead)
        return new

    def _reading_of(self, logged: Logged, known: ReadEntry | None) -> ReadEntry:
        entry = logged.entry
        if isinstance(entry, AssistantReply):
            self._uses.update((block.id, block) for block in entry.blocks if isinstance(block, ToolUse))
        elif isinstance(entry, ToolReturned):
            use = self._uses.get(entry.tool_use_id)
            if known is None or known.logged is not logged or not known.answers(use):
                return ReadEntry(logged, Call(logged.seq, use.input if use else NO_INPUT, entry))
        return known if known is not None and known.logged is logged else ReadEntry(logged)


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that stand together in a text. `files` are those that the text belongs to, as they were named."""

    weight: float
    words: Words
    files: tuple[str, ...] = ()


def mentions_in(entry: Entry, input: Mapping[str, Json]) -> tuple[Mention, ...]:
    """All of an entry. `input` is that of the call, where the entry is its result."""
    return tuple(mention for mention in _mentions(entry, input) if mention.words.count)


def _mentions(entry: Entry, input: Mapping[str, Json]) -> Iterator[Mention]:
    match entry:
        case UserPrompt() as prompt:
            yield _mention(USER, prompt.text)
            for attachment in prompt.attachments:
                yield _mention(SHOWN, attachment.text, (attachment.name,))
        case Notice() as notice:
            yield _mention(SHOWN, notice.text)
        case AssistantReply() as reply:
            for block in reply.blocks:
                if isinstance(block, Text):
                    yield _mention(SAID, block.text)
                elif isinstance(block, ToolUse):
                    yield from _in_call(block.input)
        case ToolReturned() as returned:
            yield from _in_result(returned, input)
        case _:
            return


def files_of(input: Mapping[str, Json]) -> tuple[str, ...]:
    """The files that a call is about, as its input names them: by a path, or in a command that prints files."""
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
        yield Mention(NAMED_FILE / CROWD**0.5, Words(paths=paths))
    written = list(_values(input, NEW_TEXT_KEYS))
    replaced = list(_values(input, OLD_TEXT_KEYS))
    other = [text for key, value in input.items() if key not in (*NEW_TEXT_KEYS, *OLD_TEXT_KEYS, "edits") for text in strings_of(value)]
    yield _mention(WRITTEN, "\n".join(written), files)
    yield _mention(REPLACED, "\n".join(replaced), files)
    yield _mention(CALLED, "\n".join(other), files)


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


def _values(input: Mapping[str, Json], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        yield from strings_of(input.get(key))
    edits = input.get("edits")
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            yield from _values(edit, keys)


def _mention(weight: float, text: str, files: tuple[str, ...] = ()) -> Mention:
    words = words_in(redact(text))  # here, since a name by itself does not show what it is the value of
    return Mention(weight / (words.count + CROWD) ** 0.5, words, files)
