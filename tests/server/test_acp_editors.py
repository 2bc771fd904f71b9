"""What Zed 1.5.4 and WebStorm 2026.1.2 say to an agent, said to `ullage acp`.

Others recorded these editors with other agents (the captures of the public project acp-devtools, June 2026). Here stands what is of their
own in that traffic: what they can do, how they number, what they send twice or without need, what fields they add. Neither can be run here.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

from tests.fake_api import Call, FakeApi, HoldsAfter, Reply, Say
from tests.server.acp_wire import AcpWire, Message, acp_wire

FILES = {"readTextFile": True, "writeTextFile": True}
ZED = {"fs": FILES, "terminal": True, "auth": {"terminal": True}, "_meta": {"terminal_output": True, "terminal-auth": True}}
WEBSTORM = {"fs": FILES, "terminal": False, "auth": {"_meta": {"gateway": True}}, "_meta": {"terminal-auth": True}}
ROOTS = {"additionalRoots": ["/home/you/.cache/JetBrains/WebStorm2026.1/aia/agents"]}


async def test_zed_opens_two_sessions_at_once_and_asks_in_one(folder: Path, state: Path) -> None:
    async with FakeApi() as fake, acp_wire(state, fake) as wire:
        info = {"name": "zed", "title": "Zed", "version": "1.5.4+stable.300"}
        await wire.result(str(uuid4()), "initialize", protocolVersion=1, clientCapabilities=ZED, clientInfo=info)
        made = [wire.result(str(uuid4()), "session/new", cwd=str(folder), mcpServers=[]) for _ in range(2)]
        one, two = (each["sessionId"] for each in await asyncio.gather(*made))
        assert one != two
        fake.enqueue(Say("Hi! How can I help you?"))
        done = await wire.result(str(uuid4()), "session/prompt", sessionId=one, prompt=[{"type": "text", "text": "hi"}])
        assert done["stopReason"] == "end_turn"
        assert _said(wire, one) == "Hi! How can I help you?"
        assert _said(wire, two) == ""
        assert {"available_commands_update", "usage_update"} <= {each["sessionUpdate"] for each in wire.updates(two)}


async def test_webstorm_says_its_options_before_each_prompt_and_reads_files(folder: Path, state: Path) -> None:
    (folder / "README.md").write_text("on disk\n")
    buffers = {str(folder / "README.md"): "not saved yet\n"}

    def answer(method: str, params: Message) -> Message:
        assert method == "fs/read_text_file"
        return {"content": buffers.get(params["path"], "")}  # it knows no error for a file that is not there

    async with FakeApi() as fake, acp_wire(state, fake) as wire:
        wire.answer, wire.more = answer, {"type": "com.agentclientprotocol.rpc.JsonRpcRequest"}
        proxies: Message = {"proxies": [{"apiType": {"provider": "anthropic"}, "proxy": {"url": "http://127.0.0.1:50001", "headers": {}}}]}
        hello: Message = {
            "protocolVersion": 1,
            "clientCapabilities": WEBSTORM,
            "clientInfo": {
                "name": "JetBrains.WebStorm",
                "version": "2026.1.2",
                "title": "WebStorm 2026.1.2",
                "_meta": {"platform": "intellij"},
            },
            "_meta": {"proxyConfig": proxies},
        }
        await asyncio.gather(wire.result(1, "initialize", **hello), wire.result(2, "initialize", **hello))
        new: Message = {"cwd": str(folder), "mcpServers": [], "_meta": ROOTS}
        made, beside = await asyncio.gather(wire.result(3, "session/new", **new), wire.result(4, "session/new", **new))
        session, number = made["sessionId"], 4

        async def prompt(words: str) -> str:
            nonlocal number
            for option in made["configOptions"]:
                number += 1
                given = {"sessionId": session, "configId": option["id"], "value": option["currentValue"]}
                told = (await wire.result(number, "session/set_config_option", **given))["configOptions"]
                assert [each["currentValue"] for each in told] == [each["currentValue"] for each in made["configOptions"]]
            number += 1
            asked = {"sessionId": session, "prompt": [{"type": "text", "text": words}], "_meta": ROOTS}
            return (await wire.result(number, "session/prompt", **asked))["stopReason"]

        fake.enqueue(Say("Hi!"))
        assert await prompt("Hi Ullage!") == "end_turn"
        fake.enqueue(Call("read_file", {"path": "README.md"}), Call("read_file", {"path": "missing.md"}), Say("It has a readme."))
        assert await prompt("Tell me the story of this repo") == "end_turn"
        sent = str(fake.requests[-1].body["messages"])
        assert "not saved yet" in sent
        assert "on disk it is different" in sent
        assert "`missing.md` does not exist" in sent
        assert wire.asked()[0] == "fs/read_text_file"
        assert _said(wire, session) == "Hi!It has a readme."
        assert _said(wire, beside["sessionId"]) == ""

        fake.enqueue(Reply((Say("One two three four five six."),), interruption=HoldsAfter(1), chunk_size=8))
        turn = asyncio.create_task(prompt("walk through the files"))
        await fake.until_held()
        wire.say({"method": "session/cancel", "params": {"sessionId": session}})
        assert await turn == "cancelled"


def _said(wire: AcpWire, session: str) -> str:
    return "".join(each["content"]["text"] for each in wire.updates(session) if each["sessionUpdate"] == "agent_message_chunk")
