"""The Agent Client Protocol over stdio, held against the package's own client and the strict fake of the API."""

from __future__ import annotations

from pathlib import Path

from tests.fake_api import FakeApi, Say
from tests.server.acp_client import acp_editor


async def test_a_prompt_is_answered_in_pieces_and_ends(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        told = await editor.initialize()
        assert told.protocol_version == 1
        session = await editor.new_session(folder)
        fake.enqueue(Say("Good morning, pump house."))
        assert await editor.prompt(session.session_id, "hello") == "end_turn"
        assert editor.said() == "Good morning, pump house."
        assert "hello" in str(fake.requests[-1].body["messages"])
