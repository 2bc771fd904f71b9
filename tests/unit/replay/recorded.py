"""Small recorded sessions, made by hand: entries in few words."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.blocks import AssistantBlock, Text, Thinking, ToolUse, Usage
from ullage.context.entries import AssistantReply, Entry, Logged, ToolReturned, UserPrompt
from ullage.recorded.transcript import RecordedCompaction, Source, Transcript

MODEL = "claude-opus-5"


@dataclass(frozen=True)
class At:
    """An entry and when it was logged (seconds)."""

    seconds: float
    entry: Entry


def prompt(text: str = "Go on.") -> UserPrompt:
    """What the user said."""
    return UserPrompt("prompt", text)


def reply(
    input: int = 0,
    read: int = 0,
    written: int = 0,
    *,
    output: int = 50,
    written_1h: int = 0,
    model: str = MODEL,
    blocks: tuple[AssistantBlock, ...] = (Text("Done."),),
) -> AssistantReply:
    """A counted reply; `input`, `read` and the rest are tokens of its request."""
    return AssistantReply("reply", blocks, model, "end_turn", Usage(input, output, read, written, written_1h))


def uncounted(*blocks: AssistantBlock) -> AssistantReply:
    """A reply without a count."""
    return AssistantReply("reply", blocks, MODEL, "", None)


def thought(words: str = "Hm. " * 50) -> Thinking:
    """A block of thinking."""
    return Thinking(words, "")


def call(id: str = "call") -> ToolUse:
    """A call of a tool."""
    return ToolUse(id, "read_file", {"path": "a.py"})


def returned(content: str, id: str = "call") -> ToolReturned:
    """What a tool gave back."""
    return ToolReturned(id, "read_file", content, False, len(content))


def compacted(after_seq: int, summary: str = "", tokens_before: int | None = None) -> RecordedCompaction:
    """A compaction behind the entry of that number."""
    return RecordedCompaction(after_seq, summary, None, tokens_before, None)


def session(*entries: At | Entry, compactions: tuple[RecordedCompaction, ...] = (), source: Source = "claude-code") -> Transcript:
    """A recorded session of these entries, one second apart where no time is given."""
    logged: list[Logged] = []
    now = 1_000.0
    for seq, each in enumerate(entries, 1):
        now = 1_000.0 + each.seconds if isinstance(each, At) else now + 1
        logged.append(Logged(seq, now, each.entry if isinstance(each, At) else each))
    return Transcript("session", source, tuple(logged), compactions, (), ())
