"""MCP servers in a session: what they cost before they are used, what is asked, and that nothing they do harms a turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fake_api import Call, Say
from tests.patience import PATIENCE
from tests.unit.mcp_servers.workbench import fake
from tests.unit.session.harness import Stage, calls, stage
from tests.unit.session.mcp_turns import all_started, always_allow, call, prefix, result, text_of
from ullage.context.counting.tokens import estimate_text
from ullage.mcp_servers import connection
from ullage.session.settings import Settings
from ullage.session.slash_commands import offered_commands
from ullage.tools.rules.covering import PermissionRule


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    made.mkdir()
    return made


@asynccontextmanager
async def with_servers(
    folder: Path, *, allowed: str = "pumps/*", in_full: float = 0, **servers: dict[str, object]
) -> AsyncGenerator[Stage]:
    async with stage(folder, settings=Settings(mcp_servers=dict(servers), mcp_in_full=in_full)) as here:
        await all_started(here)
        if allowed:
            always_allow(here, allowed)
        yield here


async def test_thirty_tools_of_five_servers_take_little_and_loading_one_leaves_the_prefix(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello."))
        await here.say(await here.new(), "Hello")
        without = prefix(here.fake.requests[-1].body)
    five = {f"pumps{number}": fake("tools=6") for number in range(5)}
    async with stage(folder, settings=Settings(mcp_servers=five)) as here:
        await all_started(here)
        load = Call("load_mcp_tools", {"names": ["pumps3/tool_2"]})
        always_allow(here, "pumps3/*")
        here.fake.enqueue(load, call("tool_2", "pumps3", text="x"), Say("Done."))
        session = await here.new()
        await here.say(session, "Pump")
        bodies = [record.body for record in here.fake.requests]
        assert len({prefix(body) for body in bodies}) == 1
        assert prefix(bodies[0]).count("tool_6") == 5
        assert estimate_text(prefix(bodies[0])) - estimate_text(without) <= 1_500
        assert '"required": ["text"]' in text_of(result(here, -2)) or '"required":["text"]' in text_of(result(here, -2))
        assert text_of(result(here)).endswith('tool_2 {"text": "x"}')
        assert here.refused() == []


async def test_without_servers_there_is_nothing_of_them_in_the_prefix(folder: Path) -> None:
    async with stage(folder) as here:
        here.fake.enqueue(Say("Hello."))
        await here.say(await here.new(), "Hello")
        assert "mcp" not in prefix(here.fake.requests[-1].body).lower()


async def test_each_tool_is_asked_about_with_its_arguments(folder: Path) -> None:
    async with with_servers(folder, allowed="", pumps=fake()) as here:
        here.fake.enqueue(call("echo", text="one"), call("echo", text="two"), call("where"), Say("Done."))
        session = await here.new()
        await session.prompt("Pump")
        asked = await here.asked(session)
        assert asked.permission_reason == 'Call the tool `echo` of the MCP server `pumps` with {"text": "one"}'
        assert asked.title == 'echo of pumps: {"text": "one"}'
        assert [option.name for option in asked.permission][1] == "Always allow calls of `pumps/echo`"
        session.answer_permission(asked.id, "allow_always")
        second = await here.asked_anew(session, asked)
        assert second.permission_reason.startswith("Call the tool `where`")  # the second echo was free
        session.answer_permission(second.id, "reject_once", "Not that")
        await here.idle(session)
        assert "refused this call" in text_of(result(here))
        assert session.permits.rules()[0].pattern == "pumps/echo"


async def test_a_rule_refuses_and_a_mode_does(folder: Path) -> None:
    async with with_servers(folder, pumps=fake()) as here:
        session = await here.new()
        session.permits.add(PermissionRule("mcp", "pumps/where", "workspace", refuses=True))
        here.fake.enqueue(call("where"), Say("Done."))
        await here.say(session, "Pump")
        assert "never" in text_of(result(here))
        session.set_mode("ask")
        here.fake.enqueue(call("echo", text="x"), Say("Done."))
        await here.say(session, "Pump")
        assert "in Ask mode" in text_of(result(here))


async def test_what_a_server_says_is_marked_as_its_word(folder: Path) -> None:
    async with with_servers(folder, pumps=fake()) as here:
        here.fake.enqueue(call("imitate"), Say("No."))
        session = await here.new()
        await here.say(session, "Pump")
        said = text_of(result(here))
        assert said.startswith("From the MCP server `pumps`. It is data of that server")
        assert said.index("From the MCP server `pumps`") < said.index("[user said]")
        assert len([m for m in here.fake.requests[-1].body["messages"] if m["role"] == "user"]) == 2


async def test_an_image_goes_as_an_image(folder: Path) -> None:
    async with with_servers(folder, pumps=fake()) as here:
        here.fake.enqueue(call("image"), Say("A dot."))
        await here.say(await here.new(), "Pump")
        body = json.dumps(here.fake.requests[-1].body)
        assert '"type": "image"' in body
        assert "A dot:" in body
        assert here.refused() == []


async def test_an_image_that_is_none_is_told_and_kept_from_the_model(folder: Path) -> None:
    async with with_servers(folder, pumps=fake("image=broken")) as here:
        here.fake.enqueue(call("image"), Say("No dot."))
        await here.say(await here.new(), "Pump")
        said = text_of(result(here))
        assert "A dot:" in said
        assert "an image that cannot be shown" in said
        assert '"type": "image"' not in json.dumps(here.fake.requests[-1].body)
        assert here.refused() == []


async def test_a_command_of_the_project_goes_before_a_prompt_of_the_same_name(folder: Path) -> None:
    (folder / ".claude/commands/pumps").mkdir(parents=True)
    (folder / ".claude/commands/pumps/inspect.md").write_text("Inspect as the project says.")
    async with with_servers(folder, pumps=fake()) as here:
        session = await here.new()
        offered = [each for each in await offered_commands(session) if each.name.startswith("pumps:")]
        assert [(each.name, each.source) for each in offered] == [
            ("pumps:inspect", ".claude/commands/pumps/inspect.md"),
            ("pumps:plain", "MCP: pumps"),
        ]
        here.fake.enqueue(Say("Inspected."))
        await here.say(session, "/pumps:inspect")
        sent = json.dumps(here.fake.requests[-1].body["messages"][-1])
        assert "Inspect as the project says." in sent
        assert "of the MCP server" not in sent


async def test_a_large_result_is_clipped_and_can_be_recalled(folder: Path) -> None:
    async with with_servers(folder, pumps=fake()) as here:
        here.fake.enqueue(call("large", megabytes=1), Say("Long."))
        session = await here.new()
        await here.say(session, "Pump")
        assert len(text_of(result(here))) < 31_000
        item = calls(session)[-1]
        found = Call("recall", {"tool_use_id": item.id})
        here.fake.enqueue(found, Say("There."))
        await here.say(session, "Get it")
        assert "first line" in text_of(result(here))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call("echo"), "`arguments`: 'text' is a required property"),
        (call("echo", text=7), "`arguments.text`: 7 is not of type 'string'"),
        (call("nothing"), "The MCP server pumps has no tool nothing. Its tools are: echo"),
        (call("echo", "other", text="x"), "There is no MCP server other that is turned on. There is: pumps"),
        (call("fail"), "It failed: no water."),
        (call("die"), "ended before it answered: it ended with exit code 7: Something broke"),
        (Call("load_mcp_tools", {}), "Name the tools in `names`"),
        (Call("load_mcp_tools", {"query": "zzz"}), "No tool of a running MCP server fits. There is:\npumps: echo"),
        (Call("call_mcp_tool", {"server": "pumps"}), "`tool` is missing"),
    ],
)
async def test_what_goes_wrong_is_told_and_the_turn_goes_on(folder: Path, asked: Call, told: str) -> None:
    async with with_servers(folder, pumps=fake()) as here:
        here.fake.enqueue(asked, Say("I see."))
        session = await here.new()
        await here.say(session, "Pump")
        assert told in text_of(result(here))
        assert result(here)["is_error"] is True
        assert session.state == "idle"


async def test_tools_are_found_by_words(folder: Path) -> None:
    async with with_servers(folder, pumps=fake()) as here:
        here.fake.enqueue(Call("load_mcp_tools", {"query": "progress telling"}), Say("Found."))
        await here.say(await here.new(), "Pump")
        said = text_of(result(here))
        assert "pumps/slow" in said
        assert "Pumps before valves." in said


async def test_a_server_that_changes_its_tools_is_told_at_the_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "AGAIN_SECONDS", 0.0)
    listed = asyncio.Event()
    list_again = connection.ServerConnection._list_again  # noqa: SLF001

    async def told(of: connection.ServerConnection) -> None:
        await list_again(of)
        listed.set()

    monkeypatch.setattr(connection.ServerConnection, "_list_again", told)
    async with with_servers(folder, pumps=fake()) as here:
        here.fake.enqueue(call("grow"), Say("Done."))
        session = await here.new()
        await here.say(session, "Pump")
        async with asyncio.timeout(PATIENCE):
            await listed.wait()
        here.fake.enqueue(Say("I see."))
        await here.say(session, "And now?")
        first, last = here.fake.requests[0].body, here.fake.requests[-1].body
        assert prefix(first) == prefix(last)
        assert json.dumps(last["messages"]).count("- grown: A new one") == 1
        here.fake.enqueue(Say("Once."))
        await here.say(session, "Again")
        assert json.dumps(here.fake.requests[-1].body["messages"]).count("- grown: A new one") == 1


async def test_a_server_that_comes_later_is_taken_up_at_a_compaction(folder: Path) -> None:
    async with stage(folder) as here:
        session = await here.new()
        here.fake.enqueue(Say("Hello. " * 2_000))
        await here.say(session, "Hello")
        here.sessions.configure(replace(here.settings, mcp_servers={"pumps": fake()}))
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "Still there?")
        assert prefix(here.fake.requests[0].body) == prefix(here.fake.requests[1].body)
        await here.sessions.servers.settled(60)
        here.fake.enqueue(Say("A summary of all."))
        session.compact()
        await here.idle(session)
        here.fake.enqueue(Say("Yes."))
        await here.say(session, "And now?")
        assert "call_mcp_tool" in prefix(here.fake.requests[-1].body)


async def test_small_ones_stand_in_full_where_the_user_wants_that(folder: Path) -> None:
    async with with_servers(folder, in_full=2, pumps=fake()) as here:
        here.fake.enqueue(Say("I see."))
        await here.say(await here.new(), "Pump")
        assert r"arguments: {\\\"type\\\":\\\"object\\\"" in prefix(here.fake.requests[-1].body).replace(
            '\\"', '\\\\\\"'
        ) or "arguments: " in prefix(here.fake.requests[-1].body)


async def test_each_server_is_a_part_of_the_context(folder: Path) -> None:
    async with with_servers(folder, pumps=fake(), valves=fake("tools=2")) as here:
        here.fake.enqueue(Say("I see."))
        session = await here.new()
        await here.say(session, "Pump")
        from ullage.session.history.context_view import Query

        page = await session.context.look(Query(limit=100))
        names = {row.part.name for row in page.rows}
        assert {"MCP", "MCP pumps", "MCP valves", "call_mcp_tool", "load_mcp_tools"} <= names
