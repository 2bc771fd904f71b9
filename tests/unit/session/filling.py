"""Conversations that fill a small window, and the summaries that the fake writes of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.fake_api import Call, Rule, Say, Think
from tests.fake_api.script import Scripted
from tests.unit.session.harness import Stage, calls, compactions
from ullage.session.session import Session

WINDOW = 60_000
"""Tokens. Its line is half of that, 30,000."""

SUMMARY = "The user wants the tank measured.\n\n## Decisions\n- Use millimetres, since the dip stick does."


WRITTEN_AHEAD = 8
"""Long files of a project. They are there before it is watched: one written later counts as edited, as soon as the watch has told of it."""


def make_project(parent: Path) -> Path:
    """A folder with a small file and long ones."""
    made = parent / "project"
    made.mkdir()
    (made / "tank.py").write_text("CAPACITY = 100\n")
    (made / "readings.csv").write_text(readings(0))
    for number in range(1, 1 + WRITTEN_AHEAD):
        (made / f"readings{number}.csv").write_text(readings(number))
    return made


@cache
def readings(number: int, lines: int = 400) -> str:
    """The text of a long file; each number gives another one, since what is in view already is not returned again."""
    return "\n".join(f"2026-{number + 1:02d}-{n % 28 + 1:02d},{n},{n * (7919 + number) % 1000}" for n in range(lines))


def more_readings(folder: Path, count: int, lines: int = 400) -> list[Call]:
    """Calls that read so many long files, which are new in the folder."""
    first = len(list(folder.glob("readings*.csv")))
    names = [f"readings{number}.csv" for number in range(first, first + count)]
    for number, name in enumerate(names, first):
        (folder / name).write_text(readings(number, lines))
    return [Call("read_file", {"path": name}) for name in names]


def summaries(text: str = SUMMARY) -> Rule:
    """The fake writes a summary when it is asked for one."""
    return when_asked_for_a_summary(Say(f"=== RECORD ===\n{text}\n=== END OF RECORD ==="))


def when_asked_for_a_summary(outcome: Scripted, times: int | None = None) -> Rule:
    """What the fake does then."""
    return Rule(asks_for_summary, outcome, times)


def asks_for_summary(body: dict[str, Any]) -> bool:
    """Whether a request asks for a summary."""
    last = body["messages"][-1]["content"][-1]
    return last["type"] == "text" and "=== RECORD ===" in last["text"]


async def fill(here: Stage, session: Session, turns: int = 3) -> None:
    """Some turns with long results."""
    for turn in range(turns):
        names = ["readings.csv", *(f"readings{number}.csv" for number in range(1, 1 + WRITTEN_AHEAD))]
        unread = [name for name in names if (here.folder / name).exists() and all(f'"{name}"' not in call.input for call in calls(session))]
        call = Call("read_file", {"path": unread[0]}) if unread else more_readings(here.folder, 1)[0]
        here.fake.enqueue([Think("Look."), call], Say(f"Seen {turn}."))
        await here.say(session, f"Look at the readings, round {turn}. Never change the file.")


def is_near_the_threshold(session: Session) -> bool:
    """Whether the next turn, as turns usually grow here, would cross the threshold."""
    return session.snapshot().gauge.next.while_editing


async def fill_to_the_line(here: Stage, session: Session) -> None:
    """Until the next turn would cross the threshold."""
    await fill(here, session, 2)
    while not is_near_the_threshold(session):
        await fill(here, session, 1)


async def compact(here: Stage, session: Session) -> str:
    """A compaction by click; gives its id."""
    session.compact()
    await here.idle(session)
    return compactions(session)[-1].id


async def sent(here: Stage, session: Session) -> str:
    """The messages of the next request, as they went to the API."""
    here.fake.enqueue(Say("Yes."))
    await here.say(session, "One more thing")
    assert not here.refused()
    return json.dumps(here.fake.requests[-1].body["messages"], ensure_ascii=False)


def in_view(session: Session) -> str:
    """What the next request would hold."""
    messages = session._conversation.projection.complete_messages  # noqa: SLF001
    return json.dumps([str(block) for message in messages for block in message.blocks], ensure_ascii=False)
