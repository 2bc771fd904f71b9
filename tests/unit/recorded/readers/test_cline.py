"""Tasks of Cline. The messages follow `task/index.ts`, `message-state.ts` and `ToolResultUtils.ts` of cline/cline 3.89.2, those of newer
versions the session in `sdk/packages/core/fixtures` of 4.1.13, with its compaction (`session-compaction.ts`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.unit.recorded.readers.recorded import Line, drawn, mended, result, text, use
from ullage.context.blocks import Json, ToolUse, Usage
from ullage.context.entries import ToolReturned
from ullage.recorded.readers import NotATranscript, read
from ullage.recorded.transcript import Transcript

AROUND = "<environment_details>\n# Current Working Directory (/work/app) Files\na.py\n</environment_details>"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE: Line = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


THINKING: Line = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def user(*blocks: Json, **members: Json) -> Line:
    return {"role": "user", "content": list(blocks), **members}


def reply(*blocks: Json, **members: Json) -> Line:
    return {"role": "assistant", "content": list(blocks), **members}


def with_metrics(*blocks: Json) -> Line:
    about: Line = {"modelId": "claude-sonnet-4-5", "providerId": "anthropic", "mode": "act"}
    counts: Json = {"tokens": {"prompt": 3, "completion": 40, "cached": 130}, "cost": 0.01}
    return reply(*blocks, modelInfo=about, metrics=counts, ts=1_769_940_001_000)


def with_calls() -> list[Line]:
    """A task whose calls are blocks."""
    return [
        user(text("<task>\nFix it\n</task>"), IMAGE, text(AROUND), ts=1_769_940_000_000),
        with_metrics(THINKING, text("I look."), use("t1", "read_file", path="a.py"), use("t2")),
        user(result("t1", "[read_file for 'a.py'] Result:\na = 1"), result("t2", [text("no"), IMAGE], is_error=True), text(AROUND)),
        with_metrics(use("t3", "attempt_completion", result="Done.")),
        user(result("t3", "ok"), text("<feedback>\nNot yet\n</feedback>")),
        with_metrics(text("On.")),
    ]


def with_xml() -> list[Line]:
    """A task whose calls are XML in the text, without times."""
    asked = "I look.\n\n<read_file>\n<path>a.py</path>\n</read_file>"
    wrote = "<write_to_file>\n<path>b.py</path>\n<content>\nb = <x>1</x>\n</content>\n</write_to_file>"
    return [
        user(text("<task>\nFix it\n</task>"), text(AROUND)),
        reply(text(asked)),
        user(text("[read_file for 'a.py'] Result:"), text("a = 1"), text(AROUND)),
        reply(text(wrote)),
        user(text("[write_to_file for 'b.py'] Result:\nSaved"), text("The user said:\n<feedback>\nNice\n</feedback>"), text(AROUND)),
        reply(text("Say `<read_file>` to read.")),
        user(text("[ERROR] You did not use a tool in your previous response!")),
    ]


def shown(say: str, place: int, **members: Json) -> Line:
    return {"ts": 1_769_940_000_000 + 1_000 * (place + 2), "type": "say", "say": say, "conversationHistoryIndex": place, **members}


def asked_model(place: int, cut: Sequence[int] | None = None, **counts: Json) -> Line:
    told = json.dumps({"request": "…", "tokensIn": 3, "tokensOut": 40, "cacheWrites": 30, "cacheReads": 100, **counts})
    more: Line = {} if cut is None else {"conversationHistoryDeletedRange": list(cut)}
    return shown("api_req_started", place, text=told, **more)


def task(folder: Path, messages: list[Line], shown: list[Line] | None = None, metadata: Json = None, id: str = "17") -> Transcript:
    folder = folder / "tasks" / id
    folder.mkdir(parents=True)
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps(messages))
    if shown is not None:
        (folder / "ui_messages.json").write_text(json.dumps(shown))
    if metadata is not None:
        (folder / "task_metadata.json").write_text(json.dumps(metadata, indent=2))
    (transcript,) = read(path)
    return transcript


def test_a_task_whose_calls_are_blocks(tmp_path: Path):
    session = task(tmp_path, with_calls())
    assert (session.session_id, session.source, session.project) == ("17", "cline", "/work/app")
    assert drawn(session) == [
        "user: Fix it",
        "user: [image, 1 x 1 pixels, 1 tokens]",
        f"program: {AROUND}",
        "assistant: Hm. | I look. | t1() | t2()",
        "=t1 a = 1",
        "=t2 ! no\n[image, 1 x 1 pixels, 1 tokens]",
        f"program: {AROUND}",
        "assistant: t3()",
        "=t3 ok",
        "user: Not yet",
        "assistant: On.",
    ]
    assert session.replies[0].model == "claude-sonnet-4-5"
    assert session.replies[0].usage == Usage(3, 40, 130)
    assert any("only the sum" in note for note in session.notes)
    assert session.media_tokens == {2: 1, 6: 1}
    read_it = session.entries[4].entry
    assert isinstance(read_it, ToolReturned)
    assert [(touch.path, touch.kind) for touch in read_it.touched] == [("a.py", "read")]


def test_calls_in_the_text_become_calls(tmp_path: Path):
    session = task(tmp_path, with_xml())
    assert drawn(session) == [
        "user: Fix it",
        f"program: {AROUND}",
        "assistant: I look. | call-1()",
        "=call-1 a = 1",
        f"program: {AROUND}",
        "assistant: call-2()",
        "=call-2 Saved",
        "user: Nice",
        f"program: {AROUND}",
        "assistant: Say `<read_file>` to read.",
        "program: [ERROR] You did not use a tool in your previous response!",
    ]
    call = session.replies[1].blocks[0]
    assert isinstance(call, ToolUse)
    assert call.input == {"path": "b.py", "content": "b = <x>1</x>"}
    assert mended(session) == {"replies without token counts": 3, "entries without a time": 11}


def test_tokens_times_and_models_come_from_the_files_beside(tmp_path: Path):
    metadata: Json = {"files_in_context": [], "model_usage": [{"ts": 1, "model_id": "old"}, {"ts": 1_769_940_003_000, "model_id": "new"}]}
    told = [shown("task", -1, text="Fix it"), asked_model(-1), asked_model(1, tokensIn=7), asked_model(3)]
    session = task(tmp_path, with_xml(), told, metadata)
    assert [each.usage for each in session.replies] == [Usage(3, 40, 100, 30), Usage(7, 40, 100, 30), Usage(3, 40, 100, 30)]
    assert [each.model for each in session.replies] == ["old", "new", "new"]
    assert session.entries[2].at == 1_769_940_001.0
    assert "entries without a time" in mended(session)  # the last message of the user began no call


def test_what_was_cut_away_is_a_compaction_without_a_summary(tmp_path: Path):
    told = [asked_model(-1), asked_model(1), shown("text", 2, conversationHistoryDeletedRange=[2, 3]), asked_model(3, [2, 3])]
    session = task(tmp_path, with_xml(), told)
    assert [(each.after_seq, each.summary, each.automatic) for each in session.compactions] == [(5, "", True)]
    assert mended(session)["compactions whose summary is not recorded"] == 1


def test_a_summary_is_a_compaction_and_what_was_cut_away_for_it_none(tmp_path: Path):
    continued = "[summarize_task] Result:\n\nThis session is being continued from a previous conversation that ran out of context. So far."
    messages = [*with_calls(), user(text("Explicit instructions")), with_metrics(use("t4", "summarize_task", context="So far."))]
    told = [asked_model(-1), asked_model(7, [2, 7]), asked_model(10, [2, 9])]
    session = task(tmp_path, [*messages, user(text(continued)), with_metrics(text("On."))], told)
    (compaction,) = session.compactions
    assert "So far." in compaction.summary
    assert drawn(session)[compaction.after_seq - 1] == "assistant: t4()"
    assert drawn(session)[compaction.after_seq :] == ["assistant: On."]


def test_tasks_whose_other_files_are_damaged_are_read(tmp_path: Path):
    session = task(tmp_path, with_xml(), None, None)
    folder = tmp_path / "tasks" / "17"
    (folder / "ui_messages.json").write_text(json.dumps([asked_model(-1), 7, {"ts": "x", "conversationHistoryIndex": []}])[:-2])
    (folder / "task_metadata.json").write_text('{\n "model_usage": [{"ts": {}}]')
    (again,) = read(folder / "api_conversation_history.json")
    assert drawn(again) == drawn(session)
    assert again.replies[0].usage == Usage(3, 40, 100, 30)
    assert any(note.startswith("ui_messages.json: 1 places where the file breaks off") for note in again.notes)


def newer(folder: Path, name: str = "s1") -> Path:
    """A session as newer versions write it, with the files beside it."""
    folder = folder / "sessions" / "s1"
    folder.mkdir(parents=True, exist_ok=True)
    about: Line = {"id": "anthropic/claude-sonnet-4-5", "provider": "cline", "family": "claude"}
    counts: Json = {"inputTokens": 133, "outputTokens": 40, "cacheReadTokens": 100, "cacheWriteTokens": 30, "cost": 0.01}
    read_it: Json = [{"query": "/work/app/a.py", "result": "1 | a = 1", "success": True}]
    files: Json = [{"path": "/work/app/a.py"}]
    messages: list[Json] = [
        user(text('<user_input mode="act">Fix it</user_input>'), {"type": "file", "path": "a.py", "content": "a"}, ts=1_769_940_000_000),
        reply(text("I look."), use("t1", "read_files", files=files), modelInfo=about, metrics=counts, ts=1_769_940_001_000),
        user({"type": "tool_result", "tool_use_id": "t1", "name": "read_files", "content": read_it}, ts=1_769_940_002_000),
        reply(text("Done."), modelInfo=about, metrics=counts, ts=1_769_940_003_000),
        user(text("Thanks"), ts=1_769_940_004_000),
    ]
    whole: Json = {"version": 1, "updated_at": "2026-02-01T10:00:00Z", "agent": "lead", "sessionId": name, "messages": messages}
    (folder / f"{name}.messages.json").write_text(json.dumps(whole, indent=1))
    (folder / f"{name}.json").write_text(json.dumps({"version": 1, "session_id": "s1", "cwd": "/work/app"}, indent=1))
    says: Json = {"kind": "compaction_summary", "summary": "So far", "tokensBefore": 900, "generatedAt": 1_769_940_003_500}
    state: Json = {"version": 1, "source_message_count": 4, "messages": [user(text("Context summary: So far"), metadata=says), messages[4]]}
    (folder / f"{name}.compaction.json").write_text(json.dumps(state))
    return folder / f"{name}.messages.json"


def test_a_session_of_newer_versions(tmp_path: Path):
    (session,) = read(newer(tmp_path))
    assert (session.session_id, session.project) == ("s1", "/work/app")
    look = ["assistant: I look. | t1()", "=t1 1 | a = 1"]
    assert drawn(session) == ["user: Fix it", "program: a.py\na", *look, "assistant: Done.", "user: Thanks"]
    assert session.replies[0].usage == Usage(3, 40, 100, 30)
    assert session.replies[0].model == "anthropic/claude-sonnet-4-5"
    assert [(each.after_seq, each.summary, each.tokens_before) for each in session.compactions] == [(5, "So far", 900)]
    read_it = session.entries[3].entry
    assert isinstance(read_it, ToolReturned)
    assert [touch.path for touch in read_it.touched] == ["a.py"]


def test_a_sub_agent_is_named_after_the_folder_of_its_session(tmp_path: Path):
    (session,) = read(newer(tmp_path, "helper"))
    assert session.session_id == "s1/helper"


def test_a_list_of_messages_that_nothing_shows_to_be_of_cline_is_refused(tmp_path: Path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps([user(text("Hi"))]))
    with pytest.raises(NotATranscript, match=r"other\.json is no transcript"):
        read(path)
