"""Summaries over messages and over summaries, each a range of the log."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings

from tests.deep import many
from tests.unit.context.logs import calls, drawn, prompt, returned, says, session
from tests.unit.context.policies.rehearsal import compacted, occasion, tokens
from tests.unit.context.strategies import histories
from tests.unit.context.validity import problems
from ullage.context.compaction_entries import Compaction
from ullage.context.counting.gauge import threshold_of
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Entry, Logged
from ullage.context.policies.lossless.policy import LOSSLESS, LosslessEngine, LosslessOptions
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request

assert isinstance(LOSSLESS.engine, LosslessEngine)
SMALL = LosslessOptions(
    fresh_messages=4,
    leaf_chunk=2_000,
    leaf_target=60,
    leaf_smallest=20,
    condensed_target=60,
    condensed_smallest=60,
    leaf_fanout=3,
    condensed_fanout=2,
)
POLICY = replace(LOSSLESS, engine=LosslessEngine(SMALL))


SHORT = """[Summary of entries 1 to 5, 4 messages. To see them again: recall from 1 to 5.]
The gauge read litres; t1.py has level = 3."""


def conversation(exchanges: int) -> list[Logged]:
    entries: list[Entry] = []
    for number in range(exchanges):
        entries += [prompt(f"question {number} " + "why " * 300), says(f"answer {number} " + "so " * 300)]
    return session(*entries)


def summaries_in(log: list[Logged]) -> list[str]:
    return [line for message in drawn(Projection(log).messages) for line in message.splitlines() if "[Summary" in line]


def swept(log: list[Logged], times: int) -> list[Logged]:
    for number in range(times):
        after = compacted(POLICY, log, "manual", f"summary {number} in the model's words")
        if after is None:
            break
        log = after
    return log


def test_its_numbers_are_those_of_lossless_claw():
    options = LosslessOptions()
    assert threshold_of(200_000, LOSSLESS.threshold) == 150_000
    assert (options.fresh_messages, options.leaf_chunk, options.leaf_target, options.condensed_target) == (64, 20_000, 2_400, 2_000)
    assert (options.leaf_fanout, options.condensed_fanout, options.hard_fanout, options.fallback) == (8, 4, 2, 512)
    assert LosslessEngine().sweeps == 12


def test_a_leaf_stands_for_the_oldest_20_000_tokens_and_leaves_the_newest_64_messages():
    steps: list[Entry] = []
    for number in range(80):
        steps += [prompt(f"{number} " + "word " * 1_000), says("fine " * 10)]
    log = session(*steps)
    plan = LOSSLESS.engine.plan(occasion(LOSSLESS, log))
    assert plan is not None
    assert plan.asked is not None
    assert plan.asked.output_tokens == 2_400
    gone = [logged for logged in log if plan.summarise_from <= logged.seq <= (plan.summarise_to or 0)]
    after = Projection([logged for logged in log if logged not in gone])
    assert 18_000 < tokens(Projection(log).messages) - tokens(after.messages) <= 20_000


def test_the_newest_64_messages_stay_unless_they_alone_fill_the_context():
    log = session(*(each for number in range(32) for each in (prompt(f"{number}"), says("x" * 2_000))))
    assert LOSSLESS.engine.plan(occasion(LOSSLESS, log)) is None
    huge = session(*(each for number in range(10) for each in (prompt(f"{number}"), says("word " * 15_000))))
    assert LOSSLESS.engine.plan(occasion(LOSSLESS, huge)) is not None


def test_before_and_after():
    log = session(
        prompt("Fix the gauge"),
        calls("t1"),
        returned("t1", "level = 3 " * 200),
        says("It reads litres"),
        prompt("Then the pump"),
        calls("t2"),
        returned("t2", "pump = 1"),
        says("The pump is off"),
    )
    after = compacted(POLICY, log, "manual", "The gauge read litres; t1.py has level = 3.")
    assert after is not None
    assert drawn(Projection(after).messages) == [
        f"user: {SHORT} | Then the pump",
        "assistant: t2()",
        "user: =t2 pump = 1",
        "assistant: The pump is off",
    ]


def test_summaries_of_one_depth_become_one_that_names_the_parts_it_stands_for():
    log = swept(conversation(8), 4)
    (heading,) = [line for line in summaries_in(log) if "over 3 summaries" in line]
    parts = [line.split("entries ")[1].split(",")[0] for line in summaries_in(swept(conversation(8), 3))]
    assert heading.endswith(f"recall from and to: {', '.join(parts)}.]")


def test_summaries_over_summaries_become_one_in_turn():
    assert summaries_in(swept(conversation(20), 40))[0].startswith("user: [Summary over 2 summaries: entries 1 to ")


def test_undoing_a_summary_over_summaries_shows_those_again():
    log = swept(conversation(8), 4)
    assert summaries_in(log[:-1]) == summaries_in(swept(conversation(8), 3))
    assert drawn(Projection(log[:-1]).messages) != drawn(Projection(log).messages)


def test_without_a_model_512_tokens_by_program_stand_for_it():
    steps = [each for number in range(300) for each in (prompt(f"Never touch module_{number}.py"), says(f"read_level_{number} " * 60))]
    after = compacted(LOSSLESS, session(*steps), "manual")
    assert after is not None
    made = after[-1].entry
    assert isinstance(made, Compaction)
    assert made.snipped is not None
    heading, _, text = made.snipped.marker.partition("\n")
    assert heading.startswith("[Summary of entries 1 to ")
    assert "Never touch module_" in text
    assert "read_level_20," in text
    assert 400 < estimate_text(text) <= 520


@settings(max_examples=many(12, deep=300))
@given(histories())
def test_whatever_the_history_what_follows_is_valid(log: list[Logged]):
    before = log
    for _ in range(3):
        after = compacted(POLICY, before, "reactive", "s")
        if after is None:
            break
        asked = [*after, Logged(after[-1].seq + 1, 0.0, prompt("Go on"))]
        assert problems(build_request(Projection(asked))) == []
        before = after
