"""The messages of a request as they were before a summary: one JSON Lines file an epoch, one message a line.

They are for people and for the agent's own tools, not for Ullage: nothing is ever read back from them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ullage.context.blocks import (
    Block,
    CompactionBlock,
    Document,
    Image,
    Json,
    Media,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from ullage.context.redact import redact
from ullage.context.view.request import Message
from ullage.store import folder as ullage_folder
from ullage.store.media import shown_path
from ullage.store.whole_file import write_whole


def write_transcript(folder: Path | None, session_id: str, epoch: int, messages: Sequence[Message]) -> Path | None:
    """Writes `transcripts/<session>-<epoch>.jsonl` in the folder that is kept for the workspace, secrets redacted; gives its path.

    None where there is no folder. Raises `StoreFailed`; no half file is left then.
    """
    if folder is None:
        return None
    path = ullage_folder.transcript(folder, session_id, epoch)
    write_whole(path, "".join(f"{_line(message, folder)}\n" for message in messages))
    return path


def _line(message: Message, folder: Path) -> str:
    content: list[Json] = [_block(block, folder) for block in message.blocks]
    return json.dumps({"role": message.role, "content": content}, ensure_ascii=False)


def _block(block: Block, folder: Path) -> dict[str, Json]:
    match block:
        case Text():
            return {"type": "text", "text": redact(block.text)}
        case Thinking():  # the signature is of no use to a reader
            return {"type": "thinking", "thinking": redact(block.thinking)}
        case RedactedThinking():
            return {"type": "redacted_thinking"}
        case ToolUse():
            return {
                "type": "tool_use",
                "id": block.id,
                "name": block.name,
                "input": {key: _redacted(value) for key, value in block.input.items()},
            }
        case CompactionBlock():
            return {"type": "compaction", "content": redact(block.content)}
        case Image() | Document():
            return _file_of(block, folder)
        case ToolResult():
            files: list[Json] = [_file_of(media, folder) for media in block.media]
            return {
                "type": "tool_result",
                "tool_use_id": block.tool_use_id,
                "content": redact(block.content),
                "is_error": block.is_error,
                **({"media": files} if files else {}),
            }


def _file_of(media: Media, folder: Path) -> dict[str, Json]:
    """An image or a document by its file, which stays where it is."""
    kind = "image" if isinstance(media, Image) else "document"
    return {"type": kind, "file": (folder / shown_path(media)).as_posix()}


def _redacted(value: Json) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in value.items()}
    return value
