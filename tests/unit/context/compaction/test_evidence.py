from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.unit.context.logs import compaction, prompt, reply, says, session
from ullage.context.blocks import ToolUse
from ullage.context.compaction.evidence import (
    HALVED_AFTER,
    MENTIONS_IN,
    MISSED_ELSEWHERE,
    Sign,
    holds_tests,
    instructs,
    likely,
    missed_elsewhere,
    signs_in,
)
from ullage.context.compaction_entries import FetchedAgain
from ullage.context.entries import FileTouch, ToolReturned

OLD = int(HALVED_AFTER)


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ([], ()),
        ([Sign("a", "read", 9), Sign("b", "read", 0)], ("b", "a")),
        ([Sign("a", "read", 9), Sign("a", "edited", 9), Sign("b", "read", 0)], ("a", "b")),
        ([Sign("a", "read", OLD), Sign("a", "read", OLD), Sign("a", "read", OLD), Sign("b", "read", 0)], ("a", "b")),
        ([Sign("a", "read", OLD), Sign("a", "edited", 5 * OLD), Sign("b", "read", 0)], ("b", "a")),
        ([Sign("a", "disk", 0), Sign("b", "read", OLD)], ("b", "a")),
        ([Sign("a", "edited", 0), Sign("b", "unsaved", 0)], ("b", "a")),
        ([Sign("src/a.py", "edited", 0), Sign("docs/AGENTS.md", "read", 9 * OLD)], ("docs/AGENTS.md", "src/a.py")),
        ([Sign("src/a.py", "edited", 0), Sign("AGENTS.md", "uncommitted", 0)], ("src/a.py", "AGENTS.md")),
        ([Sign("b", "read", 1), Sign("a", "read", 1), Sign("c", "read", 1), Sign("d", "read", 1)], ("a", "b", "c")),
    ],
)
def test_many_and_new_signs_come_first_and_instructions_that_were_read_before_all(signs: Sequence[Sign], expected: tuple[str, ...]):
    assert likely(signs, 3) == expected


def test_the_log_shows_what_tools_touched_and_what_commands_printed():
    touched = (FileTouch("a.py", "edited", "0"), FileTouch("b.py", "read", "0"))
    entries = session(
        prompt("go"),
        reply(ToolUse("t1", "bash", {"command": "cd src && cat src/c.py -n | grep x; sed -n '1,80p' d.go > e.txt"})),
        ToolReturned("t1", "bash", "text", False, 4, touched=touched),
    )
    assert set(signs_in(entries)) == {Sign("src/c.py", "read", 1), Sign("a.py", "edited", 0), Sign("b.py", "read", 0)}


def test_a_file_that_was_missed_after_a_compaction_is_likelier_here_and_after_others():
    again = FetchedAgain("c0", ("a.py",), 900, 300, 1, 9)
    made = replace(compaction("c1"), fetched_again=again)
    reads = [ToolReturned(f"t{path}", "read_file", "text", False, 4, touched=(FileTouch(path, "read", "0"),)) for path in ("a.py", "b.py")]
    assert likely(signs_in(session(*reads)), 2) == ("b.py", "a.py")
    signs = [*signs_in(session(*reads, made))]
    assert Sign("a.py", "missed", 0) in signs
    assert likely(signs, 2) == ("a.py", "b.py")


def test_what_other_sessions_missed_counts_where_something_here_speaks_for_it():
    signs = [Sign("a.py", "read", 3), Sign("b.py", "read", 2), Sign("a.py", "mentioned", 1)]
    assert [*missed_elsewhere(signs, {"a.py", "never_read_here.py"})] == [Sign("a.py", "missed", MISSED_ELSEWHERE)]
    assert [*missed_elsewhere(signs, ())] == []


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("look at gauge.py.", {"src/gauge.py"}),
        ("look at `src/gauge.py`", {"src/gauge.py"}),
        ("look at the gauge", set[str]()),
        ("look at never_read.py", set[str]()),
        ("look at index.ts", set[str]()),
        ("look at b/index.ts", {"b/index.ts"}),
    ],
)
def test_a_file_in_use_that_is_spoken_of_lately_is_likelier(words: str, files: set[str]):
    touched = tuple(FileTouch(path, "read", "0") for path in ("src/gauge.py", "a/index.ts", "b/index.ts"))
    result = ToolReturned("t1", "bash", "text", False, 4, touched=touched)
    for said in (prompt(words), says(words)):
        entries = session(prompt("go"), reply(ToolUse("t1", "bash", {"command": "ls"})), result, said)
        assert {sign.path for sign in signs_in(entries) if sign.kind == "mentioned"} == files
        long_ago = session(prompt("go"), reply(ToolUse("t1", "bash", {"command": "ls"})), result, said, *[says("More")] * MENTIONS_IN)
        assert all(sign.kind != "mentioned" for sign in signs_in(long_ago))


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cat a.py", {"a.py"}),
        ("cat 'my file.py'", {"file.py"}),
        (["bash", "-lc", "nl -ba ./x/b.py"], {"./x/b.py"}),
        ("head -n 20 a.py b.py", {"a.py", "b.py"}),
        ("cat <<EOF\na.py", set[str]()),
        ("echo a.py", set[str]()),
        ("grep x a.py | cat", set[str]()),
        (7, set[str]()),
    ],
)
def test_commands_that_print_files_name_them(command: str, files: set[str]):
    entries = session(prompt("go"), reply(ToolUse("t1", "bash", {"command": command})))
    assert {sign.path for sign in signs_in(entries)} == files


@pytest.mark.parametrize("text", ["x" * 1_000_000, "x." * 500_000, "a.b" * 300_000, "@" * 1_000_000])
def test_a_text_without_an_end_of_a_word_is_read_like_any_other(text: str):
    """It took hours, and everything stood still meanwhile."""
    entries = session(prompt("go"), reply(ToolUse("t1", "bash", {"command": "cat a.py"})), says(text))
    assert {sign.path for sign in signs_in(entries)} == {"a.py"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/unit/logs.py", True),
        ("cli/integration_test/resume.go", True),
        ("src/__tests__/panel.tsx", True),
        ("cli/setup_test.go", True),
        ("test/panel_test.exs", True),
        ("test_panel.py", True),
        ("src/panel.spec.ts", True),
        ("src/PanelTest.java", True),
        ("src/panel.py", False),
        ("src/latest.go", False),
        ("src/contest/winner.rs", False),
        ("src/testing.ts", False),
        ("docs/test-plan.md", False),
        ("Test", False),
    ],
)
def test_files_of_tests_are_known_by_their_names(path: str, expected: bool):
    assert holds_tests(path) is expected


def test_of_two_files_as_much_in_use_the_code_comes_before_its_tests():
    signs = [Sign("a_test.py", "edited", 0), Sign("b.py", "edited", 9), Sign("c_test.py", "edited", 0), Sign("c_test.py", "read", 0)]
    assert likely(signs, 3, 0.7) == ("c_test.py", "b.py", "a_test.py")
    assert likely(signs, 3) == ("c_test.py", "a_test.py", "b.py")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("AGENTS.md", True),
        ("web/CLAUDE.md", True),
        ("/home/a/.agents/skills/beads/SKILL.md", True),
        (".agents/workflow.md", True),
        (".cursor/rules/style.mdc", True),
        (".claude/settings.json", False),
        ("docs/agents/workflow.md", False),
        ("README.md", False),
    ],
)
def test_files_that_say_how_to_work(path: str, expected: bool):
    assert instructs(path) is expected
