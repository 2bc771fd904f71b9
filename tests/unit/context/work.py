"""Short ways to write down work in a test log: commands, edits, reads, task lists."""

from __future__ import annotations

from itertools import count

from tests.unit.context.logs import log, reply
from ullage.context.blocks import Json, Text, ToolUse, Usage
from ullage.context.calls import Call, answered_calls
from ullage.context.entries import AssistantReply, Entry, FileDiff, FileTouch, Logged, ToolReturned, TouchKind, UserPrompt

_ids = (f"toolu_{number}" for number in count(1))


def asked(text: str, *, steering: bool = False) -> UserPrompt:
    """What a user typed."""
    return UserPrompt(id=f"prompt {text[:20]}", text=text, steering=steering)


def priced(text: str, total_input: int, output: int, model: str = "m") -> AssistantReply:
    """A reply of text whose usage was reported (tokens)."""
    return AssistantReply("reply", (Text(text),), model, "end_turn", Usage(total_input, output))


def ran(command: str, content: str = "done", *, failed: bool = False) -> list[Entry]:
    """A command with its result."""
    return _called("bash", {"command": command}, content, is_error=failed)


def read(path: str, content: str = "text", **input: Json) -> list[Entry]:
    """A file that was read."""
    return _touching("read_file", path, "read", {"path": path, **input}, content)


def edited(path: str, old: str = "a", new: str = "b", kind: TouchKind = "edited") -> list[Entry]:
    """A file that was changed."""
    diff = FileDiff(path, old, new) if kind == "edited" else None
    return _touching("edit_file", path, kind, {"path": path, "old_text": old, "new_text": new}, f"Edited {path}.", diff)


def planned(*tasks: tuple[str, str]) -> list[Entry]:
    """The task list: contents with their states."""
    todos: list[Json] = [{"content": content, "status": status} for content, status in tasks]
    return _called("todo", {"todos": todos}, "Noted.")


def work(*steps: Entry | list[Entry]) -> list[Logged]:
    """The steps one after the other, from seq 1 on."""
    entries: list[Entry] = []
    for step in steps:
        entries += step if isinstance(step, list) else [step]
    return log(*entries)


def calls_of(*steps: Entry | list[Entry]) -> list[Call]:
    """The calls of these steps."""
    return answered_calls(work(*steps))


def _called(tool: str, input: dict[str, Json], content: str, *, is_error: bool = False) -> list[Entry]:
    id = next(_ids)
    return [reply(ToolUse(id, tool, input)), ToolReturned(id, tool, content, is_error, len(content))]


def _touching(tool: str, path: str, kind: TouchKind, input: dict[str, Json], content: str, diff: FileDiff | None = None) -> list[Entry]:
    id = next(_ids)
    touched = (FileTouch(path, kind, "" if kind == "deleted" else "0" * 64),)
    return [
        reply(ToolUse(id, tool, input)),
        ToolReturned(id, tool, content, is_error=False, characters=len(content), touched=touched, diff=diff),
    ]
