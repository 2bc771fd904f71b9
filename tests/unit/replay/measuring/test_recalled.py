"""What the agent's search would have found at a place of a session."""

from __future__ import annotations

from tests.unit.replay.recorded import prompt, reply, returned, session
from ullage.context.blocks import Text, ToolUse
from ullage.replay.measuring.retaining import SessionSearch


def test_it_finds_what_was_said_before_and_nothing_that_came_after():
    transcript = session(
        prompt("Where is it?"),
        reply(10, blocks=(ToolUse("call", "read_file", {"path": "src/harbour.py"}),)),
        returned("def harbour_master(tide): ..."),
        reply(10, blocks=(Text("In src/harbour.py, as harbour_master."),)),
    )
    search = SessionSearch(transcript)
    assert not any("harbour_master" in hit for hit in search("harbour_master", 2, 5))
    assert search("harbour_master", 3, 5) == ("def harbour_master(tide): ...",)
    assert len(search("harbour_master", 4, 5)) == 2
    assert len(search("harbour_master", 4, 1)) == 1


def test_an_empty_session_is_searched_in_vain():
    assert SessionSearch(session())("anything", 9, 5) == ()
