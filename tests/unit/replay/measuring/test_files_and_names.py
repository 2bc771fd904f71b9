"""The files that calls are about and that were read again; the names that a summary lists, and which stand beside their file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.replay.small_sessions import calls, log, prompt, returned, says
from ullage.context.blocks import Json
from ullage.context.entries import FileTouch
from ullage.recorded.retention import Cut, HitShare
from ullage.replay.measuring.files_and_names import (
    NamedInSummaries,
    file_calls,
    files_printed,
    files_read_again,
    named,
    needed_pairs,
    restoring,
    tied,
)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/app.py", ["src/app.py"]),
        ("sed -n '1,80p' src/app.py && sed -n '5,9p' /w/lib/io.py", ["lib/io.py", "src/app.py"]),
        ("nl -ba src/app.py | sed -n '1,80p'", ["src/app.py"]),
        ("head -n 20 a.py; tail b.py", ["a.py", "b.py"]),
        ("test -f a.json && cat a.json || true", ["a.json"]),
        (["bash", "-lc", "cat src/app.py"], ["src/app.py"]),
        (["cat", "src/app.py"], ["src/app.py"]),
        ("cd src\ncat app.py", ["app.py"]),
        ("git show main:src/app.py | sed -n '1,80p'", ["src/app.py"]),
        ("git show HEAD~2 -- src/app.py", []),
        ("cat a.py > b.py", []),
        ("cat a.py 2>/dev/null", ["a.py"]),
        ("cat <<'EOF' > a.py", []),
        ("sed -i 's/a/b/' src/app.py", []),
        ("rm src/app.py", []),
        ("concat a.py", []),
        ("", []),
    ],
)
def test_files_printed(command: Json, expected: list[str]) -> None:
    assert files_printed({"command": command}) == expected
    assert files_printed({"cmd": command, "workdir": "/w"}) == expected


def test_a_call_without_a_command_prints_nothing() -> None:
    assert files_printed({"pattern": "cat a.py"}) == []


def test_a_printed_file_is_read() -> None:
    (call,) = file_calls(log(calls("exec_command", {"cmd": "cat src/app.py"})))
    assert (call.path, call.reads, call.written) == ("src/app.py", True, ())


READINGS = log(
    calls("Read", {"file_path": "/w/src/app.py"}),  # 1
    calls("read_file", {"path": "src/io.py"}),  # 2
    calls("Write", {"file_path": "/w/src/new.py", "content": "x"}),  # 3
    prompt("on"),  # 4
    calls("Read", {"file_path": "/w/src/app.py", "offset": 10}),  # 5
    returned("text"),  # 6
    calls("Read", {"file_path": "/w/src/first.py"}),  # 7
    calls("Edit", {"file_path": "/w/src/io.py", "old_string": "a", "new_string": "b"}),  # 8
    calls("Read", {"file_path": "/w/src/new.py"}),  # 9
    calls("Read", {"file_path": "/w/src/app.py"}),  # 10
)


@pytest.mark.parametrize(
    ("after_seq", "expected"),
    [(0, set[str]()), (4, {"src/app.py"}), (7, {"src/app.py"}), (10, set[str]())],
)
def test_read_again_is_what_was_read_before_and_after(after_seq: int, expected: set[str]) -> None:
    assert files_read_again(READINGS, file_calls(READINGS), after_seq) == expected


def test_what_is_read_beyond_the_window_is_not_counted() -> None:
    read = calls("Read", {"file_path": "a.py"})
    session = log(read, *(says("on") for _ in range(60)), read)
    assert files_read_again(session, file_calls(session), 1) == set()
    assert files_read_again(session, file_calls(session), 2) == {"a.py"}


@pytest.mark.parametrize(
    ("in_view", "expected"),
    [
        (["/somewhere/else/src/app.py", "src/unused.py"], HitShare(1, 2)),
        (["src/app.py", "src/io.py"], HitShare(2, 2)),
        (["app.py"], HitShare(0, 2)),
        ([], HitShare(0, 2)),
    ],
)
def test_the_share_that_was_put_in_view(in_view: list[str], expected: HitShare) -> None:
    assert restoring({"src/app.py", "src/io.py"}, in_view) == expected


def test_shares_add_up() -> None:
    assert HitShare(1, 2) + HitShare(2, 2) == HitShare(3, 4)
    assert HitShare(3, 4).value == 0.75
    assert restoring([], ["a.py"]).value is None


LISTING = log(
    prompt("Fix readTankLevel"),  # 1
    says("I will."),  # 2
    calls("Edit", {"file_path": "src/gauge.py", "new_string": "readTankLevel(filter_window)"}, "edit"),  # 3
    returned("pump_pressure", "edit"),  # 4
    says("Now TankGauge."),  # 5
)


@pytest.mark.parametrize(
    ("summary", "names"),
    [
        ("readTankLevel and filter_window are in gauge.py", HitShare(2, 2)),
        ("readTankLevel, pump_pressure", HitShare(1, 2)),  # what only a result showed was not used by the agent
        ("readTankLevel readTankLevel", HitShare(1, 1)),
        ("TankGauge.readTankLevels", HitShare(1, 2)),
        ("is_a aB MAX_", HitShare(0, 0)),  # too short to be told from prose
        ("The gauge is red.", HitShare(0, 0)),
    ],
)
def test_of_the_names_in_a_summary_those_that_the_agent_writes_after_it_are_used(summary: str, names: HitShare) -> None:
    assert named(LISTING, [Cut(2, summary)]) == NamedInSummaries(1, len(summary), names)


def test_what_comes_after_the_next_summary_is_not_counted() -> None:
    both = named(LISTING, [Cut(2, "TankGauge"), Cut(4, "TankGauge")])
    assert both == NamedInSummaries(2, 18, HitShare(1, 2))
    assert both.mean_characters == 9


def test_where_nothing_was_summarised_or_nothing_follows_there_is_no_figure() -> None:
    nothing = named(LISTING, [Cut(2, ""), Cut(5, "readTankLevel")])
    assert nothing == NamedInSummaries()
    assert nothing.mean_characters is None


PATCH = """*** Begin Patch
*** Update File: src/app.py
@@
-    old_name()
+    load_all()
*** Add File: src/new.py
+other_name
*** End Patch"""

SESSION = log(
    calls("Read", {"file_path": "/w/src/app.py"}, "read"),  # 1
    returned("def load_all(): ...\ndef old_name(): ...", "read"),  # 2
    calls("Bash", {"command": "grep other_name"}, "grep"),  # 3
    returned("lib/io.py: other_name", "grep"),  # 4
    calls("Edit", {"file_path": "/w/src/app.py", "old_string": "old_name", "new_string": "load_all, other_name, brand_new"}),  # 5
)
CUT_AT = 4


def tied_in(kept: str) -> HitShare:
    return tied(SESSION, file_calls(SESSION), [Cut(CUT_AT, kept)])


def test_only_names_seen_in_a_call_on_that_file_are_asked_for() -> None:
    assert needed_pairs(SESSION, file_calls(SESSION), CUT_AT) == {("src/app.py", "load_all")}


@pytest.mark.parametrize(
    ("kept", "hits"),
    [
        ("app.py has load_all", 1),
        ("load_all is in src/app.py", 1),
        ("app.py" + " " * 600 + "load_all", 1),
        ("app.py" + " " * 601 + "load_all", 0),
        ("load_all" + " " * 600 + "app.py", 1),
        ("load_all" + " " * 601 + "app.py", 0),
        ("load_all" + " " * 700 + "app.py and load_all", 1),
        ("my_app.py has load_all", 0),
        ("app.py has load_all_of_it", 0),
        ("load_all", 0),
        ("app.py", 0),
        ("", 0),
    ],
)
def test_a_name_is_tied_within_600_characters_of_its_file(kept: str, hits: int) -> None:
    assert tied_in(kept) == HitShare(hits, 1)


@pytest.mark.parametrize(
    "edit",
    [
        {"path": "src/app.py", "old_text": "x", "new_text": "load_all"},
        {"file_path": "src/app.py", "content": "load_all"},
        {"file_path": "src/app.py", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "x", "new_string": "load_all"}]},
        {"notebook_path": "src/app.py", "new_source": "load_all"},
        {"input": PATCH},
        {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]},
    ],
)
def test_the_edits_of_several_programs_are_known(edit: dict[str, Json]) -> None:
    session = log(*(logged.entry for logged in SESSION[:CUT_AT]), calls("edit", edit))
    assert needed_pairs(session, file_calls(session), CUT_AT) == {("src/app.py", "load_all")}


def test_a_result_says_which_files_it_touched() -> None:
    touch = FileTouch("/w/src/app.py", "read", "")
    session = log(
        calls("shell", {"command": "show src/app.py"}, "show"),
        returned("load_all", "show", (touch,)),
        prompt("go on"),
        calls("Edit", {"file_path": "src/app.py", "new_string": "load_all"}),
    )
    assert needed_pairs(session, file_calls(session), 3) == {("src/app.py", "load_all")}
    assert [(call.seq, call.reads) for call in file_calls(session)] == [(2, True), (4, False)]


def test_nothing_is_asked_for_where_nothing_is_written() -> None:
    session = log(*(logged.entry for logged in SESSION[:CUT_AT]), says("load_all in src/app.py"))
    assert tied(session, file_calls(session), [Cut(CUT_AT, "")]) == HitShare(0, 0)


@given(st.text(alphabet=" x", max_size=700), st.sampled_from(["load_all", "app.py", "words", ""]), st.booleans())
def test_more_text_never_unties(gap: str, more: str, before: bool) -> None:
    kept = f"app.py {gap} load_all"
    longer = f"{more} {kept}" if before else f"{kept} {more}"
    assert tied_in(longer).hits >= tied_in(kept).hits
