"""Which entries lie in the messages that follow a compaction, and what of an entry is text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ullage.context.blocks import Text, ToolUse
from ullage.context.calls import strings_of
from ullage.context.entries import AssistantReply, Entry, Logged, Notice, ToolReturned, UserPrompt

WINDOW_MESSAGES = 60
"""How far after a compaction a fact counts as needed later, a file as read again."""


def entries_after(entries: Sequence[Logged], after_seq: int, messages: int = WINDOW_MESSAGES) -> Iterator[Logged]:
    """The entries of the next `messages` messages, counted as they are sent: a reply is one, all that stands between two replies (results,
    prompts, notices) is one. `entries` count from 1 without gaps."""
    counted = 0
    in_user_message = False
    for logged in entries[after_seq:]:
        if not isinstance(logged.entry, AssistantReply | ToolReturned | UserPrompt | Notice):
            continue
        from_user = not isinstance(logged.entry, AssistantReply)
        if not (from_user and in_user_message):
            counted += 1
        if counted > messages:
            return
        in_user_message = from_user
        yield logged


def shown_text(entry: Entry) -> str:
    """What the model was given to read: a prompt with its attachments, a result, a notice; empty for anything else."""
    match entry:
        case UserPrompt():
            return "\n".join((entry.text, *(attachment.text for attachment in entry.attachments)))
        case ToolReturned():
            return entry.content
        case Notice():
            return entry.text
        case _:
            return ""


def written_text(reply: AssistantReply) -> str:
    """What the model wrote for others: its text and its tools' input. Thinking is not counted, since recordings rarely hold it whole."""
    parts: list[str] = []
    for block in reply.blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, ToolUse):
            parts.extend(strings_of(block.input))
    return "\n".join(parts)
