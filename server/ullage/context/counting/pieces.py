"""The messages cut into pieces, each with the part of the context that it belongs to and what it is estimated at.

A part has one piece or several: a call has its use, its result, and of an assistant message's frame what its first block has. `parts.py`
says what the parts are called and what they take of the gauge's number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from ullage.context.blocks import Block, CompactionBlock, Message, SystemPart, Text, ToolResult, ToolUse
from ullage.context.compaction_entries import BY_THE_USER, Compaction
from ullage.context.counting.categories import category_in
from ullage.context.counting.media import ImageLimits, shown_tokens
from ullage.context.counting.tokens import MESSAGE_TOKENS, TokenParts, countable, estimate_parts, estimate_text_of, tool_of
from ullage.context.entries import Entry, Notice, Prelude, ToolReturned, UserPrompt
from ullage.context.view.fold import blocks_of
from ullage.context.view.log_places import entry_at
from ullage.context.view.projection import Projection
from ullage.context.view.taken_out import without_texts

PartKind: TypeAlias = Literal[
    "system",
    "server",
    "rules",
    "tool",
    "summary",
    "file",
    "prompt",
    "reply",
    "call",
    "report",
    "image",
    "command",
    "hook",
    "notice",
    "rest",
]
"""The kinds of parts. `server` is what the model is told of an MCP server, `tool` a definition, `call` a call with its result, `report` one
that had a sub-agent at work, `file` a file that was attached, read again or told of anew. `command` tells of commands that go on, `hook` is
what hooks say. `rest` is what the gauge has under a category of which the view has no part."""

_OF_NOTICES: Mapping[str, PartKind] = {
    "file_changed": "file",
    "rules": "rules",
    "command": "command",
    "hook": "hook",
    "hook_standing": "hook",
}


class PartKey(NamedTuple):
    """The key of a part, which no other part has."""

    kind: PartKind
    seq: int
    """The entry that brought it, for a call that of its result; 0 for what precedes the messages, and for a rest."""
    name: str = ""
    of: str = ""
    """What tells apart several parts of a kind that one entry brings: the id of a call, the number of an image."""


class Piece(NamedTuple):
    """Something in a request that belongs to one part and one category of the gauge."""

    key: PartKey
    category: str
    estimated: int
    """Tokens estimated by kind of text, not calibrated."""
    parts: TokenParts | None
    """The texts that a tokenizer can count instead; None if none can."""
    exact: int = 0
    """Tokens of images and documents, by their formula."""
    call: ToolUse | None = None
    """The call, if the piece is its use; else None."""


def prelude_pieces(prelude: Prelude) -> Iterator[Piece]:
    """The pieces that precede the messages."""
    for index, part in enumerate(prelude.system):
        yield _text_piece(_system_key(part, index), part.category, TokenParts(0, (part.text,)))
    for tool in prelude.tools:
        yield _text_piece(PartKey("tool", 0, tool.name), "tools", tool_of(tool))


def _system_key(part: SystemPart, index: int) -> PartKey:
    kind: PartKind = "rules" if part.category == "rules" else "server" if part.name else "system"  # the program's own words have no name
    return PartKey(kind, 0, part.name, str(index))


def _text_piece(key: PartKey, category: str, parts: TokenParts) -> Piece:
    return Piece(key, category, estimate_parts(parts), parts)


class Cutter:
    """Cuts the messages of one view into pieces, the older ones first: it knows the calls so far by their ids."""

    def __init__(self, images: ImageLimits, names: dict[str, str] | None = None) -> None:
        """`images` is what the model takes of an image; `names` are the tools that were called so far, by the id of the call."""
        self._images = images
        self._names = {} if names is None else names

    def beside(self) -> Cutter:
        """A copy that knows as much, and goes on by itself."""
        return Cutter(self._images, self._names.copy())

    def pieces(self, view: Projection, index: int) -> Iterator[Piece]:
        """The pieces of the message with that index. Its calls have their results in the message after it."""
        message, frame = view.messages[index], None
        results = _results(view.messages[index + 1]) if message.role == "assistant" and index + 1 < len(view.messages) else {}
        of_source, entry = 0, None
        for at, (block, source) in enumerate(zip(message.blocks, message.sources, strict=True)):
            call = block if isinstance(block, ToolUse) else None
            if call is not None:
                self._names[call.id] = call.name
                key = _key_of_call(view, results.get(call.id, source), call.id)
            elif isinstance(block, ToolResult):
                key = _key_of_call(view, source, block.tool_use_id)
            else:
                if of_source != source:
                    of_source, entry = source, entry_at(view.entries, source)
                key = _key_of(view, message, block, source, entry)
            category = category_in(message.role, block, entry, self._names)
            parts = countable(block)
            yield Piece(key, category, estimate_text_of(block) if parts is None else estimate_parts(parts), parts, 0, call)
            images = shown_tokens(block, self._images)
            if images:
                yield Piece(key if key.kind == "image" else PartKey("image", source, key.name, str(at)), category, 0, None, images)
            frame = frame or key
        if frame is not None:
            yield Piece(frame, message.role, MESSAGE_TOKENS, None)


def _results(following: Message) -> dict[str, int]:
    """The seq of each result's entry, by the id of its call as the model sees it. Results come first in a message."""
    found: dict[str, int] = {}
    for block, source in zip(following.blocks, following.sources, strict=True):
        if not isinstance(block, ToolResult):
            break
        found[block.tool_use_id] = source
    return found


def _key_of_call(view: Projection, seq: int, id: str) -> PartKey:
    """The part of a call. `seq` is the entry of its result or, if it has none yet, of the reply that made it."""
    entry = entry_at(view.entries, seq)
    return PartKey("report" if isinstance(entry, ToolReturned) and entry.agent is not None else "call", seq, "", id)


def _key_of(view: Projection, message: Message, block: Block, source: int, entry: Entry | None) -> PartKey:
    """The part of a block that belongs to no call."""
    if isinstance(entry, Compaction):
        return _left_by(entry, block, source)
    if isinstance(entry, UserPrompt):
        return _in_prompt(entry, block, source, view.paths_out.get(source, ()))
    if isinstance(entry, Notice):
        kind = _OF_NOTICES.get(entry.about, "notice")
        return PartKey(kind, source, entry.touched[0].path if entry.touched else "")
    return PartKey("reply" if message.role == "assistant" else "notice", source)


def _left_by(made: Compaction, block: Block, source: int) -> PartKey:
    text = block.text if isinstance(block, Text) else ""
    file = next((file for file in made.restored if file.text == text), None)
    if file is not None:
        return PartKey("file", source, file.path)
    return PartKey("notice" if made.policy == BY_THE_USER and not isinstance(block, CompactionBlock) else "summary", source)


def _in_prompt(prompt: UserPrompt, block: Block, source: int, out: Collection[str]) -> PartKey:
    if isinstance(block, Text) and block.text == prompt.text:
        return PartKey("prompt", source)
    shown = without_texts(prompt, out)
    found = next((each for each in shown.attachments if block in blocks_of(each)), None)
    if found is None:
        return PartKey("prompt", source)
    return PartKey("file" if found.media is None else "image", source, found.title)


def paths_in(key: PartKey, entry: Entry | None) -> tuple[str, ...]:
    """The files whose text stands in a part."""
    match entry:
        case ToolReturned() if key.kind in ("call", "report", "image"):
            return tuple(dict.fromkeys(touch.path for touch in entry.touched))
        case UserPrompt() if key.kind in ("file", "image"):
            return tuple(each.name for each in entry.attachments if each.title == key.name)
        case Notice() if key.kind == "file":
            return tuple(dict.fromkeys(touch.path for touch in entry.touched))
        case Compaction() if key.kind == "file":
            return (key.name,)
        case _:
            return ()
