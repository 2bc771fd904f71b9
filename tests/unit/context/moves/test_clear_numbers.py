"""Each number that says what clearing spares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.unit.context.logs import calls, compaction, log, prompt, reply, returned, says, use
from ullage.context.compaction_entries import Cleared
from ullage.context.counting.tokens import estimate_text
from ullage.context.entries import Clipped, Entry, ToolReturned, UserPrompt
from ullage.context.moves.cheap import clear
from ullage.context.policy import ClearOptions
from ullage.context.view.projection import project

LONG = "output " * 100
TOKENS = estimate_text(LONG)
ALL = ClearOptions(keep_results=0, answered_only=False, spares_newest_reads=False)


def step(id: str, content: str = LONG, tool: str = "read_file", *reads: str) -> list[Entry]:
    result = replace(returned(id, content, *reads), tool=tool)
    return [reply(replace(use(id), name=tool)), result]


def cleared(entries: Sequence[Entry], options: ClearOptions) -> list[str]:
    """The tool use ids of what goes."""
    logged = log(*entries)
    results = {each.seq: each.entry.tool_use_id for each in logged if isinstance(each.entry, ToolReturned)}
    return [results[each.seq] for each in clear(project(logged), options)]


STEPS = [prompt("go"), *step("t1"), *step("t2", LONG, "bash"), *step("t3", LONG, "bash", "a.py"), *step("t4")]
"""Of these the model has not answered the last."""


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (ALL, ["t1", "t2", "t3", "t4"]),
        (replace(ALL, answered_only=True), ["t1", "t2", "t3"]),
        (replace(ALL, keep_results=2), ["t1", "t2"]),
        (replace(ALL, keep_results=2, answered_only=True), ["t1", "t2"]),
        (replace(ALL, keep_results=2, answered_only=True, counts_answered=True), ["t1"]),
        (replace(ALL, spares_newest_reads=True), ["t1", "t2", "t4"]),
        (replace(ALL, spared_tools=frozenset({"bash"})), ["t1", "t4"]),
        (replace(ALL, spared_messages=1), ["t1", "t2", "t3"]),
        (replace(ALL, spared_messages=4), ["t1", "t2"]),
        (replace(ALL, keep_tokens=2 * TOKENS), ["t1", "t2"]),
        (replace(ALL, keep_tokens=2 * TOKENS - 1), ["t1", "t2", "t3"]),
        (replace(ALL, keep_tokens=2 * TOKENS, spared_messages=1), ["t1"]),
        (replace(ALL, minimum_characters=len(LONG)), []),
        (replace(ALL, placeholder="x" * len(LONG)), []),
    ],
)
def test_what_goes(options: ClearOptions, gone: list[str]):
    assert cleared(STEPS, options) == gone


def test_a_read_that_was_shortened_with_its_message_does_not_stand_for_the_file():
    read = [*step("t1", LONG, "read_file", "a.py"), *step("t2", LONG, "read_file", "a.py")]
    clipped = Clipped(5, LONG[:400], "t2.txt")
    assert cleared([prompt("go"), *read, says("ok")], replace(ALL, spares_newest_reads=True)) == ["t1"]
    assert cleared([prompt("go"), *read, clipped, says("ok")], replace(ALL, spares_newest_reads=True)) == ["t2"]


@pytest.mark.parametrize(("turns", "gone"), [(0, ["t1", "t2", "t3"]), (1, ["t1", "t2"]), (2, ["t1"]), (3, []), (4, [])])
def test_results_of_the_newest_turns_stay(turns: int, gone: list[str]):
    steering = UserPrompt("s", "faster", steering=True)
    entries = [prompt("a"), *step("t1"), prompt("b"), *step("t2"), says("ok"), prompt("c"), *step("t3"), steering]
    assert cleared(entries, replace(ALL, spared_turns=turns)) == gone


def test_nothing_goes_where_too_little_would_be_freed():
    options = replace(ALL, placeholder="[gone]")
    gain = 4 * (TOKENS - estimate_text("[gone]"))
    assert len(cleared(STEPS, replace(options, minimum_gain=gain))) == 4
    assert cleared(STEPS, replace(options, minimum_gain=gain + 1)) == []


def test_a_placeholder_may_name_the_tool_and_keep_the_last_lines():
    content = "\n".join(f"line {number}" for number in range(50))
    entries = log(prompt("go"), *step("t1", content, "bash"), says("ok"))
    options = replace(ALL, placeholder="[{tool} said]", kept_lines=2)
    assert clear(project(entries), options) == (Cleared(3, "[bash said]\nline 48\nline 49"),)


def test_what_was_cleared_once_stays_as_it_is():
    entries = [*STEPS, compaction("c", cleared=[Cleared(3, "[gone] " * 50)])]
    assert cleared(entries, ALL) == ["t2", "t3", "t4"]


def test_a_log_with_gaps_is_read_all_the_same():
    entries = [replace(logged, seq=3 * logged.seq) for logged in log(prompt("go"), calls("t1"), returned("t1", LONG), says("ok"))]
    assert [each.seq for each in clear(project(entries), ALL)] == [9]
