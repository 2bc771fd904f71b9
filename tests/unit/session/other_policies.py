"""Another policy than Ullage's own in a test of a live session: put in force, told what to say, given something to do."""

from __future__ import annotations

from typing import Any

from tests.fake_api import Call, Rule, Say, Think
from tests.unit.session.engines import PROMPT
from tests.unit.session.harness import Stage, items
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import AssistantItem

TOLD = "The tank was measured, in millimetres, by the dip stick of the house."
"""What the model sums up."""


def last_text(body: dict[str, Any]) -> str:
    """The text that a request ends with; empty where it ends with a result."""
    block = body["messages"][-1]["content"][-1]
    return block["text"] if block["type"] == "text" else ""


def asks(body: dict[str, Any]) -> bool:
    """Whether a request asks for a summary, as `AsksModel` does."""
    return PROMPT in last_text(body)


def telling(text: str = TOLD) -> Rule:
    """Answers each of these."""
    return Rule(asks, Say(text))


def under(name: str) -> Settings:
    """The policy of that name in force."""
    return Settings(policy_name=name)


async def one_turn_of_reads(here: Stage, session: Session, count: int) -> None:
    """A turn of so many calls, each of which reads the same long file."""
    reads = [[Think("On."), Call("read_file", {"path": "readings.csv"})] for _ in range(count)]
    here.fake.enqueue(*reads, Say("Done."))
    await here.say(session, f"Read it {count} times")


def ended_well(session: Session) -> bool:
    """Whether the turn came to its last word."""
    last = items(session)[-1]
    return isinstance(last, AssistantItem) and last.text == "Done."
