"""The oldest messages flow into blocks."""

from __future__ import annotations

from hypothesis import given, settings

from tests.deep import many
from tests.unit.context.logs import calls, drawn, prompt, returned, says, session
from tests.unit.context.policies.rehearsal import compacted, occasion, tokens
from tests.unit.context.strategies import histories
from tests.unit.context.validity import problems
from tests.unit.context.work import edited
from ullage.context.counting.gauge import threshold_of
from ullage.context.entries import Entry, Logged, TurnEnded
from ullage.context.policies.memory_blocks import MEMORY_BLOCKS, PREFACE, MemoryBlocksOptions
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request

ENGINE = MEMORY_BLOCKS.engine


BLOCKS = f"""# Memory

{PREFACE}

## What it is about

Fix the gauge of the tank. Never touch pump.py.

## Facts

<fact>The user: Never touch pump.py. (entry 2)</fact>
<fact>Changed: tank.py</fact>

## Recalled, since it seems close to what is asked now

Entry 5: The marmalade valve was stuck. {"so " * 255}so…"""


def turns(first: int, last: int) -> list[Entry]:
    entries: list[Entry] = []
    for turn in range(first, last):
        entries += [prompt(f"question {turn} " + "why " * 400), says(f"answer {turn} " + "so " * 400), TurnEnded("end_turn")]
    return entries


def memory_in(log: list[Logged]) -> list[str]:
    text = drawn(Projection(log).messages)[0]
    return text[: text.index(" | ")].splitlines() if " | " in text else text.splitlines()


def test_its_numbers_are_those_of_llama_index():
    options = MemoryBlocksOptions()
    assert (options.limit_tokens, options.history_ratio, options.flush_tokens) == (30_000, 0.7, 3_000)
    assert threshold_of(200_000, MEMORY_BLOCKS.threshold) == 21_000
    assert (options.most_facts, options.recalled) == (50, 2)


def test_at_21_000_tokens_the_oldest_3_000_go_at_turns():
    turn = tokens(Projection(session(*turns(10, 11))).messages)
    assert ENGINE.plan(occasion(MEMORY_BLOCKS, session(*turns(0, 20_000 // turn)))) is None
    log = session(*turns(0, 21_000 // turn + 2))
    plan = ENGINE.plan(occasion(MEMORY_BLOCKS, log))
    assert plan is not None
    kept = Projection([logged for logged in log if logged.seq > (plan.summarise_to or 0)]).messages
    gone = tokens(Projection(log).messages) - tokens(kept)
    assert 3_000 <= gone < 3_000 + tokens(kept[:2])
    assert drawn(kept[:1])[0].startswith("user: question")


def test_a_running_turn_stays_whole_unless_it_fills_the_window():
    steps: list[Entry] = [prompt("Go")]
    for number in range(60):
        steps += [calls(f"t{number}"), returned(f"t{number}", "line\n" * 500)]
    log = session(*steps)
    assert tokens(Projection(log).messages) > 40_000
    assert ENGINE.plan(occasion(MEMORY_BLOCKS, log)) is None
    assert ENGINE.plan(occasion(MEMORY_BLOCKS, log, window=50_000)) is not None
    assert ENGINE.plan(occasion(MEMORY_BLOCKS, log, "reactive")) is not None


def test_before_and_after():
    log = session(
        prompt("Fix the gauge of the tank. Never touch pump.py."),
        *edited("tank.py"),
        says("The marmalade valve was stuck. " + "so " * 1_200),
        TurnEnded("end_turn"),
        prompt("What was it with the marmalade?"),
        calls("t1"),
        returned("t1", "open"),
    )
    after = compacted(MEMORY_BLOCKS, log, "tool")
    assert after is not None
    assert drawn(Projection(after).messages) == [f"user: {BLOCKS} | What was it with the marmalade?", "assistant: t1()", "user: =t1 open"]


def test_facts_stay_from_one_flush_to_the_next():
    log = session(*turns(0, 36))
    for number in range(3):
        after = compacted(MEMORY_BLOCKS, log, model_text=f"<fact>fact {number}</fact>\n<fact>again</fact>")
        assert after is not None
        log = [*after, *(Logged(after[-1].seq + index, 0.0, entry) for index, entry in enumerate(turns(36, 44), 1))]
    assert [line for line in memory_in(log) if "<fact>" in line] == [
        "<fact>fact 0</fact>",
        "<fact>again</fact>",
        "<fact>fact 1</fact>",
        "<fact>fact 2</fact>",
    ]


def test_no_more_than_50_facts_are_kept():
    log = session(*turns(0, 36))
    told = "\n".join(f"<fact>number {number}</fact>" for number in range(80))
    after = compacted(MEMORY_BLOCKS, log, model_text=told)
    assert after is not None
    facts = [line for line in memory_in(after) if "<fact>" in line]
    assert (len(facts), facts[-1]) == (50, "<fact>number 79</fact>")


def test_what_the_model_writes_ends_no_block():
    log = session(*turns(0, 36))
    after = compacted(MEMORY_BLOCKS, log, model_text="- </known> <fact>a\nb")
    assert after is not None
    assert [line for line in memory_in(after) if "<fact>" in line] == ["<fact>a</fact>", "<fact>b</fact>"]


@settings(max_examples=many(12, deep=300))
@given(histories())
def test_whatever_the_history_what_follows_is_valid(log: list[Logged]):
    for model_text in (None, "s"):
        after = compacted(MEMORY_BLOCKS, log, "reactive", model_text)
        if after is not None:
            asked = [*after, Logged(after[-1].seq + 1, 0.0, prompt("Go on"))]
            assert problems(build_request(Projection(asked))) == []
