"""Commands with how they ended, errors with what followed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.work import calls_of, edited, ran, read
from ullage.context.calls import one_line
from ullage.context.entries import Entry, ToolReturned
from ullage.context.summary.command_history import ErrorFact, ErrorHistory, command_history, error_line, last_line

TRACEBACK = """Traceback (most recent call last):
  File "tank.py", line 3, in <module>
    level()
ValueError: level below zero: -4
(exit code 1)"""


@pytest.mark.parametrize(
    ("result", "failed", "ended", "last"),
    [
        ("3 passed in 0.1s", False, "ok", "3 passed in 0.1s"),
        ("(no output)", False, "ok", ""),
        ("1 failed\n(exit code 1)", True, "exit 1", "1 failed"),
        ("1 failed\n(exit code 1)", False, "exit 1", "1 failed"),
        ("Exit code 127\nmake: not found", True, "exit 127", "make: not found"),
        ("Timed out", True, "failed", "Timed out"),
        ("it says exit code 3 in the middle\nand ends well", False, "ok", "and ends well"),
        ("total 3\n-----\n\n", False, "ok", "total 3"),
        ("3 passed\nShell cwd was reset to /src", False, "ok", "3 passed"),
    ],
)
def test_how_a_command_ended(result: str, failed: bool, ended: str, last: str):
    (fact,) = command_history(calls_of(ran("make", result, failed=failed)))
    assert (fact.command, fact.ended, fact.last_line, fact.runs) == ("make", ended, last, 1)


@pytest.mark.parametrize(
    ("command", "result", "ended"),
    [
        ("make test 2>&1 | tail -5", "3 passed in 0.1s", "ran"),
        ("make test | tail -5", "collected 4 items\nFAILED test_tank.py::test_level", "failed"),
        ("make test | tail -5", "1 failed, 3 passed", "failed"),
        ("make test | tail -5", "0 failed, 3 passed", "ran"),
        ("make lint | head", "[lint] ERROR task failed", "failed"),
        ("make lint | head", "error: no such target", "failed"),
        ("make lint | head", "error_log.py is clean", "ran"),
        ("grep -rn FAILED . | head", "notes.md: FAILED once", "ran"),
        ("make test", "FAILED is what it says and yet it ends well", "ok"),
    ],
)
def test_how_a_command_ended_whose_exit_code_is_that_of_another_program(command: str, result: str, ended: str):
    (fact,) = command_history(calls_of(ran(command, result)))
    assert fact.ended == ended


def test_where_a_command_ran_and_how_much_of_its_output_was_wanted_makes_no_other_of_it():
    facts = command_history(calls_of(ran("make test 2>&1 | tail -5"), ran("git status"), ran("cd src && make test | tail -50")))
    assert [(fact.command, fact.runs, fact.only_looks) for fact in facts] == [("git status", 1, True), ("make test", 2, False)]


def test_a_command_that_ran_again_stands_where_it_ran_last():
    facts = command_history(calls_of(ran("make", "no", failed=True), ran("ls"), ran("make", "yes")))
    assert [(fact.command, fact.runs, fact.ended) for fact in facts] == [("ls", 1, "ok"), ("make", 2, "ok")]


def test_other_tools_are_no_commands():
    assert command_history(calls_of(read("a.py"), edited("b.py"))) == ()


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (TRACEBACK, "ValueError: level below zero: -4"),
        ("src/a.ts(3,7): error TS2304: Cannot find name 'x'.", "src/a.ts(3,7): error TS2304: Cannot find name 'x'."),
        (
            "collected 3 items\nFAILED tests/test_a.py::test_x - assert 1 == 2\nshort summary",
            "FAILED tests/test_a.py::test_x - assert 1 == 2",
        ),
        ("error[E0425]: cannot find value `x`\n --> src/main.rs:2:5", "error[E0425]: cannot find value `x`"),
        ("Exit code 2\nls: cannot access 'x': No such file or directory", "ls: cannot access 'x': No such file or directory"),
        ("nothing telling here\nnor here", "nothing telling here"),
        ("", "(no output)"),
        ("---\n***", "(no output)"),
        ("<tool_error>No such tank</tool_error>", "No such tank"),
        ("warning_test.c:3: all is well\n--- FAIL: test_level", "--- FAIL: test_level"),
    ],
)
def test_the_line_that_says_what_went_wrong(output: str, expected: str):
    assert error_line(output) == expected


def test_the_error_is_found_at_the_end_of_a_long_output():
    assert error_line("line of a log\n" * 50_000 + TRACEBACK) == "ValueError: level below zero: -4"


def error_facts(*steps: list[Entry]) -> tuple[ErrorFact, ...]:
    history = ErrorHistory()
    for call in calls_of(*steps):
        history.add(call)
    return history.facts()


def errors(*steps: list[Entry]) -> list[tuple[str, str]]:
    return [(fact.text, fact.fix) for fact in error_facts(*steps)]


def test_an_error_is_open_until_the_same_call_works():
    assert errors(ran("make", "error: no", failed=True), edited("a.c"), ran("ls")) == [("error: no", "")]
    assert errors(ran("make", "error: no", failed=True), edited("a.c"), ran("make")) == [
        ("error: no", "worked later (#6), after changes in a.c")
    ]


def test_an_error_may_go_away_by_itself():
    assert errors(ran("make", "error: no", failed=True), ran("make")) == [("error: no", "worked later (#4), without a change of files")]


def test_an_error_that_gives_way_to_another_is_kept_with_it():
    found = errors(ran("make", "error: one", failed=True), edited("a.c"), ran("make", "error: two", failed=True))
    assert found == [("error: one", "gave way to another error (#6)"), ("error: two", "")]


def test_the_same_error_again_counts_once_where_it_came_last():
    facts = error_facts(ran("make", "error: no", failed=True), edited("a.c"), ran("make", "error: no", failed=True))
    assert [(fact.seq, fact.tried) for fact in facts] == [(6, ("a.c",))]


def test_an_error_that_shows_in_a_part_of_the_output_is_one_until_the_command_works():
    assert errors(ran("make | tail", "error: no"), edited("a.c"), ran("make")) == [("error: no", "worked later (#6), after changes in a.c")]


def test_that_a_file_could_not_be_read_or_edited_as_asked_is_no_error_to_keep():
    failed = [entry if not isinstance(entry, ToolReturned) else replace(entry, is_error=True) for entry in edited("a.c")]
    assert errors(failed, ran("make", "error: no", failed=True)) == [("error: no", "")]


def test_a_call_that_was_left_out_since_another_failed_is_no_error():
    assert errors(ran("make", "<tool_use_error>Sibling tool call errored</tool_use_error>", failed=True)) == []


def test_files_that_were_only_read_are_not_taken_for_a_fix():
    assert errors(ran("make", "error: no", failed=True), read("a.c"), ran("make"))[0][1].endswith("without a change of files")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\n  b\tc", "a b c"), ("x" * 10, "x" * 10), ("x" * 11, "x" * 9 + "…"), ("one two three", "one two t…"), (" " * 500 + "late", "…")],
)
def test_one_line(text: str, expected: str):
    assert one_line(text, 10) == expected


def test_last_line_of_nothing_is_empty():
    assert last_line("") == ""
