"""A client of the Agent Client Protocol without a library: it says what a test gives it, word for word, and judges each line that comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.editors.acp_recording import SCHEMA
from tests.fake_api import FakeApi
from tests.patience import PATIENCE
from tests.server import forked
from tests.server.acp_client import KEY
from tests.server.client import environment
from ullage.store.folder import VARIABLE

Message = dict[str, Any]

OF_METHOD = {
    "initialize": "Initialize",
    "authenticate": "Authenticate",
    "session/new": "NewSession",
    "session/load": "LoadSession",
    "session/resume": "ResumeSession",
    "session/list": "ListSessions",
    "session/close": "CloseSession",
    "session/delete": "DeleteSession",
    "session/prompt": "Prompt",
    "session/set_mode": "SetSessionMode",
    "session/set_config_option": "SetSessionConfigOption",
    "session/request_permission": "RequestPermission",
    "fs/read_text_file": "ReadTextFile",
    "fs/write_text_file": "WriteTextFile",
    "session/update": "Session",
    "session/cancel": "Cancel",
}
"""What the schema calls their params and results, but for `Request`, `Response` and `Notification` behind it."""


@cache
def validator(shape: str, *, closed: bool = False) -> Draft202012Validator:
    """For a definition of the schema; `closed` where no other field may stand in it."""
    schema: Any = json.loads(SCHEMA.read_text("utf-8"))
    more = {"unevaluatedProperties": False} if closed else {}
    return Draft202012Validator({"$ref": f"#/$defs/{shape}", "$defs": schema["$defs"], **more})


def check_shapes(told: list[tuple[str, Message]]) -> None:
    """Each message against its shape, but for requests that were refused; an answer against that of its request.

    What the agent says may have no field besides.
    """
    refused = {message["id"] for sender, message in told if sender == "agent" and "error" in message}
    asked: dict[tuple[str, Any], str] = {}
    for sender, message in told:
        if "method" in message:
            shape = OF_METHOD.get(message["method"], "")
            value, kind = message.get("params"), "Request" if "id" in message else "Notification"
            asked[sender, message.get("id")] = shape
        elif "result" in message:
            shape = asked["agent" if sender == "client" else "client", message["id"]]
            value, kind = message["result"], "Response"
        else:
            shape, value, kind = "Error", message["error"], ""
        if not shape or (sender == "client" and message.get("id") in refused):
            continue
        errors: Any = validator(f"{shape}{kind}", closed=sender == "agent")
        wrong = [error.message for error in errors.iter_errors(value)]
        assert not wrong, (message, wrong)


class AcpWire:
    """The connection. Every line of the agent has to be one JSON-RPC message in UTF-8."""

    def __init__(self, server: forked.ForkedServer) -> None:
        self.server = server
        self.told: list[tuple[str, Message]] = []
        """Who said what, in its order."""
        self.answer: Callable[[str, Message], Message] = _refuse
        """Gives the result of what the agent asks for."""
        self.more: Message = {}
        """Fields that this client has in each of its messages."""
        self._came = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while line := await self.server.stdout.readline():
            message: Message = json.loads(line.decode("utf-8", "strict"))
            _is_json_rpc(message)
            self.told.append(("agent", message))
            if "method" in message and "id" in message:
                self.say({"id": message["id"], "result": self.answer(message["method"], message["params"])})
            self._came.set()

    def say(self, message: Message) -> None:
        """Sends a message, with `jsonrpc` and `more`."""
        whole = {"jsonrpc": "2.0", **self.more, **message}
        self.told.append(("client", whole))
        self.server.stdin.write(json.dumps(whole).encode() + b"\n")

    async def ask(self, number: int | str, method: str, **params: Any) -> Message:
        """Sends a request and waits for the whole of its answer."""
        self.say({"id": number, "method": method, "params": params})
        return await self.until(lambda: self.answer_to(number))

    async def result(self, number: int | str, method: str, **params: Any) -> Message:
        """Of a request that has to succeed."""
        answer = await self.ask(number, method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def answer_to(self, number: int | str) -> Message | None:
        """If it has come."""
        return next((each for sender, each in self.told if sender == "agent" and "method" not in each and each["id"] == number), None)

    async def until(self, found: Callable[[], Message | None]) -> Message:
        """Waits until something is found in what came."""
        async with asyncio.timeout(PATIENCE):
            while (it := found()) is None:
                assert not self._reading.done(), self._reading
                self._came.clear()
                await self._came.wait()
            return it

    def updates(self, session: str, since: int = 0) -> list[Message]:
        """Of a session, from a place of `told` on."""
        notes = (each["params"] for sender, each in self.told[since:] if sender == "agent" and each.get("method") == "session/update")
        return [each["update"] for each in notes if each["sessionId"] == session]

    def asked(self) -> list[str]:
        """What the agent asked of the client, by its method."""
        return [each["method"] for sender, each in self.told if sender == "agent" and "method" in each and "id" in each]

    async def end(self) -> int:
        """Closes this end and gives the exit code of the agent."""
        self.server.stdin.close()
        async with asyncio.timeout(PATIENCE):
            code = await self.server.wait()
            await self._reading
        return code


def _refuse(method: str, params: Message) -> Message:
    raise AssertionError(f"this client cannot do {method}")


def _is_json_rpc(message: Message) -> None:
    assert message["jsonrpc"] == "2.0"
    if "method" not in message:
        assert ("result" in message) != ("error" in message)
        assert "id" in message
    if error := message.get("error"):
        assert type(error["code"]) is int
        assert error["message"]
        assert "\n" not in error["message"]


@asynccontextmanager
async def acp_wire(state: Path, fake: FakeApi | None, settings: Mapping[str, Any] | None = None) -> AsyncGenerator[AcpWire]:
    """With an agent of its own, which has to end well; and all that was said has to be of the protocol."""
    section: dict[str, Any] = {"bash": {"sandbox": "off"}, **(settings or {})}
    if fake is not None:
        section["model"] = {"baseUrl": fake.base_url, "provider": "anthropic"}
    key = {} if fake is None else {"ANTHROPIC_API_KEY": KEY}
    arguments = ("--settings", json.dumps(section), "--state-folder", str(state))
    wire = AcpWire(await forked.start(arguments, environment({VARIABLE: str(state), **key}), "acp"))
    try:
        yield wire
    finally:
        code = await wire.end()
    assert code == 0
    check_shapes(wire.told)
