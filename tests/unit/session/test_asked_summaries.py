"""What a policy has a model asked for its summary: words of its own, a text of its own, a second call that checks the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Fail, Reply, Rule, Say
from tests.unit.session.engines import PROMPT, AsksModel, policy
from tests.unit.session.filling import WINDOW, fill, make_project
from tests.unit.session.harness import Stage, compactions, stage
from ullage.context.moves.plan import Asked
from ullage.context.quoting import HOW_IT_IS_QUOTED
from ullage.session.session import Session
from ullage.session.settings import Settings

CHECK = "Is anything missing? Write it again."
TOLD = "The tank was measured in millimetres, by its dip stick."
TOLD_WHOLE = f"{TOLD} It was the whole of the tank."
FOCUSED = "Tell it short. Favour this: {focus}."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def text_of(body: dict[str, Any]) -> str:
    return body["messages"][-1]["content"][-1].get("text", "")


def saying(words: str) -> Callable[[dict[str, Any]], bool]:
    def holds(body: dict[str, Any]) -> bool:
        return words in text_of(body)

    return holds


async def compacted(here: Stage, focus: str = "") -> Session:
    """A session of a few turns that was compacted by hand."""
    session = await here.new()
    await fill(here, session, 2)
    session.compact(focus)
    await here.idle(session)
    assert here.refused() == []
    return session


def tried(folder: Path, asked: Asked) -> Any:
    return stage(folder, window=WINDOW, settings=Settings(policy_name="tried"), extra=[policy(AsksModel(asked))])


async def test_it_is_asked_in_the_policys_own_words_on_the_warm_prefix(folder: Path) -> None:
    async with tried(folder, Asked(FOCUSED, 700)) as here:
        here.fake.add_rules(Rule(saying("Tell it short"), Say(TOLD)))
        session = await compacted(here, "the units")
        [card] = compactions(session)
        assert (card.status, card.rung, card.summary, card.focus) == ("completed", "model", f"So far: {TOLD}", "the units")
        # A draft without the focus may have been in work when the user asked: its request may come in last.
        [asked] = [request for request in here.fake.requests if text_of(request.body) == "Tell it short. Favour this: the units."]
        assert asked.body["max_tokens"] == 700
        assert asked.input is not None
        assert asked.input.read / asked.input.total >= 0.9


async def test_without_a_focus_the_words_stay_whole(folder: Path) -> None:
    async with tried(folder, Asked(FOCUSED, 700)) as here:
        here.fake.add_rules(Rule(saying("Tell it short"), Say(TOLD)))
        await compacted(here)
        assert text_of(here.fake.requests[-1].body) == "Tell it short. Favour this: nothing in particular."


async def test_a_text_of_its_own_makes_a_small_request_without_tools(folder: Path) -> None:
    async with tried(folder, Asked(PROMPT, 700, text="user: measure the tank\nassistant: measured")) as here:
        here.fake.add_rules(Rule(saying(PROMPT), Say(TOLD)))
        session = await compacted(here)
        assert compactions(session)[0].summary == f"So far: {TOLD}"
        body = here.fake.requests[-1].body
        assert not body.get("tools")
        assert body["system"]
        [message] = body["messages"]
        assert message["content"][-1]["text"] == f"{HOW_IT_IS_QUOTED}\n\nuser: measure the tank\nassistant: measured\n\n{PROMPT}"


@pytest.mark.parametrize("text", [None, "user: measure the tank"])
async def test_the_answer_of_the_second_call_counts_and_both_cost(folder: Path, text: str | None) -> None:
    async with tried(folder, Asked(PROMPT, 700, text=text, check=CHECK)) as here:
        here.fake.add_rules(Rule(saying(CHECK), Say(TOLD_WHOLE)), Rule(saying(PROMPT), Say(TOLD)))
        session = await compacted(here)
        [card] = compactions(session)
        assert (card.rung, card.summary) == ("model", f"So far: {TOLD_WHOLE}")
        first, second = here.fake.requests[-2:]
        *_, answer, question = second.body["messages"]
        assert (answer["role"], answer["content"][-1]["text"]) == ("assistant", TOLD)
        assert (question["role"], text_of(second.body)) == ("user", CHECK)
        assert second.body["messages"][: len(first.body["messages"]) - 1] == first.body["messages"][:-1]
        assert card.cost == pytest.approx(first.dollars + second.dollars)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Fail(529, "overloaded_error", "Overloaded"), "overloaded"),
        (Say(""), "empty"),
        (Reply((Say("half of it"),), stop_reason="max_tokens"), "cut off"),
    ],
)
async def test_where_the_second_call_fails_the_program_tells_and_what_was_spent_counts(folder: Path, outcome: Any, words: str) -> None:
    async with tried(folder, Asked(PROMPT, 700, check=CHECK)) as here:
        here.fake.add_rules(Rule(saying(CHECK), outcome), Rule(saying(PROMPT), Say(TOLD)))
        session = await compacted(here)
        [card] = compactions(session)
        assert (card.status, card.rung, card.summary) == ("completed", "digest", "So far: nobody told.")
        assert words in " ".join(card.skipped).lower()
        spent = [record.dollars for record in here.fake.requests if saying(PROMPT)(record.body) or saying(CHECK)(record.body)]
        assert card.cost == pytest.approx(sum(spent))
        assert session.snapshot().gauge.cost == pytest.approx(here.fake.dollars)


async def test_nobody_is_asked_where_the_user_wants_the_digest(folder: Path) -> None:
    extra = [policy(AsksModel(Asked(PROMPT, 700, check=CHECK)))]
    settings = replace(Settings(policy_name="tried"), summary_engine="digest")
    async with stage(folder, window=WINDOW, settings=settings, extra=extra) as here:
        session = await compacted(here)
        [card] = compactions(session)
        assert (card.rung, card.summary, card.cost) == ("digest", "So far: nobody told.", None)
