"""Codex rollouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.recorded.readers.recorded import Line, codex, drawn, mended, written
from ullage.context.blocks import Json, ToolUse, Usage
from ullage.context.entries import FileTouch, ToolReturned
from ullage.recorded.readers import read
from ullage.recorded.transcript import RecordedCompaction, Transcript

META = codex("session_meta", id="c1", cwd="/work/app", base_instructions={"text": "You are Codex."})
TURN = codex("turn_context", model="gpt-6-codex", cwd="/work/app")
AT = 1781690836.815


def item(kind: str, **members: Json) -> Line:
    return codex("response_item", type=kind, **members)


def message(role: str, words: str) -> Line:
    return item("message", role=role, content=[{"type": "output_text" if role == "assistant" else "input_text", "text": words}])


def call(id: str, name: str = "exec_command", arguments: Json = '{"cmd": "ls"}') -> Line:
    return item("function_call", call_id=id, name=name, arguments=arguments)


def output(id: str, words: Json = "a.py") -> Line:
    return item("function_call_output", call_id=id, output=words)


def tokens(total: int, sent: int = 100, read: int = 60, written: int = 5) -> Line:
    last: Json = {"input_tokens": sent, "cached_input_tokens": read, "output_tokens": written, "total_tokens": sent + written}
    return codex("event_msg", type="token_count", info={"total_token_usage": {"total_tokens": total}, "last_token_usage": last})


def transcript_of(folder: Path, *lines: Line) -> Transcript:
    (transcript,) = read(written(folder, [META, TURN, *lines]))
    return transcript


def test_a_turn_comes_out_as_it_was(tmp_path: Path):
    transcript = transcript_of(
        tmp_path,
        message("developer", "<permissions instructions>"),
        message("user", "Look"),
        item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
        message("assistant", "On it."),
        call("t1"),
        output("t1"),
        tokens(105),
        message("assistant", "Done."),
        tokens(205, sent=95, read=90),
    )
    assert drawn(transcript) == [
        "system: You are Codex.",
        "program: <permissions instructions>",
        "user: Look",
        "assistant: Hm. | On it. | t1()",
        "=t1 a.py",
        "assistant: Done.",
    ]
    assert [reply.usage for reply in transcript.replies] == [Usage(40, 5, 60), Usage(5, 5, 90)]
    assert {reply.model for reply in transcript.replies} == {"gpt-6-codex"}
    assert {logged.at for logged in transcript.entries} == {AT}
    assert (transcript.session_id, transcript.source, transcript.repairs) == ("c1", "codex", ())


WHERE_A_REPLY_ENDS: dict[str, tuple[list[Line], list[str]]] = {
    "outputs after the count": (
        [call("t1"), tokens(1), output("t1")],
        ["assistant: t1()", "=t1 a.py"],
    ),
    "calls one by one": (
        [call("t1"), output("t1"), call("t2"), output("t2"), tokens(1)],
        ["assistant: t1() | t2()", "=t1 a.py", "=t2 a.py"],
    ),
    "words while a call runs": (
        [call("t1"), message("user", "Hurry"), output("t1"), tokens(1)],
        ["assistant: t1()", "=t1 a.py", "user: Hurry"],
    ),
    "one call counted twice": (
        [message("assistant", "A"), tokens(1), tokens(1), message("assistant", "B"), tokens(2)],
        ["assistant: A", "assistant: B"],
    ),
    "interrupted": (
        [message("assistant", "A"), message("user", "No"), message("assistant", "B"), tokens(1)],
        ["assistant: A", "user: No", "assistant: B"],
    ),
}


@pytest.mark.parametrize("case", WHERE_A_REPLY_ENDS)
def test_where_a_reply_ends(tmp_path: Path, case: str):
    lines, expected = WHERE_A_REPLY_ENDS[case]
    assert drawn(transcript_of(tmp_path, message("user", "Go"), *lines))[2:] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (call("t1"), ToolUse("t1", "exec_command", {"cmd": "ls"})),
        (call("t1", arguments="not JSON"), ToolUse("t1", "exec_command", {"input": "not JSON"})),
        (call("t1", arguments=[1]), ToolUse("t1", "exec_command", {"input": "[1]"})),
        (
            item("custom_tool_call", call_id="t1", name="apply_patch", input="*** Begin Patch"),
            ToolUse("t1", "apply_patch", {"input": "*** Begin Patch"}),
        ),
        (item("local_shell_call", call_id="t1", action={"command": ["ls"]}), ToolUse("t1", "local_shell", {"command": ["ls"]})),
        (item("web_search_call", action={"query": "q"}), ToolUse("item-2", "web_search", {"query": "q"})),
    ],
)
def test_calls_of_all_kinds(tmp_path: Path, line: Line, expected: ToolUse):
    transcript = transcript_of(tmp_path, message("user", "Go"), line, tokens(1))
    assert transcript.replies[0].blocks == (expected,)


@pytest.mark.parametrize(
    ("output_value", "expected"),
    [
        ("plain", ("plain", False)),
        ('{"output": "boom", "metadata": {"exit_code": 1}}', ("boom", True)),
        ('{"output": "fine", "metadata": {"exit_code": 0}}', ("fine", False)),
        ('{"name": "app"}', ('{"name": "app"}', False)),
        ({"content": "refused", "success": False}, ("refused", True)),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], ("a\nb", False)),
        (None, ("null", False)),
    ],
)
def test_outputs_of_all_shapes(tmp_path: Path, output_value: Json, expected: tuple[str, bool]):
    transcript = transcript_of(tmp_path, message("user", "Go"), call("t1"), output("t1", output_value), tokens(1))
    returned = transcript.entries[-1].entry
    assert isinstance(returned, ToolReturned)
    assert (returned.content, returned.is_error) == expected


PATCH = """*** Begin Patch
*** Add File: new.py
+x
*** Update File: /work/app/a.py
*** Move to: b.py
*** Delete File: old.py
*** End Patch"""
TOUCHED = (
    FileTouch("new.py", "created", ""),
    FileTouch("a.py", "edited", ""),
    FileTouch("old.py", "deleted", ""),
    FileTouch("b.py", "created", ""),
)


@pytest.mark.parametrize(
    "line",
    [
        item("custom_tool_call", call_id="t1", name="apply_patch", input=PATCH),
        item("function_call", call_id="t1", name="shell", arguments={"command": ["apply_patch", PATCH]}),
        item("function_call", call_id="t1", name="exec_command", arguments={"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}),
    ],
)
def test_files_that_a_patch_touched(tmp_path: Path, line: Line):
    returned = transcript_of(tmp_path, message("user", "Go"), line, output("t1"), tokens(1)).entries[-1].entry
    assert isinstance(returned, ToolReturned)
    assert returned.touched == TOUCHED


def test_a_compaction_with_its_summary(tmp_path: Path):
    transcript = transcript_of(
        tmp_path,
        message("user", "Go"),
        message("assistant", "Done."),
        tokens(105),
        codex("compacted", message="So far so good"),
        tokens(105, 0, 0, 0),
    )
    assert transcript.compactions == (RecordedCompaction(3, "So far so good", None, 105, AT),)
    assert transcript.repairs == ()


def test_a_compaction_that_the_provider_sealed(tmp_path: Path):
    kept: Json = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "# AGENTS.md instructions for /x"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
        {"type": "compaction", "encrypted_content": "…"},
    ]
    transcript = transcript_of(tmp_path, message("user", "Go"), codex("compacted", message="", replacement_history=kept))
    assert transcript.compactions == (RecordedCompaction(2, "Go", None, None, AT, sealed=True),)
    assert transcript.compactions[0].told == ""
    assert mended(transcript) == {"compactions whose summary is sealed by the provider": 1}


def test_what_does_not_fit_together_is_mended_and_named(tmp_path: Path):
    transcript = transcript_of(
        tmp_path,
        tokens(50),
        message("user", "Go"),
        output("t9"),
        call("t1"),
        codex("event_msg", type="turn_aborted"),
        codex("event_msg", type="omen"),
        item("riddle"),
        codex("dream"),
    )
    assert drawn(transcript)[1:] == ["user: Go", "assistant: t1()"]
    assert mended(transcript) == {
        "calls whose tokens are recorded but not their reply": 1,
        "tool results without their call": 1,
        "replies without token counts": 1,
        "tool calls without a result": 1,
        'events of the unknown kind "omen"': 1,
        'items of the unknown kind "riddle"': 1,
        'lines of the unknown kind "dream"': 1,
    }


def test_turns_that_the_user_took_back_are_left_out(tmp_path: Path):
    transcript = transcript_of(
        tmp_path,
        message("user", "One"),
        message("user", "Two"),
        codex("compacted", message="Far"),
        codex("event_msg", type="thread_rolled_back", num_turns=1),
        message("user", "Three"),
    )
    assert drawn(transcript)[1:] == ["user: One", "user: Three"]
    assert [each.after_seq for each in transcript.compactions] == [2]
    assert mended(transcript) == {"turns that the user took back": 1}


def test_a_side_chain_names_the_session_that_it_belongs_to(tmp_path: Path):
    source: Json = {"subagent": {"thread_spawn": {"parent_thread_id": "c0"}}}
    (transcript,) = read(written(tmp_path, [codex("session_meta", id="c1", source=source), META, message("user", "Go")]))
    assert transcript.session_id == "c0/c1"


def test_the_oldest_rollouts_have_bare_items(tmp_path: Path):
    lines: list[Json] = [
        {"id": "c1", "timestamp": "2025-05-01T00:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
        {"type": "function_call", "call_id": "t1", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t1", "output": "ok"},
    ]
    (transcript,) = read(written(tmp_path, lines))
    assert drawn(transcript) == ["user: Go", "assistant: t1()", "=t1 ok"]
    assert (transcript.session_id, transcript.source) == ("c1", "codex")
