from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given

from tests.unit.context.logs import calls, compaction, log, prompt, reply, returned, says
from tests.unit.context.pictures import IMAGE
from tests.unit.context.strategies import histories
from ullage.context.blocks import Json, Message, ToolResult, ToolUse
from ullage.context.compaction_entries import Cleared, Snipped, Summarised
from ullage.context.counting.tokens import estimate_block
from ullage.context.entries import Answer, Clipped, Entry, Logged, ToolReturned
from ullage.context.moves.cheap import clear
from ullage.context.policy import ClearOptions
from ullage.context.view.projection import project

LONG = "output " * 100
ALL = ClearOptions(keep_results=0, minimum_characters=120)


def cleared_seqs(entries: Sequence[Entry], options: ClearOptions = ALL) -> list[int]:
    return [cleared.seq for cleared in clear(project(log(*entries)), options)]


def read(id: str, *paths: str) -> list[Entry]:
    """A call and its long result: the second entry is the result."""
    return [calls(id), returned(id, LONG, *paths)]


def test_old_results_go_and_the_newest_stay():
    entries = [prompt("go"), *read("t1"), *read("t2"), *read("t3"), *read("t4"), says("done")]
    assert cleared_seqs(entries) == [3, 5, 7, 9]
    assert cleared_seqs(entries, ClearOptions(keep_results=3)) == [3]
    assert cleared_seqs(entries, ClearOptions(keep_results=9)) == []


@pytest.mark.parametrize(
    ("entries", "seqs"),
    [
        ([*read("t1"), *read("t2")], [3]),
        ([*read("t1"), prompt("on")], []),
        ([*read("t1"), prompt("on"), says("ok")], [3]),
    ],
    ids=["the next call answers the result before it", "words do not", "a reply does"],
)
def test_what_the_model_has_not_answered_stays(entries: Sequence[Entry], seqs: list[int]):
    assert cleared_seqs([prompt("go"), *entries]) == seqs


def test_the_newest_read_of_each_file_stays():
    reads = [*read("t1", "a.py"), *read("t2", "b.py"), *read("t3", "a.py", "c.py"), *read("t4", "c.py")]
    assert cleared_seqs([prompt("go"), *reads, says("done")]) == [3]


def test_what_the_user_answered_stays():
    answered = replace(returned("t2", LONG), answers=(Answer("Which?", ("SQLite",)),))
    entries = [prompt("go"), *read("t1"), calls("t2"), answered, *read("t3"), says("done")]
    assert cleared_seqs(entries) == [3, 7]


def test_what_is_short_or_cleared_or_gone_stays_as_it_is():
    entries = [prompt("go"), *read("t1"), calls("t2"), returned("t2", "x" * 120), *read("t3"), says("done"), prompt("on")]
    assert cleared_seqs(entries) == [3, 7]
    assert cleared_seqs([*entries, compaction("c", cleared=[Cleared(3, "[cleared by a policy of many words] " * 10)])]) == [7]
    assert cleared_seqs([*entries, compaction("c", summarised=Summarised(5, "Handoff"))]) == [7]
    assert cleared_seqs([*entries, compaction("c", snipped=Snipped(6, 8, "[snipped]"))]) == [3]


def test_what_a_placeholder_would_not_shorten_stays():
    assert cleared_seqs([prompt("go"), calls("t1"), returned("t1", "x" * 40), says("ok")], ClearOptions(0, 10)) == []


@pytest.mark.parametrize(
    ("call_input", "file", "placeholder"),
    [
        (
            {"path": "a.py"},
            None,
            "[Cleared to make room: bash(path: a.py) gave 5,000 characters. To see them again: recall with tool_use_id t1]",
        ),
        ({}, None, "[Cleared to make room: bash gave 5,000 characters. To see them again: recall with tool_use_id t1]"),
        (
            {"command": "pytest -q\n  tests", "timeout": 5},
            "t1.txt",
            (
                "[Cleared to make room: bash(command: pytest -q tests, timeout: 5) gave 5,000 characters. "
                "To see them again: recall with tool_use_id t1, or read t1.txt]"
            ),
        ),
        (
            {"text": "word " * 1_000},
            None,
            f"[Cleared to make room: bash(text: {'word ' * 18}wor…) gave 5,000 characters. To see them again: recall with tool_use_id t1]",
        ),
    ],
)
def test_a_placeholder_says_what_was_there_and_how_to_get_it_back(call_input: dict[str, Json], file: str | None, placeholder: str):
    result = ToolReturned("t1", "bash", LONG, is_error=False, characters=5_000, full_output=file)
    entries = log(prompt("go"), reply(ToolUse("t1", "bash", call_input)), result, says("ok"))
    assert clear(project(entries), ALL) == (Cleared(3, placeholder),)


def test_a_result_that_was_clipped_with_its_siblings_names_its_file_too():
    entries = log(prompt("go"), *read("t1"), Clipped(3, LONG, "t1.txt"), says("ok"))
    assert clear(project(entries), ALL)[0].placeholder.endswith("recall with tool_use_id t1, or read t1.txt]")


def test_an_image_is_cleared_however_few_words_stand_beside_it():
    shown = ToolReturned("t1", "read_file", "`a.png`: image", False, 14, media=(replace(IMAGE, width=800, height=600),))
    entries = log(prompt("go"), reply(ToolUse("t1", "read_file", {"path": "a.png"})), shown, says("ok"))
    (cleared,) = clear(project(entries), ALL)
    assert cleared.placeholder == (
        "[Cleared to make room: read_file(path: a.png) gave image, 800 × 600. To see them again: recall with tool_use_id t1]"
    )
    small = replace(shown, media=(IMAGE,))
    assert clear(project(log(prompt("go"), calls("t1"), small, says("ok"))), ALL) == (), "its placeholder would take more"


@given(histories())
def test_clearing_only_shortens_results_and_clears_nothing_twice(entries: list[Logged]):
    options = ClearOptions(keep_results=1, minimum_characters=10)
    projection = project(entries)
    cleared = clear(projection, options)
    after = projection.with_appended(Logged(entries[-1].seq + 1, 0.0, compaction("c99", cleared=cleared)))
    results, results_after = results_of(projection.messages), results_of(after.messages)
    shortened = {each.seq for each in cleared}
    assert results.keys() == results_after.keys()
    for seq, result in results.items():
        after_it = results_after[seq]
        if seq not in shortened:
            assert after_it == result
        elif result.media:
            assert not after_it.media
            assert estimate_block(after_it) < estimate_block(result)
        else:
            assert len(after_it.content) < len(result.content)
    assert clear(after, options) == ()


def results_of(messages: Sequence[Message]) -> dict[int, ToolResult]:
    return {
        source: block
        for message in messages
        for block, source in zip(message.blocks, message.sources, strict=True)
        if isinstance(block, ToolResult)
    }
