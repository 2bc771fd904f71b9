"""Log entries to JSON text and back, exactly.

Each value carries its `kind`, a name of its own that stays the same when a class is renamed. Fields are written under
their names; a field that is not known (written by a later version) is passed over, one that is missing takes its default.
The order of a tool input's keys is kept: it is part of what the prompt cache hashes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_origin

from cattrs import Converter
from cattrs.strategies import configure_tagged_union

from ullage.context.blocks import (
    AssistantBlock,
    Document,
    Image,
    Media,
    RedactedThinking,
    Text,
    Thinking,
    ToolUse,
)
from ullage.context.change_entries import FilesChanged, Reviewed, ReviewedTogether
from ullage.context.compaction_entries import Compaction, CompactionFailed, CompactionRedone, CompactionUndone, Reworded, SpentInVain
from ullage.context.entries import (
    AssistantReply,
    CameOver,
    Clipped,
    Entry,
    EntryPinned,
    FilePinned,
    Forked,
    Notice,
    Prelude,
    SizeStated,
    ToolReturned,
    TurnEnded,
    UserPrompt,
)

ENTRY_KINDS: dict[type[Any], str] = {
    Prelude: "prelude",
    UserPrompt: "user_prompt",
    AssistantReply: "assistant_reply",
    ToolReturned: "tool_returned",
    Clipped: "clipped",
    Notice: "notice",
    Compaction: "compaction",
    CompactionUndone: "compaction_undone",
    CompactionRedone: "compaction_redone",
    CompactionFailed: "compaction_failed",
    Reworded: "reworded",
    SpentInVain: "spent_in_vain",
    SizeStated: "size_stated",
    EntryPinned: "entry_pinned",
    FilePinned: "file_pinned",
    FilesChanged: "files_changed",
    Reviewed: "reviewed",
    ReviewedTogether: "reviewed_together",
    Forked: "forked",
    CameOver: "came_over",
    TurnEnded: "turn_ended",
}
"""The name of each kind of entry. Never change a name that is here: it is in every log."""

BLOCK_KINDS: dict[type[Any], str] = {
    Text: "text",
    Thinking: "thinking",
    RedactedThinking: "redacted_thinking",
    ToolUse: "tool_use",
}

MEDIA_KINDS: dict[type[Any], str] = {Image: "image", Document: "document"}

_T = TypeVar("_T")


class DamagedEntry(Exception):
    """This text is no entry that this version can read; `str()` says why."""


class LaterEntry(DamagedEntry):
    """This entry is of a kind that a later version of Ullage writes."""


def encode(entry: Entry) -> str:
    """The entry as JSON text."""
    return _dump(_converter.unstructure(entry, Entry))


def decode(text: str | bytes) -> Entry:
    """The entry that `encode` was given, or its bytes. Raises `DamagedEntry`, which quotes nothing of it."""
    return cast("Entry", _read(text, Entry))


def encode_prompt(prompt: UserPrompt) -> str:
    """A queued prompt as JSON text."""
    return _dump(_converter.unstructure(prompt, UserPrompt))


def decode_prompt(text: str | bytes) -> UserPrompt:
    """The prompt that `encode_prompt` was given, or its bytes. Raises `DamagedEntry`, which quotes nothing of it."""
    return cast("UserPrompt", _read(text, UserPrompt))


def _read(text: str | bytes, kind: Any) -> object:
    try:
        value = json.loads(text if isinstance(text, str) else text.decode())
        if kind is Entry and value["kind"] not in ENTRY_KINDS.values():
            raise LaterEntry(f"this version knows no entry of the kind{_named(value['kind'])}; a later one has written it")
        return _converter.structure(value, kind)
    except DamagedEntry:
        raise
    except UnicodeDecodeError:
        raise DamagedEntry("it is no text") from None
    except ValueError:
        raise DamagedEntry("it is no JSON") from None
    except Exception as error:  # cattrs raises whatever a wrong shape leads to
        raise DamagedEntry(f"it is no entry ({type(error).__name__})") from error


def _named(kind: object) -> str:
    """The name of a kind where it can be one; else empty: what stands there is no business of a message."""
    return f" {kind!r}" if isinstance(kind, str) and re.fullmatch(r"[a-z_]{1,40}", kind) else ""


def _dump(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot hold
        return json.dumps(value, separators=(",", ":"))
    return text


def _exactly(kind: type[_T]) -> Any:
    def structure(value: object, _: object) -> _T:
        if type(value) is not kind:
            raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
        return value

    return structure


def _number(value: object, _: object) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"expected a number, found {type(value).__name__}")
    return float(cast("float", value))


def _json_object(value: object, _: object) -> object:
    if type(value) is not dict:
        raise TypeError(f"expected an object, found {type(value).__name__}")
    return cast("object", value)


def _is_json_object(kind: object) -> bool:
    return get_origin(kind) is Mapping


def _make_converter() -> Converter:
    converter = Converter(detailed_validation=False)
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exactly(kind))
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_func(_is_json_object, _json_object)
    converter.register_unstructure_hook_func(_is_json_object, dict)
    _name_kinds(converter, Media, MEDIA_KINDS)
    media: Any = Media

    def unstructured(value: Media | None) -> Any:
        return None if value is None else converter.unstructure(value, media)

    def structured(value: object, _: object) -> Media | None:
        return None if value is None else converter.structure(value, media)

    optional: Any = Media | None  # for cattrs another union, whose values would have no kind
    converter.register_unstructure_hook(optional, unstructured)
    converter.register_structure_hook(optional, structured)
    _name_kinds(converter, AssistantBlock, BLOCK_KINDS)
    _name_kinds(converter, Entry, ENTRY_KINDS)
    return converter


def _name_kinds(converter: Converter, union: Any, kinds: Mapping[type[Any], str]) -> None:
    """Makes the converter write and read a union by the names of its members. What is inside of them must have its own converters first:
    cattrs settles at once how the members of a union are written."""
    configure_tagged_union(union, converter, tag_name="kind", tag_generator=kinds.__getitem__)


_converter = _make_converter()
