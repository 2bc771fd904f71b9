"""Short ways to write down a log in a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ullage.context.blocks import (
    AssistantBlock,
    Block,
    CompactionBlock,
    Document,
    Image,
    Message,
    Role,
    SystemPart,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from ullage.context.compaction_entries import Cleared, Compaction, RestoredFile, Snipped, Summarised
from ullage.context.entries import AssistantReply, Entry, FileTouch, Logged, Prelude, ToolReturned, UserPrompt

PRELUDE = Prelude((SystemPart("system", "You are a coding agent."),), ())


def log(*entries: Entry) -> list[Logged]:
    """The entries in their places, from seq 1 on."""
    return [Logged(seq, float(seq), entry) for seq, entry in enumerate(entries, 1)]


def session(*entries: Entry) -> list[Logged]:
    """A log that begins with a prelude, so that the first of `entries` has seq 2."""
    return log(PRELUDE, *entries)


def prompt(text: str) -> UserPrompt:
    """What a user typed."""
    return UserPrompt(id=f"prompt {text}", text=text)


def reply(*blocks: AssistantBlock) -> AssistantReply:
    """A reply of the model."""
    calls = any(isinstance(block, ToolUse) for block in blocks)
    return AssistantReply("reply", blocks, "practice", "tool_use" if calls else "end_turn", None)


def says(text: str) -> AssistantReply:
    """A reply of text alone."""
    return reply(Text(text))


def calls(*ids: str) -> AssistantReply:
    """A reply that calls the tool `read_file` once for each id."""
    return reply(*(use(id) for id in ids))


def use(id: str) -> ToolUse:
    """A call of `read_file`."""
    return ToolUse(id, "read_file", {"path": f"{id}.py"})


def thought(text: str) -> Thinking:
    """Thinking with a signature."""
    return Thinking(text, f"signature of {text}")


def returned(id: str, content: str | None = None, *reads: str) -> ToolReturned:
    """A result of `read_file`; `reads` are the paths that it read."""
    text = f"text of {id}" if content is None else content
    touched = tuple(FileTouch(path, "read", "0" * 64) for path in reads)
    return ToolReturned(id, "read_file", text, is_error=False, characters=len(text), touched=touched)


def compaction(
    id: str,
    *,
    cleared: Iterable[Cleared] = (),
    snipped: Snipped | None = None,
    summarised: Summarised | None = None,
    restored: Sequence[RestoredFile] = (),
    resume: str = "",
) -> Compaction:
    """A compaction with these edits."""
    return Compaction(
        id=id,
        trigger="threshold",
        rung="digest" if summarised else "moves",
        through=0,
        cleared=tuple(cleared),
        snipped=snipped,
        summarised=summarised,
        restored=tuple(restored),
        resume=resume,
        focus="",
        policy="ullage",
        tokens_before=0,
        estimated_after=0,
    )


def flat(messages: Iterable[Message]) -> list[tuple[Role, Block]]:
    """The blocks one after the other, each with who says it: what the API sees, as it merges neighbours of a role."""
    return [(message.role, block) for message in messages for block in message.blocks]


def characters(messages: Iterable[Message]) -> int:
    """A count of tokens for tests: the characters of everything."""
    return sum(_length(block) for message in messages for block in message.blocks)


def drawn(messages: Iterable[Message]) -> list[str]:
    """The messages as short lines: `user: =t1 text of t1 | hello`, `assistant: hm (why) t1()`."""
    return [f"{message.role}: {' | '.join(_drawn(block) for block in message.blocks)}" for message in messages]


def _drawn(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case Thinking():
            return f"({block.thinking})"
        case ToolUse():
            return f"{block.id}()"
        case ToolResult():
            return f"={block.tool_use_id} {'! ' if block.is_error else ''}{block.content}{''.join(map(_drawn, block.media))}"
        case Image() | Document():
            return f"<{block.sha256[:4]}>"
        case _:
            return "(…)"


def _length(block: Block) -> int:
    match block:
        case Text():
            return len(block.text)
        case Thinking():
            return len(block.thinking)
        case ToolUse():
            return len(block.name) + len(str(block.input))
        case CompactionBlock():
            return len(block.content)
        case ToolResult():
            return len(block.content) + sum(map(_length, block.media))
        case Image() | Document():
            return 500
        case _:
            return len(block.data)
