"""Claude Code's transcripts."""

from __future__ import annotations

import base64
import hashlib
import struct
from pathlib import Path

import pytest

from tests.unit.recorded.readers.recorded import Claude, drawn, mended, result, text, use, written
from ullage.context.blocks import Json, Usage
from ullage.context.entries import Answer, FileTouch, ToolReturned
from ullage.recorded.readers import read
from ullage.recorded.transcript import RecordedCompaction, Transcript
from ullage.replay.pricing.recorded_requests import pieces_of


@pytest.fixture
def claude() -> Claude:
    return Claude()


def main_of(claude: Claude, folder: Path) -> Transcript:
    return read(written(folder, claude.lines))[0]


def test_a_turn_comes_out_as_it_was(claude: Claude, tmp_path: Path):
    claude.user("Fix it")
    claude.assistant("m1", {"type": "thinking", "thinking": "Hm.", "signature": "sig"}, text("On it."), use("t1"), stop="tool_use")
    claude.user([result("t1", "2 passed")])
    claude.assistant("m2", text("Done."))
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Fix it", "assistant: Hm. | On it. | t1()", "=t1 2 passed", "assistant: Done."]
    assert [logged.seq for logged in transcript.entries] == [1, 2, 3, 4]
    assert [logged.at for logged in transcript.entries] == [1769940001.0, 1769940002.0, 1769940003.0, 1769940004.0]
    assert (transcript.session_id, transcript.source, transcript.repairs) == ("s1", "claude-code", ())
    assert transcript.replies[0].model == "claude-opus-4-5-20251101"
    assert transcript.replies[0].stop_reason == "tool_use"


def test_a_streamed_reply_comes_out_once_with_its_final_usage(claude: Claude, tmp_path: Path):
    claude.user("Fix it")
    claude.assistant("m1", text("On it."), output=1, stop=None)
    claude.assistant("m1", use("t1"), output=1, stop=None)
    claude.user([result("t1")])
    claude.assistant("m1", use("t2"), output=90, stop="tool_use")
    claude.user([result("t2")])
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Fix it", "assistant: On it. | t1() | t2()", "=t1 done", "=t2 done"]
    assert transcript.replies[0].usage == Usage(3, 90, 100, 10, 20)
    assert transcript.estimated_outputs == frozenset()


def test_output_that_was_never_counted_in_the_end_is_estimated_and_named(claude: Claude, tmp_path: Path):
    claude.user("Tell me")
    claude.assistant("m1", text("A long story. " * 50), output=2, stop=None)
    transcript = main_of(claude, tmp_path)
    usage = transcript.replies[0].usage
    assert usage is not None
    assert 100 < usage.output_tokens < 300
    assert usage.total_input_tokens == 133
    assert transcript.estimated_outputs == {2}
    assert mended(transcript) == {"replies whose final output tokens were not recorded": 1}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ("many", None),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({"input_tokens": 5, "output_tokens": 7}, Usage(5, 7)),
        ({"input_tokens": 5, "output_tokens": 7, "cache_creation_input_tokens": 9}, Usage(5, 7, 0, 9)),
        ({"input_tokens": -5, "output_tokens": 7, "cache_read_input_tokens": True}, Usage(0, 7)),
    ],
)
def test_usage_of_any_shape(claude: Claude, tmp_path: Path, usage: Json, expected: Usage | None):
    claude.user("Hi")
    claude.line("assistant", message={"id": "m", "model": "x", "content": [text("Yo")], "stop_reason": "end_turn", "usage": usage})
    transcript = main_of(claude, tmp_path)
    assert transcript.replies[0].usage == expected
    assert mended(transcript) == ({} if expected else {"replies without token counts": 1})


def test_a_compaction_with_its_summary(claude: Claude, tmp_path: Path):
    claude.user("Fix it")
    last = claude.assistant("m1", text("Done."))
    claude.line(
        "system",
        parentUuid=None,
        logicalParentUuid=last,
        subtype="compact_boundary",
        compactMetadata={"trigger": "auto", "preTokens": 155_000},
    )
    claude.user("What happened so far", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    claude.user("Go on")
    transcript = main_of(claude, tmp_path)
    assert transcript.compactions == (RecordedCompaction(2, "What happened so far", True, 155_000, 1769940003.0),)
    assert drawn(transcript) == ["user: Fix it", "assistant: Done.", "user: Go on"]


def test_a_summary_that_does_not_follow_its_compaction_at_once(claude: Claude, tmp_path: Path):
    claude.user("Fix it")
    claude.line("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    claude.line("attachment", attachment={"type": "file", "content": {"type": "text", "file": {"content": "x = 1"}}})
    claude.user("What happened so far", isCompactSummary=True)
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Fix it", "program: x = 1"]
    assert transcript.compactions == (RecordedCompaction(1, "What happened so far", True, None, 1769940002.0),)


def test_a_session_that_begins_with_a_summary(claude: Claude, tmp_path: Path):
    claude.user("What happened so far", isCompactSummary=True)
    claude.user("Go on")
    transcript = main_of(claude, tmp_path)
    assert transcript.compactions == (RecordedCompaction(0, "What happened so far", None, None, 1769940001.0),)


def test_a_compaction_without_its_summary_is_named(claude: Claude, tmp_path: Path):
    claude.user("Fix it")
    claude.line("system", subtype="compact_boundary", compactMetadata={"trigger": "manual"})
    transcript = main_of(claude, tmp_path)
    assert transcript.compactions == (RecordedCompaction(1, "", False, None, 1769940002.0),)
    assert mended(transcript) == {"compactions whose summary is not recorded": 1}


def test_the_branch_that_was_continued_is_taken(claude: Claude, tmp_path: Path):
    claude.user("Hello")
    fork = claude.assistant("m1", text("Hi."))
    claude.user("Write it in Perl")
    claude.assistant("m2", text("In Perl then."))
    claude.user("Write it in Python", parentUuid=fork)
    claude.assistant("m3", text("In Python then."))
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Hello", "assistant: Hi.", "user: Write it in Python", "assistant: In Python then."]
    assert mended(transcript) == {"messages on branches that were not continued": 2}


def test_calls_side_by_side_are_no_branches(claude: Claude, tmp_path: Path):
    claude.user("Look")
    first = claude.assistant("m1", use("t1"), stop=None)
    second = claude.assistant("m1", use("t2"), stop="tool_use")
    claude.user([result("t1")], parentUuid=first)
    claude.user([result("t2")], parentUuid=second)
    claude.assistant("m2", text("Done."))
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Look", "assistant: t1() | t2()", "=t1 done", "=t2 done", "assistant: Done."]
    assert transcript.repairs == ()


def test_words_between_a_call_and_its_result_come_after_it(claude: Claude, tmp_path: Path):
    claude.user("Look")
    claude.assistant("m1", use("t1"))
    claude.user("And hurry")
    claude.user([result("t1"), text("[Request interrupted by user]")])
    assert drawn(main_of(claude, tmp_path)) == [
        "user: Look",
        "assistant: t1()",
        "=t1 done",
        "user: And hurry",
        "program: [Request interrupted by user]",
    ]


def test_what_does_not_fit_together_is_mended_and_named(claude: Claude, tmp_path: Path):
    claude.user("Look")
    claude.assistant("m1", use("t1"), use("t2"))
    claude.user([result("t1"), result("t1", "again"), result("t9")])
    claude.assistant("m2", use("t1"))
    claude.lines.append(claude.lines[-1])
    claude.line("assistant", message={"model": "<synthetic>", "content": [text("API Error")]}, isApiErrorMessage=True)
    claude.line("user", parentUuid="nowhere", message={"content": "Go on"})
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Look", "assistant: t1() | t2()", "=t1 done", "assistant: t1()", "=t1 again", "user: Go on"]
    assert mended(transcript) == {
        "lines that repeat the id of an earlier line": 1,
        "lines whose predecessor is not in the file": 1,
        "tool calls without a result": 1,
        "tool calls that repeat an earlier call's id": 1,
        "replies that the program wrote itself (API errors)": 1,
        "tool results without their call": 1,
    }
    assert len(transcript.notes) == len(transcript.repairs) + 1


def test_a_tool_with_a_name_that_the_api_does_not_take(claude: Claude, tmp_path: Path):
    claude.user("Look")
    claude.assistant("m1", use("t1", "my tool.v2"), use("t2", ""))
    claude.user([result("t1"), result("t2")])
    transcript = main_of(claude, tmp_path)
    assert [getattr(block, "name", "") for block in transcript.replies[0].blocks] == ["my_tool_v2", "unknown"]
    assert mended(transcript) == {"tool calls whose tool has a name that the API does not take": 2}


def test_what_the_program_says_is_not_taken_for_the_users_words(claude: Claude, tmp_path: Path):
    claude.user("Base directory for this skill: /x", isMeta=True)
    claude.user("<local-command-stdout>Bye</local-command-stdout>")
    claude.user("Shown to the user alone", isVisibleInTranscriptOnly=True)
    assert drawn(main_of(claude, tmp_path)) == [
        "program: Base directory for this skill: /x",
        "program: <local-command-stdout>Bye</local-command-stdout>",
    ]


def test_what_the_model_was_told_beside_the_conversation(claude: Claude, tmp_path: Path):
    claude.user("Look")
    claude.line("attachment", attachment={"type": "edited_text_file", "filename": "a.py", "snippet": "x = 1"})
    claude.line("attachment", attachment={"type": "queued_command", "prompt": "Use tabs"})
    claude.line("attachment", attachment={"type": "todo_reminder"})
    claude.line("attachment", attachment={"type": "hook_success", "hookEvent": "PostToolUse", "content": "ok"})
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Look", "program: a.py was changed:\nx = 1", "steers: Use tabs"]
    assert mended(transcript) == {'attachments of kind "todo_reminder" without readable text': 1}


def queue(claude: Claude, operation: str, **members: Json) -> None:
    claude.lines.append({"type": "queue-operation", "operation": operation, "sessionId": "s1", **members})


def test_a_prompt_that_left_the_queue_for_the_running_turn(claude: Claude, tmp_path: Path):
    claude.user("Look")
    claude.assistant("m1", use("t1"))
    queue(claude, "enqueue", content="Use tabs")
    queue(claude, "remove")
    claude.user([result("t1")])
    claude.assistant("m2", text("Done."))
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Look", "assistant: t1()", "=t1 done", "steers: Use tabs", "assistant: Done."]
    claude.line("attachment", attachment={"type": "queued_command", "prompt": "Use tabs"})
    claude.assistant("m3", text("Yes."))
    assert drawn(main_of(claude, tmp_path))[2:] == ["=t1 done", "assistant: Done.", "steers: Use tabs", "assistant: Yes."]


def test_side_chains_are_transcripts_of_their_own(claude: Claude, tmp_path: Path):
    claude.user("Find it")
    call = claude.assistant("m1", use("t1", "Task"))
    claude.user("Search", isSidechain=True, agentId="a1", parentUuid=None)
    claude.assistant("m2", text("Found."), isSidechain=True, agentId="a1")
    progress: Json = {"type": "assistant", "uuid": "p1", "message": {"id": "m3", "model": "x", "content": [text("Here.")]}}
    claude.line("progress", data={"type": "agent_progress", "agentId": "a2", "message": progress}, parentUuid=call)
    claude.user([result("t1")], parentUuid=call)
    main, first, second = read(written(tmp_path, claude.lines))
    assert drawn(main) == ["user: Find it", "assistant: t1()", "=t1 done"]
    assert (first.session_id, drawn(first)) == ("s1/a1", ["user: Search", "assistant: Found."])
    assert (second.session_id, drawn(second)) == ("s1/a2", ["assistant: Here."])


def test_the_file_of_a_side_chain_alone(claude: Claude, tmp_path: Path):
    claude.user("Search", isSidechain=True, agentId="a1")
    (transcript,) = read(written(tmp_path, claude.lines))
    assert transcript.session_id == "s1/a1"


def sha(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


@pytest.mark.parametrize(
    ("call", "noted", "expected"),
    [
        (use("t", "Read", file_path="/work/app/a.py"), None, FileTouch("a.py", "read", "")),
        (use("t", "Read", file_path="/work/app/a.py", offset=5), None, FileTouch("a.py", "read", "", partial=True)),
        (
            use("t", "Read", file_path="/etc/hosts"),
            {"file": {"content": "x", "numLines": 1, "startLine": 1, "totalLines": 1}},
            FileTouch("/etc/hosts", "read", sha("x")),
        ),
        (
            use("t", "Read", file_path="/work/app/a.py"),
            {"file": {"content": "x", "numLines": 1, "startLine": 1, "totalLines": 9}},
            FileTouch("a.py", "read", "", partial=True),
        ),
        (use("t", "Write", file_path="/work/app/a.py"), {"type": "create", "content": "y"}, FileTouch("a.py", "created", sha("y"))),
        (use("t", "Edit", file_path="/work/application/a.py"), None, FileTouch("/work/application/a.py", "edited", "")),
        (use("t", "MultiEdit", file_path="/work/app/a.py"), "text", FileTouch("a.py", "edited", "")),
        (use("t", "NotebookEdit", notebook_path="/work/app/n.ipynb"), None, FileTouch("n.ipynb", "edited", "")),
        (use("t", "Bash", command="cat a.py"), None, None),
    ],
)
def test_files_that_a_call_touched(claude: Claude, tmp_path: Path, call: Json, noted: Json, expected: FileTouch | None):
    claude.user("Go")
    claude.assistant("m1", call)
    claude.user([result("t")], toolUseResult=noted)
    returned = main_of(claude, tmp_path).entries[-1].entry
    assert isinstance(returned, ToolReturned)
    assert returned.touched == ((expected,) if expected else ())


def test_a_call_that_failed_touched_nothing(claude: Claude, tmp_path: Path):
    claude.user("Go")
    claude.assistant("m1", use("t", "Edit", file_path="/work/app/a.py"))
    claude.user([result("t", "not found", is_error=True)])
    returned = main_of(claude, tmp_path).entries[-1].entry
    assert isinstance(returned, ToolReturned)
    assert (returned.is_error, returned.touched) == (True, ())


NO = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("content", "is_error", "expected"),
    [
        (NO, True, ""),
        (f"{NO} To tell you how to proceed, the user said:\nNot in this folder.", True, "Not in this folder."),
        ("Permission for this tool use was denied. The user said:\nlater", True, "later"),
        (NO, False, None),
        ("not found: the user said: no", True, None),
    ],
)
def test_a_call_that_the_user_refused(claude: Claude, tmp_path: Path, content: str, is_error: bool, expected: str | None):
    claude.user("Go")
    claude.assistant("m1", use("t", "Bash", command="rm a.py"))
    claude.user([result("t", content, is_error=is_error)])
    returned = main_of(claude, tmp_path).entries[-1].entry
    assert isinstance(returned, ToolReturned)
    assert returned.refusal == expected


def test_images_and_unknown_blocks_leave_their_size(claude: Claude, tmp_path: Path):
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 560, 280) + bytes(8)).decode()
    claude.user([text("See"), {"type": "image", "source": {"type": "base64", "data": png}}, {"type": "hologram", "data": "x"}])
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ['user: See\n\n[image, 560 x 280 pixels, 200 tokens]\n\n{"type": "hologram", "data": "x"}']
    assert mended(transcript) == {'blocks of the unknown kind "hologram"': 1}


def test_what_images_and_documents_take_is_known_beside_their_words(claude: Claude, tmp_path: Path):
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 560, 280) + bytes(8)).decode()
    pdf = base64.b64encode(b"%PDF-1.4 << /Type /Pages /Count 2 >>").decode()
    image: Json = {"type": "image", "source": {"type": "base64", "data": png}}
    document: Json = {"type": "document", "source": {"type": "base64", "data": pdf}}
    claude.user([text("See"), image, image])
    claude.assistant("m1", use("t", "Read", file_path="/work/app/a.pdf"))
    claude.user([result("t", [text("There:"), document])])
    claude.user("And now?")
    transcript = main_of(claude, tmp_path)
    assert transcript.media_tokens == {1: 400, 3: 4_600}
    pieces = {identity: tokens for logged in transcript.entries for identity, tokens in pieces_of(logged, transcript.media_tokens)}
    without = {identity: tokens for logged in transcript.entries for identity, tokens in pieces_of(logged, {})}
    assert {identity: pieces[identity] - without[identity] for identity in pieces if pieces[identity] != without[identity]} == {
        "1": 400,
        "3": 4_600,
    }


def test_the_chain_goes_on_through_lines_of_unknown_kinds(claude: Claude, tmp_path: Path):
    claude.user("Hi")
    link = claude.line("telepathy")
    claude.user("Write it in Perl", parentUuid="u1")
    claude.user("Write it in Python", parentUuid=link)
    transcript = main_of(claude, tmp_path)
    assert drawn(transcript) == ["user: Hi", "user: Write it in Python"]
    assert mended(transcript) == {'lines of the unknown kind "telepathy"': 1, "messages on branches that were not continued": 1}


def test_no_unknown_line_is_dropped_in_silence(claude: Claude, tmp_path: Path):
    claude.user("Hi")
    claude.line("system", subtype="prophecy")
    claude.lines.append({"type": "telepathy", "sessionId": "s1"})
    assert mended(main_of(claude, tmp_path)) == {
        'lines of the unknown kind "telepathy"': 1,
        'system lines of the unknown kind "prophecy"': 1,
    }


def test_a_file_in_which_nothing_is_said(tmp_path: Path):
    (transcript,) = read(written(tmp_path, [{"type": "summary", "summary": "A title", "leafUuid": "u1"}]))
    assert (transcript.session_id, transcript.entries, transcript.notes) == ("session", (), ("Nothing is said in it",))


def test_missing_times_are_named(claude: Claude, tmp_path: Path):
    claude.user("Hi", timestamp="yesterday")
    transcript = main_of(claude, tmp_path)
    assert transcript.entries[0].at == 0.0
    assert mended(transcript) == {"entries without a time": 1}


def test_a_server_that_gives_all_replies_one_id(claude: Claude, tmp_path: Path):
    claude.user("Hi")
    for sent, call in ((10, "t1"), (20, "t2")):
        usage: Json = {"input_tokens": sent, "output_tokens": 2}
        claude.line("assistant", message={"id": "msg", "model": "x", "content": [use(call)], "usage": usage})
        claude.user([result(call)])
    claude.user("Go on")
    claude.line("assistant", message={"id": "msg", "model": "x", "content": [text("Done.")], "usage": usage})
    assert drawn(main_of(claude, tmp_path))[1:] == [
        "assistant: t1()",
        "=t1 done",
        "assistant: t2()",
        "=t2 done",
        "user: Go on",
        "assistant: Done.",
    ]


def test_a_reply_of_very_many_lines_is_read_in_time_that_grows_with_it(claude: Claude, tmp_path: Path):
    claude.user("Hi")
    for number in range(5_000):
        claude.assistant("m1", use(f"t{number}"), timestamp="2026-02-01T10:00:00Z")
    assert len(main_of(claude, tmp_path).replies[0].blocks) == 5_000


ASKED: Json = {"answers": {"Which database?": "PostgreSQL", "Which fuels?": " ", "When?": 7}}


@pytest.mark.parametrize(
    ("tool", "told", "more", "answers"),
    [
        ("AskUserQuestion", ASKED, {}, (Answer("Which database?", text="PostgreSQL"),)),
        ("AskUserQuestion", {"answers": ["PostgreSQL"]}, {}, ()),
        ("AskUserQuestion", "Error", {}, ()),
        ("AskUserQuestion", ASKED, {"is_error": True}, ()),
        ("Bash", ASKED, {}, ()),
    ],
)
def test_what_the_user_answered_to_a_question(
    claude: Claude, tmp_path: Path, tool: str, told: Json, more: dict[str, Json], answers: tuple[Answer, ...]
):
    claude.user("Keep the tanks")
    claude.assistant("m1", use("t1", tool))
    claude.user([result("t1", "The user has answered", **more)], toolUseResult=told)
    returned = [logged.entry for logged in main_of(claude, tmp_path).entries if isinstance(logged.entry, ToolReturned)]
    assert [each.answers for each in returned] == [answers]
