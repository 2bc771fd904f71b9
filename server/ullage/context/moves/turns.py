"""Where the turns of the user begin among the messages in view."""

from __future__ import annotations

from ullage.context.entries import UserPrompt
from ullage.context.view.log_places import entry_at
from ullage.context.view.message import Message
from ullage.context.view.projection import Projection


def begins_turn(projection: Projection, message: Message) -> bool:
    """Whether the user asks for something new in it. What steers a running turn begins none."""
    return _turns_in(projection, message) > 0


def start_of_turns(projection: Projection, turns: int) -> int:
    """The index of the message with which the newest `turns` turns begin; 0 where there are no more than that in view."""
    messages = projection.messages
    for index in range(len(messages) - 1, -1, -1):
        turns -= _turns_in(projection, messages[index])
        if turns <= 0:
            return index
    return 0


def newest_turn(projection: Projection) -> int:
    """The seq of the prompt with which the newest turn began; where none is in view, that of the first entry."""
    entries = projection.entries
    prompts = (each.seq for each in reversed(entries) if isinstance(each.entry, UserPrompt) and not each.entry.steering)
    return next(prompts, entries[0].seq if entries else 0)


def _turns_in(projection: Projection, message: Message) -> int:
    if message.role == "assistant":
        return 0
    entries = (entry_at(projection.entries, source) for source in set(message.sources))
    return sum(1 for entry in entries if isinstance(entry, UserPrompt) and not entry.steering)
