"""The lines of a Claude Code transcript, and which of them are the conversation that was continued.

A line is cut down to what is needed as soon as it is read, since all are kept until the last is known. Many repeat whole files beside the
message, and images make most of a long transcript: of these only their size stays. What is said in the lines of a long transcript lies in a
file until then. Each line names the one before it. A user who
goes back and says something else starts another branch. Calls that run side by side branch too, and there nothing was taken back: all
lines of one reply and all results of its calls belong together.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.blocks import Json
from ullage.context.entries import Answer, TouchKind
from ullage.recorded.readers.entries import FileOnDisk, pages_of, size_of
from ullage.recorded.readers.flaws import BROKEN_CHAIN, OTHER_BRANCH, FlawTally
from ullage.recorded.readers.values import JsonObject, as_count, as_list, as_object, as_seconds, as_text
from ullage.store.set_aside import HeldValue, Shelf

LineKind: TypeAlias = Literal["user", "assistant", "system", "attachment", "progress"]
"""Kinds of lines that are links of the conversation's chain."""


@dataclass(frozen=True, slots=True)
class LineContent:
    """What a line says: the blocks of its message, and the rest of the message."""

    content: list[Json]
    """The blocks of the message; a plain text is one block."""
    message: JsonObject
    """The fields of the message without its content; of an attachment or a system line, its own fields."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript. `uuid` is never empty; other texts are empty where the line lacks them, `at` is 0.0 without a time."""

    kind: LineKind
    uuid: str
    parent: str
    session: str
    folder: str
    at: float
    said: HeldValue[LineContent]
    characters: int
    """Characters of all texts in `said`."""
    reply: str = ""
    """The id of the reply that the line belongs to."""
    calls: tuple[str, ...] = ()
    """The ids of the calls that it holds."""
    results: tuple[str, ...] = ()
    """The ids of the calls whose results it holds."""
    request: str = ""
    """A text that tells the model's calls apart: the id of the request. Some servers give all their replies the same id, and no id to their
    requests; then it is the turn and the tokens that were sent."""
    is_meta: bool = False
    is_summary: bool = False
    is_hidden: bool = False
    """Whether the line is shown to the user, but not to the model."""
    is_error: bool = False
    """Whether the program wrote the line in the model's place."""
    is_queued: bool = False
    """Whether it is a prompt that was given to the running turn and that only the queue tells of."""
    file: FileOnDisk | None = None
    answers: tuple[Answer, ...] = ()
    """What the user answered to the questions of a call; an answer in their own words looks like one that was chosen."""

    @property
    def content(self) -> list[Json]:
        """The blocks of the message."""
        return self.said.get().content

    @property
    def message(self) -> JsonObject:
        """The fields of the message without its content."""
        return self.said.get().message


def line_of(value: JsonObject, kind: LineKind, unnamed: str, turn: int, shelf: Shelf) -> Line:
    """The line that a JSON object of that kind stands for. `unnamed` is the id of a line that has none.

    `turn` says how many prompts came before it in the file; `shelf` keeps the line's content.
    """
    message, about = as_object(value.get("message")), dict[str, Json]()
    parent = as_text(value.get("parentUuid"))
    if kind == "system":
        parent = parent or as_text(value.get("logicalParentUuid"))
        about = {name: value[name] for name in ("subtype", "compactMetadata") if name in value}
    elif kind == "attachment":
        about = {**as_object(value.get("attachment"))}
    else:
        about = {name: message[name] for name in ("id", "stop_reason") if name in message}
        about["model"], about["usage"] = sys.intern(as_text(message.get("model"))), _counts(message.get("usage"))
    is_summary = value.get("isCompactSummary") is True
    content = [_slim(block) for block in _blocks(message.get("content"))]
    characters = _characters(content) + _characters(about.values())
    return Line(
        kind=kind,
        uuid=sys.intern(as_text(value.get("uuid")) or unnamed),
        parent=sys.intern(parent),
        session=sys.intern(as_text(value.get("sessionId"))),
        folder=sys.intern(as_text(value.get("cwd"))),
        at=as_seconds(value.get("timestamp")),
        said=shelf.hold(LineContent(content, about), characters),
        characters=characters,
        reply=as_text(about.get("id")) if kind == "assistant" else "",
        calls=_ids(content, "tool_use", "id"),
        results=_ids(content, "tool_result", "tool_use_id"),
        request=as_text(value.get("requestId")) or f"{turn} {_sent(message)}",
        is_meta=value.get("isMeta") is True,
        is_summary=is_summary,
        is_hidden=value.get("isVisibleInTranscriptOnly") is True and not is_summary,
        is_error=value.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>",
        file=_file_on_disk(as_object(value.get("toolUseResult"))),
        answers=_answers(as_object(as_object(value.get("toolUseResult")).get("answers"))),
    )


def queued_line(text: str, value: JsonObject, parent: str, name: str, shelf: Shelf) -> Line:
    """The line for a prompt that left the queue for the running turn. `value` is the line that tells of it."""
    return Line(
        kind="user",
        uuid=name,
        parent=parent,
        session=as_text(value.get("sessionId")),
        folder="",
        at=as_seconds(value.get("timestamp")),
        said=shelf.hold(LineContent(_blocks(text), {}), len(text)),
        characters=len(text),
        is_queued=True,
    )


def _sent(message: JsonObject) -> str:
    counts = as_object(message.get("usage"))
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return " ".join(str(as_count(counts.get(name))) for name in names)


def _blocks(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return as_list(content)


MEASURED = "measured"
"""The type of the source that takes the place of an image's or document's base64 text. It has `size` or `pages`, null where these cannot be
told."""

_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation")


def _counts(usage: Json) -> dict[str, Json]:
    """The token counts that are read here; servers send more with each reply."""
    told = as_object(usage)
    return {name: told[name] for name in _COUNTS if name in told}


def _slim(block: Json) -> Json:
    """A block of a message, or a part of a result, without what is never read. Its names are shared with the other blocks."""
    if not isinstance(block, dict):
        return block
    kind, source = block.get("type"), as_object(block.get("source"))
    data = source.get("data")
    if kind in ("image", "document") and isinstance(data, str) and source.get("type") != "text":
        return {"type": kind, "source": {"type": MEASURED, **_measured(kind, data)}}
    slim = {sys.intern(name): value for name, value in block.items()}
    parts = slim.get("content")
    if kind == "tool_result" and isinstance(parts, list):
        slim["content"] = [_slim(part) for part in parts]
    if kind == "tool_use" and isinstance(input := slim.get("input"), dict):
        slim["input"] = {sys.intern(name): value for name, value in input.items()}
    return slim


def _measured(kind: Json, data: str) -> dict[str, Json]:
    if kind == "document":
        return {"pages": pages_of(data)}
    size = size_of(data)
    return {"size": None if size is None else list(size)}


def _file_on_disk(result: JsonObject) -> FileOnDisk | None:
    if result.get("type") in ("create", "update"):
        kind: TouchKind = "created" if result.get("type") == "create" else "edited"
        return FileOnDisk(kind, _sha256(as_text(result.get("content"))), partial=False)
    read = as_object(result.get("file"))
    text = read.get("content")
    if not isinstance(text, str):
        return None
    lines, total, start = (as_count(read.get(name)) for name in ("numLines", "totalLines", "startLine"))
    partial = (start or 1) > 1 or lines is None or total is None or lines < total
    return FileOnDisk("read", "" if partial else _sha256(text), partial)


def _answers(told: JsonObject) -> tuple[Answer, ...]:
    return tuple(Answer(question, text=text.strip()) for question, each in told.items() if (text := as_text(each)).strip())


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def continued(lines: Sequence[Line], tally: FlawTally) -> list[Line]:
    """The lines of the branch that ends last, in the order of the file."""
    chain = _chain(lines, tally)
    replies = {reply_key(lines[index]) for index in chain if lines[index].kind == "assistant"}
    of_replies = {index for index, line in enumerate(lines) if index in chain or (line.kind == "assistant" and reply_key(line) in replies)}
    calls = {id for index in of_replies for id in lines[index].calls}
    kept: list[Line] = []
    kept_ids: set[str] = set()
    left_out: set[str] = set()
    for index, line in enumerate(lines):
        if index in of_replies or (line.results and calls.issuperset(line.results)) or (line.is_queued and line.parent in kept_ids):
            kept.append(line)
            kept_ids.add(line.uuid)
        elif line.kind in ("user", "assistant"):
            left_out.add(reply_key(line))
    tally.count(OTHER_BRANCH, len(left_out))
    return kept


def reply_key(line: Line) -> str:
    """The key that all lines of one reply have in common, and no other line has."""
    return f"{line.reply} {line.request}" if line.reply else line.uuid


def _chain(lines: Sequence[Line], tally: FlawTally) -> set[int]:
    """The indexes of the last message, of all lines that it follows from, and of what the program wrote after it. A line that names no
    known line before it follows the one above it."""
    places = {line.uuid: index for index, line in enumerate(lines)}
    index = max((index for index, line in enumerate(lines) if line.kind in ("user", "assistant")), default=-1)
    chain = set(range(index + 1, len(lines)))
    while index >= 0:
        chain.add(index)
        line = lines[index]
        before = places.get(line.parent, index)
        if before >= index:
            # Also where it names a later line: the chain only ever goes back, so it ends.
            tally.count(BROKEN_CHAIN, int(bool(line.parent)))
            before = index - 1
        index = before
    return chain


def _ids(content: Sequence[Json], kind: str, name: str) -> tuple[str, ...]:
    blocks = (as_object(block) for block in content)
    return tuple([as_text(block.get(name)) for block in blocks if block.get("type") == kind])


def _characters(values: Iterable[Json]) -> int:
    """Characters of all texts in the values, at any depth. Keys are not counted."""
    total = 0
    for value in values:
        if isinstance(value, str):
            total += len(value)
        elif isinstance(value, dict):
            total += _characters(value.values())
        elif isinstance(value, list):
            total += _characters(value)
    return total
