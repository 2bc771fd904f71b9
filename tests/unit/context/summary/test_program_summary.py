"""The program summary: what it must hold, what it favours, and its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.context.logs import says
from tests.unit.context.work import asked, edited, planned, ran, read, work
from ullage.context.blocks import Text
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import AssistantReply, Entry, Logged, ToolReturned, TurnEnded, UserPrompt
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import facts
from ullage.context.summary.program_summary import DECISIONS_SHARE, FILES, NEXT, PROGRAM_TOKENS, brief, program_sections
from ullage.context.summary.quotes import quote
from ullage.context.summary.sections import Staying
from ullage.context.summary.whole_summary import whole_summary

LONGEST = SummaryOptions().message_tokens


def program_summary(entries: Sequence[Logged], focus: str, budget_tokens: int = PROGRAM_TOKENS) -> str:
    """As Markdown."""
    found = facts(entries)
    quotes = quote(found.asked, SummaryOptions().user_message_tokens, LONGEST)
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


def working(text: str) -> list[Entry]:
    """A reply that says something and goes on with a call."""
    call, returned = ran("true")
    assert isinstance(call, AssistantReply)
    return [replace(call, blocks=(Text(text), *call.blocks)), returned]


def files_in(text: str) -> set[str]:
    """The paths of the files in a summary: each stands in the lines of its folder."""
    section = text.partition(f"## {FILES}\n")[2].partition("\n## ")[0]
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


def headings_of(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("## ")]


def test_sections_stand_in_reading_order():
    entries = work(
        asked(f"Fix the gauge. Never push. {'That is how it is. ' * 20}"),
        *(says(f"I'll use the raw value {number} because the filter lags. See TankGauge.") for number in range(20)),
        ran("make test", "FAILED test_gauge\n(exit code 1)", failed=True),
        edited("docs/plan.md", "", kind="created"),
        ran("bd show tank-1", "tank-1: read the level"),
        edited("src/gauge.py"),
        planned(("Fix it", "completed"), ("Test readLevel", "in_progress"), ("Write it down", "pending")),
        ran("make test", "3 passed"),
        ran("make report"),
    )
    assert headings_of(program_summary(entries, "")) == [
        "What the user wants",
        "Constraints and preferences",
        "Where the work stands",
        "Just done and found, in the agent's own words",
        "What is next",
        "The plan and the task at hand",
        "Decided and found before, and why",
        "Commands and how they ended",
        "Errors and what was done about them",
        "Files and names",
    ]


def next_of(*steps: Entry | list[Entry]) -> list[str]:
    return program_summary(work(*steps), "").partition(f"## {NEXT}\n")[2].partition("\n\n")[0].splitlines()


def test_what_the_user_asked_last_and_the_task_under_way_are_next():
    assert next_of(asked("Fix it"), planned(("Later", "pending"), ("Now", "in_progress"))) == [
        "- Nobody has answered yet what the user asked last (#1): “Fix it”",
        "- Go on with: Now",
    ]


def test_what_the_agent_was_at_is_next():
    assert next_of(asked("Fix it"), working("The level is wrong since the filter lags."), ran("make", "no", failed=True)) == [
        "- Under way is what the user asked last (#1): “Fix it”",
        "- The agent was at: The level is wrong since the filter lags. (#2)",
        "- Last call: bash(command: make) failed (#5)",
    ]


def test_edits_after_the_last_check_are_to_be_checked():
    assert "- Check what was edited since the last check" in next_of(asked("Fix it"), ran("make test"), edited("a.py"))
    assert "- Check what was edited since the last check" not in next_of(asked("Fix it"), edited("a.py"), ran("make test"))


def test_a_question_of_the_agent_waits_for_its_answer():
    assert next_of(asked("Fix it"), says("It is done.\n\nShall I push it?"), TurnEnded("end_turn")) == [
        "- The agent waits for an answer to: Shall I push it? (#2)"
    ]


def test_where_all_is_done_the_user_speaks_next():
    assert next_of(asked("Fix it"), says("Done."), TurnEnded("end_turn")) == [
        "- Nothing is left open that the log knows of; the user speaks next"
    ]


def test_what_does_not_fit_is_counted():
    text = program_summary(work(*(ran(f"./tank-{number}") for number in range(200))), "", 600)
    assert "`./tank-199`: ok (#400)" in text
    assert "`./tank-0`" not in text
    assert "more: `recall`" in text


def test_the_focus_comes_first():
    entries = work(ran("./valves"), *(ran(f"./tank-{number}") for number in range(200)))
    assert "./valves" not in program_summary(entries, "", 600)
    assert "./valves" in program_summary(entries, "the valves, please", 600)


def test_of_commands_those_that_do_something_come_first_and_of_decisions_those_that_say_so():
    looked = [ran(f"grep -rn tank_{number} src/part_{number}") for number in range(30)]
    reasons = [working(f"The gauge of tank number {number} is red because it is low and nobody looked.") for number in range(30)]
    text = program_summary(work(asked("go"), working("I chose litres for every gauge."), ran("make report"), *looked, *reasons), "")
    assert "`make report`: ok" in text
    assert "I chose litres for every gauge." in text
    assert "tank number 29" in text
    assert "grep" not in text


def test_hundreds_of_changed_files_are_all_named():
    entries = work(*(edited(f"src/module_{number}.py") for number in range(300)))
    text = program_summary(entries, "")
    assert files_in(text) == {f"src/module_{number}.py" for number in range(300)}


def test_a_summary_of_nothing_is_empty():
    assert program_summary([], "") == ""


def test_the_user_is_quoted_verbatim_and_begins_no_line():
    assert "- #1: First\n    ## second\n" in program_summary(work(asked("First\n## second")), "")


def test_the_last_words_of_a_turn_stand_nearly_whole_though_they_stay_in_view():
    told = "The gauge reads the raw value now.\n\n- the filter is gone\n- the report is next\n\nShall I go on with it?"
    found = facts(work(asked("Fix it"), says(told)))
    sections = program_sections(found, quote(found.asked, 1_000, LONGEST), "", PROGRAM_TOKENS, staying=Staying(told))
    text = "\n".join(section.markdown() for section in sections)
    assert all(line in text for line in told.splitlines())


def test_the_last_words_of_a_turn_do_not_fall_out_where_they_are_dense():
    table = "\n".join(f"| #{number} | `{number * 7919:x}` | https://x.test/{number} |" for number in range(80))
    ended = says(f"All three reports are written.\n\n{table}\n\nShall I send them?")
    text = program_summary(work(asked("Report"), ended, *[working(f"It says {number} litres.") for number in range(6)]), "")
    assert "All three reports are written." in text
    assert "Shall I send them?" in text


def test_steps_that_change_something_are_told_as_they_came():
    log = [
        asked("Mend it"),
        *working("Now add the datum to the gauge."),
        *working("Let me read the test."),
        *working("Now update the test."),
    ]
    text = program_summary(work(log), "")
    assert text.index("- Announced: Now add the datum to the gauge.") < text.index("- Announced: Now update the test.")
    assert "Let me read the test." not in text


def test_what_the_agent_was_about_to_do_is_next():
    log = [asked("Mend it"), *working("The gauge counts twice. Let me mend the filter.")]
    assert "- The agent was at: The gauge counts twice. It went on: Let me mend the filter. (#2)" in program_summary(work(log), "")


def test_a_text_for_others_stands_once():
    """What the agent wrote for others is part of the task; what it opened again is told once."""
    body = "Read the datum plate of the east tank once a day and write it down. " * 4
    create = ran(f'gh issue create --title Datum --body "{body}"', "https://example.org/issues/7")
    alone, opened = (program_summary(work([asked("Mend it"), *steps]), "") for steps in (create, [*create, *ran("gh issue view 7", body)]))
    assert "- Written with `gh issue create" in alone
    assert "- Written with" not in opened
    assert "- Opened with `gh issue view 7`" in opened


def test_steps_that_are_only_announced_are_left_out():
    steps = [working(f"Now let me read part {number}.") for number in range(30)]
    text = program_summary(work(asked("Go"), working("The filter lags because it counts twice."), *steps), "")
    assert "The filter lags because it counts twice." in text
    assert text.count("let me read part") <= 2


def test_a_long_session_has_a_summary_that_one_can_read():
    turns = [
        step
        for number in range(300)
        for step in (
            asked(f"Go on with tank {number}."),
            working(f"Tank {number} leaks, since its valve_{number} was never closed. " * 3),
            edited(f"src/tank_{number % 30}.py", "", " ".join(f"readLevel{number}_{each}" for each in range(30))),
            ran(f"make tank_{number}", "error: it leaks" * 20, failed=number % 2 == 0),
            says(f"Tank {number} is closed. " * 20),
        )
    ]
    found = facts(work(*turns))
    sections = program_sections(found, quote(found.asked[-20:], 1_000, LONGEST), "", PROGRAM_TOKENS)
    assert len("\n".join(section.markdown() for section in sections)) < 13_000


def test_an_agent_that_only_talks_has_a_summary_of_what_was_said():
    text = program_summary(work(asked("Why is the sea salty?"), says("Rivers carry salt into it."), asked("And the lakes?")), "")
    assert headings_of(text) == ["What the user wants", "Just done and found, in the agent's own words", "What is next"]
    assert "Rivers carry salt into it. (#2)" in text


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


def test_a_plan_in_words_is_told_whole_where_there_is_room_for_it():
    steps = " ".join(f"{number}. Tank {number}: count its litres by the strapping table of its own." for number in range(1, 15))
    text = program_summary(work([asked("Count the tanks"), *working(f"The tanks are counted one by one. {steps}")]), "")
    assert steps in text


def test_what_other_sections_leave_goes_to_what_was_decided():
    decided = [
        f"I use table {number} because the dip of tank {number} is measured from its own plate and not from the keel."
        for number in range(90)
    ]
    log = [
        asked("Mend the tables"),
        *(entry for text in decided for entry in working(text)),
        *(says(f"Done {number}.") for number in range(8)),
    ]
    text = program_summary(work(log), "")
    told_of = sum(each in text for each in decided)
    alone = int(PROGRAM_TOKENS * DECISIONS_SHARE) // estimate_text(f"- {decided[0]} (#2)")
    assert told_of > 2 * alone
    assert estimate_text(text) < 1.2 * PROGRAM_TOKENS


def test_words_that_closed_a_turn_are_told_before_where_those_after_it_take_the_room():
    """What the newest words leave no room for is not lost between two sections."""
    closed = "I chose litres, because the dip counts them."
    after = [
        entry for number in range(12) for entry in working(f"Tank {number} " + "shows the level that was read from its own dip, " * 12)
    ]
    summary = program_summary(work([asked("Go"), *told(closed), asked("On"), *told("Agreed, since it saves a dip."), *after]), "", 500)
    assert closed in summary


def test_the_words_of_a_user_who_said_much_take_room_from_the_rest():
    """So that summaries are of about one length."""
    steps = [entry for number in range(150) for entry in working(f"Tank {number} is read in litres, because its dip counts them.")]
    lengths = [
        len(whole_summary(work([asked(words), *steps]), None, "", SummaryOptions())) for words in ("Go", "Read one more tank. " * 150)
    ]
    assert lengths[1] - lengths[0] < 20 * 150 - 400
