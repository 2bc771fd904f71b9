"""Whatever lies in a file, a reader gives valid sessions or says that it is no transcript; it raises nothing else."""

from __future__ import annotations

import json
import lzma
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fake_api.validation import validate_request
from tests.unit.context.logs import PRELUDE, prompt
from tests.unit.recorded.readers import test_cline, test_gemini_cli, test_pi
from tests.unit.recorded.readers.recorded import Claude, Line, codex, result, text, use
from ullage.context.blocks import Json
from ullage.context.entries import Logged
from ullage.context.view.projection import project
from ullage.context.view.request import build_request
from ullage.models.serialise import Serialiser
from ullage.recorded.readers import NotATranscript, read
from ullage.recorded.transcript import Transcript

MODEL = "claude-opus-5-5"


def claude_lines() -> list[Line]:
    """A line of every kind that the reader knows."""
    claude = Claude()
    claude.user("Fix it")
    claude.assistant(
        "m1", {"type": "thinking", "thinking": "Hm.", "signature": "s"}, use("t1", "Read", file_path="/work/app/a.py"), stop=None
    )
    claude.assistant("m1", use("t2"), {"type": "redacted_thinking", "data": "x"}, stop=None)
    claude.user(
        [result("t1", [text("a"), {"type": "image", "source": {"data": "iVBORw0KGgo="}}])], toolUseResult={"file": {"content": "x"}}
    )
    claude.user([result("t2", is_error=True), text("And hurry")], toolUseResult={"type": "create", "content": "x"})
    claude.line("attachment", attachment={"type": "queued_command", "prompt": "Use tabs"})
    claude.line("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9, "preservedSegment": {}})
    claude.user("So far", isCompactSummary=True)
    agents: Json = {"type": "user", "uuid": "p1", "message": {"content": "Search"}}
    claude.line("progress", data={"type": "agent_progress", "agentId": "a2", "message": agents})
    claude.user("Search", isSidechain=True, agentId="a1")
    claude.lines.append({"type": "queue-operation", "operation": "enqueue", "content": "Also this", "sessionId": "s1"})
    claude.lines.append({"type": "queue-operation", "operation": "remove", "sessionId": "s1"})
    claude.lines.append({"type": "summary", "summary": "A title", "leafUuid": "u1"})
    claude.assistant("m2", text("Done."))
    return claude.lines


def codex_lines() -> list[Line]:
    counts: Json = {"input_tokens": 9, "cached_input_tokens": 3, "output_tokens": 2, "total_tokens": 11}
    said: Json = [{"type": "input_text", "text": "Go"}, {"type": "input_image", "image_url": "x"}]
    return [
        codex("session_meta", id="c1", cwd="/work/app", base_instructions={"text": "You are Codex."}, source={"subagent": {}}),
        codex("turn_context", model="m", cwd="/work/app"),
        codex(
            "response_item",
            type="message",
            role="user",
            content=said,
        ),
        codex("response_item", type="reasoning", summary=[{"text": "Hm."}], encrypted_content="…"),
        codex("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "On it."}]),
        codex(
            "response_item", type="function_call", call_id="t1", name="shell", arguments='{"command": ["apply_patch", "*** Begin Patch"]}'
        ),
        codex("response_item", type="function_call_output", call_id="t1", output='{"output": "x", "metadata": {"exit_code": 1}}'),
        codex("response_item", type="web_search_call", action={"query": "q"}),
        codex("response_item", type="custom_tool_call_output", call_id="t1", output=[{"type": "text", "text": "x"}]),
        codex("event_msg", type="token_count", info={"total_token_usage": {"total_tokens": 11}, "last_token_usage": counts}),
        codex("compacted", message="", replacement_history=[{"role": "user", "content": [{"type": "input_text", "text": "Go"}]}]),
        codex("event_msg", type="thread_rolled_back", num_turns=1),
        codex("event_msg", type="turn_aborted"),
        codex("response_item", type="message", role="developer", content="x"),
    ]


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [0, -1, 7, 10**30, 1e300, float("nan"), float("inf"), "", "u1", "u9", "t1", "2026-02-01T10:00:00Z", "9999-99-99", "\ud800", "\x1b"]
    ),
    st.text(max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["type", "text", "content", "id"]), inner, max_size=3)
    ),
)


def places(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all values inside."""
    inside: list[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [here for name, child in inside for here in ((*path, name), *places(child, (*path, name)))]


def put(value: Json, path: tuple[str | int, ...], new: Json) -> None:
    for name in path[:-1]:
        value = cast("dict[str | int, Json]", value)[name]
    cast("dict[str | int, Json]", value)[path[-1]] = new


@st.composite
def spoilt(draw: st.DrawFn, lines: list[Line]) -> bytes:
    """A sound file with values of other types in any places, lines repeated, moved and left out, and bytes changed."""
    copy: list[Line] = json.loads(json.dumps(lines))
    for _ in range(draw(st.integers(0, 4))):
        line = draw(st.sampled_from(copy))
        put(line, draw(st.sampled_from(places(line))), draw(values))
    order = draw(st.lists(st.integers(0, len(copy) - 1), min_size=1, max_size=2 * len(copy)))
    in_order = draw(st.booleans())
    content = "".join(json.dumps(copy[index]) + "\n" for index in (range(len(copy)) if in_order else order)).encode()
    if draw(st.booleans()):
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.binary(max_size=6)) + content[at + draw(st.integers(0, 40)) :]
    return content


def check_valid(transcript: Transcript) -> None:
    length = len(transcript.entries)
    assert [logged.seq for logged in transcript.entries] == list(range(1, length + 1))
    assert all(0 <= each.after_seq <= length for each in transcript.compactions)
    assert all(repair.count > 0 for repair in transcript.repairs)
    assert transcript.estimated_outputs <= {logged.seq for logged in transcript.entries}
    assert transcript.session_id.isprintable()
    assert all(note.isprintable() for note in transcript.notes)
    shifted = (Logged(logged.seq + 1, logged.at, logged.entry) for logged in transcript.entries)
    request = build_request(project([Logged(1, 0.0, PRELUDE), *shifted, Logged(length + 2, 0.0, prompt("Go on"))]))
    validate_request(
        json.loads(Serialiser().body(request, opening={"model": MODEL, "stream": True}, max_tokens=1_000, adaptive_thinking=True))
    )


def check_read(folder: Path, content: bytes) -> None:
    path = folder / "any.jsonl"
    path.write_bytes(content)
    try:
        transcripts = read(path)
    except NotATranscript:
        return
    for transcript in transcripts:
        check_valid(transcript)


every_example = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


CLINE = [*test_cline.with_calls(), *test_cline.with_xml()]
FORMATS = [claude_lines(), codex_lines(), test_pi.every_kind(), test_gemini_cli.every_kind(), CLINE]
"""A line of every kind of every format."""


@every_example
@given(content=spoilt(claude_lines()))
def test_any_lines_of_claude_code(tmp_path: Path, content: bytes):
    check_read(tmp_path, content)


@every_example
@given(content=spoilt(codex_lines()))
def test_any_lines_of_codex(tmp_path: Path, content: bytes):
    check_read(tmp_path, content)


@every_example
@given(content=spoilt(test_pi.every_kind()))
def test_any_lines_of_pi(tmp_path: Path, content: bytes):
    check_read(tmp_path, content)


@every_example
@given(content=spoilt(test_gemini_cli.every_kind()))
def test_any_lines_of_gemini_cli(tmp_path: Path, content: bytes):
    check_read(tmp_path, content)


@every_example
@given(content=st.one_of(spoilt(test_cline.with_calls()), spoilt(test_cline.with_xml())))
def test_any_messages_of_cline(tmp_path: Path, content: bytes):
    check_read(tmp_path, content)


DOCUMENTS = [
    json.dumps({**test_gemini_cli.ABOUT, "messages": test_gemini_cli.every_kind()[1:], "summary": "x"}, indent=2),
    json.dumps({**test_gemini_cli.ABOUT, "messages": test_gemini_cli.every_kind()[1:]}),
    json.dumps(CLINE),
]


@every_example
@given(document=st.sampled_from(DOCUMENTS), at=st.integers(0, 5_000), gone=st.integers(0, 40), new=st.binary(max_size=6))
def test_a_document_with_anything_changed(tmp_path: Path, document: str, at: int, gone: int, new: bytes):
    path = tmp_path / "any.json"
    content = document.encode()
    path.write_bytes(content[:at] + new + content[at + gone :])
    with suppress(NotATranscript):
        for transcript in read(path):
            check_valid(transcript)


@every_example
@given(content=st.sampled_from(FORMATS), share=st.floats(0, 1))
def test_a_file_that_is_cut_at_any_byte_gives_what_came_before(tmp_path: Path, content: list[Line], share: float):
    whole = "".join(json.dumps(line) + "\n" for line in content).encode()
    check_read(tmp_path, whole[: round(share * len(whole))])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_that_is_cut_gives_the_messages_before(tmp_path: Path, document: str):
    path = tmp_path / "any.json"
    path.write_text(document)
    (whole,) = read(path)
    path.write_text(document[: len(document) // 2])
    (half,) = read(path)
    common = min(len(half.entries), 2)  # messages of Gemini CLI grow
    assert common > 0
    assert half.entries[:common] == whole.entries[:common]
    assert any(repair.what == "places where the file breaks off or is no JSON" for repair in half.repairs)


@every_example
@given(content=st.one_of(st.binary(max_size=200), st.lists(values.map(json.dumps)).map("\n".join).map(str.encode)))
def test_any_bytes_and_any_json(tmp_path: Path, content: bytes):
    check_read(tmp_path, content)


@every_example
@given(cut=st.integers(0, 2_000), content=st.sampled_from(FORMATS))
def test_a_compressed_file_cut_anywhere(tmp_path: Path, cut: int, content: list[Line]):
    check_read(tmp_path, lzma.compress("".join(json.dumps(line) + "\n" for line in content).encode())[:cut])


@pytest.mark.parametrize("depth", [99, 101, 500, 900, 980, 990, 1_000, 100_000])
@pytest.mark.parametrize("place", ["message", "content", "input", "toolUseResult", "payload", "arguments"])
def test_nesting_of_any_depth(tmp_path: Path, depth: int, place: str):
    deep = "[" * depth + "]" * depth
    lines = {
        "message": '{"type": "user", "uuid": "u", "message": %s}',
        "content": '{"type": "user", "uuid": "u", "message": {"content": [{"type": "x", "y": %s}]}}',
        "input": '{"type": "assistant", "uuid": "u", "message": {"id": "m", "usage": {"output_tokens": 1}, "content": '
        '[{"type": "tool_use", "id": "t", "name": "n", "input": {"a": %s}}]}}',
        "toolUseResult": '{"type": "user", "uuid": "u", "message": {"content": "Hi"}, "toolUseResult": %s}',
        "payload": '{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "x", "y": %s}]}}',
        "arguments": '{"type": "response_item", "payload": {"type": "function_call", "call_id": "t", "name": "n", "arguments": {"a": %s}}}',
    }
    check_read(tmp_path, "\n".join([lines[place] % deep] * 3).encode())
