"""What the `recall` tool finds: everything that was said, in this session and in the others of the workspace."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.context.logs import compaction
from ullage.context.blocks import CompactionBlock, RedactedThinking, Text, Thinking, ToolUse
from ullage.context.entries import (
    AssistantReply,
    Attachment,
    Cleared,
    CompactionUndone,
    Notice,
    Prelude,
    Reworded,
    Snipped,
    Summarised,
    ToolReturned,
    UserPrompt,
)
from ullage.context.moves.excluded import EXCLUDED_MESSAGE, EXCLUDED_RESULT
from ullage.session.recall import SessionRecall
from ullage.store.log_store import LogStore
from ullage.store.results import ResultFiles
from ullage.store.search import SearchIndex
from ullage.tools.recall import Recall


class Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.log = LogStore.open(None)
        self.results = ResultFiles(None)
        self.index = SearchIndex(None, self.log, self.results)

    def session(self) -> tuple[str, Recall]:
        session_id = self.log.create_session("", 1.0).id
        return session_id, SessionRecall(session_id, self.log, self.index, lambda: self.log.load(session_id))


async def test_other_sessions_are_found_and_marked() -> None:
    kept = Kept()
    here, recall = kept.session()
    there, _ = kept.session()
    kept.log.append(here, UserPrompt("p1", "mind the sluice"), 2.0)
    kept.log.append(there, UserPrompt("p2", "the sluice leaks"), 3.0)
    hits = await recall.search("sluice", 5)
    assert {(hit.session_id, hit.seq, hit.what, hit.current) for hit in hits} == {(here, 1, "user", True), (there, 1, "user", False)}


async def test_a_clipped_result_is_opened_whole() -> None:
    kept = Kept()
    here, recall = kept.session()
    kept.results.save("t1", "all of it")
    kept.log.append(here, ToolReturned("t1", "bash", "all …", is_error=False, characters=9), 2.0)
    assert await recall.result("t1") == "all of it"
    assert await recall.result("t2") is None


async def test_what_the_user_took_out_is_not_given_back_until_they_put_it_back() -> None:
    kept = Kept()
    here, recall = kept.session()
    there, _ = kept.session()
    record = compaction("c", summarised=Summarised(2, "They spoke of the sluice and the dip."))
    said = [UserPrompt("p1", "mind the sluice"), ToolReturned("t1", "bash", "the sluice is wet", is_error=False, characters=17)]
    kept.log.append_many(here, [*said, UserPrompt("p2", "the dip is 7"), replace(record, through=3)], 2.0)
    kept.log.append(there, UserPrompt("p3", "the sluice leaks"), 3.0)
    takes_out = compaction("x", cleared=[Cleared(2, EXCLUDED_RESULT)], snipped=Snipped(1, 1, EXCLUDED_MESSAGE))
    kept.log.append_many(here, [Reworded("c", (1, 2), "They spoke of the dip."), takes_out], 4.0)
    assert [hit.session_id for hit in await recall.search("sluice", 1)] == [there]
    assert await recall.result("t1") == EXCLUDED_RESULT
    seen = await recall.range(1, 9)
    assert "sluice" not in seen
    assert "[3] user: the dip is 7" in seen
    assert "They spoke of the dip." in seen
    kept.log.append(here, CompactionUndone("x"), 5.0)
    assert len(await recall.search("sluice", 5)) == 4
    assert await recall.result("t1") == "the sluice is wet"


async def test_what_the_api_wrote_is_given_back_without_what_the_user_took_out() -> None:
    kept = Kept()
    here, recall = kept.session()
    block = CompactionBlock('{"type":"compaction","content":"The dip is 7. They said: mind the wet sluice.","signature":"s"}', "m")
    record = compaction("c", summarised=Summarised(1, "The record.", block=block))
    takes_out = compaction("x", snipped=Snipped(1, 1, EXCLUDED_MESSAGE))
    kept.log.append_many(here, [UserPrompt("p1", "Mind the wet sluice"), replace(record, through=1), takes_out], 2.0)
    assert await recall.range(2, 2) == "[2] summary:\nThe dip is 7. \n\nThe record."


async def test_what_is_hidden_takes_no_other_hit_its_place() -> None:
    kept = Kept()
    here, recall = kept.session()
    records = [replace(compaction(f"c{number}", summarised=Summarised(1, "the sluice")), through=1) for number in range(5)]
    takes_out = compaction("x", snipped=Snipped(1, 1, EXCLUDED_MESSAGE))
    prompts = [UserPrompt(f"p{number}", "the sluice leaks again, and this is rather more than a record says of it") for number in range(3)]
    kept.log.append_many(here, [UserPrompt("p", "mind the sluice"), *records, takes_out, *prompts], 2.0)
    assert [hit.seq for hit in await recall.search("sluice", 3)] == [8, 9, 10]


async def test_a_range_is_what_was_said_in_it() -> None:
    kept = Kept()
    here, recall = kept.session()
    reply = AssistantReply(
        "r", (Thinking("hm", "s"), RedactedThinking("z"), Text("I look."), ToolUse("t1", "bash", {"command": "ls"})), "m", "tool_use", None
    )
    kept.log.append_many(
        here,
        [
            Prelude((), ()),
            UserPrompt("p1", "list them", (Attachment("a.md", "notes"),)),
            reply,
            ToolReturned("t1", "bash", "a.md", is_error=False, characters=4),
            Notice("file_changed", "a.md changed"),
            UserPrompt("p2", "beyond"),
        ],
        2.0,
    )
    assert await recall.range(1, 5) == (
        "[2] user: list them\n\n[2] attachment a.md:\nnotes\n\n"
        '[3] assistant: I look.\n\n[3] call of bash (t1): {"command": "ls"}\n\n'
        "[4] result of bash (t1):\na.md\n\n[5] notice: a.md changed"
    )
    assert await recall.range(7, 9) == ""
