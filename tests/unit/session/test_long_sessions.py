"""A turn looks at what is new, however long the log is that it comes to."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.fake_api import Call, Say
from tests.unit.context.watched_log import Watched
from tests.unit.session.harness import kept_of, stage
from ullage.context.blocks import Text, Usage
from ullage.context.entries import AssistantReply, EntryPinned, TurnEnded, UserPrompt
from ullage.session.session import Session
from ullage.session.timeline.pages import LONGEST_STRETCH
from ullage.store.log_store import LogStore


def write(folder: Path, turns: int) -> None:
    """A session of so many turns, as it was left."""
    folder.mkdir()
    with closing(LogStore.open(kept_of(folder))) as store:
        session = store.create_session("Long", 0.0)
        for turn in range(turns):
            asked = UserPrompt(f"p{turn}", "What does the tank hold?")
            reply = AssistantReply(f"r{turn}", (Text("Water."),), "claude-opus-5-5", "end_turn", Usage(100, 10))
            store.append_many(session.id, (asked, reply, TurnEnded("end_turn")), float(turn))
        store.append(session.id, EntryPinned(1, True), float(turns))


def watched(session: Session) -> Watched:
    """The log of the session, watched from now on."""
    projection = session._conversation.projection  # noqa: SLF001
    entries = projection._entries = Watched(projection.entries)  # noqa: SLF001
    return entries


async def looks_of_a_turn(folder: Path, turns: int) -> int:
    write(folder, turns)
    (folder / "tank.py").write_text("CAPACITY = 100\n")
    async with stage(folder) as here:
        session = await here.sessions.open(None)
        here.fake.enqueue(Say("Water."))
        await here.say(session, "The first turn, which begins a new epoch")
        entries = watched(session)
        here.fake.enqueue([Call("read_file", {"path": "tank.py"})], Say("It holds 100."))
        await here.say(session, "How much does it hold?")
        session.snapshot()
        return entries.looks


async def test_a_turn_looks_at_no_more_of_a_longer_log(tmp_path: Path):
    short = await looks_of_a_turn(tmp_path / "short", 20)
    # Now and then some of the oldest items in memory leave it, which looks at the entries of these.
    assert await looks_of_a_turn(tmp_path / "long", 800) <= short + LONGEST_STRETCH
