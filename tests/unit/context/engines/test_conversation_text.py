from __future__ import annotations

import pytest

from tests.unit.context.logs import log, prompt, reply, returned, says, thought, use
from ullage.context.blocks import CompactionBlock, ToolResult
from ullage.context.counting.tokens import estimate_text
from ullage.context.engines.conversation_text import conversation_text, middle_out, written_out
from ullage.context.engines.staged_numbers import OwnText
from ullage.context.view.message import Message
from ullage.context.view.projection import project

MESSAGES = project(log(prompt("Fix it"), reply(thought("hm"), use("t1")), returned("t1", "x" * 100), says("Done"))).messages
PLENTY = 100_000


def test_it_holds_all_but_the_thinking():
    assert conversation_text(MESSAGES, OwnText(), PLENTY) == (
        '[user] Fix it\n\n[assistant calls read_file] {"path": "t1.py"}\n\n[result] ' + "x" * 100 + "\n\n[assistant] Done"
    )


@pytest.mark.parametrize(("characters", "said"), [(100, "x" * 100), (40, "x" * 40 + " … (60 characters left out)")])
def test_a_result_may_be_shortened(characters: int, said: str):
    assert f"[result] {said}\n\n" in conversation_text(MESSAGES, OwnText(result_characters=characters), PLENTY)


def test_its_beginning_or_its_end_stays():
    whole = conversation_text(MESSAGES, OwnText(), PLENTY)
    assert conversation_text(MESSAGES, OwnText(20, "beginning"), PLENTY) == whole[:20]
    assert conversation_text(MESSAGES, OwnText(20, "end"), PLENTY) == whole[-20:]


def test_it_fits():
    long = project(log(prompt("word " * 5_000), says("word " * 5_000))).messages
    assert 900 < estimate_text(conversation_text(long, OwnText(), 1_000)) < 1_100
    assert conversation_text(long, OwnText(), 0) == ""


@pytest.mark.parametrize(("share", "dropped"), [(0.0, []), (0.1, [2]), (0.2, [2]), (0.5, [1, 2]), (0.7, [1, 2, 3]), (1.0, [0, 1, 2, 3, 4])])
def test_results_are_dropped_from_the_middle_outwards(share: float, dropped: list[int]):
    results = [ToolResult(f"t{number}", str(number)) for number in range(5)]
    assert sorted(int(result.content) for result in middle_out(results, share)) == dropped


def test_written_out_every_passage_names_its_entry():
    sources = [source for message in MESSAGES for source in message.sources]
    asked, _, called, gave, said = sources
    assert written_out(MESSAGES) == "\n\n".join(
        (
            f"[{asked}] user:\nFix it",
            f'[{called}] assistant calls read_file:\n{{"path": "t1.py"}}',
            f"[{gave}] result:\n" + "x" * 100,
            f"[{said}] assistant:\nDone",
        )
    )


def test_written_out_a_long_block_loses_its_middle():
    assert "result:\n" + "x" * 20 + "\n[… 60 characters …]\n" + "x" * 20 + "\n\n" in written_out(MESSAGES, 40)


def test_a_call_that_failed_and_the_summary_of_the_api_are_told():
    told = [Message("user", (CompactionBlock('{"content": "So far."}', "m"), ToolResult("t1", "No such file", is_error=True)), (1, 2))]
    assert conversation_text(told, OwnText(), PLENTY) == "[user] So far.\n\n[failed result] No such file"
    assert written_out(told) == "[1] user:\nSo far.\n\n[2] failed result:\nNo such file"


def test_written_out_no_secret_is_told():
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    assert key not in written_out([Message("user", (ToolResult("t1", f"key {key}"),), (1,))])
