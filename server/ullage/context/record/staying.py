"""The text of the messages that stay in view beside a record: what stands in it, the record need not say again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ullage.context.blocks import Text, ToolUse
from ullage.context.entries import AssistantReply, Clipped, Compaction, Entry, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.record.calls import strings_of


def staying_text(tail: Sequence[Logged], cleared: Collection[int]) -> str:
    """What the model goes on seeing of `tail`, for certain. `cleared` are the seqs of results that give way to a marker; of one that was
    shortened after it came, or that an earlier compaction cleared or cut out (undone or not), nothing is taken to be seen."""
    gone = {*cleared, *(seq for logged in tail for seq in _taken_from_view(logged.entry))}
    return "\n".join(text for logged in tail if logged.seq not in gone for text in _texts(logged.entry))


def _taken_from_view(entry: Entry) -> Iterator[int]:
    if isinstance(entry, Clipped):
        yield entry.seq
    elif isinstance(entry, Compaction):
        yield from (each.seq for each in entry.cleared)
        if entry.snipped is not None:
            yield from range(entry.snipped.first_seq, entry.snipped.last_seq + 1)


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case UserPrompt() as prompt:
            yield prompt.text
            yield from (attachment.text for attachment in prompt.attachments)
        case AssistantReply() as reply:
            for block in reply.blocks:
                if isinstance(block, Text):
                    yield block.text
                elif isinstance(block, ToolUse):
                    yield from strings_of(block.input)
        case ToolReturned(content=text) | Notice(text=text):
            yield text
        case _:
            return
