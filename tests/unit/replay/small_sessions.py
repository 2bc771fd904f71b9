"""Sessions written by hand, a line an entry."""

from __future__ import annotations

from itertools import count

from ullage.context.blocks import Json, Text, ToolUse
from ullage.context.entries import AssistantReply, Entry, FileTouch, Logged, Notice, ToolReturned, UserPrompt

_ids = count(1)


def log(*entries: Entry) -> tuple[Logged, ...]:
    """The entries in their places, a second apart."""
    return tuple(Logged(seq, float(seq), entry) for seq, entry in enumerate(entries, start=1))


def prompt(text: str) -> UserPrompt:
    return UserPrompt(f"p{next(_ids)}", text)


def notice(text: str) -> Notice:
    return Notice("file_changed", text)


def says(text: str) -> AssistantReply:
    return AssistantReply(f"r{next(_ids)}", (Text(text),), "some-model", "end_turn", None)


def calls(tool: str, input: dict[str, Json], id: str = "") -> AssistantReply:
    use = ToolUse(id or f"toolu{next(_ids)}", tool, input)
    return AssistantReply(f"r{next(_ids)}", (use,), "some-model", "tool_use", None)


def returned(text: str, id: str = "", touched: tuple[FileTouch, ...] = ()) -> ToolReturned:
    return ToolReturned(id or f"toolu{next(_ids)}", "tool", text, False, len(text), touched=touched)
