"""Short ways to write down the lines of other programs' transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from ullage.context.blocks import Json
from ullage.context.entries import AssistantReply, Notice, Prelude, ToolReturned, UserPrompt
from ullage.recorded.transcript import Transcript

Line = dict[str, Json]


class Claude:
    """Lines of one Claude Code session, each following the one before unless said otherwise."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._numbers = count(1)

    def line(self, kind: str, **members: Json) -> str:
        """Any line; gives its uuid."""
        number = next(self._numbers)
        before = next((line["uuid"] for line in reversed(self.lines) if "uuid" in line), None)
        common: Line = {
            "type": kind,
            "uuid": f"u{number}",
            "parentUuid": before,
            "sessionId": "s1",
            "cwd": "/work/app",
            "isSidechain": False,
            "timestamp": f"2026-02-01T10:00:{number:02}.000Z",
        }
        self.lines.append({**common, **members})
        return f"u{number}"

    def user(self, content: Json, **members: Json) -> str:
        """What the user said, or results."""
        return self.line("user", message={"role": "user", "content": content}, **members)

    def assistant(self, id: str, *blocks: Json, output: int = 40, stop: str | None = "end_turn", **members: Json) -> str:
        """A line of the reply with that id."""
        usage: Line = {
            "input_tokens": 3,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
            "output_tokens": output,
        }
        message: Line = {"id": id, "model": "claude-opus-4-5-20251101", "role": "assistant", "content": list(blocks)}
        return self.line("assistant", message={**message, "stop_reason": stop, "usage": usage}, requestId=f"req-{id}", **members)


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def use(id: str, name: str = "Bash", **input: Json) -> Line:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Json = "done", **members: Json) -> Line:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **members}


def codex(kind: str, **payload: Json) -> Line:
    """A line of a Codex rollout."""
    return {"timestamp": "2026-06-17T10:07:16.815Z", "type": kind, "payload": payload}


def written(folder: Path, lines: Iterable[Json], name: str = "session.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def drawn(transcript: Transcript) -> list[str]:
    """The entries as short lines."""
    return [_drawn(logged.entry) for logged in transcript.entries]


def mended(transcript: Transcript) -> dict[str, int]:
    """The repairs by name."""
    return {repair.what: repair.count for repair in transcript.repairs}


def _drawn(entry: object) -> str:
    match entry:
        case Prelude():
            return f"system: {entry.system[0].text}"
        case UserPrompt():
            return f"{'steers' if entry.steering else 'user'}: {entry.text}"
        case Notice():
            return f"program: {entry.text}"
        case ToolReturned():
            return f"={entry.tool_use_id} {'! ' if entry.is_error else ''}{entry.content}"
        case AssistantReply():
            return "assistant: " + " | ".join(_block(block) for block in entry.blocks)
        case _:
            return type(entry).__name__


def _block(block: object) -> str:
    for name in ("text", "id", "thinking", "data"):
        value = getattr(block, name, None)
        if value is not None:
            return f"{value}()" if name == "id" else str(value)
    return "…"
