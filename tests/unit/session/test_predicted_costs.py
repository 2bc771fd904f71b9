"""What the context view says that the next prompt costs, against what the strict fake bills for it: random prompts, pauses and changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.deep import many
from tests.fake_api import Call, FakeApi, Say, Think
from tests.fake_api.catalogue import MODELS
from tests.fake_api.script import Scripted
from tests.fake_api.usage import dollars
from tests.unit.session.harness import MODEL, Stage, all_is_counted, compactions, items, stage
from ullage.session.history.context_view import Query
from ullage.session.session import Session
from ullage.session.settings import Settings

REQUESTS = many(20, deep=1_000)
REQUESTS_OF_A_SESSION = 50
LEARNING = 5
WITHIN = 0.05

PAUSES = (1.0, 5.0, 40.0, 200.0, 299.0, 300.0, 301.0, 1_800.0, 90_000.0)
WORDS = (
    "the",
    "pump",
    "at",
    "tank",
    "4",
    "leaks",
    "since",
    "1013.2",
    "hPa",
    "in",
    "`gauge.py`",
    "(see",
    "docs/survey-notes.md)",
    "so",
    "look",
)


@dataclass
class Clock:
    now: float = 1_760_000_000.0

    def __call__(self) -> float:
        return self.now


def words(chance: Random, count: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(count))


def replies(chance: Random, folder: Path, number: int) -> list[Scripted]:
    """What the model does in a turn: reads a file or two, or none, and says something."""
    outcomes: list[Scripted] = []
    for step in range(chance.choice((0, 0, 1, 2))):
        name = f"notes{number}-{step}.md"
        (folder / name).write_text("\n".join(words(chance, 9) for _ in range(chance.randint(5, 300))))
        outcomes.append([Think("Look."), Call("read_file", {"path": name})])
    return [*outcomes, Say(words(chance, chance.randint(1, 400)))]


async def change(chance: Random, here: Stage, session: Session) -> str:
    """Something that the user does between two prompts, mostly nothing."""
    match chance.randrange(24):
        case 0 if items(session):
            session.compact()
            await here.idle(session)
            return "compact"
        case 1 if any(each.status == "completed" for each in compactions(session)):
            await session.history.undo()
            return "undo"
        case 2:
            await here.sessions.models.choose_effort(session.id, chance.choice(("default", "low", "high")))
            return "effort"
        case 3:
            (here.folder / "AGENTS.md").write_text(f"Rules: {words(chance, 40)}\n")
            session.file_changed("AGENTS.md")  # as the watcher tells in its own time
            return "rules"
        case 4:
            prompts = (await session.context.look(Query("newest", "reply", limit=3))).rows
            if prompts and prompts[-1].item_id and not prompts[-1].part.excluded:
                await session.history.exclude(prompts[-1].item_id)
                return "exclude"
            return "none"
        case _:
            return "none"


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(7, 7 + many(1, deep=3)))
async def test_the_next_prompt_costs_what_was_said(tmp_path: Path, seed: int) -> None:
    """Warm or cold, as the clock has it by then: the input of each request within 5 %, and of all together within 1 %.

    With the first prompts to a model the ratio of its tokens to ours is learned, as the gauge says: they are made before.
    """
    chance, clock, off = Random(seed), Clock(), list[str]()
    said = billed = 0.0
    folder = tmp_path / "project"
    folder.mkdir()
    settings = Settings(auto_compact=False)
    async with FakeApi(windows={MODEL: 1_000_000}, clock=clock) as fake, stage(folder, fake=fake, clock=clock, settings=settings) as here:
        session = await here.new()
        await all_is_counted(session)
        for number in range(LEARNING + REQUESTS):
            if number and number % REQUESTS_OF_A_SESSION == 0:
                session = await here.new()
            did = await change(chance, here, session)
            clock.now += chance.choice(PAUSES)
            prompt = words(chance, chance.choice((1, 20, 20, 200, 3_000)))
            await session.context.look(Query(draft=prompt))  # whoever has it open has the endpoint count what is only estimated
            await all_is_counted(session)
            page = await session.context.look(Query(draft=prompt))
            request = page.cache.request
            is_warm = request.started is not None and clock.now < request.started + request.lives
            predicted = page.cache.warm if is_warm else page.cache.cold
            first = len(fake.requests)
            fake.enqueue(*replies(chance, folder, number))
            await here.say(session, prompt)
            taken = fake.requests[first].input
            assert predicted is not None
            assert taken is not None
            cost = dollars(MODELS[MODEL], taken, 0)
            said, billed = said + predicted, billed + cost
            if number >= LEARNING and abs(predicted / cost - 1) > WITHIN:
                off.append(f"{number} after {did}: {predicted} for {cost}, {request} for {taken}")
        assert not here.refused()
    assert not off, "\n".join([f"{len(off)} of {REQUESTS}", *off])
    assert said == pytest.approx(billed, rel=0.01)
