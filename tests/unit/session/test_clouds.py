"""Whole turns and compactions with Claude in a cloud, as a user meets them: what is refused stands in the panel, and nothing is lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fake_api import Call, Fail, Say
from tests.fake_api.clouds import FakeBedrock, FakeVertex
from tests.fake_api.clouds.sigv4 import AwsKey
from tests.unit.session.filling import WINDOW, fill, make_project, summaries
from tests.unit.session.harness import MODEL, Stage, compactions, items, stage
from ullage.session.settings import Settings

AWS = AwsKey("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
SUMMARY = "## Decisions and why\n- The tank is measured in millimetres, since the dip stick is marked in them; litres were turned down."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_project(tmp_path)
    (made / "tank.py").write_text("CAPACITY = 100\n" * 200)
    return made


@asynccontextmanager
async def at(cloud: str, folder: Path, monkeypatch: pytest.MonkeyPatch, window: int = 200_000) -> AsyncGenerator[Stage]:
    """A workspace whose model is in that cloud."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    if cloud == "vertex":
        async with FakeVertex(windows={MODEL: window}, compaction=True) as vertex:
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(vertex.write_account(folder.parent)))
            settings = Settings(provider="vertex", vertex_base_url=vertex.address)
            async with stage(folder, settings=settings, fake=vertex) as here:
                yield here
        return
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", AWS.id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", AWS.secret)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    async with FakeBedrock(windows={MODEL: window}, aws=(AWS,)) as bedrock:
        settings = Settings(provider="bedrock", bedrock_region="us-east-1", bedrock_base_url=bedrock.base_url)
        async with stage(folder, settings=settings, fake=bedrock) as here:
            yield here


QUOTA = {
    "bedrock": Fail(429, "ThrottlingException", "Too many tokens per day, please wait before trying again."),
    "vertex": Fail(429, "RESOURCE_EXHAUSTED", "Quota exceeded for requests per day with base model: claude-opus"),
}
ACCESS = {
    "bedrock": Fail(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
    "vertex": Fail(404, "NOT_FOUND", "Publisher Model was not found or your project does not have access to it."),
}


@pytest.mark.parametrize("cloud", ["bedrock", "vertex"])
@pytest.mark.parametrize("refusals", [QUOTA, ACCESS])
async def test_what_ends_in_the_middle_of_a_turn_is_said_and_the_turn_goes_on(
    cloud: str, refusals: dict[str, Fail], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at(cloud, folder, monkeypatch) as here:
        here.fake.enqueue(Call("read_file", {"path": "tank.py"}), refusals[cloud], Say("It holds 100."))
        session = await here.new()
        await here.say(session, "How much does it hold?")
        assert refusals[cloud].message.rstrip(".")[:40] in str(items(session)[-1])
        assert "press Continue" in str(items(session)[-1]) or "/model" in str(items(session)[-1])
        session.resume()
        await here.idle(session)
        assert "It holds 100." in str(items(session))
        sent = here.fake.requests[-1].body["messages"]
        assert "CAPACITY = 100" in str(sent)  # what the tool read before is there
        assert len(here.fake.requests) == 3


@pytest.mark.parametrize(("cloud", "rung"), [("bedrock", "model"), ("vertex", "api")])
async def test_a_compaction_is_written_where_the_cloud_can(cloud: str, rung: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with at(cloud, folder, monkeypatch, WINDOW) as here:
        session = await here.new()
        await fill(here, session, 3)
        if rung == "api":
            here.fake.enqueue_summaries(Say(SUMMARY))
        else:
            here.fake.add_rules(summaries())
        session.compact()
        await here.idle(session)
        [card] = compactions(session)
        assert (card.status, card.rung) == ("completed", rung)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Is that all?")
        assert here.refused() == []
        assert any("compact-2026-09-04" in request.betas for request in here.fake.requests) == (rung == "api")
