"""First in, first out with a summary of summaries, and blocks that the model edits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.deep import many
from tests.unit.context.logs import calls, drawn, prompt, reply, returned, says, session
from tests.unit.context.policies.rehearsal import compacted, occasion, tokens
from tests.unit.context.strategies import histories
from tests.unit.context.validity import problems
from ullage.context.blocks import Json, ToolUse
from ullage.context.counting.gauge import threshold_of
from ullage.context.entries import Entry, Logged, ToolReturned
from ullage.context.policies.aider.policy import AIDER
from ullage.context.policies.lossless.policy import LOSSLESS
from ullage.context.policies.memgpt import LIMITS, MEMGPT, BlockNotEdited, Blocks, MemgptOptions, blocks_of, edited
from ullage.context.policies.memory_blocks import MEMORY_BLOCKS
from ullage.context.policies.token_prune import TOKEN_PRUNE
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request


def noted(id: str, **input: Json) -> list[Entry]:
    """A call of `memory` with its result."""
    return [reply(ToolUse(id, "memory", input)), ToolReturned(id, "memory", "Noted", is_error=False, characters=5)]


def refused(id: str, **input: Json) -> list[Entry]:
    """A call of `memory` that failed."""
    return [reply(ToolUse(id, "memory", input)), ToolReturned(id, "memory", "No", is_error=True, characters=2)]


def filled(messages: int, words: int) -> list[Logged]:
    return session(*(each for n in range(messages // 2) for each in (prompt(f"{n} " + "why " * words), says(f"{n} " + "so " * words))))


def test_its_numbers_are_those_of_letta():
    options = MemgptOptions()
    assert threshold_of(200_000, MEMGPT.threshold) == 180_000
    assert dict(LIMITS) == {"persona": 20_000, "human": 20_000, "task": 100_000}
    assert (options.keep_share, options.first_share, options.share_step, options.words, options.summary_characters) == (
        0.7,
        0.4,
        0.1,
        300,
        50_000,
    )


def test_the_oldest_40_percent_of_the_messages_go_up_to_an_answer():
    log = filled(100, 200)
    used = tokens(Projection(log).messages)
    plan = MEMGPT.engine.plan(occasion(MEMGPT, log, window=int(used / 0.95)))
    assert plan is not None
    left = Projection([logged for logged in log if logged.seq > (plan.summarise_to or 0)])
    gone = len(Projection(log).messages) - plan.covers
    assert plan.covers == 39
    assert gone == 61
    assert drawn(left.messages) == drawn(Projection(log).messages)[40:]  # a view of its own cannot begin with an answer


def test_more_goes_until_70_percent_of_the_window_are_left():
    log = session(*(each for n in range(50) for each in (prompt(f"{n}"), says("so " * (100 if n < 30 else 2_000)))))
    used = tokens(Projection(log).messages)
    plan = MEMGPT.engine.plan(occasion(MEMGPT, log, window=int(used / 0.95)))
    assert plan is not None
    assert plan.covers > 60
    assert plan.estimated_after < 0.7 * used / 0.95


def test_the_memory_tool_belongs_to_this_policy_alone():
    assert MEMGPT.engine.tools == {"memory"}
    assert ULLAGE.engine.tools == frozenset()


@pytest.mark.parametrize("policy", [LOSSLESS, MEMGPT, MEMORY_BLOCKS, TOKEN_PRUNE, AIDER], ids=lambda policy: policy.name)
def test_what_these_engines_want_beside_their_answers(policy: Policy):
    assert not policy.engine.keeps_up
    assert policy.engine.wants_files == (policy is AIDER)
    assert policy.engine.sweeps == (12 if policy is LOSSLESS else 1)


def test_blocks_are_what_the_calls_in_the_log_made_of_them():
    log = session(
        prompt("Go"),
        *noted("m1", block="task", action="append", text="Mend the gauge"),
        *noted("m2", block="task", action="append", text="Then the pump"),
        *noted("m3", block="task", action="replace", old_text="the pump", text="the valve"),
        *refused("m4", block="task", action="append", text="refused"),
        *noted("m5", block="nowhere", action="append", text="foreign"),
        *noted("m6", command="view", path="/memories"),
        reply(ToolUse("m7", "memory", {"block": "human", "action": "append", "text": "never answered"})),
    )
    assert blocks_of(log) == Blocks(task="Mend the gauge\nThen the valve")


@pytest.mark.parametrize(
    ("input", "why"),
    [
        ({"block": "human", "action": "append", "text": "x" * 20_001}, "limit of 20,000"),
        ({"block": "human", "action": "replace", "old_text": "not there", "text": ""}, "does not stand in"),
        ({"block": "mind", "action": "append", "text": "x"}, "persona, human, task"),
    ],
)
def test_an_edit_that_cannot_be_made_says_what_can(input: dict[str, Json], why: str):
    with pytest.raises(BlockNotEdited, match=why):
        edited(Blocks(), input)


actions = st.fixed_dictionaries(
    {
        "block": st.sampled_from([*LIMITS, "mind"]),
        "action": st.sampled_from(["append", "replace"]),
        "text": st.text(max_size=8),
        "old_text": st.text(max_size=2),
    }
)


@given(st.lists(actions))
def test_blocks_never_pass_their_limits_and_the_log_gives_what_the_edits_gave(inputs: list[dict[str, Json]]):
    blocks, entries = Blocks(), list[Entry]()
    for number, input in enumerate(inputs):
        try:
            blocks = edited(blocks, input)
            entries += noted(f"m{number}", **input)
        except BlockNotEdited:
            entries += refused(f"m{number}", **input)
    assert blocks_of(session(prompt("Go"), *entries)) == blocks
    assert all(len(blocks.text(name)) <= limit for name, limit in LIMITS.items())


BEFORE_AND_AFTER = """# Memory blocks

The tool `memory` edits them; `recall` opens what is out of view, by entry number or by words.

## persona (0 of 20,000 characters)
How you work: habits and rules that you set yourself here.

(empty)

## human (32 of 20,000 characters)
What you know about the user: wishes, limits, preferences. From the log, by program.

- Never touch pump.py. (entry 2)

## task (14 of 100,000 characters)
What the work is about: its goal, state, findings and next steps.

Mend the gauge

# Summary of the messages before this point

I looked at the gauge."""


def test_before_and_after():
    log = session(
        prompt("Fix the gauge. Never touch pump.py."),
        *noted("m1", block="task", action="append", text="Mend the gauge"),
        says("so " * 3_000),
        prompt("And now?"),
        calls("t1"),
        returned("t1", "litres"),
        says("It reads litres"),
        prompt("Why?"),
        says("It always did"),
    )
    after = compacted(MEMGPT, log, model_text="I looked at the gauge.")
    assert after is not None
    assert drawn(Projection(after).messages) == [
        f"user: {BEFORE_AND_AFTER}",
        "assistant: t1()",
        "user: =t1 litres",
        "assistant: It reads litres",
        "user: Why?",
        "assistant: It always did",
    ]


def test_a_summary_goes_into_the_next_one():
    log = filled(60, 300)
    for number in range(3):
        after = compacted(MEMGPT, log, "manual", f"summary {number}")
        assert after is not None
        plan = MEMGPT.engine.plan(occasion(MEMGPT, after, "manual"))
        assert plan is not None
        assert plan.asked is not None
        assert f"summary {number}" in (plan.asked.text or "")
        log = after
    assert "summary 1" not in "\n".join(drawn(Projection(log).messages))


@settings(max_examples=many(12, deep=300))
@given(histories())
def test_whatever_the_history_what_follows_is_valid(log: list[Logged]):
    for model_text in (None, "s"):
        after = compacted(MEMGPT, log, "reactive", model_text)
        if after is not None:
            asked = [*after, Logged(after[-1].seq + 1, 0.0, prompt("Go on"))]
            assert problems(build_request(Projection(asked))) == []
