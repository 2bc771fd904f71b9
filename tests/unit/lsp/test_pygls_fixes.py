"""Each correction of pygls, by what goes wrong without it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lsprotocol import types

from tests.patience import PATIENCE
from ullage.lsp import protocol
from ullage.lsp.protocol import editor
from ullage.lsp.server import UllageServer


class Sent:
    """A client that only listens."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.came = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))
        self.came.set()

    def close(self) -> None:
        pass


class Wire:
    """A server in this process, and what it sent."""

    def __init__(self) -> None:
        self.server = UllageServer(None)
        self.heard: list[Any] = []
        self.server.feature("test/slow")(self._slow())
        self.server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(self._hear())
        self.sent = Sent()
        self.protocol = self.server.protocol
        self.protocol.set_writer(self.sent)
        self.slow: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.receive({"id": 0, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}})

    def receive(self, message: Any) -> None:
        self.protocol.handle_message({"jsonrpc": "2.0", **message} if isinstance(message, dict) else message)

    @property
    def answers(self) -> list[dict[str, Any]]:
        return self.sent.messages[1:]

    @property
    def waiting(self) -> int:
        """How many messages the protocol holds on to."""
        return len(self.protocol._request_futures)  # noqa: SLF001

    def _hear(self) -> Callable[[Any], None]:
        def hear(params: Any) -> None:
            self.heard.append(params)

        return hear

    def _slow(self) -> Callable[[Any], Awaitable[None]]:
        async def slow(params: Any) -> None:
            await self.slow

        return slow


@pytest.fixture
async def wire() -> Wire:
    return Wire()


PROMPT = protocol.PROMPT


@pytest.mark.parametrize(
    ("message", "message_id", "code"),
    [
        ({"id": 1, "method": PROMPT, "params": {"sessionId": 4}}, 1, -32602),
        ({"id": "a", "method": PROMPT, "params": {"text": "no session"}}, "a", -32602),
        ({"id": 1, "method": PROMPT, "params": [1, 2]}, 1, -32602),
        ({"id": 1, "method": PROMPT}, 1, -32602),
        ({"id": 1, "method": "textDocument/hover", "params": {"position": "here"}}, 1, -32602),
        ({"id": 1, "method": "ullage/session/nothing", "params": {}}, 1, -32601),
        ({"id": 1, "method": "ullage/session/nothing"}, 1, -32601),
        ({"id": 1, "method": 4}, 1, -32600),
        ({"id": [1], "method": PROMPT, "params": {}}, None, -32600),
        ({"id": 1, "jsonrpc": "1.0", "method": PROMPT}, 1, -32600),
        ({}, None, -32600),
        ([], None, -32600),
        ("text", None, -32600),
        (None, None, -32600),
    ],
)
async def test_what_cannot_be_read_is_answered(wire: Wire, message: Any, message_id: object, code: int) -> None:
    wire.receive(message)
    (answer,) = wire.answers
    assert (answer["id"], answer["error"]["code"]) == (message_id, code)
    wire.receive({"id": 9, "method": "shutdown"})
    await asyncio.sleep(0)


async def test_the_answer_says_what_is_wrong_and_not_what_was_said(wire: Wire) -> None:
    wire.receive({"id": 1, "method": PROMPT, "params": {"text": ["a secret"]}})
    message = wire.answers[0]["error"]["message"]
    assert message == f"{PROMPT}: params.sessionId: required field missing; params.text: expected a text"


async def test_a_notification_that_cannot_be_read_is_passed_over(wire: Wire) -> None:
    wire.receive({"method": "textDocument/didOpen", "params": {"textDocument": 4}})
    wire.receive({"method": "never/heard", "params": {}})
    assert wire.answers == []


async def test_objects_inside_a_message_may_have_any_keys(wire: Wire) -> None:
    params = {"settings": {"jsonrpc": "2.0", "id": 4, "method": "exit", "deeper": {"jsonrpc": "2.0", "result": 1}}}
    wire.receive({"method": "workspace/didChangeConfiguration", "params": params})
    assert [heard.settings for heard in wire.heard] == [params["settings"]]


async def test_an_answer_that_comes_too_late_is_dropped_and_the_client_told_before(wire: Wire) -> None:
    asking = asyncio.create_task(wire.protocol.ask(protocol.DIAGNOSTICS, editor.DiagnosticsParams()))
    await asyncio.sleep(0)
    (request,) = wire.answers
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert wire.answers[1] == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request["id"]}}
    wire.receive({"id": request["id"], "result": {"problems": []}})
    assert len(wire.answers) == 2


async def test_an_answer_that_cannot_be_read_ends_the_waiting(wire: Wire) -> None:
    asking = asyncio.create_task(wire.protocol.ask(protocol.DIAGNOSTICS, editor.DiagnosticsParams()))
    await asyncio.sleep(0)
    wire.receive({"id": wire.answers[0]["id"], "result": {"problems": "none"}})
    with pytest.raises(Exception, match="expected"):
        await asyncio.wait_for(asking, PATIENCE)


async def test_notifications_leave_nothing_behind(wire: Wire) -> None:
    document = {"uri": "file:///a.txt", "languageId": "text", "version": 1, "text": "x"}
    wire.receive({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    for version in range(2, 500):
        change = {"textDocument": {"uri": "file:///a.txt", "version": version}, "contentChanges": [{"text": "y"}]}
        wire.receive({"method": "textDocument/didChange", "params": change})
    await asyncio.sleep(0)
    assert wire.waiting == 0


async def test_a_request_can_be_cancelled_while_it_runs(wire: Wire) -> None:
    wire.receive({"id": 5, "method": "test/slow", "params": None})
    await asyncio.sleep(0)
    wire.sent.came.clear()
    wire.receive({"method": "$/cancelRequest", "params": {"id": 5}})
    await asyncio.wait_for(wire.sent.came.wait(), PATIENCE)
    assert wire.answers[0]["error"]["code"] == -32800
    assert wire.waiting == 0


async def test_a_document_counts_lines_as_editors_do(wire: Wire) -> None:
    document = types.TextDocumentItem("file:///a.txt", "text", 1, "one\x0c\ntwo\n")
    wire.protocol.workspace.put_text_document(document)
    assert wire.protocol.workspace.get_text_document("file:///a.txt").lines == ("one\x0c\n", "two\n")
