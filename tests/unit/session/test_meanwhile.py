"""A reply is kept while it streams in, seldom enough to cost nothing, and found again where the process was killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fake_api import HoldsAfter, Reply, Say
from tests.unit.session.harness import items, kept_of, stage
from ullage.context.blocks import Text
from ullage.context.compaction_entries import CompactionFailed
from ullage.context.entries import AssistantReply, Entry, Logged, TurnEnded, UserPrompt
from ullage.session.timeline.items import AssistantItem
from ullage.session.turns.incoming import KEPT_EVERY_SECONDS, KeptMeanwhile, left_by_a_killed_process
from ullage.store.plain_files import BlockPiece, UnfinishedFile, UnfinishedReply


class Later:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, seconds: float, then: Callable[[], None]) -> Later:
        assert seconds == KEPT_EVERY_SECONDS
        self.waiting.append(then)
        return self

    def cancel(self) -> None:
        self.waiting.clear()

    def pass_a_second(self) -> None:
        then = self.waiting.pop()
        assert not self.waiting
        then()


def test_the_beginning_is_kept_at_once_and_the_rest_in_one_piece_a_second(tmp_path: Path) -> None:
    path, later = tmp_path / "a.jsonl", Later()
    reply = UnfinishedReply("r1", "claude", 7)

    def found() -> str:
        read = UnfinishedFile(path).read()
        return "".join(block.text for block in read.blocks if isinstance(block, Text)) if read else ""

    with KeptMeanwhile(UnfinishedFile(path), reply, later) as kept:
        kept.add(BlockPiece(0, "One "))
        assert found() == "One "
        for word in ("two ", "three ", "four "):
            kept.add(BlockPiece(0, word))
        assert found() == "One "
        later.pass_a_second()
        assert found() == "One two three four "
        assert len(path.read_bytes().splitlines()) == 3
        later.pass_a_second()
        assert not later.waiting  # nothing came, so nothing is waited for
        kept.add(BlockPiece(0, "five"))
        assert found() == "One two three four five"
        assert later.waiting
    assert not later.waiting
    assert not path.exists()


PROMPT, ENDED = UserPrompt("p", "Go"), TurnEnded("interrupted", "")
FOUND = UnfinishedReply("r1", "claude", 1, (Text("One "),))


@pytest.mark.parametrize(
    ("since", "belongs"),
    [
        ([], True),
        ([CompactionFailed("c", "idle", "no")], True),
        ([AssistantReply("r1", (Text("One two"),), "claude", "end_turn", None)], False),
        ([AssistantReply("r1", (Text("One two"),), "claude", "end_turn", None), CompactionFailed("c", "idle", "no")], False),
        ([ENDED], False),
        ([ENDED, PROMPT], False),
    ],
)
def test_it_belongs_to_the_end_of_the_log_or_nowhere(since: list[Entry], belongs: bool) -> None:
    log = [Logged(seq, 0.0, entry) for seq, entry in enumerate([PROMPT, *since], 1)]
    entry = left_by_a_killed_process(FOUND, log)
    assert entry == (AssistantReply("r1", (Text("One "),), "claude", "cancelled", None) if belongs else None)
    assert left_by_a_killed_process(None, log) is None
    assert left_by_a_killed_process(UnfinishedReply("r1", "claude", 1), log) is None


async def test_what_a_killed_process_left_stands_in_the_session_once(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder) as here:
        here.fake.enqueue(Say("Yes."))
        session = await here.new()
        await here.say(session, "Begin")
        log = session._conversation  # noqa: SLF001
        asked = log.append(UserPrompt("p9", "Go"))
        path = kept_of(folder) / "unfinished" / f"{session.id}.jsonl"
    UnfinishedFile(path).write(UnfinishedReply("r9", "claude", asked.seq), [BlockPiece(0, "One two ")])
    for _ in range(2):
        async with stage(folder) as here:
            again = await here.sessions.open(session.id)
            assert [item.text for item in items(again) if isinstance(item, AssistantItem)] == ["Yes.", "One two "]
            assert not path.exists()
    async with stage(folder) as here:
        again = await here.sessions.open(session.id)
        here.fake.enqueue(Say("three."))
        again.resume()
        await here.idle(again)
        assert here.refused() == []
        assert [item.text for item in items(again) if isinstance(item, AssistantItem)] == ["Yes.", "One two ", "three."]


async def test_nothing_is_left_of_a_reply_that_the_log_has(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    left = kept_of(folder) / "unfinished"
    async with stage(folder) as here:
        here.fake.enqueue(Say("Whole."))
        session = await here.new()
        await here.say(session, "Begin")
        assert list(left.iterdir()) == []
        here.fake.enqueue(Reply((Say("One two three four."),), interruption=HoldsAfter(2), chunk_size=8))
        await session.prompt("Go")
        await here.watcher.until(lambda: any(isinstance(item, AssistantItem) and item.text == "One two " for item in items(session)))
        assert len(list(left.iterdir())) == 1
        session.cancel()
        await here.idle(session)
        assert list(left.iterdir()) == []


async def test_a_deleted_session_takes_it_along(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with stage(folder) as here:
        session = await here.new()
        path = kept_of(folder) / "unfinished" / f"{session.id}.jsonl"
        UnfinishedFile(path).write(FOUND, [BlockPiece(0, "One ")])
        await here.sessions.delete(session.id)
        assert not path.exists()
