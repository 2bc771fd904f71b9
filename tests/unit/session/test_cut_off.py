"""A model whose replies fill the window again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fake_api import Reply, Rule, Say
from tests.unit.session.filling import WINDOW, asks_for_summary, make_project, summaries
from tests.unit.session.harness import compactions, notices, stage


async def test_replies_that_always_fill_the_window_come_to_an_end(tmp_path: Path) -> None:
    parts: list[int] = []

    def another_part(body: dict[str, Any]) -> Reply:
        parts.append(len(parts))
        lines = "".join(f"line {number * len(parts)} " for number in range(4_000))
        return Reply((Say(f"Part {len(parts)}. {lines}"),), stop_reason="model_context_window_exceeded")

    async with stage(make_project(tmp_path), window=WINDOW) as here:
        here.fake.add_rules(summaries(), Rule(lambda body: not asks_for_summary(body), another_part))
        session = await here.new()
        await here.say(session, "Write a book")
        assert len(parts) == 6
        assert [card.status for card in compactions(session)] == ["completed"] * 5
        assert "filled the model's window" in notices(session)[-1].text
        assert not here.refused()
