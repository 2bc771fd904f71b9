"""The run beside peers: what is timed is what is meant, and a peer that cannot be measured does not stop the others."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bench.peers import report
from bench.peers.adapters.ullage import Pipeline
from bench.peers.environments import LOCKS, reason
from bench.peers.measuring import Figures, Message, Timed, measure, timed
from bench.peers.run import LONGEST, OWN, ROWS, Failed, Run, read
from bench.peers.run import measure as measure_row
from bench.sessions import generated

FIGURES = Figures({"peer": "1.2", "helper": "3"}, "3.12.1", Timed(0.5, 1.0, 200), Timed(20.0, 30.0, 15), 7)


class Counting:
    """An adapter that keeps numbers of messages only."""

    def __init__(self, *, sent: int = 0, left: int = 5) -> None:
        self.held = 0
        self.sent = sent
        self.left = left

    def hold(self, messages: Sequence[Message]) -> int:
        self.held = len(messages)
        return self.held

    def prepare(self, messages: Sequence[Message]) -> int:
        return len(messages)

    def turn(self, new: Any) -> int:
        self.held += new
        return self.sent or self.held

    def before_compaction(self) -> None:
        self.left = self.left

    def compact(self) -> int:
        return self.left


class TestMeasuring:
    def test_what_is_held_ends_with_a_users_message(self) -> None:
        adapter = Counting()
        figures = measure(adapter, generated(500), 40, ())
        assert adapter.held == 39 + 2 * figures.turn.rounds
        assert (figures.turn.rounds, figures.compaction.rounds, figures.left) == (200, 15, 5)

    @pytest.mark.parametrize("adapter", [Counting(left=40), Counting(left=0), Counting(sent=3)])
    def test_a_compaction_that_was_none_and_a_turn_that_was_one_are_errors(self, adapter: Counting) -> None:
        with pytest.raises(ValueError, match="messages"):
            measure(adapter, generated(500), 40, ())

    def test_of_few_rounds_the_slowest_stands_for_the_99th_percentile(self) -> None:
        assert timed([3.0, 1.0, 2.0]) == Timed(2.0, 3.0, 3)
        assert timed([float(number) for number in range(200)]) == Timed(100.0, 198.0, 200)

    def test_figures_are_read_as_they_were_printed(self) -> None:
        assert read(json.dumps(asdict(FIGURES))) == FIGURES


class TestUllage:
    def test_turns_grow_and_a_compaction_shrinks_and_leaves_what_is_held(self) -> None:
        session = generated(205)
        pipeline = Pipeline()
        pipeline.hold(session[:201])
        assert pipeline.turn(pipeline.prepare(session[201:203])) == 203
        assert 0 < pipeline.compact() < 203
        assert pipeline.turn(pipeline.prepare(session[203:205])) == 205


class TestEnvironments:
    def test_each_peer_has_a_lock_that_pins_it(self) -> None:
        for peer in {row.peer for row in ROWS} - {OWN.peer}:
            lines = (LOCKS / f"{peer}.txt").read_text().splitlines()
            assert any(line.startswith(f"{peer}==") for line in lines)
            assert all("==" in line and "/" not in line for line in lines)

    @pytest.mark.parametrize(
        ("output", "said"),
        [
            (
                "Looking\nERROR: No matching distribution found for a>=2 (from versions: 1.0)\nERROR: again",
                "No matching distribution found for a>=2",
            ),
            ("ERROR: Could not open /home/somebody/file or https://index.example/simple/", "Could not open … or …"),
            ("it went wrong\nat last", "it went wrong"),
            ("", "no reason was given"),
        ],
    )
    def test_the_reason_is_one_line_without_places(self, output: str, said: str) -> None:
        assert reason(output) == said

    def test_an_adapter_that_fails_gives_its_reason(self, tmp_path: Path) -> None:
        history = tmp_path / "history.jsonl"
        history.write_text("")
        failed = measure_row(OWN, sys.executable, history, 10, tmp_path)
        assert failed == Failed("IndexError: list index out of range")


class TestReport:
    def test_ratios_stand_beside_milliseconds_and_reasons_in_their_place(self) -> None:
        slower = Figures({"peer": "1.2"}, "3.12.1", Timed(5.0, 6.0, 200), Timed(10.0, 30.0, 15), 9)
        known = {OWN.title: FIGURES, ROWS[1].title: slower}
        figures = {(row.title, 100): known.get(row.title, Failed("not installed: no wheel")) for row in ROWS}
        text = report.section(Run({**figures, (OWN.title, LONGEST): FIGURES}, (100,), (0.5, 1.5)), "2026-01-02")
        assert "| Ullage | **1** · 0.5 ms (1) |" in text
        assert f"| {ROWS[1].title} | **10** · 5 ms (6) |" in text
        assert f"| {ROWS[1].title} | **0.5** · 10 ms (30), 9 left |" in text
        assert f"| {ROWS[2].title} | not installed: no wheel |" in text
        assert "load average 0.5 before and 1.5 after" in text
        assert "Versions: peer 1.2 (helper 3), peer 1.2." in text
        assert "Ullage at 100,000 messages: 0.5 ms (1) a turn" in text

    def test_where_ullage_has_no_figures_there_are_no_ratios(self) -> None:
        figures = {(row.title, 100): FIGURES if row is not OWN else Failed("broken") for row in ROWS}
        text = report.section(Run(figures, (100,), (0.0, 0.0)), "2026-01-02")
        assert "| Ullage | broken |" in text
        assert "| aider | 0.5 ms (1) |" in text
