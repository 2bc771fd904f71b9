"""Clipped outputs, transcripts and the user's state are written whole or not at all."""

from __future__ import annotations

import json
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import Message, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from ullage.store import user_state
from ullage.store.errors import StoreFailed
from ullage.store.plain_files import ResultFiles, safe_name, write_transcript
from ullage.store.shared_files import write_whole
from ullage.store.user_state import KeptRule, UserState

MESSAGES = [
    Message("user", (Text("fix it"),), (1,)),
    Message(
        "assistant",
        (Thinking("hm", "sig"), RedactedThinking("zz"), ToolUse("t1", "bash", {"command": "ls", "n": [1, {"a": "b"}]})),
        (2, 2, 2),
    ),
    Message("user", (ToolResult("t1", "a.py\nb.py"),), (3,)),
]


@contextmanager
def no_room(characters: int) -> Generator[None]:
    """As on a full disk: no file can grow over that size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (characters, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def everything_in(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_failed_write_leaves_what_was_there_and_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "file.txt"
    write_whole(path, "before")
    with no_room(10_000), pytest.raises(StoreFailed, match=r"Cannot write .*file\.txt: File too large"):
        write_whole(path, "x" * 50_000)
    assert everything_in(tmp_path) == {"sub/file.txt": b"before"}


def test_outputs_and_transcripts_fail_clearly_and_leave_nothing(tmp_path: Path) -> None:
    long = [Message("user", (Text("x" * 50_000),), (1,))]
    with no_room(10_000):
        for write in (lambda: ResultFiles(tmp_path).save("t1", "x" * 50_000), lambda: write_transcript(tmp_path, "s", 1, long)):
            with pytest.raises(StoreFailed):
                write()
    assert everything_in(tmp_path) == {}


def test_an_output_is_kept_under_its_id_and_a_second_one_beside_it(tmp_path: Path) -> None:
    results = ResultFiles(tmp_path)
    assert results.save("toolu_01", "first\r\n€") == f"{tmp_path.as_posix()}/tool-results/toolu_01.txt"
    assert results.save("toolu_01", "second") == f"{tmp_path.as_posix()}/tool-results/toolu_01-2.txt"
    assert results.read("toolu_01", ".ullage/tool-results/toolu_01.txt") == "first\r\n€"
    assert results.read("toolu_01", ".ullage/tool-results/toolu_01-2.txt") == "second"
    assert results.read("toolu_02", ".ullage/tool-results/toolu_02.txt") is None
    (tmp_path / "secret.txt").write_text("outside")
    assert results.read("toolu_01", "../../secret.txt") is None


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=150), max_size=8, unique=True))
def test_any_id_becomes_a_harmless_name_of_its_own(ids: list[str]) -> None:
    names = {safe_name(identifier) for identifier in ids}
    assert len(names) == len(ids)
    for name in names:
        assert name
        assert len(name) <= 120
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def test_a_transcript_has_one_message_a_line(tmp_path: Path) -> None:
    path = write_transcript(tmp_path, "s1", 2, MESSAGES)
    assert path == tmp_path / "transcripts" / "s1-2.jsonl"
    assert path is not None
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "redacted_thinking"},
                {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls", "n": [1, {"a": "b"}]}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py\nb.py", "is_error": False}]},
    ]
    assert write_transcript(None, "s1", 2, MESSAGES) is None


def test_no_secret_reaches_a_transcript(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    said = [
        Message("user", (Text(f"the key is {secret}"), ToolResult("t", f"KEY={secret}")), (1, 1)),
        Message("assistant", (Thinking(secret, ""), ToolUse("t2", "bash", {"a": [{"b": f"x {secret}"}]})), (2, 2)),
    ]
    path = write_transcript(tmp_path, "s1", 1, said)
    assert path is not None
    assert secret not in (tmp_path / path).read_text("utf-8")


def test_a_pattern_holds_in_its_workspace_in_all_windows_and_after_a_restart(tmp_path: Path) -> None:
    a, b = Path("/work/a"), Path("/work/b")
    here, there = UserState(tmp_path), UserState(tmp_path)
    test, look = KeptRule("command", "npm test", 1.0), KeptRule("command", "ls", 2.0)
    assert here.rules(a) == []
    here.add_rule(a, test)
    there.add_rule(a, look)
    assert here.rules(a) == [test, look]
    assert UserState(tmp_path).rules(a) == [test, look]
    assert here.rules(b) == []
    assert here.rules(None) == []
    there.count_use(a, {test.key}, 3.0)
    assert here.rules(a) == [KeptRule("command", "npm test", 1.0, "", 1, 3.0), look]
    UserState(tmp_path).forget_rules(a)
    assert here.rules(a) == []


def test_what_holds_everywhere_is_kept_beside_what_holds_in_a_workspace(tmp_path: Path) -> None:
    a, state = Path("/work/a"), UserState(tmp_path)
    state.add_rule(None, KeptRule("edit", "docs/**", 1.0))
    state.add_rule(a, KeptRule("edit", "docs/**", 2.0))
    state.forget_rule(a, ("edit",), "docs/**")
    assert (state.rules(a), state.rules(None)) == ([], [KeptRule("edit", "docs/**", 1.0)])


def test_a_rule_that_takes_anothers_place_does_so_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it cannot be written, the rule of before still refuses."""
    a, state = Path("/work/a"), UserState(tmp_path)
    never, allowed = KeptRule("never command", "npm test", 1.0), KeptRule("command", "npm test", 2.0)
    state.add_rule(a, never)
    written: list[Path] = []

    def full(path: Path, text: str) -> None:
        written.append(path)
        raise StoreFailed("No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(user_state, "write_whole", full)
        with pytest.raises(StoreFailed):
            state.add_rule(a, allowed, ("command", "never command"))
    assert len(written) == 1
    assert UserState(tmp_path).rules(a) == [never]
    state.add_rule(a, allowed, ("command", "never command"))
    assert UserState(tmp_path).rules(a) == [allowed]


def test_an_early_approval_is_taken_back_with_its_files(tmp_path: Path) -> None:
    a = Path("/work/a")
    early = {"command": ["as of 12ab exactly: sh b.sh", "exactly: sh c.sh"], "edit": ["as b.sh", "b.sh"]}
    (tmp_path / "state.json").write_text(json.dumps({"approvals": {str(a): early}}))
    state = UserState(tmp_path)
    state.forget_rule(a, ("command",), "exactly: sh b.sh")
    state.forget_rule(a, ("edit",), "b.sh")
    assert state.early_approvals(a) == {"command": ("exactly: sh c.sh",), "edit": ("as b.sh",)}


def test_a_learned_ratio_is_kept(tmp_path: Path) -> None:
    state = UserState(tmp_path)
    assert state.ratio("m") is None
    state.remember_ratio("m", 1)
    state.remember_ratio("n", 1.5)
    state.remember_ratio("m", 1.2, "counted_ratios")
    assert (UserState(tmp_path).ratio("m"), state.ratio("n")) == (1.0, 1.5)
    assert (state.ratio("m", "counted_ratios"), state.ratio("n", "counted_ratios")) == (1.2, None)


@pytest.mark.parametrize("kept", ["1e9", "0.0", "-1.0", "NaN", "Infinity", '"1.0"', "true"])
def test_a_ratio_that_cannot_have_been_learned_is_passed_over(tmp_path: Path, kept: str) -> None:
    (tmp_path / "state.json").write_text(f'{{"ratios": {{"m": {kept}}}}}')
    assert UserState(tmp_path).ratio("m") is None


@pytest.mark.parametrize(
    "content", ["{", "[]", "null", '{"approvals": 4, "ratios": {"m": "x"}}', '{"approvals": {"/work/a": {"command": "npm test"}}}']
)
def test_a_damaged_state_allows_nothing_and_is_kept_aside(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content)
    state = UserState(tmp_path)
    workspace = Path("/work/a")
    assert state.early_approvals(workspace).get("command", ()) == ()
    assert state.rules(workspace) == []
    assert state.ratio("m") is None
    state.add_rule(workspace, KeptRule("command", "npm test", 1.0))
    assert state.rules(workspace) == [KeptRule("command", "npm test", 1.0)]
    aside = [path.read_text() for path in tmp_path.glob("state.json.damaged-*")]
    assert aside in ([], [content])
    assert bool(aside) == (content in ("{", "[]", "null"))
