"""A session of messages as entries of Ullage's log. Imports `ullage.context` only, which needs no other package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ullage.context.blocks import AssistantBlock, SystemPart, Text, ToolSpec, ToolUse, Usage
from ullage.context.entries import AssistantReply, Entry, FileDiff, FileTouch, Prelude, ToolReturned, TurnEnded, UserPrompt

PRELUDE = Prelude(
    (SystemPart("system", "You are a coding agent. " * 40),),
    tuple(ToolSpec(name, f"The tool {name}.", {"type": "object"}) for name in ("read_file", "edit_file", "bash", "search")),
)
"""What stands before the messages of a generated session."""

MODEL = "claude-opus-5-5"
"""Whose replies they are said to be."""


class Writer:
    """Turns the messages of one session into entries, one after the other."""

    def __init__(self) -> None:
        self._number = 0
        self._calls: Mapping[str, ToolUse] = {}

    def entries(self, message: Mapping[str, Any]) -> tuple[Entry, ...]:
        """The entries that bring the session's next message."""
        self._number += 1
        if message["role"] == "user":
            return tuple(_said(self._number, block, self._calls) for block in message["content"])
        reply = _reply(self._number, message)
        self._calls = {block.id: block for block in reply.blocks if isinstance(block, ToolUse)}
        return (reply,) if self._calls else (reply, TurnEnded("end_turn"))


def _reply(number: int, message: Mapping[str, Any]) -> AssistantReply:
    blocks: list[AssistantBlock] = [
        Text(block["text"]) if block["type"] == "text" else ToolUse(block["id"], block["name"], block["input"])
        for block in message["content"]
    ]
    usage = message["usage"]
    reported = Usage(usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"])
    return AssistantReply(f"reply {number}", tuple(blocks), MODEL, message["stop_reason"], reported)


def _said(number: int, block: Mapping[str, Any], calls: Mapping[str, ToolUse]) -> Entry:
    if block["type"] == "text":
        return UserPrompt(f"prompt {number}", block["text"])
    call, content = calls[block["tool_use_id"]], block["content"]
    touched: tuple[FileTouch, ...] = ()
    diff = None
    path = call.input.get("path")
    if isinstance(path, str):
        touched = (FileTouch(path, "edited" if call.name == "edit_file" else "read", "0" * 64),)
    if call.name == "edit_file":
        diff = FileDiff(str(path), str(call.input["old_text"]), str(call.input["new_text"]))
    return ToolReturned(call.id, call.name, content, bool(block.get("is_error")), len(content), touched=touched, diff=diff)
