"""A prompt that was refused as too long and the gauge name one size, and one window."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import FakeApi, Say
from tests.unit.models.scripted_server import Answer, ScriptedServer, error
from tests.unit.session.harness import MODEL, Stage, items, stage
from ullage.context.blocks import SystemPart
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.entries import Prelude, SizeStated
from ullage.models.anthropic_model import AnthropicModel
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.timeline.items import NoticeItem

DIGITS = "0123456789\n"
"""The fake counts more than twice of what we estimate."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def told(session: Session) -> str:
    return " ".join(item.text for item in items(session) if isinstance(item, NoticeItem) and item.level == "error")


def named(here: Stage, session: Session) -> tuple[int, int]:
    """Size and window, by the gauge."""
    gauge = session.snapshot().gauge
    assert sum(category.tokens for category in gauge.categories) == gauge.used
    return gauge.used, gauge.size


async def _counts_nothing(*_: object) -> None:
    return None


async def test_a_refusal_of_the_api_and_the_gauge_name_one_size(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the endpoint had counted the prompt before, it would be held back and not be refused."""
    monkeypatch.setattr(AnthropicModel, "count", _counts_nothing)
    async with stage(folder, window=60_000) as here:
        here.fake.enqueue(Say("Hello"))
        session = await here.new()
        await here.say(session, "Hello")
        await here.say(session, DIGITS * 9_000)
        used, window = named(here, session)
        assert f"{used} tokens > {window} maximum" in told(session)
        assert not session.snapshot().gauge.estimated


@pytest.mark.parametrize(
    ("words", "size", "window"),
    [
        ("request (39000 tokens) exceeds the available context size (36864 tokens), try increasing it", 39_000, 36_864),
        (
            "maximum context length is 36000 tokens. However, you requested 38000 tokens (37000 in the messages, 1000 in the completion)",
            37_000,
            36_000,
        ),
        ("This model's maximum context length is 36000 tokens. However, your request has 36500 input tokens.", 36_500, 36_000),
    ],
    ids=["llama.cpp", "vLLM", "newer vLLM"],
)
async def test_what_another_server_names_is_what_the_gauge_shows(folder: Path, words: str, size: int, window: int) -> None:
    """Also where the window is larger than was assumed."""
    refused = Answer(json.dumps(error("exceed_context_size_error", words)), "400 Bad Request", "application/json")
    async with (
        ScriptedServer(refused) as server,
        FakeApi() as fake,
        stage(folder, fake=fake, base_url=server.url, settings=replace(Settings(), policy_name="none")) as here,
    ):
        session = await here.new()
        await here.sessions.models.choose(session.id, "qwen")
        await here.say(session, "word " * 4_000)
        assert named(here, session) == (size, window)


async def test_a_refused_size_is_no_estimate_after_a_restart(folder: Path) -> None:
    async with FakeApi(windows={MODEL: 60_000}) as fake:
        async with stage(folder, fake=fake) as here:
            fake.enqueue(Say("Hello"))
            session = await here.new()
            await here.say(session, "Hello")
            await here.say(session, DIGITS * 9_000)
            before, shown = session.snapshot().gauge, told(session)
        async with stage(folder, fake=fake) as here:
            session = await here.sessions.open(session.id)
            await session.learn_model()
            gauge = session.snapshot().gauge
            assert (gauge.used, gauge.estimated) == (before.used, False)
            assert str(gauge.used) in shown.replace(",", ""), "refused by the API, or held back since it had counted so much"
            assert named(here, session) == (before.used, before.size)


async def test_what_is_counted_after_a_compaction_stands_after_a_restart_and_not_what_was_refused(folder: Path) -> None:
    async with FakeApi(windows={MODEL: 60_000}) as fake:
        async with stage(folder, fake=fake, settings=replace(Settings(), policy_name="none")) as here:
            fake.enqueue(Say("Hello"))
            session = await here.new()
            await here.say(session, "ABC DEF GHI " * 4_000)
            await here.say(session, DIGITS * 6_300)
            refused = session.snapshot().gauge.used
            assert refused > 60_000
            assert any(words in told(session) for words in ("refused the conversation as too long", "The context is full")), told(session)
            session.compact("")
            await here.idle(session)
            await session._endpoint_counts.settled()  # noqa: SLF001
            left = session.snapshot().gauge
            assert (left.used < refused, left.estimated) == (True, False)
        async with stage(folder, fake=fake) as here:
            session = await here.sessions.open(session.id)
            gauge = session.snapshot().gauge
            assert (gauge.used, gauge.estimated) == (left.used, False)


async def test_a_size_in_the_log_that_cannot_be_is_not_believed(folder: Path) -> None:
    async with FakeApi() as fake:
        async with stage(folder, fake=fake) as here:
            fake.enqueue(Say("Hello"))
            session = await here.new()
            await here.say(session, "Hello")
            conversation = session._conversation  # noqa: SLF001
            conversation.append(SizeStated(conversation.entries[-1].seq, MODEL, 10**12))
        async with stage(folder, fake=fake) as here:
            session = await here.sessions.open(session.id)
            assert named(here, session)[0] < 100_000
            fake.enqueue(Say("Yes"))
            await here.say(session, "Still there?")
            assert told(session) == ""


def test_remembered_fixed_parts_that_cannot_be_are_not_believed() -> None:
    prelude = Prelude((SystemPart("system", "You are a coding agent. " * 20),), ())
    known = FixedParts()
    known.take_count(prelude, {"system": 90})
    [digest] = known.to_remember()
    assert FixedParts(known.to_remember()).of(prelude) == {"system": 90}
    assert FixedParts({digest: {"system": 10**12}}).of(prelude) is None


async def test_numbers_that_cannot_be_are_not_repeated(folder: Path) -> None:
    refused = Answer(
        json.dumps(error("invalid_request_error", "prompt is too long: 999999999 tokens > 2000 maximum")),
        "400 Bad Request",
        "application/json",
    )
    async with ScriptedServer(refused) as server, FakeApi() as fake, stage(folder, fake=fake, base_url=server.url) as here:
        session = await here.new()
        await here.say(session, "Hello")
        assert "impossible sizes" in told(session)
        assert "999999999" not in told(session)
        assert named(here, session)[0] < 100_000


async def test_fixed_parts_that_are_too_much_are_named_as_the_gauge_shows_them(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Be brief. " * 9_000)
    async with stage(folder, window=20_000) as here:
        session = await here.new()
        await here.say(session, "Hello")
        categories = {category.name: category.tokens for category in session.snapshot().gauge.categories}
        assert f"about {categories['system'] + categories['rules'] + categories['tools']:,} tokens" in told(session)
