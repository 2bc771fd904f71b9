"""Replies that are no end of a turn and nothing to run: how often the model is asked again, and what the user is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, Reply, Say, Think
from tests.unit.models.scripted_server import block, ended, started
from tests.unit.session.harness import calls, notices, stage
from tests.unit.session.test_distrust import answers, behind_a_faulty_endpoint, streamed
from ullage.session.turns.incoming import EMPTY, PAUSES, UNREADABLE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    return made


@pytest.mark.parametrize("nothing", [Reply(()), Reply((Think("Hm."),)), Reply((Say(" \n"),)), Reply((), stop_reason="tool_use")])
async def test_an_empty_reply_is_asked_for_once_more(folder: Path, nothing: Reply) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), nothing, Say("It holds 100."))
        await here.say(session, "How much?")
        assert [notice.text for notice in notices(session)] == []
        assert here.fake.requests[-1].body["messages"][-1]["content"][-1]["text"] == EMPTY.word
        here.fake.enqueue(nothing, nothing)
        await here.say(session, "And now?")
        [told] = notices(session)
        assert (told.text, told.action, told.level) == (EMPTY.end.message, "continue", "error")
        await answers(here, session)


async def test_a_paused_reply_goes_back_as_it_is_and_goes_on(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        paused = Reply((Think("Hm."), Say("First half,")), stop_reason="pause_turn")
        here.fake.enqueue(paused, Say("second half."))
        await here.say(session, "Tell me")
        assert [notice.text for notice in notices(session)] == []
        *_, reply, last = here.fake.requests[-1].body["messages"]
        assert [part["type"] for part in reply["content"]] == ["thinking", "text"]
        assert last["content"][-1]["text"] == PAUSES.word
        here.fake.enqueue(*[paused] * PAUSES.most)
        await here.say(session, "And now?")
        assert [notice.text for notice in notices(session)] == [PAUSES.end.message]
        await answers(here, session)


PIECES = ['{"path": "a.py", "content": "xxxxxx', "[1, 2]", "[" * 5_000, '{"a":' * 500 + "1" + "}" * 500]


@pytest.mark.parametrize(
    ("reason", "piece"),
    [("max_tokens", ""), *(("max_tokens", piece) for piece in PIECES), *(("tool_use", piece) for piece in PIECES)],
    ids=range(1 + 2 * len(PIECES)),
)
async def test_a_call_that_never_arrives_whole_ends_the_turn(folder: Path, reason: str, piece: str) -> None:
    async with behind_a_faulty_endpoint(folder) as (here, endpoint):
        session = await here.new()
        for number in range(3):
            call: dict[str, Any] = {"type": "tool_use", "id": f"t{number}", "name": "write_file", "input": {}}
            pieces = [{"type": "input_json_delta", "partial_json": piece}]
            endpoint.faults.append(streamed(started(input_tokens=6_000), *block(0, call, *pieces), *ended(reason)))
        await here.say(session, "Write it")
        assert [notice.text for notice in notices(session)] == [UNREADABLE.end.message]
        assert [call.status for call in calls(session)] == ["failed"] * 3
        assert endpoint.posts == 3
        await answers(here, session)
        told = [
            part["text"] for message in here.fake.requests[-1].body["messages"] for part in message["content"] if part["type"] == "text"
        ]
        assert UNREADABLE.word in told
