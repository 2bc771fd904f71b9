"""Every policy of Ullage in a live session: over its threshold, compacted, on; undo and redo exact; nothing refused by the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.deep import sampled
from tests.fake_api import Call, Reply, Rule, Say, Think
from tests.unit.context.policies.families import is_one_of_each
from tests.unit.session.filling import asks_for_summary
from tests.unit.session.harness import Stage, compactions, notices, stage
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import Policy
from ullage.session.session import Session
from ullage.session.settings import Settings

WINDOW = 50_000
"""Tokens. Lines of a fixed size that are larger are reached where the window is as good as full."""

LONG = 800
"""Makes a prompt of 3,000 tokens: some policies leave hardly anything else in view."""

MOST_TURNS = 18
KEY = "sk-ant-" + "api03-" + "q7Zk2" * 5
PASSWORD = "hunter" + "2!tank"
TOLD = (
    "Goal: the user wants the tank measured, in millimetres, since the dip stick does.\n"
    "Progress: two of the four readings are done, and both of them were written down.\n"
    "Next steps: take the other two readings, then compare all of the four of them."
)

BY_ITSELF = [policy for policy in BUILT_IN.values() if not policy.never]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n\n\ndef level(dip: int) -> int:\n    return CAPACITY - dip\n")
    for number in range(4):
        lines = (f"2026-01-{n % 28 + 1:02d},{n * 7919 % 1000}" for n in range(number * 300, number * 300 + 300))
        (made / f"readings{number}.csv").write_text("\n".join(lines))
    return made


def is_small_request(body: dict[str, Any]) -> bool:
    """One that is no turn of the session: it has no tools."""
    return not body.get("tools")


def asks_for_facts(body: dict[str, Any]) -> bool:
    """One that wants each fact between marks."""
    return is_small_request(body) and "<fact>" in body["messages"][-1]["content"][-1].get("text", "")


def is_question(body: dict[str, Any]) -> bool:
    """One about the conversation, on its warm prefix: it ends with other words than the user's."""
    last = body["messages"][-1]["content"][-1]
    return last["type"] == "text" and "round" not in last["text"]


def summaries(told: str = TOLD) -> tuple[Rule, ...]:
    """Whichever way a policy asks for a summary."""
    record = f"=== RECORD ===\n{told}\n=== END OF RECORD ==="
    facts = "\n".join(f"<fact>{line}</fact>" for line in told.splitlines())
    return (
        Rule(asks_for_facts, Say(facts)),
        Rule(asks_for_summary, Say(record)),
        Rule(is_small_request, Say(told)),
        Rule(is_question, Say(told)),
    )


async def one_turn(here: Stage, session: Session, turn: int, words: int = 40) -> None:
    path = f"readings{turn % 4}.csv"
    here.fake.enqueue(Reply((Think(f"I look at {path}."), Call("read_file", {"path": path}))), Reply((Think("So."), Say(f"Seen {turn}."))))
    await here.say(session, f"Look at the readings, round {turn}. Never change the file. " + "It matters to me. " * words)


def by_line(here: Stage, session: Session) -> list[str]:
    return [made.id for made in here.made(session) if made.trigger != "upkeep"]


@sampled("policy", BY_ITSELF, keep=is_one_of_each, ids=lambda policy: policy.name)
async def test_it_compacts_at_its_line_and_goes_on(folder: Path, policy: Policy) -> None:
    async with stage(folder, settings=Settings(policy_name=policy.name), window=WINDOW) as here:
        here.fake.add_rules(*summaries())
        session = await here.new()
        assert session.snapshot().gauge.policy == policy.name
        turn = 0
        while not by_line(here, session) and turn < MOST_TURNS:
            await one_turn(here, session, turn, LONG)
            turn += 1
        made = [each for each in here.made(session) if each.trigger != "upkeep"]
        assert made, "it never compacted"
        assert {each.policy for each in here.made(session)} == {policy.name}
        assert all(card.status == "completed" and card.skipped == () for card in compactions(session))
        for more in range(3):
            await one_turn(here, session, turn + more)
        assert here.refused() == []
        assert [notice.text for notice in notices(session) if notice.level != "info"] == []
        gauge = session.snapshot().gauge
        assert gauge.used <= max(gauge.threshold, gauge.size * policy.threshold.hold_share)


@sampled("policy", BUILT_IN.values(), keep=is_one_of_each, ids=lambda policy: policy.name)
async def test_a_click_compacts_without_secrets_and_undo_gives_back_the_very_request(folder: Path, policy: Policy) -> None:
    async with stage(folder, settings=Settings(policy_name=policy.name), window=WINDOW * 4) as here:
        here.fake.add_rules(*summaries(f"{TOLD}\nThe key is {KEY}; log in with password='{PASSWORD}'."))
        session = await here.new()
        for turn in range(3):
            await one_turn(here, session, turn)
        conversation = session._conversation  # noqa: SLF001
        before = list(conversation.projection.messages)
        count = len(by_line(here, session))
        session.compact()
        await here.idle(session)
        assert len(by_line(here, session)) == count + 1
        assert compactions(session)[-1].status == "completed"
        logged = str(conversation.entries[-1])
        assert KEY not in logged
        assert PASSWORD not in logged
        after = list(conversation.projection.messages)
        assert after != before
        await session.history.undo()
        assert list(conversation.projection.messages) == before
        await session.history.redo()
        assert list(conversation.projection.messages) == after
        await one_turn(here, session, 3)
        assert KEY not in str(here.fake.requests[-1].body)
        assert here.refused() == []
