"""Requests of the client: what is answered at once, in which order, and how many wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from ullage.lsp import agent_protocol, protocol
from ullage.lsp.protocol import Nothing, prompts
from ullage.lsp.server import UllageServer

Done = list[tuple[str, str]]


class Client:
    """One whose prompts take until `let_go`. `done` says what was done, in order."""

    def __init__(self) -> None:
        self.answers: list[Mapping[str, Any]] = []
        self.done: Done = []
        self.let_go = asyncio.Event()
        self.server = UllageServer(None)
        self.server.protocol.set_writer(self)
        self.server.protocol._workspace = object()  # noqa: SLF001  # pyright: ignore[reportAttributeAccessIssue]
        self.server.protocol.at_once = {protocol.CANCEL: lambda params: self._do("cancel", params)}
        self.server.feature(protocol.PROMPT)(self._prompt())
        self.server.feature(protocol.CANCEL)(self._cancel())
        self.waiting = 0

    def ask(self, number: int, method: str, session_id: str, **params: object) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"sessionId": session_id, **params}}
        self.server.protocol.handle_message(message)

    def write(self, data: bytes) -> None:
        self.answers.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        pass

    def _do(self, what: str, params: Any) -> Nothing:
        self.done.append((what, params.session_id))
        return Nothing()

    def _prompt(self) -> Any:
        async def prompt(params: prompts.PromptParams) -> Nothing:
            await self.let_go.wait()
            return self._do("prompt", params)

        return prompt

    def _cancel(self) -> Any:
        async def cancel(params: protocol.SessionParams) -> Nothing:
            await self.let_go.wait()
            return self._do("cancel", params)

        return cancel


async def test_a_stop_is_answered_at_once_but_not_before_what_was_asked_of_the_same_session() -> None:
    client = Client()
    client.ask(1, protocol.PROMPT, "one", text="Go.")
    client.ask(2, protocol.CANCEL, "two")
    assert client.done == [("cancel", "two")]
    assert [answer["id"] for answer in client.answers] == [2]
    client.ask(3, protocol.CANCEL, "one")
    client.let_go.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert client.done[1:] == [("prompt", "one"), ("cancel", "one")]
    client.ask(4, protocol.CANCEL, "one")
    assert [answer["id"] for answer in client.answers] == [2, 1, 3, 4]


async def test_more_requests_than_can_wait_are_refused_and_a_stop_is_not() -> None:
    client = Client()
    for number in range(agent_protocol.MOST_ASKED + 2):
        client.ask(1_000 + number, protocol.PROMPT, "one", text="Go.")
    client.ask(1, protocol.CANCEL, "two")
    client.ask(2, protocol.CANCEL, "one")
    assert [answer.get("error", {}).get("code") for answer in client.answers] == [-32803, -32803, None]
    client.let_go.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(client.answers) == agent_protocol.MOST_ASKED + 4
    assert client.done[-1] == ("cancel", "one")
    client.ask(2, protocol.PROMPT, "one", text="Go.")
    for _ in range(5):
        await asyncio.sleep(0)
    assert client.answers[-1] == {"id": 2, "jsonrpc": "2.0", "result": {}}
