"""What the official TypeScript client and `ullage acp` said to each other once, said again; all against the schema of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tests.editors.acp_recording import Settling, essence, others, prepare, recorded, settings_for
from tests.fake_api import FakeApi
from tests.patience import PATIENCE
from tests.server import forked
from tests.server.acp_client import KEY
from tests.server.acp_wire import check_shapes
from tests.server.client import environment
from ullage.store.folder import VARIABLE

Message = dict[str, Any]


def test_what_was_recorded_is_of_the_protocol() -> None:
    told = recorded()
    check_shapes(told)
    kinds = {message["params"]["update"]["sessionUpdate"] for _, message in told if message.get("method") == "session/update"}
    assert {"agent_thought_chunk", "tool_call_update", "plan", "notice", "compaction_update", "current_mode_update"} <= kinds


def test_a_message_of_another_shape_is_noticed() -> None:
    with pytest.raises(AssertionError):
        check_shapes([("agent", {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}})])


class Replaying:
    """A client that says what was recorded, each thing once all has come that had come then."""

    def __init__(self, server: forked.ForkedServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.told: list[tuple[str, Message]] = []
        self.heard: list[Message] = []
        """Made comparable."""
        self._settle = Settling(folder)
        self.came = asyncio.Event()
        self.session = ""
        self.answers = deque(
            message for sender, message in recorded() if sender == "client" and "method" not in message and "outcome" in message["result"]
        )
        """To the questions, in their order."""

    async def read(self) -> None:
        while line := await self.server.stdout.readline():
            message: Message = json.loads(line)
            self.told.append(("agent", message))
            self.heard.append(self._settle(message))
            result: Message = message.get("result") or {}
            self.session = self.session or str(result.get("sessionId", ""))
            if "method" in message and "id" in message:
                self.say({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message["method"], message["params"])})
            self.came.set()

    def _answer(self, method: str, params: Message) -> Message:
        if method == "session/request_permission":
            return self.answers.popleft()["result"]
        path = Path(params["path"])
        if method == "fs/write_text_file":
            path.write_text(params["content"])
            return {}
        return {"content": path.read_text()}

    def say(self, message: Message) -> None:
        line = json.dumps(message).replace("/folder", str(self.folder)).replace('"id-1"', json.dumps(self.session))
        self.told.append(("client", json.loads(line)))
        self.server.stdin.write(line.encode() + b"\n")

    async def until(self, before: list[Message]) -> None:
        """Until that has come, as far as it matters. Raises `TimeoutError`."""
        wanted = essence(before)
        async with asyncio.timeout(PATIENCE):
            while len(now := essence(self.heard)) < len(wanted) or (wanted and wanted[-1] not in now):
                self.came.clear()
                await self.came.wait()


async def test_the_conversation_goes_as_it_was_recorded(folder: Path, state: Path) -> None:
    conversation = recorded()
    async with FakeApi() as fake:
        prepare(folder, fake)
        arguments = ("--settings", settings_for(fake), "--state-folder", str(state))
        server = await forked.start(arguments, environment({VARIABLE: str(state), "ANTHROPIC_API_KEY": KEY}), "acp")
        client = Replaying(server, folder)
        reading = asyncio.create_task(client.read())
        came: list[Message] = []
        try:
            for sender, message in conversation:
                if sender == "agent":
                    came.append(message)
                elif "method" in message:
                    await client.until(came)
                    client.say(message)
            await client.until(came)
        except TimeoutError:
            assert essence(client.heard) == essence(came)  # it shows where they part
            raise
        finally:
            server.stdin.close()
            async with asyncio.timeout(PATIENCE):
                await server.wait()
                await reading
    assert essence(client.heard) == essence(came)
    assert others(client.heard) == others(came)
    check_shapes(client.told)
