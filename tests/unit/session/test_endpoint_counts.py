"""The gauge where the endpoint itself counts, with the real SDK against the fake, whose tokenizer is not what we estimate by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fake_api import FakeApi, Hang, Say
from tests.fake_api.record import RecordedRequest
from tests.unit.models.scripted_server import Answer, ScriptedServer, ended, sse, started, text
from tests.unit.session.harness import MODEL, Stage, counts_of, stage
from ullage.context.blocks import Message, Text
from ullage.context.view.request import Request
from ullage.models.anthropic_model import AnthropicModel
from ullage.session.attachments import FileRef
from ullage.session.session import Session
from ullage.session.timeline.updates import Gauge

TEXTS = {"prose": "the tank holds what it holds " * 800, "digits": "0123456789\n" * 1_500, "capitals": "ABC DEF GHI " * 1_500}
"""Of the first our estimate is 20 % too low, of the second 40 %, and of the last it is far too high."""
PATH = "/v1/messages/count_tokens"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    for name, content in TEXTS.items():
        (made / f"{name}.txt").write_text(content)
    (made / "AGENTS.md").write_text("Be brief. " * 300)
    return made


def questions(fake: FakeApi) -> list[RecordedRequest]:
    return [record for record in fake.all_requests if record.path == PATH]


def whole(gauge: Gauge) -> dict[str, int]:
    categories = {category.name: category.tokens for category in gauge.categories}
    assert sum(categories.values()) == gauge.used
    assert min(categories.values()) > 0
    return categories


def fixed(gauge: Gauge) -> Sequence[int]:
    categories = whole(gauge)
    return [categories[name] for name in ("system", "rules", "tools")]


async def asked(here: Stage, session: Session, number: int, words: str, *names: str) -> Gauge:
    """Prompts with those files attached; the gauge once the endpoint has counted, while the reply is still waited for."""
    await session.prompt(words, [FileRef(here.folder / f"{name}.txt") for name in names])
    await here.fake.until_requests(number)
    await counts_of(session).settled()
    return session.snapshot().gauge


def sent(here: Stage) -> int:
    """What the newest answered request took, by the fake."""
    record = here.fake.requests[-1]
    assert record.input is not None
    return record.input.total


@pytest.mark.parametrize("name", TEXTS)
async def test_a_large_attachment_is_counted_before_any_reply(folder: Path, name: str) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello"), Hang())
        session = await here.new()
        await here.say(session, "Hello")
        await counts_of(session).settled()
        settled = session.snapshot().gauge
        assert not settled.estimated
        gauge = await asked(here, session, 2, "Look", name)
        assert (gauge.estimated, gauge.guess < gauge.used / 100) == (False, True)
        assert fixed(gauge) == fixed(settled)
        here.fake.release()
        await here.idle(session)
        assert gauge.used == pytest.approx(sent(here), rel=0.005)


async def test_the_first_request_after_a_compaction_is_counted_before_it_is_answered(folder: Path) -> None:
    async with stage(folder, window=90_000) as here:
        here.fake.enqueue(*(Say(f"Answer {turn}: {TEXTS['prose'][:4_000]}") for turn in range(4)))
        session = await here.new()
        for turn in range(4):
            await here.say(session, f"Question {turn}: {TEXTS['digits'][:6_000]}")
        before = fixed(session.snapshot().gauge)
        session.compact("")
        await here.idle(session)
        await counts_of(session).settled()
        gauge = session.snapshot().gauge
        assert not gauge.estimated
        assert fixed(gauge) == before
        here.fake.enqueue(Say("Yes"))
        await here.say(session, "Go on")
        assert gauge.used == pytest.approx(sent(here), rel=0.02)
        assert fixed(session.snapshot().gauge) == before
        assert here.refused() == []


async def test_system_prompt_and_tools_are_counted_once_by_the_endpoint_and_stay(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        assert session.snapshot().gauge.estimated
        assert not questions(here.fake), "nothing is sent before the user asks for something"
        shown: list[Sequence[int]] = []
        for turn, name in enumerate(TEXTS):
            here.fake.enqueue(Say(TEXTS["prose"][: 900 * turn] or "Hello"))
            await here.say(session, TEXTS[name][:3_000])
            await counts_of(session).settled()
            shown.append(fixed(session.snapshot().gauge))
        assert shown == [shown[0]] * 3
        apart = [record.body for record in questions(here.fake) if len(record.body["messages"][0]["content"][0]["text"]) == 1]
        assert len(apart) == 3
        another = await here.new()
        here.fake.enqueue(Say("Yes"))
        await here.say(another, "Hello")
        assert fixed(another.snapshot().gauge) == shown[0], "another session of the same model need not ask"


async def test_system_prompt_and_tools_are_after_a_restart_what_they_were_last_counted_as(folder: Path) -> None:
    async with FakeApi(windows={MODEL: 200_000}) as fake:
        async with stage(folder, fake=fake) as here:
            session = await here.new()
            first = fixed(session.snapshot().gauge)
            fake.enqueue(Say("Hello"), Say("Yes"))
            await here.say(session, TEXTS["digits"])
            await counts_of(session).settled()
            await here.say(session, "And?")
            before = fixed(session.snapshot().gauge)
            assert before != first
        known = len(questions(fake))
        async with stage(folder, fake=fake) as here:
            assert fixed((await here.sessions.open(session.id)).snapshot().gauge) == before
            another = (await here.new()).snapshot().gauge
            assert (fixed(another), another.estimated, len(questions(fake))) == (before, False, known)


async def test_a_small_prompt_is_not_worth_a_question(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello"), Say("Yes"), Say("Yes"))
        session = await here.new()
        await here.say(session, "Hello")
        await counts_of(session).settled()
        known = len(questions(here.fake))
        for _ in range(2):
            await here.say(session, "Go on")
            await counts_of(session).settled()
        assert len(questions(here.fake)) == known


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed", "501 Not Implemented"])
async def test_an_endpoint_that_does_not_count_is_asked_once_and_the_gauge_says_that_it_estimates(folder: Path, status: str) -> None:
    reply = Answer(sse(started(input_tokens=20_000), *text(0, "Hello"), *ended()))
    async with ScriptedServer(reply) as server, FakeApi() as fake, stage(folder, fake=fake, base_url=server.url) as here:
        server.counts = Answer("no", status, "text/plain")
        session = await here.new()
        for name in TEXTS:
            await here.say(session, TEXTS[name])
            await counts_of(session).settled()
        assert [request.path for request in server.counted] == [PATH]
        assert not session.snapshot().gauge.estimated, "a reply has told"


@pytest.mark.parametrize(
    "answer",
    [
        Answer("busy", "429 Too Many Requests", "text/plain"),
        Answer("{}", content_type="application/json"),
        Answer('{"input_tokens": 900000000000}', content_type="application/json"),
        Answer('{"input_tokens": -5}', content_type="application/json"),
        Answer("<html>", content_type="text/html"),
    ],
    ids=["busy", "nothing", "too many", "below zero", "a page"],
)
async def test_a_count_that_cannot_be_is_none(answer: Answer) -> None:
    async with ScriptedServer() as server:
        server.counts = answer
        model = AnthropicModel("qwen", api_key=None, base_url=server.url)
        request = Request((), (), [Message("user", (Text("Hello"),), (1,))], ())
        assert [await model.count(request) for _ in range(3)] == [None] * 3
        assert len(server.counted) == 1, "an endpoint that cannot answer now is left alone for a while"
        await model.aclose()


async def test_a_model_that_is_left_while_it_counts_is_not_believed_of_the_next(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello"))
        session = await here.new()
        await here.say(session, "Hello")
        await counts_of(session).settled()
        await here.sessions.models.choose(session.id, "claude-haiku-4-5")
        gauge = session.snapshot().gauge
        assert whole(gauge)
        here.fake.enqueue(Say("Yes"))
        await here.say(session, TEXTS["digits"])
        await counts_of(session).settled()
        assert not session.snapshot().gauge.estimated
        assert {record.body["model"] for record in questions(here.fake)} == {MODEL, "claude-haiku-4-5"}


async def test_stop_ends_the_turn_while_the_endpoint_counts(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Hang())
        session = await here.new()
        await session.prompt(TEXTS["digits"])
        await here.fake.until_requests(1)
        session.cancel()
        await here.idle(session)
        await counts_of(session).settled()
        gauge = session.snapshot().gauge
        assert whole(gauge)
        assert not gauge.estimated
        assert here.refused() == []
