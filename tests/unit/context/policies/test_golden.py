"""One small history before and after each policy, as a reader would write it down: `golden/<policy>.txt`.

`npm run generate` writes the files anew (by `ULLAGE_GOLDEN=write`); what changed is then for a reviewer to judge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.unit.context.logs import PRELUDE, drawn, prompt, says
from tests.unit.context.policies.rehearsal import occasion, tokens
from tests.unit.context.policies.steps import called, carried_out
from ullage.context.entries import Entry, Logged, ToolReturned
from ullage.context.moves.cheap import Arrival
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy
from ullage.context.view.projection import Projection

GOLDEN = Path(__file__).parent / "golden"
TOLD = list(BUILT_IN)
SUMMARY = "(the summary that the model wrote)"
LONGEST = 100
HOURS_LATER = 7_200.0


def history() -> Iterator[tuple[float, Entry]]:
    """Three turns: a long one of reading, a short one, and after a long pause one in which the model is still at work."""
    yield 0.0, PRELUDE
    yield 1.0, prompt("Find out why the parser is slow. Do not touch the tests.")
    for number in range(4):
        yield from at(2.0, called(f"read{number}", f"module {number} " + "lorem ipsum " * 6_000, "read_file"))
    for number in range(24):
        yield from at(3.0, called(f"run{number}", f"run {number} " + "took so long " * 250))
    yield 4.0, says("The tokenizer scans each line twice.")
    yield 5.0, prompt("Then scan it once.")
    yield from at(6.0, called("edit", "Edited.", "edit_file"))
    yield 7.0, says("It does now.")
    yield 8.0 + HOURS_LATER, prompt("Measure it again.")
    for number in range(3):
        yield from at(9.0 + HOURS_LATER, called(f"measured{number}", f"measurement {number} " + "fast " * 60))


def at(time: float, entries: Sequence[Entry]) -> Iterator[tuple[float, Entry]]:
    return ((time, entry) for entry in entries)


def as_it_arrives(policy: Policy) -> list[Logged]:
    log: list[Logged] = []
    for time, entry in history():
        if isinstance(entry, ToolReturned):
            clip = policy.engine.arrive([Arrival(entry.tool_use_id, entry.content)], lambda id: f"{id}.txt")[0]
            entry = ToolReturned(entry.tool_use_id, entry.tool, clip.content, entry.is_error, clip.characters)
        log.append(Logged(len(log) + 1, time, entry))
    return log


def story(policy: Policy) -> str:
    """What the model has in view before, after upkeep and after a compaction at the threshold."""
    log = as_it_arrives(policy)
    parts = [shown("before", log)]
    upkeep = policy.engine.upkeep(occasion(policy, log, "upkeep"))
    if upkeep is not None:
        log = carried_out(policy, log, upkeep)
        parts.append(shown("after its upkeep", log))
    plan = policy.engine.plan(occasion(policy, log))
    if plan is None:
        return "\n".join([*parts, "== at the line: nothing\n"])
    parts.append(shown("after a compaction", carried_out(policy, log, plan, SUMMARY)))
    if plan.asked is not None:
        read = "the conversation" if plan.asked.text is None else shortened(plan.asked.text)
        parts.append(f"== asked for at most {plan.asked.output_tokens:,} tokens, to read: {read}\n{plan.asked.prompt}\n")
    return "\n".join(parts)


def shown(when: str, log: list[Logged]) -> str:
    messages = Projection(log).messages
    lines = [shortened(line) for line in drawn(messages)]
    return "\n".join([f"== {when}: {len(messages)} messages, about {tokens(messages):,} tokens", *lines, ""])


def shortened(line: str) -> str:
    """The line with its long parts cut, on one line."""
    parts = re.split(r" \| ", line.replace("\n", "⏎"))
    return " | ".join(part if len(part) <= LONGEST else f"{part[:60]} … {part[-30:]} [{len(part):,}]" for part in parts)


@pytest.mark.parametrize("name", TOLD)
def test_what_a_policy_makes_of_a_small_history(name: str):
    told = story(BUILT_IN[name])
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("ULLAGE_GOLDEN") == "write":
        file.write_text(told, encoding="utf-8")
    assert file.exists(), "run `npm run generate`, and read the new file"
    assert told == file.read_text(encoding="utf-8")


def test_there_is_no_file_without_its_policy():
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(TOLD)
