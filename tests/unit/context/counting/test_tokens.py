"""Estimates by kind of text, and the ratio that is learned."""

from __future__ import annotations

import base64
import inspect
import json
import random
import textwrap
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.blocks import Block, Message, RedactedThinking, SystemPart, Text, Thinking, ToolResult, ToolSpec, ToolUse
from ullage.context.counting.tokens import SAMPLED_ABOVE, Calibration, estimate_block, estimate_message, estimate_prelude, estimate_text
from ullage.context.entries import Prelude

RANDOM = random.Random(20261120)
PROSE = """
    The level in a tank is never quite what the gauge says. Temperature moves it, the float sticks, and whoever reads the scale stands at
    an angle. Every terminal keeps a book in which the readings of the morning and the evening are written down beside each other, and
    at the end of the month somebody sits over the columns and tries to find out where the difference went. Most of it turns out to be
    arithmetic. Some of it is rain. A little of it stays unexplained, and the book is closed over it.
"""
CHINESE = "油罐里的液位永远不会与仪表显示的完全一致。温度会改变它,浮子会卡住,而读取刻度的人总是站在某个角度。"
RUSSIAN = "Уровень в резервуаре никогда не бывает в точности таким, как показывает прибор. Его меняет температура."

CHARACTERS_PER_TOKEN = [
    # As ctok 1.3.0 counts for the newer tokenizer.
    pytest.param(" ".join(textwrap.dedent(PROSE).split()), 3.2, id="prose"),
    pytest.param(inspect.getsource(textwrap), 2.9, id="Python"),
    pytest.param(
        json.dumps([{"id": n, "name": f"tank-{n}", "levelMm": n * 37, "isOpen": True} for n in range(60)], separators=(",", ":")),
        2.0,
        id="JSON",
    ),
    pytest.param(CHINESE, 0.95, id="Chinese"),
    pytest.param(RUSSIAN, 2.1, id="Russian"),
    pytest.param(base64.b64encode(RANDOM.randbytes(3000)).decode(), 1.05, id="base64"),
    pytest.param(RANDOM.randbytes(1500).hex(), 1.54, id="hex"),
    pytest.param("\n".join(str(uuid.UUID(int=RANDOM.getrandbits(128))) for _ in range(50)), 1.36, id="UUIDs"),
    pytest.param("\n".join(",".join(f"{RANDOM.gauss(0, 100):.3f}" for _ in range(6)) for _ in range(50)), 1.8, id="CSV"),
]


@pytest.mark.parametrize(("text", "expected"), CHARACTERS_PER_TOKEN)
def test_estimates_know_kinds_of_text(text: str, expected: float):
    assert len(text) / estimate_text(text) == pytest.approx(expected, rel=0.2)


@given(st.text(max_size=500))
def test_only_the_empty_text_takes_no_tokens(text: str):
    assert (estimate_text(text) == 0) == (text == "")


@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_takes_no_fewer_tokens(text: str, more: str):
    assert estimate_text(text + more) >= estimate_text(text)


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_estimates_add_up(first: str, second: str):
    assert estimate_text(first + second) == pytest.approx(estimate_text(first) + estimate_text(second), abs=4)


def test_a_lone_surrogate_is_no_error():
    assert estimate_text("\ud800") > 0


def test_a_sampled_text_is_estimated_like_a_whole_one():
    line = "The level in tank 7 is 1,432 mm (`gauge.read()` says 1,430).\n"
    short = line * (SAMPLED_ABOVE // len(line))
    assert estimate_text(short * 20) == pytest.approx(20 * estimate_text(short), rel=0.03)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (Text("a word"), ToolResult("id", "a word")),
        (ToolUse("id", "bash", {}), ToolUse("id", "bash", {"command": "ls -la /usr/share"})),
        (Thinking("short", "s" * 300), Thinking("short", "s" * 3000)),
        (Thinking("", ""), Thinking("a long thought, spelled out at some length", "")),
        (RedactedThinking("d" * 10), RedactedThinking("d" * 3000)),
    ],
)
def test_blocks_take_tokens_for_all_that_is_sent(smaller: Block, larger: Block):
    assert 0 < estimate_block(smaller) < estimate_block(larger)


def test_a_message_takes_more_than_its_blocks():
    blocks = (Text("one"), Text("two"))
    assert estimate_message(Message("user", blocks, (1, 2))) > sum(estimate_block(block) for block in blocks)


def test_tools_count_for_the_prelude():
    system = (SystemPart("system", "You are a coding agent."),)
    tool = ToolSpec("bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})
    bare = estimate_prelude(Prelude(system, ()))
    assert estimate_prelude(Prelude(system, (tool,))) > bare + 300
    assert estimate_prelude(Prelude((), ())) == 0


def test_the_ratio_follows_what_is_reported():
    calibration = Calibration()
    for _ in range(40):
        calibration = calibration.observe(1_000, 1_300)
    assert calibration.apply(1_000) == pytest.approx(1_300, abs=5)


@pytest.mark.parametrize(("estimated", "reported"), [(1, 1_000_000), (1_000_000, 1)])
def test_an_outlier_moves_the_ratio_by_one_step(estimated: int, reported: int):
    assert abs(Calibration().observe(estimated, reported).ratio - 1.0) == pytest.approx(0.15)


@pytest.mark.parametrize(("estimated", "reported", "bound"), [(1, 1_000_000, 2.5), (1_000_000, 1, 0.5)])
def test_the_ratio_stays_within_bounds(estimated: int, reported: int, bound: float):
    calibration = Calibration()
    for _ in range(100):
        calibration = calibration.observe(estimated, reported)
    assert calibration.ratio == bound


@pytest.mark.parametrize(("estimated", "reported"), [(0, 100), (100, 0)])
def test_nothing_is_learned_from_nothing(estimated: int, reported: int):
    assert Calibration(1.2).observe(estimated, reported) == Calibration(1.2)
