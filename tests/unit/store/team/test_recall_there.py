"""The agent's `recall` finds what is in the team's store, in sessions that this machine never opened, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.postgres import Postgres
from tests.unit.context.logs import compaction
from tests.unit.store.team.here import Colleague, turn, until
from ullage.context.blocks import Text
from ullage.context.compaction_entries import Cleared, Snipped
from ullage.context.entries import AssistantReply, ToolReturned, TurnEnded, UserPrompt
from ullage.context.view.taken_out import EXCLUDED_MESSAGE, EXCLUDED_RESULT
from ullage.session.sessions.searching import MOST_BROUGHT, SessionRecall
from ullage.store.search import SearchIndex
from ullage.store.session_list import AGENT

Join = Callable[..., Colleague]


def recall_of(colleague: Colleague, session_id: str) -> SessionRecall:
    log = colleague.log
    return SessionRecall(session_id, log, SearchIndex(None, log, colleague.machine.results), lambda: log.load(session_id))


def said(colleague: Colleague, session_id: str) -> None:
    """Its words can be found there."""
    last = colleague.log.rows.last(session_id)
    until(lambda: colleague.reads.said_through(session_id) == last)


async def test_it_finds_what_a_colleague_said_and_opens_their_results(join: Join) -> None:
    ann, bob = join("ann"), join("bob")
    theirs, ours = ann.new(), bob.new()
    whole = ann.machine.results.save("t7", "the whole output: 42 bars, and a broken gasket")
    ann.say(
        theirs,
        *turn(1, "Why does server/valve.py leak?"),
        ToolReturned("t7", "bash", "42 bars", is_error=False, characters=46, full_output=whole),
    )
    said(ann, theirs)
    bob.say(ours, *turn(2, "What of the sluice?"))
    recall = recall_of(bob, ours)
    (hit,) = [each for each in await recall.search("valve", 5) if each.what == "user"]
    assert (hit.session_id, hit.seq, hit.current) == (theirs, 1, False)
    assert await recall.result("t7") == "the whole output: 42 bars, and a broken gasket"
    assert [each.what for each in await recall.search("gasket", 5)] == ["result of bash"]
    assert not bob.following.followed() - {ours}, "it is read, and not taken over"
    ann.say(theirs, *turn(3, "The valve is mended"))


async def test_what_a_colleague_took_out_of_sight_stays_out_of_sight(join: Join) -> None:
    ann, bob = join("ann"), join("bob")
    theirs, ours = ann.new(), bob.new()
    ann.say(
        theirs,
        UserPrompt("p1", "the sluice key is under the mat"),
        ToolReturned("t1", "bash", "sluice open", is_error=False, characters=11),
    )
    takes_out = compaction("x", cleared=[Cleared(2, EXCLUDED_RESULT)], snipped=Snipped(1, 1, EXCLUDED_MESSAGE))
    ann.say(theirs, UserPrompt("p2", "the sluice leaks"), takes_out)
    said(ann, theirs)
    bob.say(ours, *turn(2))
    recall = recall_of(bob, ours)
    assert [hit.excerpt for hit in await recall.search("sluice", 9)] == ["the sluice leaks"]
    assert await recall.result("t1") == EXCLUDED_RESULT


async def test_a_session_that_was_continued_has_its_sub_agents(join: Join) -> None:
    ann, bob = join("ann"), join("bob")
    session, agent = ann.new(), ann.new()
    ann.log.remember(AGENT + agent, {"role": "look"})
    ann.say(session, *turn(1))
    reply = AssistantReply("r", (Text("The lexer hangs at the brace."),), "m", "end_turn", None)
    ann.say(agent, UserPrompt("p", "Find out why"), reply, TurnEnded("end_turn"))
    for each in (session, agent):
        ann.log.release(each)
    until(lambda: not ann.following.followed())
    bob.following.team_list.look()
    bob.following.open(session)
    recall = recall_of(bob, session)
    report = await recall.report(agent)
    assert report is not None and "The lexer hangs at the brace." in report
    assert "Find out why" in await recall.range(1, 9, agent)
    assert [hit.what for hit in await recall.search("brace", 5, agent)] == ["assistant"]


async def test_a_search_takes_few_sessions_here_and_goes_on_without_the_database(join: Join, postgres: Postgres) -> None:
    ann, bob = join("ann"), join("bob")
    for number in range(MOST_BROUGHT + 2):
        session = ann.new()
        ann.say(session, *turn(number, "The valve leaks"))
        said(ann, session)
    ours = bob.new()
    bob.say(ours, *turn(2, "Our valve leaks, too"))
    recall = recall_of(bob, ours)
    assert len(await recall.search("valve leaks", 20)) == MOST_BROUGHT + 1
    assert len(await recall.search("valve leaks", 20)) == MOST_BROUGHT + 3, "those that are here make room for others"
    postgres.kill()
    try:
        assert len(await recall.search("valve leaks", 20)) == MOST_BROUGHT + 3
    finally:
        postgres.start()


@pytest.mark.parametrize("words", ["", "nowhere", "'; DROP TABLE"])
async def test_odd_words_find_nothing(join: Join, words: str) -> None:
    ann = join("ann")
    session = ann.new()
    ann.say(session, *turn(1))
    assert await recall_of(ann, session).search(words, 5) == []
