"""The entries of a large session without their texts, for what goes by the sizes of blocks alone.

Nothing is compacted there, so all that was ever said is in view together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse
from ullage.context.entries import AssistantReply, Clipped, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.store.set_aside import EntriesAside

_SAID = "said"


def outlines_of(entries: Sequence[Logged]) -> Sequence[Logged]:
    """The outlines of entries that are in a file; other entries as they are. As they are also where something was clipped before it was
    sent: only its text tells whether it shows as it came."""
    if not isinstance(entries, EntriesAside) or any(isinstance(logged.entry, Clipped) for logged in entries):
        return entries
    return _Outlines(entries)


class _Outlines(Sequence[Logged]):
    """The outlines of entries. Each is made anew whenever it is asked for."""

    def __init__(self, entries: Sequence[Logged]) -> None:
        self._entries = entries

    @overload
    def __getitem__(self, index: int) -> Logged: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Logged]: ...
    def __getitem__(self, index: int | slice) -> Logged | Sequence[Logged]:
        if isinstance(index, slice):
            return _Outlines(self._entries[index])
        return _outline(self._entries[index])

    def __len__(self) -> int:
        return len(self._entries)


def _outline(logged: Logged) -> Logged:
    return Logged(logged.seq, logged.at, _without_texts(logged.entry))


def _without_texts(entry: Entry) -> Entry:
    """The entry with a short text for each of its texts: empty where that was empty."""
    match entry:
        case AssistantReply():
            return replace(entry, blocks=tuple(map(_block, entry.blocks)))
        case ToolReturned():
            return replace(entry, content=_short(entry.content))
        case UserPrompt():
            attachments = tuple(replace(each, text=_short(each.text)) for each in entry.attachments)
            return replace(entry, text=_short(entry.text), attachments=attachments)
        case Notice():
            return replace(entry, text=_short(entry.text))
        case _:
            return entry


def _block(block: AssistantBlock) -> AssistantBlock:
    match block:
        case Text():
            return Text(_short(block.text))
        case Thinking():
            return Thinking(_short(block.thinking), _short(block.signature))
        case ToolUse():
            return replace(block, input=dict[str, None]())
        case _:
            return block


def _short(text: str) -> str:
    return _SAID if text.strip() else text[:1]
