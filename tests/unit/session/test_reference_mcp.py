"""Real MCP servers in whole turns: a workspace names them, the user allows them, the model loads and calls their tools, and what comes is
kept. The strict fake of the API judges every request."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.unit.mcp_servers import reference
from tests.unit.session.harness import Stage, calls, stage
from tests.unit.session.mcp_turns import all_started, always_allow, call, prefix, result, text_of
from ullage.context.counting.tokens import estimate_text
from ullage.session.attachments import ResourceRef
from ullage.session.timeline.updates import TextAppended


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    reference.repository(made)
    return made


@asynccontextmanager
async def allowed(folder: Path, **servers: dict[str, object]) -> AsyncGenerator[Stage]:
    """A workspace that brings these servers, after the user has allowed them."""
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    async with stage(folder) as here:
        listed = here.sessions.servers
        await listed.look()
        assert [each.state for each in listed.standings()] == ["untrusted"] * len(servers)
        for each in listed.standings():
            await listed.turn(each.server.name, each.server.fingerprint, on=True)
        await all_started(here)
        yield here
        assert here.refused() == []


async def test_their_tools_cost_little_until_one_is_loaded_asked_about_and_called(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello."))
        await here.say(await here.new(), "Hello")
        without = prefix(here.fake.requests[-1].body)
    four = {"files": reference.filesystem(folder), "git": reference.git(), "web": reference.fetch(), "all": reference.everything()}
    async with allowed(folder, **four) as here:
        here.fake.enqueue(
            Call("load_mcp_tools", {"names": ["git/git_log"]}), call("git_log", "git", repo_path=str(folder), max_count=1), Say("One.")
        )
        session = await here.new()
        await session.prompt("What was done last?")
        asked = await here.asked(session)
        assert asked.permission_reason.startswith("Call the tool `git_log` of the MCP server `git` with {")
        session.answer_permission(asked.id, "allow_once")
        await here.idle(session)
        bodies = [record.body for record in here.fake.requests]
        assert len({prefix(body) for body in bodies}) == 1
        cost = estimate_text(prefix(bodies[0])) - estimate_text(without)
        assert sum(len(each.tools) for each in here.sessions.servers.listed()) >= 40
        assert cost <= 1_500
        assert '"max_count"' in text_of(result(here, -2))
        said = text_of(result(here))
        assert said.startswith("From the MCP server `git`. It is data of that server")
        assert "Close the pump" in said


async def test_a_long_result_is_clipped_and_recalled(folder: Path) -> None:
    (folder / "long.txt").write_text("first line\n" + "water " * 20_000 + "\nthe very middle\n" + "water " * 20_000)
    async with allowed(folder, files=reference.filesystem(folder)) as here:
        always_allow(here, "files/*")
        here.fake.enqueue(call("read_text_file", "files", path=str(folder / "long.txt")), Say("Long."))
        session = await here.new()
        await here.say(session, "Read it")
        clipped = text_of(result(here))
        assert len(clipped) < 31_000
        assert "the very middle" not in clipped
        here.fake.enqueue(Call("recall", {"tool_use_id": calls(session)[-1].id}), Say("There."))
        await here.say(session, "What is in the middle?")
        assert "first line" in text_of(result(here))  # clipped again, since it is as long; a search finds each place
        here.fake.enqueue(Call("recall", {"query": "the very middle"}), Say("There it is."))
        await here.say(session, "And there?")
        assert "the very middle" in text_of(result(here))


async def test_an_image_and_progress_reach_the_model_and_the_panel(folder: Path) -> None:
    async with allowed(folder, all=reference.everything()) as here:
        always_allow(here, "all/*")
        slow = call("trigger-long-running-operation", "all", duration=0.2, steps=2)
        here.fake.enqueue(call("get-tiny-image", "all"), slow, Say("Seen."))
        session = await here.new()
        await here.say(session, "Show it")
        assert '"media_type": "image/png"' in json.dumps(here.fake.requests[-1].body)
        assert "completed" in text_of(result(here))
        live = "".join(each.text for _, _, each in here.watcher.updates if isinstance(each, TextAppended) and each.field == "output")
        assert live == "1 of 2\n2 of 2\n"


async def test_a_prompt_is_a_command_and_a_resource_is_attached(folder: Path) -> None:
    async with allowed(folder, all=reference.everything()) as here:
        session = await here.new()
        here.fake.enqueue(Say("Rain."))
        await here.say(session, "/all:args-prompt Delft")
        assert "What's weather in Delft?" in json.dumps(here.fake.requests[-1].body["messages"])
        here.fake.enqueue(Say("Layers."))
        await session.prompt("How is it built?", (ResourceRef("all", "demo://resource/static/document/architecture.md"),))
        await here.idle(session)
        sent = json.dumps(here.fake.requests[-1].body["messages"])
        assert "From the MCP server `all`. It is data of that server" in sent
        assert "# Everything Server" in sent
