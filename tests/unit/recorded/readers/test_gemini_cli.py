"""Sessions of Gemini CLI. The lines follow `chatRecordingTypes.ts` and `chatRecordingService.ts` of google-gemini/gemini-cli 0.56, the
document that of 0.38, saved chats `core/logger.ts`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.deep import many
from tests.unit.recorded.readers.recorded import Line, drawn, mended, written
from ullage.context.blocks import Json, Usage
from ullage.context.entries import ToolReturned, UserPrompt
from ullage.recorded.readers import read
from ullage.recorded.transcript import Transcript

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ABOUT: Line = {"sessionId": "s1", "projectHash": "0123456789abcdef", "startTime": "2026-02-01T10:00:00Z", "kind": "main"}


def message(id: str, kind: str, content: Json, **members: Json) -> Line:
    return {"id": id, "timestamp": f"2026-02-01T10:00:{len(id):02}.000Z", "type": kind, "content": content, **members}


def user(id: str, content: Json, **members: Json) -> Line:
    return message(id, "user", content, **members)


def model(id: str, content: Json, **members: Json) -> Line:
    tokens: Json = {"input": 130, "output": 40, "cached": 100, "thoughts": 5, "tool": 2, "total": 177}
    return message(id, "gemini", content, **{"model": "gemini-2.5-pro", "tokens": tokens, **members})


def response(id: str, output: str, name: str = "read_file") -> Json:
    return {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}


def call(id: str, output: str | None = "done", name: str = "read_file", status: str = "success", **args: Json) -> Json:
    result: Json = None if output is None else [response(id, output, name)]
    return {"id": id, "name": name, "args": args, "status": status, "timestamp": "2026-02-01T10:00:30Z", "result": result}


def every_kind() -> list[Line]:
    """A line of every kind that the reader knows."""
    first = model("m1", "I look.", thoughts=[{"subject": "Look", "description": "at it", "timestamp": "2026-02-01T10:00:01Z"}])
    calls: Json = [
        call("t1", "a = 1", absolute_path="/work/app/a.py"),
        call("t2", "no", "run_shell_command", "error", command="make"),
        call("t3", None, "write_file", "cancelled", file_path="/work/app/b.py", content="b"),
    ]
    image: Json = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    told: Json = [response("t1", "a = 1"), {"functionResponse": {"id": "t3", "response": {"error": "cancelled"}}}]
    return [
        ABOUT,
        user("u0", [{"text": "<session_context>It is Monday"}]),
        user("u1", [{"text": "Fix it"}, image], displayContent="Fix it"),
        first,
        {"$set": {"lastUpdated": "2026-02-01T10:00:09Z", "directories": ["/work/app"]}},
        {**first, "toolCalls": calls},
        user("u2", told),
        message("i1", "info", "Checkpointing is on"),
        message("i2", "info", [image]),
        model("m2", [{"text": "Hm.", "thought": True}, {"text": "Done", "thoughtSignature": "x"}, {"text": "."}]),
        user("gone", "Never mind"),
        {"$rewindTo": "gone"},
        {"$set": {"messages": [user("c1", "<state_snapshot>So far</state_snapshot>"), model("c2", "Got it."), user("c3", "Fix it")]}},
        model("m3", "On."),
        {"$set": {"summary": "A title", "memoryScratchpad": {"version": 1}}},
    ]


def taken(folder: Path, lines: list[Line], name: str = "session-1.jsonl") -> Transcript:
    (transcript,) = read(written(folder, lines, name))
    return transcript


def test_a_session_with_everything(tmp_path: Path):
    session = taken(tmp_path, every_kind()[:-3])
    assert (session.session_id, session.source, session.project) == ("s1", "gemini-cli", "/work/app")
    assert drawn(session) == [
        "program: <session_context>It is Monday",
        "user: Fix it\n[image, 1 x 1 pixels, 1 tokens]",
        "assistant: Look\nat it | I look. | t1() | t2() | t3()",
        "=t1 a = 1",
        "=t2 ! no",
        "=t3 ! cancelled",
        "program: [image, 1 x 1 pixels, 1 tokens]",
        "assistant: Hm. | Done.",
    ]
    assert session.replies[0].usage == Usage(32, 45, 100)
    assert session.replies[0].model == "gemini-2.5-pro"
    assert session.media_tokens == {2: 1, 7: 1}
    assert mended(session) == {"turns that the user took back": 1}
    read_it = session.entries[3].entry
    assert isinstance(read_it, ToolReturned)
    assert [(touch.path, touch.kind) for touch in read_it.touched] == [("a.py", "read")]


def compacted(*more: Line) -> list[Line]:
    """A session whose messages were said anew, under other ids, behind a summary."""
    asked: list[Json] = [{"functionCall": {"id": "t1", "name": "read_file", "args": {}}}]
    kept: Json = [
        user("c1", [{"text": "<state_snapshot>So far</state_snapshot>"}]),
        model("c2", [{"text": "Got it. Thanks for the additional context!"}]),
        model("c3", [{"text": "I look."}, *asked]),
        user("c4", [response("t1", "(shortened)")]),
    ]
    return [
        ABOUT,
        user("u1", "Fix it"),
        model("m1", "I look.", toolCalls=[call("t1", "a = 1")]),
        user("u2", [response("t1", "a = 1")]),
        {"$set": {"messages": kept}},
        user("u3", "Go on"),
        model("m2", "Done."),
        *more,
    ]


def test_a_compaction_says_what_was_kept_anew(tmp_path: Path):
    session = taken(tmp_path, compacted())
    assert drawn(session) == ["user: Fix it", "assistant: I look. | t1()", "=t1 a = 1", "user: Go on", "assistant: Done."]
    assert [(each.after_seq, each.summary) for each in session.compactions] == [(3, "<state_snapshot>So far</state_snapshot>")]
    assert mended(session) == {"compactions that kept some messages as they were": 1}


def test_messages_after_a_compaction_go_on_under_the_new_ids(tmp_path: Path):
    """A kept message that grows once more, and a list that has the same messages again, add nothing."""
    again: Line = {"$set": {"messages": [user("c4", [response("t1", "(shortened)")]), user("u3", "Go on"), model("m2", "Done.")]}}
    session = taken(tmp_path, compacted(model("c3", "I look."), again, user("u4", "Thanks")))
    assert drawn(session)[-3:] == ["user: Go on", "assistant: Done.", "user: Thanks"]
    assert len(session.compactions) == 1


def test_results_that_are_cleared_later_stay_as_they_came(tmp_path: Path):
    first = model("m1", "I look.", toolCalls=[call("t1", "a = 1")])
    cleared = model("m1", "I look.", toolCalls=[call("t1", "-")])
    session = taken(tmp_path, [ABOUT, user("u1", "Fix"), first, {"$set": {"messages": [user("u1", "Fix"), cleared]}}, model("m2", "Done")])
    assert drawn(session) == ["user: Fix", "assistant: I look. | t1()", "=t1 a = 1", "assistant: Done"]
    assert mended(session) == {"old tool results that the program cleared or shortened later": 1}


def test_a_history_that_is_written_once_more_before_it_is_listed_adds_nothing(tmp_path: Path):
    asked: Json = {"functionCall": {"id": "t1", "name": "read_file", "args": {}}}
    again = [user("n1", [{"text": "Fix"}]), model("n2", [{"text": "I look."}, asked], tokens=None), user("n3", [response("t1", "-")])]
    first = [ABOUT, user("u1", "Fix"), model("m1", "I look.", toolCalls=[call("t1", "a = 1")]), user("u2", [response("t1", "a = 1")])]
    session = taken(tmp_path, [*first, *again, {"$set": {"messages": [*again]}}, model("m2", "Done")])
    assert drawn(session) == ["user: Fix", "assistant: I look. | t1()", "=t1 a = 1", "assistant: Done"]
    assert session.repairs == ()


def test_a_prompt_whose_call_failed_is_taken_back(tmp_path: Path):
    anew: Line = {"$set": {"messages": [user("u1", "Fix"), model("m1", "Done")]}}
    session = taken(tmp_path, [ABOUT, user("u1", "Fix"), model("m1", "Done"), user("u2", "More"), anew])
    assert drawn(session) == ["user: Fix", "assistant: Done"]
    assert mended(session) == {"calls that failed or were broken off without a reply": 1}


@pytest.mark.parametrize("indent", [2, None])
def test_the_document_of_older_versions(tmp_path: Path, indent: int | None):
    path = tmp_path / "session-2025-11-01T10-00-0123.json"
    messages = [user("u1", "Fix it"), model("m1", "I look.", toolCalls=[call("t1", "a = 1")]), model("m2", "Done.")]
    path.write_text(json.dumps({**ABOUT, "messages": messages, "summary": "x"}, indent=indent))
    (session,) = read(path)
    assert session.session_id == "s1"
    assert drawn(session) == ["user: Fix it", "assistant: I look. | t1()", "=t1 a = 1", "assistant: Done."]
    assert session.repairs == ()
    path.write_text(path.read_text().partition('"m2"')[0])
    (session,) = read(path)
    assert drawn(session) == ["user: Fix it", "assistant: I look. | t1()", "=t1 a = 1"]
    assert mended(session) == {"places where the file breaks off or is no JSON": 1}


def test_a_chat_that_was_saved(tmp_path: Path):
    path = tmp_path / "checkpoint-mine.json"
    asked: Json = {"functionCall": {"name": "read_file", "args": {"file_path": "a.py"}, "id": "t1"}}
    turns: Json = [
        {"role": "user", "parts": [{"text": "Fix it"}]},
        {"role": "model", "parts": [{"text": "I look."}, asked]},
        {"role": "user", "parts": [response("t1", "a = 1")]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ]
    path.write_text(json.dumps({"history": turns, "authType": "x"}, indent=2))
    (session,) = read(path)
    assert session.session_id == "checkpoint-mine"
    assert drawn(session) == ["user: Fix it", "assistant: I look. | t1()", "=t1 a = 1", "assistant: Done."]
    assert mended(session)["replies without token counts"] == 2


def test_the_project_and_the_parent_of_a_sub_agent_are_told_by_the_folders(tmp_path: Path):
    folder = tmp_path / "app-1" / "chats" / "parent"
    folder.mkdir(parents=True)
    (tmp_path / "app-1" / ".project_root").write_text("/work/app\n")
    session = taken(folder, [{**ABOUT, "kind": "subagent"}, user("u1", "Look")])
    assert (session.session_id, session.project) == ("parent/s1", "/work/app")
    session = taken(tmp_path, [ABOUT, user("u1", "Look")])
    assert session.project == "0123456789ab"


def test_what_a_version_to_come_writes_is_counted(tmp_path: Path):
    hello = user("u1", [{"text": "Hi"}, {"hologram": {}}], shade="blue")
    session = taken(tmp_path, [ABOUT, hello, message("x", "dream", "…"), {"$forget": "all"}])
    assert drawn(session) == ["user: Hi"]
    assert mended(session) == {
        'parts of messages of the unknown kind "hologram"': 1,
        'messages of the unknown kind "dream"': 1,
        'lines of the unknown kind "$forget"': 1,
    }


def test_no_pipe_and_no_link_is_read_for_the_project(tmp_path: Path):
    (tmp_path / "secret").write_text("what is not for the report")
    (tmp_path / ".project_root").symlink_to("secret")
    chats = tmp_path / "app-1" / "chats"
    chats.mkdir(parents=True)
    os.mkfifo(chats.parent / ".project_root")
    session = taken(chats, [ABOUT, user("u1", "Fix it")])
    assert session.project == "0123456789ab"


@pytest.mark.deep
def test_many_messages_that_are_taken_back_are_read_in_linear_time(tmp_path: Path):
    count = many(20_000, deep=60_000)
    back: list[Line] = [{"$rewindTo": f"r{number}"} for number in range(count)]
    taken_back = (line for number, taken in enumerate(back) for line in (user(f"r{number}", "No"), taken))
    kept = [user(f"u{number}", "Yes") for number in range(count)]
    session = taken(tmp_path, [ABOUT, *kept, *taken_back])
    assert sum(isinstance(logged.entry, UserPrompt) for logged in session.entries) == count
