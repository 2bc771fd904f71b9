"""The digest: what it must hold, what it favours, and its size."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import says
from tests.unit.context.work import asked, edited, planned, ran, read, work
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import facts
from ullage.context.summary.program_summary import PROGRAM_TOKENS, brief, program_sections, quote


def program_summary(entries: Sequence[Logged], focus: str, budget_tokens: int = PROGRAM_TOKENS) -> str:
    """As Markdown."""
    found = facts(entries)
    quotes = quote(found.asked, SummaryOptions().user_message_tokens)
    return "\n\n".join(section.markdown() for section in program_sections(found, quotes, focus, budget_tokens))


def constrained(what: str, number: int, more: str) -> list[Entry]:
    """A prompt whose first line is a constraint."""
    return [asked(f"Never change the {what} of tank {number}.\n{more}")]


def edited_part(what: str, number: int) -> list[Entry]:
    return edited(f"src/{what}/part_{number}.py")


def read_part(what: str, number: int) -> list[Entry]:
    return read(f"src/{what}/part_{number}.py")


def made(number: int) -> list[Entry]:
    """A command that fails every other time."""
    return ran(f"make target_{number}", "error: broken", failed=number % 2 == 0)


def told(text: str) -> list[Entry]:
    return [says(text)]


def files_in(text: str) -> set[str]:
    """The paths of the files in a digest: each stands in the lines of its folder."""
    section = text.partition("## Files, with names that belong to them\n")[2].partition("\n## ")[0]
    found: set[str] = set()
    folder = ""
    for line in section.splitlines():
        if not line.startswith("- "):
            folder = line.removesuffix("/")
            continue
        names = line[2:].partition(":")[0].partition(" (")[0]
        found.update(f"{folder}/{name}".removeprefix("./") for name in names.split(", "))
    return found


LONG_TEXTS = ["A long story about tanks. " * 400, "好的,油罐。" * 900]
words = st.sampled_from(["tank", "gauge", "level", "report", "valve", "pump"])
options = st.integers(0, 50)
steps = st.one_of(
    st.builds(constrained, words, options, st.sampled_from(["", *LONG_TEXTS])),
    st.builds(edited_part, words, options),
    st.builds(read_part, words, options),
    st.builds(made, options),
    st.builds(told, st.sampled_from(LONG_TEXTS)),
)


@given(st.lists(steps, max_size=60), st.integers(0, 4_000))
def test_every_constraint_and_every_changed_path_is_in_it(history: list[list[Entry]], budget: int):
    entries = work(*history)
    text = program_summary(entries, "", budget)
    for logged in entries:
        if isinstance(logged.entry, UserPrompt):
            assert logged.entry.text.splitlines()[0] in text
        elif isinstance(logged.entry, ToolReturned):
            assert {touch.path for touch in logged.entry.touched if touch.kind != "read"} <= files_in(text)


@given(st.lists(steps, max_size=60), st.integers(0, 4_000))
def test_beyond_what_must_be_in_it_the_budget_is_kept(history: list[list[Entry]], budget: int):
    entries = work(*history)
    required = estimate_text(program_summary(entries, "", 0))
    assert estimate_text(program_summary(entries, "", budget)) <= required + 1.1 * budget + 100


def test_sections_stand_in_reading_order():
    entries = work(
        asked(f"Fix the gauge. Never push. {'That is how it is. ' * 20}"),
        says("I'll use the raw value because the filter lags. See TankGauge."),
        ran("make test", "FAILED test_gauge\n(exit code 1)", failed=True),
        edited("src/gauge.py"),
        planned(("Fix it", "completed"), ("Test readLevel", "in_progress"), ("Write it down", "pending")),
        ran("make test", "3 passed"),
    )
    headings = [line[3:] for line in program_summary(entries, "").splitlines() if line.startswith("## ")]
    assert headings == [
        "What the user asked for",
        "Constraints and preferences",
        "Decisions and why",
        "Files, with names that belong to them",
        "Commands and how they ended",
        "Errors and what was done about them",
        "Task list",
        "Other names and hashes, by where they were last seen",
        "What was being done where this record ends",
        "Next step, as of the end of this record",
    ]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([asked("Fix it"), planned(("Later", "pending"), ("Now", "in_progress"))], "Go on with: Now"),
        ([asked("Fix it"), planned(("Done", "completed"))], "Go on with what the user asked last (#1)"),
        ([asked("Fix it"), says("Done."), TurnEnded("end_turn")], "Nothing is left open that the log knows of; the user speaks next"),
    ],
)
def test_next_step(steps: list[Entry | list[Entry]], expected: str):
    assert program_summary(work(*steps), "").endswith(expected)


def test_what_does_not_fit_is_counted():
    text = program_summary(work(*(ran(f"make number-{number}") for number in range(200))), "", 600)
    assert "`make number-199`: ok (#400)" in text
    assert "`make number-0`" not in text
    assert "more: `recall`" in text


def test_the_focus_comes_first():
    entries = work(ran("make valves"), *(ran(f"make number-{number}") for number in range(200)))
    assert "make valves" not in program_summary(entries, "", 600)
    assert "make valves" in program_summary(entries, "the valves, please", 600)


def test_of_commands_those_that_do_something_come_first_and_of_decisions_those_that_say_so():
    looked = [ran(f"grep -rn tank_{number} src/part_{number}") for number in range(30)]
    reasons = [says(f"The gauge of tank number {number} is red because it is low and nobody looked.") for number in range(30)]
    text = program_summary(work(asked("go"), says("I chose litres for every gauge."), ran("make report"), *looked, *reasons), "")
    assert "`make report`: ok" in text
    assert "I chose litres for every gauge." in text
    assert "tank number 29" in text


def test_hundreds_of_changed_files_are_all_named():
    entries = work(*(edited(f"src/module_{number}.py") for number in range(300)))
    text = program_summary(entries, "")
    assert files_in(text) == {f"src/module_{number}.py" for number in range(300)}


def test_a_digest_of_nothing_is_empty():
    assert program_summary([], "") == ""


def test_the_user_is_quoted_verbatim_and_begins_no_line():
    assert "- #1: First\n    ## second\n" in program_summary(work(asked("First\n## second")), "")


def test_names_stand_near_their_file_however_many_there_are():
    names = [f"readLevelOfTank{number}" for number in range(100)]
    lines = program_summary(work(edited("src/gauge.py", "", " ".join(names))), "").splitlines()
    beside = {name: line for line in lines if line.startswith("- gauge.py") for name in line.partition(": ")[2].split()}
    assert set(names) <= set(beside)
    assert all(len(line) < 640 for line in beside.values())


def wide(names: int) -> list[Entry | list[Entry]]:
    return [ran(f"ls {number}", " ".join(f"name_{number}_{each}" for each in range(names))) for number in range(100)]


def test_wide_work_gets_a_longer_record_than_narrow_work_up_to_a_ceiling():
    narrow, wider, widest = (len(program_summary(work(*wide(names)), "")) for names in (1, 10, 100))
    assert narrow < wider < widest < 20_000


def test_many_words_of_the_user_leave_room_for_names():
    text = program_summary(work(edited("src/gauge.py", "", "readLevel"), asked("Many words. " * 800), asked("And more words. " * 800)), "")
    assert len(text) > 15_000
    assert "- gauge.py (edited #2; last: `readLevel`)" in text


def test_brief():
    entries = work(asked("Fix the gauge"), read("docs/gauge.md"), edited("src/gauge.py"), ran("make test", "no", failed=True))
    assert brief(entries) == "The user said: Fix the gauge\nChanged: src/gauge.py\nRead: docs/gauge.md\nRan: `make test` (failed)"


def test_brief_stays_brief():
    entries = work(*(edited(f"src/module_{number}.py") for number in range(300)), *(asked("word " * 200) for _ in range(100)))
    assert len(brief(entries)) < 2_000
    assert "and 288 more" in brief(entries)


def test_brief_is_redacted():
    assert "correcthorse9" not in brief(work(ran("mysql --password=correcthorse9")))


def test_brief_of_nothing_is_empty():
    assert brief([]) == ""
