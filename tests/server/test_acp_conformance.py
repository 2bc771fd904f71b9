"""What the kit of the protocol's own authors (agentclientprotocol/acp-tck) asks of an agent of version 1, by its numbers.

The kit is in no package registry, so it is not run here: these tests were written from its list of requirements (November 2026). Not
asked of Ullage, because it does not say that it can: ADDDIRS-001, PROMPTCAP-002, AUTH-004. `AcpWire` itself holds TRANSPORT-001 and 002,
JSONRPC-002, SCHEMA-001 and 002 and ERROR-001 in all of them, and SHUTDOWN-001 at the end of each. Those that only report are left out.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fake_api import Call, FakeApi, HoldsAfter, Reply, Say
from tests.server.acp_wire import AcpWire, Message, acp_wire
from tests.unit.context.pictures import png

TEXT = [{"type": "text", "text": "hello"}]
HISTORY = {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"}


@pytest.fixture
async def fake() -> AsyncIterator[FakeApi]:
    async with FakeApi() as one:
        yield one


@pytest.fixture
async def wire(state: Path, fake: FakeApi) -> AsyncIterator[AcpWire]:
    """A client that can do nothing, and has said so."""
    async with acp_wire(state, fake) as one:
        await one.result("begin", "initialize", protocolVersion=1, clientCapabilities={})
        yield one


async def begun(wire: AcpWire, folder: Path) -> str:
    made = await wire.result("new", "session/new", cwd=str(folder), mcpServers=[])
    return made["sessionId"]


async def quiet(wire: AcpWire, session: str, since: int) -> None:
    """Nothing more is told of the session: not before the answer of a request that comes later, and not when the agent ends."""
    await wire.result("look", "session/list")
    await wire.end()
    assert wire.updates(session, since) == []


async def test_messages(wire: AcpWire, folder: Path) -> None:
    """JSONRPC-001, 003, 004, 005; EXT-001."""
    for number in (7, "seven"):
        assert (await wire.ask(number, "session/list"))["id"] == number
    wire.say({"method": "nobody/knows", "params": {}})
    wire.say({"method": "_nobody/knows", "params": {}})
    wire.say({"method": "session/cancel", "params": {"sessionId": "never"}})
    assert (await wire.ask("unknown", "nobody/asks"))["error"]["code"] == -32601
    assert "error" in await wire.ask("custom", "_nobody/asks")
    assert "error" in await wire.ask("wrong", "session/new", cwd=7)
    assert await begun(wire, folder)
    answered = {each["id"] for sender, each in wire.told if sender == "agent" and "method" not in each}
    assert answered == {"begin", 7, "seven", "unknown", "custom", "wrong", "new"}


async def test_initialize(state: Path) -> None:
    """INIT-001 to 004; AUTH-001, AUTH-002."""
    async with acp_wire(state, None) as wire:
        info = {"name": "client", "version": "1"}
        first = await wire.result(1, "initialize", protocolVersion=1, clientCapabilities={})
        later = await wire.result(2, "initialize", protocolVersion=65535, clientCapabilities={}, info=info, capabilities={})
    assert type(first["protocolVersion"]) is int
    assert (first["protocolVersion"], later["protocolVersion"]) == (1, 1)
    assert {"name", "version"} <= first["agentInfo"].keys()
    methods = [each["id"] for each in first["authMethods"]]
    assert len(methods) == len(set(methods)) > 0
    assert not any(each.get("type") == "terminal" for each in first["authMethods"])


async def test_authenticate(state: Path, folder: Path) -> None:
    """AUTH-003; AUTH-005 does not come up, since there is always a way."""
    async with acp_wire(state, None) as wire:
        await wire.result(1, "initialize", protocolVersion=1, clientCapabilities={})
        assert isinstance(await wire.result(2, "authenticate", methodId="practice"), dict)
        assert (await wire.result(3, "session/new", cwd=str(folder), mcpServers=[]))["sessionId"]


async def test_sessions_and_prompts(wire: AcpWire, fake: FakeApi, folder: Path) -> None:
    """SESSION-001, 002; PROMPT-001 to 003; PROMPTCAP-001, 003; META-001."""
    able = wire.answer_to("begin")
    assert able is not None
    assert able["result"]["agentCapabilities"]["promptCapabilities"] == {"image": True, "audio": False, "embeddedContext": True}
    session, other = await begun(wire, folder), (await wire.result(2, "session/new", cwd=str(folder), mcpServers=[]))["sessionId"]
    assert isinstance(session, str)
    assert session not in ("", other)
    (folder / "notes.txt").write_text("a note")
    link = {"type": "resource_link", "name": "notes", "uri": (folder / "notes.txt").as_uri()}
    elsewhere = {"type": "resource_link", "name": "example.txt", "uri": "file:///tmp/of-nobody/example.txt"}
    image = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png(2, 2)).decode()}
    embedded = {"type": "resource", "resource": {"uri": (folder / "n.txt").as_uri(), "text": "a note", "mimeType": "text/plain"}}
    for number, block in enumerate((None, link, elsewhere, image, embedded)):
        since = len(wire.told)
        fake.enqueue(Say("Good morning."))
        meta = {"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01"}
        prompt = [*TEXT, *([] if block is None else [block])]
        done = await wire.result(f"prompt {number}", "session/prompt", sessionId=session, prompt=prompt, _meta=meta)
        assert done["stopReason"] == "end_turn"
        assert {"agent_message_chunk", "usage_update"} <= {each["sessionUpdate"] for each in wire.updates(session, since)}
        assert not HISTORY & {each["sessionUpdate"] for each in wire.updates(other, since)}


@pytest.mark.parametrize("by", ["session/cancel", "session/close"])
async def test_a_turn_that_is_ended(wire: AcpWire, fake: FakeApi, folder: Path, by: str) -> None:
    """CANCEL-001, 002; CLOSE-002."""
    session = await begun(wire, folder)
    fake.enqueue(Reply((Say("One two three four five six."),), interruption=HoldsAfter(1), chunk_size=8))
    turn = asyncio.create_task(wire.result("prompt", "session/prompt", sessionId=session, prompt=TEXT))
    await fake.until_held()
    if by == "session/cancel":
        wire.say({"method": by, "params": {"sessionId": session}})
    else:
        assert await wire.result("close", by, sessionId=session) == {}
    assert (await turn)["stopReason"] == "cancelled"
    await quiet(wire, session, _place_of(wire, "prompt"))


def _place_of(wire: AcpWire, number: str) -> int:
    """Behind that answer."""
    return next(place for place, (sender, each) in enumerate(wire.told, 1) if sender == "agent" and each.get("id") == number)


async def test_load(wire: AcpWire, fake: FakeApi, folder: Path) -> None:
    """LOAD-001 to 003."""
    session = await begun(wire, folder)
    fake.enqueue(Say("Good morning."))
    await wire.result("prompt", "session/prompt", sessionId=session, prompt=TEXT)
    since = len(wire.told)
    loaded = await wire.result("load", "session/load", sessionId=session, cwd=str(folder), mcpServers=[])
    assert isinstance(loaded, dict)
    assert {"user_message_chunk", "agent_message_chunk"} <= {each["sessionUpdate"] for each in wire.updates(session, since)}
    await quiet(wire, session, _place_of(wire, "load"))


async def test_resume(wire: AcpWire, fake: FakeApi, folder: Path) -> None:
    """RESUME-001, 002; MCP servers need not be named."""
    session = await begun(wire, folder)
    fake.enqueue(Say("Good morning."))
    await wire.result("prompt", "session/prompt", sessionId=session, prompt=TEXT)
    since = len(wire.told)
    assert isinstance(await wire.result("resume", "session/resume", sessionId=session, cwd=str(folder)), dict)
    assert not HISTORY & {each["sessionUpdate"] for each in wire.updates(session, since)}


async def test_lists_closes_and_deletes(wire: AcpWire, folder: Path, tmp_path: Path) -> None:
    """LIST-001, 002; CLOSE-001; DELETE-001, 002."""
    session = await begun(wire, folder)
    assert isinstance((await wire.result("all", "session/list"))["sessions"], list)
    nobodys = tmp_path / "nobody's"
    nobodys.mkdir()
    assert (await wire.result("none", "session/list", cwd=str(nobodys)))["sessions"] == []
    assert await wire.result("close", "session/close", sessionId=session) == {}
    other = (await wire.result("another", "session/new", cwd=str(folder), mcpServers=[]))["sessionId"]
    assert await wire.result("delete", "session/delete", sessionId=other) == {}
    assert await wire.result("again", "session/delete", sessionId=other) == {}
    assert await wire.result("never", "session/delete", sessionId="never-created") == {}


async def test_modes_and_options(wire: AcpWire, folder: Path) -> None:
    """MODES-001, 002; CONFIG-001 to 003."""
    made = await wire.result("new", "session/new", cwd=str(folder), mcpServers=[])
    session, modes = made["sessionId"], made["modes"]
    offered = [each["id"] for each in modes["availableModes"]]
    assert modes["currentModeId"] in offered
    other = next(each for each in offered if each != modes["currentModeId"])
    await wire.result("mode", "session/set_mode", sessionId=session, modeId=other)
    changed = [each for each in wire.updates(session) if each["sessionUpdate"] == "current_mode_update"]
    assert all(each["currentModeId"] == other for each in changed)

    assert {each["type"] for each in made["configOptions"]} == {"select"}
    for option in made["configOptions"]:
        values = _values(option)
        assert option["currentValue"] in values
        chosen = next((each for each in values if each != option["currentValue"]), option["currentValue"])
        given = {"sessionId": session, "configId": option["id"], "value": chosen}
        told = (await wire.result(f"set {option['id']}", "session/set_config_option", **given))["configOptions"]
        now = {each["id"]: each["currentValue"] for each in told}
        assert {each["id"] for each in made["configOptions"]} <= now.keys()
        assert now[option["id"]] == chosen


def _values(option: Message) -> list[str]:
    groups: list[Any] = [each.get("options", [each]) for each in option["options"]]
    return [each["value"] for group in groups for each in group]


async def test_nothing_is_asked_of_a_client_that_can_do_nothing(wire: AcpWire, fake: FakeApi, folder: Path) -> None:
    """CLIENTCAP-001 to 003: it has no files, no terminals and no forms."""
    (folder / "pump.py").write_text("pressure = 3\n")
    wire.answer = lambda method, params: {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
    session = await begun(wire, folder)
    question = {"question": "Which?", "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}]}
    fake.enqueue(
        Call("read_file", {"path": "pump.py"}),
        Call("edit_file", {"path": "pump.py", "old_string": "3", "new_string": "4"}),
        Call("bash", {"command": "mkdir pumps"}),
        Call("ask_user", {"questions": [question]}),
        Say("Done."),
    )
    done = await wire.result("prompt", "session/prompt", sessionId=session, prompt=TEXT)
    assert done["stopReason"] == "end_turn"
    assert (folder / "pumps").is_dir()
    assert set(wire.asked()) == {"session/request_permission"}
