"""What fills the context, part by part: the system prompt, each rules file and tool, each file, message and call, the summary, images.

The parts add up to the gauge's number, category by category. The API reports the tokens of a whole request and never of a part of it. So
what the gauge has under a category is shared out among its parts, in proportion to what each is counted at by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ullage.context.blocks import Block, CompactionBlock, Message, SystemPart, Text, ToolResult, ToolUse
from ullage.context.compaction_entries import BY_THE_USER, Compaction
from ullage.context.counting.accounting import Counted
from ullage.context.counting.categories import category_in, shared_out
from ullage.context.counting.media import shown_tokens
from ullage.context.counting.tokens import (
    MESSAGE_TOKENS,
    Calibration,
    Parts,
    countable,
    counted,
    estimate_parts,
    estimate_text_of,
    tool_of,
)
from ullage.context.entries import Attachment, Entry, FileTouch, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.fold import blocks_of
from ullage.context.view.log_places import entry_at
from ullage.context.view.pins import Pins
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import all_taken_out, without_texts

PartKind: TypeAlias = Literal["system", "rules", "tool", "summary", "file", "prompt", "reply", "call", "image", "notice", "rest"]
"""`tool` is a definition, `call` a call with its result, `file` one that was attached, read again or told of anew. `rest` is what the gauge
has under a category of which the view has no part."""


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part. `seq` is the entry that brought it, of a call that of its result; 0 for what precedes the messages, and for a rest."""

    kind: PartKind
    seq: int
    tokens: int
    name: str = ""
    """Of a tool, a file, a rest's category; empty where the entry says what it is."""
    paths: tuple[str, ...] = ()
    """The files whose text stands in it."""
    touched_since: bool | None = None
    """Whether a later call in view read or changed one of them; None where it has no file's text."""
    pinned: bool = False
    excluded: bool = False
    """Of what the user excluded only a placeholder stands here."""


class _Key(NamedTuple):
    kind: PartKind
    seq: int
    name: str = ""
    of: str = ""
    """Tells apart what one entry brings of a kind: the id of a call, the how manieth image."""


_Entries: TypeAlias = Mapping[int, Entry | None]
"""Those that brought what is in view, by seq: each is looked up once."""


class _Piece(NamedTuple):
    key: _Key
    category: str
    weight: float


def parts_of(view: Projection, whole: Counted, calibration: Calibration) -> tuple[ContextPart, ...]:
    """The parts in the order in which they stand in the request; their tokens add up to `whole.used`. `whole` is the count of this view."""
    prelude = () if view.prelude is None else _of_prelude(view.prelude, calibration)
    entries = {seq: entry_at(view.entries, seq) for seq in dict.fromkeys(seq for message in view.messages for seq in message.sources)}
    tokens = _shared(whole, [*prelude, *_of_messages(view, entries, calibration)])
    later = _Later(view, entries)
    found = [_part(key, taken, entries, view.pins, later) for key, taken in reversed(tokens.items())]
    return tuple(reversed(found))


def _shared(whole: Counted, pieces: Iterable[_Piece]) -> dict[_Key, int]:
    weights: dict[str, dict[_Key, float]] = {}
    tokens: dict[_Key, int] = {}
    for key, category, weight in pieces:
        of_category = weights.setdefault(category, {})
        of_category[key] = of_category.get(key, 0.0) + weight
        tokens.setdefault(key, 0)
    for category, taken in whole.categories:
        of_category = weights.get(category, {})
        if not any(of_category.values()):
            of_category = {_Key("rest", 0, category): 1.0}
        for key, share in shared_out(taken, of_category).items():
            tokens[key] = tokens.get(key, 0) + share
    return tokens


# What precedes the messages


def _of_prelude(prelude: Prelude, calibration: Calibration) -> Iterator[_Piece]:
    for index, part in enumerate(prelude.system):
        yield _Piece(_system_key(part, index), part.category, _weight(Parts(0, (part.text,)), calibration))
    for tool in prelude.tools:
        yield _Piece(_Key("tool", 0, tool.name), "tools", _weight(tool_of(tool), calibration))


def _system_key(part: SystemPart, index: int) -> _Key:
    return _Key("rules" if part.category == "rules" else "system", 0, part.name, str(index))


def _weight(parts: Parts, calibration: Calibration) -> float:
    known = None if calibration.counts is None else counted(parts, calibration.counts)
    return estimate_parts(parts) * calibration.ratio if known is None else known * calibration.counted_ratio


# The messages


def _of_messages(view: Projection, entries: _Entries, calibration: Calibration) -> Iterator[_Piece]:
    names = _Names(view)
    for message in view.messages:
        frame: _Key | None = None
        for at, (block, source) in enumerate(zip(message.blocks, message.sources, strict=True)):
            entry = entries[source]
            key = names.key_of(message, block, source, entry)
            category = category_in(message.role, block, entry, names.tools)
            parts = countable(block)
            weight = estimate_text_of(block) * calibration.ratio if parts is None else _weight(parts, calibration)
            yield _Piece(key, category, weight)
            images = shown_tokens(block, calibration.images)
            if images:
                yield _Piece(key if key.kind == "image" else _Key("image", source, key.name, str(at)), category, images)
            frame = frame or key
        if frame is not None:
            yield _Piece(frame, message.role, MESSAGE_TOKENS * calibration.ratio)


class _Names:
    """Says to which part a block belongs. Calls are told of before their results."""

    def __init__(self, view: Projection) -> None:
        self._view = view
        self._results = _results(view.messages)
        self.tools: dict[str, str] = {}
        """Of the calls so far, by id."""
        self._attached: dict[int, list[tuple[Block, Attachment]]] = {}

    def key_of(self, message: Message, block: Block, source: int, entry: Entry | None) -> _Key:
        """Its part."""
        if isinstance(block, ToolUse):
            self.tools[block.id] = block.name
            return _Key("call", self._results.get(block.id, source), "", block.id)
        if isinstance(block, ToolResult):
            return _Key("call", source, "", block.tool_use_id)
        if isinstance(entry, Compaction):
            return self._left_by(entry, block, source)
        if isinstance(entry, UserPrompt):
            return self._in_prompt(entry, block, source)
        if isinstance(entry, Notice):
            kind: PartKind = "file" if entry.about == "file_changed" else "rules" if entry.about == "rules" else "notice"
            return _Key(kind, source, entry.touched[0].path if entry.touched else "")
        return _Key("reply" if message.role == "assistant" else "notice", source)

    @staticmethod
    def _left_by(made: Compaction, block: Block, source: int) -> _Key:
        text = block.text if isinstance(block, Text) else ""
        file = next((file for file in made.restored if file.text == text), None)
        if file is not None:
            return _Key("file", source, file.path)
        return _Key("notice" if made.policy == BY_THE_USER and not isinstance(block, CompactionBlock) else "summary", source)

    def _in_prompt(self, prompt: UserPrompt, block: Block, source: int) -> _Key:
        if isinstance(block, Text) and block.text == prompt.text:
            return _Key("prompt", source)
        known = self._attached.get(source)
        if known is None:
            shown = without_texts(prompt, self._view.paths_out.get(source, ()))
            found: list[tuple[Block, Attachment]] = [(each, attached) for attached in shown.attachments for each in blocks_of(attached)]
            self._attached[source] = known = found
        attached = next((attached for each, attached in known if each == block), None)
        if attached is None:
            return _Key("prompt", source)
        return _Key("file" if attached.media is None else "image", source, attached.title)


def _results(messages: Sequence[Message]) -> dict[str, int]:
    """The seq of the entry of each result, by the id of its call as the model sees it."""
    found: dict[str, int] = {}
    for message in messages:
        if message.role == "user":
            for block, source in zip(message.blocks, message.sources, strict=True):
                if isinstance(block, ToolResult):
                    found[block.tool_use_id] = source
                elif isinstance(block, Text):
                    break  # results come first
    return found


# What is said of each


class _Later:
    """The files that calls touched later than what is looked at: the parts are gone through from the newest on."""

    def __init__(self, view: Projection, entries: _Entries) -> None:
        self._touches = [(seq, touched) for seq in sorted(entries) if (touched := _touched_by(entries[seq]))]
        self._paths: set[str] = set()
        self.out = all_taken_out(view.active)

    def touch(self, seq: int, paths: Sequence[str]) -> bool | None:
        """Whether one of these was touched later than that entry."""
        while self._touches and self._touches[-1][0] > seq:
            self._paths.update(touch.path for touch in self._touches.pop()[1])
        return any(path in self._paths for path in paths) if paths else None


def _touched_by(entry: Entry | None) -> tuple[FileTouch, ...]:
    return entry.touched if isinstance(entry, ToolReturned) else ()


def _part(key: _Key, tokens: int, entries: _Entries, pins: Pins, later: _Later) -> ContextPart:
    if not key.seq:
        return ContextPart(key.kind, 0, tokens, key.name)
    entry = entries[key.seq]
    paths = tuple(_paths_in(key, entry))
    excluded = key.seq in later.out or (isinstance(entry, Compaction) and key.kind == "notice")
    return ContextPart(
        key.kind,
        key.seq,
        tokens,
        key.name,
        paths,
        later.touch(key.seq, () if excluded else paths),
        pinned=key.seq in pins.seqs or any(path in pins.paths for path in paths),
        excluded=excluded,
    )


def _paths_in(key: _Key, entry: Entry | None) -> Iterator[str]:
    match entry:
        case ToolReturned() if key.kind in ("call", "image"):
            yield from dict.fromkeys(touch.path for touch in entry.touched)
        case UserPrompt() if key.kind in ("file", "image"):
            yield from (each.name for each in entry.attachments if each.title == key.name)
        case Notice() if key.kind == "file":
            yield from dict.fromkeys(touch.path for touch in entry.touched)
        case Compaction() if key.kind == "file":
            yield key.name
        case _:
            pass


def totals(parts: Iterable[ContextPart]) -> Mapping[PartKind, tuple[int, int]]:
    """How many parts of each kind there are, and their tokens."""
    found: dict[PartKind, tuple[int, int]] = {}
    for part in parts:
        count, tokens = found.get(part.kind, (0, 0))
        found[part.kind] = count + 1, tokens + part.tokens
    return found
