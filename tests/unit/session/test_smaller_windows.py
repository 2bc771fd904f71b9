"""A conversation that goes on with a model whose window it does not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import FakeApi, Say
from tests.unit.session.filling import make_project, more_readings, summaries
from tests.unit.session.harness import MODEL, compactions, stage

SMALL = "claude-sonnet-5-5"


@pytest.mark.parametrize("compaction", [False, True])
async def test_no_model_is_asked_for_a_summary_of_more_than_it_can_read(tmp_path: Path, compaction: bool) -> None:
    async with (
        FakeApi(windows={MODEL: 200_000, SMALL: 40_000}, compaction=compaction) as fake,
        stage(make_project(tmp_path), fake=fake) as here,
    ):
        fake.add_rules(summaries())
        session = await here.new()
        for _ in range(8):
            fake.enqueue(*more_readings(here.folder, 1), Say("I see."))
            await here.say(session, "Look at the readings")
        here.sessions.configure(replace(here.settings, model_name=SMALL))
        fake.enqueue(Say("Here I am."))
        asked = len(fake.requests)
        await here.say(session, "And now you?")
        [card] = compactions(session)
        assert (card.trigger, card.rung, len(card.skipped)) == ("threshold", "digest", 1)
        assert "larger than its window" in card.skipped[0]
        assert [record.status for record in fake.requests[asked:]] == [200]


async def test_the_window_is_known_before_the_first_prompt(tmp_path: Path) -> None:
    async with stage(make_project(tmp_path), window=48_000) as here:
        session = await here.new()
        await here.watcher.until(lambda: session.snapshot().gauge.size == 48_000)
        assert [record for record in here.fake.requests if record.path == "/v1/messages"] == []
