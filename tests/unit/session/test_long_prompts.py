"""A prompt that could never be sent is refused at the door, and the session goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fake_api import Say
from tests.unit.session.harness import items, stage
from ullage.session.errors import SessionError
from ullage.session.timeline.items import UserItem
from ullage.session.turns.turns import MOST_CHARACTERS


@pytest.mark.parametrize("text", ["word " * 60_000, "x" * (MOST_CHARACTERS + 1), "\U0001f600" * 100_000])
async def test_what_does_not_fit_alone_is_refused_with_what_fits(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder, window=40_000) as here:
        session = await here.new()
        with pytest.raises(SessionError, match="as a file") as refused:
            await session.prompt(text)
        fits = int(str(refused.value).split("about ")[1].split(" ")[0].replace(",", ""))
        assert 0 < fits < len(text)
        here.fake.enqueue(Say("Yes."), Say("Read."))
        await here.say(session, "Are you there?")
        assert [item.text for item in items(session) if isinstance(item, UserItem)] == ["Are you there?"]
        assert not here.refused()
