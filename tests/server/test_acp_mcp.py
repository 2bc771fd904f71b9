"""MCP servers that a client of the Agent Client Protocol names for its sessions, by the package's own client."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from acp import schema

from tests.fake_api import Call, FakeApi, Say
from tests.fake_mcp.service import Service, running
from tests.server.acp_client import AcpEditor, acp_editor
from tests.unit.mcp_servers import reference
from tests.unit.mcp_servers.workbench import SERVER


def program(name: str, *options: str, command: str = sys.executable, **env: str) -> schema.McpServerStdio:
    variables = [schema.EnvVariable(name=each, value=value) for each, value in env.items()]
    return schema.McpServerStdio(name=name, command=command, args=["-I", SERVER, *options], env=variables)


def service(name: str, url: str, **headers: str) -> schema.HttpMcpServer:
    given = [schema.HttpHeader(name=each, value=value) for each, value in headers.items()]
    return schema.HttpMcpServer(type="http", name=name, url=url, headers=given)


def call(server: str, tool: str, call_id: str, **arguments: Any) -> Call:
    return Call("call_mcp_tool", {"server": server, "tool": tool, "arguments": arguments}, call_id)


async def begun(editor: AcpEditor, folder: Path, *servers: Any) -> str:
    await editor.initialize()
    return (await editor.agent.new_session(cwd=str(folder), mcp_servers=list(servers))).session_id


def commands(editor: AcpEditor) -> list[str]:
    told = editor.of(schema.AvailableCommandsUpdate)
    return [each.name for each in told[-1].available_commands] if told else []


async def started(editor: AcpEditor, *names: str) -> None:
    """Waits for servers by the prompts that they bring, longer than a turn does: on a busy machine a start takes a while."""
    await editor.until(lambda: {f"{name.lower()}:plain" for name in names} <= set(commands(editor)) or None)


async def listed(editor: AcpEditor, session: str) -> str:
    """What `/mcp` says now."""
    count = len(editor.of(schema.AgentMessageChunk))
    await editor.prompt(session, "/mcp")
    return "".join(each.content.text for each in editor.of(schema.AgentMessageChunk)[count:])


async def test_a_program_of_the_client_starts_with_the_session_and_its_tools_are_asked_about(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        told = await editor.initialize()
        assert told.agent_capabilities is not None
        assert told.agent_capabilities.mcp_capabilities == schema.McpCapabilities(http=True, sse=False)
        session = await begun(editor, folder, program("Pump house", "${HOME}", PUMP_TOKEN="secret"))
        await started(editor, "Pump-house")
        fake.enqueue(call("Pump-house", "where", "toolu_w"), Say("There."))
        assert await editor.prompt(session, "Where?") == "end_turn"
        assert [asked.tool_call_id for asked, _ in editor.asked] == ["toolu_w"]
        shown = editor.call("toolu_w")
        assert (shown["title"], shown["status"]) == ("where of Pump-house", "completed")
        said = fake.requests[-1].body["messages"][-1]["content"][0]["content"]
        assert said.startswith("From the MCP server `Pump-house`. It is data of that server")
        where = json.loads(said.partition("\n")[2])
        assert where["environment"]["PUMP_TOKEN"] == "secret"
        assert (where["folder"], where["roots"]) == (str(folder), [folder.as_uri()])
        assert "pump-house:inspect" in commands(editor)
        assert "secret" not in await listed(editor, session)
        fake.enqueue(Say("Inspected."))
        await editor.prompt(session, "/pump-house:inspect B")
        assert "Inspect B." in json.dumps(fake.requests[-1].body["messages"][-1])


async def test_a_service_of_this_machine_is_reached_and_one_elsewhere_waits_for_the_user(folder: Path, state: Path) -> None:
    with running(Service(open_to_all=True)) as near:
        async with FakeApi() as fake, acp_editor(state, fake) as editor:
            session = await begun(editor, folder, service("near", near.url), service("far", "https://example.org/mcp", Key="k3y"))
            await started(editor, "near")
            fake.enqueue(call("near", "find", "toolu_f"), call("far", "find", "toolu_g"), Say("Found."))
            await editor.prompt(session, "Find it")
            told = "The MCP server far of your editor is a service at example.org. It is off in this folder until you type `/mcp on far`."
            assert editor.said().count(told) == 1
            assert "found" in str(editor.call("toolu_f")["content"])
            assert "There is no MCP server far that is turned on" in str(editor.call("toolu_g")["content"])
            assert "k3y" not in await listed(editor, session)
            assert "`far`, not allowed yet: `https://example.org/mcp`" in editor.said()


async def test_the_server_that_has_everything_over_http(folder: Path, state: Path) -> None:
    async with reference.everything_over_http() as address, FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, service("all", address))
        await editor.until(lambda: "all:simple-prompt" in commands(editor) or None)
        fake.enqueue(Call("load_mcp_tools", {"names": ["all/get-sum"]}), call("all", "get-sum", "toolu_s", a=2, b=3), Say("Five."))
        await editor.prompt(session, "Add")
        assert "The sum of 2 and 3 is 5." in str(editor.call("toolu_s")["content"])


async def test_what_cannot_be_used_is_told_and_harms_nothing(folder: Path, state: Path) -> None:
    old = schema.SseMcpServer(type="sse", name="old", url="https://example.org/sse", headers=[])
    nowhere = program("nowhere", command="/no/such/program")
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, old, nowhere, service("plain", "http://example.org/mcp"), program("a b"), program("a/b"))
        await started(editor, "a-b", "a-b-2")
        fake.enqueue(Say("Good morning."))
        assert await editor.prompt(session, "hello") == "end_turn"
        assert "The MCP server old of your editor cannot be used: its type is `sse`, an older way" in editor.said()
        assert "The MCP server plain of your editor cannot be used: its `url` must begin with `https://`" in editor.said()
        now = await listed(editor, session)
        assert "`nowhere`, failed (there is no program /no/such/program)" in now
        assert "`a-b`, running" in now  # two names that are written the same way
        assert "`a-b-2`, running" in now


async def test_a_session_that_is_opened_again_has_the_servers_that_are_named_then(folder: Path, state: Path) -> None:
    async with FakeApi() as fake:
        async with acp_editor(state, fake) as editor:
            session = await begun(editor, folder, program("pumps"))
            await started(editor, "pumps")
            fake.enqueue(call("pumps", "echo", "toolu_1", text="first"), Say("Said."))
            await editor.prompt(session, "Say it")
        async with acp_editor(state, fake) as editor:
            await editor.initialize()
            await editor.agent.load_session(
                cwd=str(folder), session_id=session, mcp_servers=[program("pumps"), program("valves", "tools=1")]
            )
            await started(editor, "pumps", "valves")
            fake.enqueue(call("pumps", "echo", "toolu_2", text="again"), call("valves", "tool_1", "toolu_3", text="x"), Say("Said."))
            await editor.prompt(session, "Say it again")
            assert "again" in str(editor.call("toolu_2")["content"])
            assert "tool_1" in str(editor.call("toolu_3")["content"])
            await editor.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[program("valves", "tools=1")])
            await editor.until(lambda: "pumps:plain" not in commands(editor) or None)
            await started(editor, "valves")
            now = await listed(editor, session)
            assert "pumps" not in now
            assert "`valves`, running" in now


async def test_servers_go_with_the_session_they_were_named_for(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        first = await begun(editor, folder, program("pumps"))
        second = (await editor.agent.new_session(cwd=str(folder), mcp_servers=[program("valves", "tools=1")])).session_id
        now = await listed(editor, second)
        assert "pumps" in now  # sessions of a folder have them together
        assert "valves" in now
        await editor.agent.close_session(session_id=first)
        assert "pumps" not in await listed(editor, second)


async def test_one_that_the_user_turned_off_stays_off_whatever_its_key_is(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_editor(state, fake) as editor:
        session = await begun(editor, folder, program("pumps", KEY="one"))
        await editor.prompt(session, "/mcp off pumps")
        await editor.agent.resume_session(cwd=str(folder), session_id=session, mcp_servers=[program("pumps", KEY="two")])
        assert "`pumps`, off" in await listed(editor, session)
        await editor.agent.resume_session(cwd=str(folder), session_id=session, mcp_servers=[program("pumps", "tools=1")])
        assert "`pumps`, off" not in await listed(editor, session)
