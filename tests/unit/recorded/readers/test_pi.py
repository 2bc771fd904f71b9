"""Sessions of pi. The lines follow `session-manager.ts`, `messages.ts` and `packages/ai/src/types.ts` of badlogic/pi-mono 0.58.3."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from tests.unit.recorded.readers.recorded import Line, drawn, mended, written
from ullage.context.blocks import Json, Usage
from ullage.context.entries import ToolReturned
from ullage.recorded.readers import read
from ullage.recorded.transcript import Transcript

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Pi:
    """The lines of one session, each following the one before unless said otherwise."""

    def __init__(self, version: int = 3) -> None:
        self.lines: list[Line] = [
            {"type": "session", "version": version, "id": "s1", "timestamp": "2026-02-01T10:00:00.000Z", "cwd": "/work/app"}
        ]
        self._numbers = count(1)
        self._last: str | None = None

    def entry(self, kind: str, after: str | None = None, **members: Json) -> str:
        """Any entry; gives its id."""
        number = next(self._numbers)
        id = f"e{number}"
        at = f"2026-02-01T10:00:{number:02}.000Z"
        self.lines.append({"type": kind, "id": id, "parentId": after or self._last, "timestamp": at, **members})
        self._last = id
        return id

    def message(self, role: str, content: Json, said_after: str | None = None, **members: Json) -> str:
        return self.entry("message", said_after, message={"role": role, "content": content, "timestamp": 1_769_940_000_000, **members})

    def reply(self, *blocks: Json, stop: str = "stop", **members: Json) -> str:
        usage: Json = {"input": 3, "output": 40, "cacheRead": 100, "cacheWrite": 30, "totalTokens": 173, "cost": {"total": 0.01}}
        common: Line = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5", "usage": usage}
        return self.message("assistant", list(blocks), None, stopReason=stop, **{**common, **members})

    def result(self, call: str, text: str, *more: Json, failed: bool = False) -> str:
        said: Json = [{"type": "text", "text": text}, *more]
        return self.message("toolResult", said, toolCallId=call, toolName="read", isError=failed, details={"diff": "…"})


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def call(id: str, name: str = "bash", **arguments: Json) -> Json:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def every_kind() -> list[Line]:
    """A line of every kind that the reader knows."""
    pi = Pi()
    pi.entry("model_change", provider="anthropic", modelId="claude-sonnet-4-5")
    first = pi.message("user", [text("Fix it"), {"type": "image", "data": PIXEL, "mimeType": "image/png"}])
    pi.reply(
        {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "s"},
        {"type": "thinking", "thinking": "", "thinkingSignature": "x", "redacted": True},
        text("I look."),
        call("t1", "read", path="/work/app/a.py"),
        call("t2", "edit", path="/work/app/a.py", oldText="a", newText="b"),
        stop="toolUse",
    )
    pi.result("t1", "a = 1")
    pi.result("t2", "no", failed=True)
    pi.message("bashExecution", None, command="ls", output="a.py", exitCode=1, cancelled=False, truncated=False)
    pi.entry("custom_message", customType="x", content="Mind the gap", display=True)
    pi.entry("compaction", summary="So far", firstKeptEntryId=first, tokensBefore=900)
    pi.entry("custom", customType="x", data={"n": 1})
    pi.entry("label", targetId=first, label="here")
    pi.entry("branch_summary", fromId=first, summary="Went elsewhere")
    pi.reply(text("Done."))
    return pi.lines


def taken(folder: Path, lines: list[Line]) -> Transcript:
    (transcript,) = read(written(folder, lines))
    return transcript


def test_a_session_with_everything(tmp_path: Path):
    session = taken(tmp_path, every_kind())
    assert (session.session_id, session.source, session.project) == ("s1", "pi", "/work/app")
    assert drawn(session) == [
        "user: Fix it\n[image, 1 x 1 pixels, 1 tokens]",
        "assistant: Hm. | x | I look. | t1() | t2()",
        "=t1 a = 1",
        "=t2 ! no",
        "program: $ ls\na.py\n(exit code 1)",
        "program: Mind the gap",
        "program: Went elsewhere",
        "assistant: Done.",
    ]
    assert session.replies[0].usage == Usage(3, 40, 100, 30)
    assert session.replies[0].model == "claude-sonnet-4-5"
    (compaction,) = session.compactions
    assert (compaction.after_seq, compaction.summary, compaction.tokens_before) == (6, "So far", 900)
    assert mended(session) == {"compactions that kept some messages as they were": 1}
    assert session.media_tokens == {1: 1}
    read_it = session.entries[2].entry
    assert isinstance(read_it, ToolReturned)
    assert [(touch.path, touch.kind) for touch in read_it.touched] == [("a.py", "read")]


def test_only_the_branch_that_ends_last_is_read(tmp_path: Path):
    pi = Pi()
    first = pi.message("user", "Hello")
    pi.reply(text("One way"))
    pi.message("user", "Other", said_after=first)
    pi.reply(text("Another way"))
    session = taken(tmp_path, pi.lines)
    assert drawn(session) == ["user: Hello", "user: Other", "assistant: Another way"]
    assert mended(session) == {"messages on branches that were not continued": 1}


def test_the_first_version_has_lines_without_ids(tmp_path: Path):
    lines = [{name: value for name, value in line.items() if name not in ("parentId", "version")} for line in every_kind()]
    lines = [lines[0], *({name: value for name, value in line.items() if name != "id"} for line in lines[1:])]
    session = taken(tmp_path, lines)
    assert drawn(session) == drawn(taken(tmp_path, every_kind()))


def test_a_second_root_is_a_conversation_that_was_begun_anew(tmp_path: Path):
    pi = Pi()
    pi.message("user", "Hello")
    pi.message("user", "Anew")
    pi.lines[-1]["parentId"] = None
    assert drawn(taken(tmp_path, pi.lines)) == ["user: Anew"]


def test_what_a_version_to_come_writes_is_counted(tmp_path: Path):
    pi = Pi()
    pi.message("user", "Hello", shade="blue")
    pi.entry("dream", about="sheep")
    pi.message("oracle", "…")
    pi.reply(text("Hi."), {"type": "hologram"})
    session = taken(tmp_path, pi.lines)
    assert drawn(session) == ["user: Hello", "assistant: Hi."]
    assert mended(session) == {
        'lines of the unknown kind "dream"': 1,
        'messages of the unknown kind "oracle"': 1,
        'blocks of the unknown kind "hologram"': 1,
    }


def test_calls_that_failed_without_a_word_are_told(tmp_path: Path):
    pi = Pi()
    pi.message("user", "Hello")
    pi.reply(stop="aborted")
    pi.reply(text("Hi."))
    session = taken(tmp_path, pi.lines)
    assert drawn(session) == ["user: Hello", "assistant: Hi."]
    assert mended(session) == {"calls that failed or were broken off without a reply": 1}


def test_a_line_whose_predecessor_is_missing_follows_the_one_before(tmp_path: Path):
    pi = Pi()
    pi.message("user", "Hello")
    pi.message("user", "Again", said_after="gone")
    session = taken(tmp_path, pi.lines)
    assert drawn(session) == ["user: Hello", "user: Again"]
    assert mended(session) == {"lines whose predecessor is not in the file": 1}
