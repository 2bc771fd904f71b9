"""Messages as they arrive: in order, large ones too, and none from a client that does not read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range, TextDocumentContentChangePartial
from pygls.protocol import LanguageServerProtocol

from tests.patience import PATIENCE
from tests.work import check_linear
from ullage.lsp import arriving
from ullage.lsp.arriving import LARGE, Arriving
from ullage.lsp.bodies import Glance, glance
from ullage.lsp.documents import LONG, MANY, EditorDocument, EditorWorkspace
from ullage.lsp.framing import Framing, NotTheProtocol, TooLong
from ullage.lsp.server import UllageServer


class Bytes:
    """A reader of what is there, in chunks of that size."""

    def __init__(self, data: bytes, chunk: int = 1 << 20) -> None:
        self._data, self._chunk = data, chunk

    async def read(self, n: int) -> bytes:
        size = min(n, self._chunk)
        taken, self._data = self._data[:size], self._data[size:]
        return taken

    def ready(self, n: int) -> bytes:
        size = min(n, self._chunk)
        taken, self._data = self._data[:size], self._data[size:]
        return taken


class Slow:
    """A client that has not read so many bytes."""

    def __init__(self) -> None:
        self.waiting = 0
        self.sent: list[Any] = []

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        pass


def frame(message: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


INITIALIZE = frame({"id": 0, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}})
URI = "file:///a.txt"


def opened(text: str) -> bytes:
    return frame(
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI, "languageId": "t", "version": 1, "text": text}}}
    )


def change(line: int, character: int, text: str) -> dict[str, Any]:
    at = {"line": line, "character": character}
    return {"range": {"start": at, "end": at}, "text": text}


def changed(version: int, changes: list[dict[str, Any]]) -> bytes:
    return frame(
        {"method": "textDocument/didChange", "params": {"textDocument": {"uri": URI, "version": version}, "contentChanges": changes}}
    )


async def received(data: bytes) -> tuple[UllageServer, Slow]:
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    await Arriving(Bytes(data), client, server.protocol, server.report_server_error).take_all(lambda: False)
    return server, client


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
async def test_bodies_are_cut_out_however_they_come(chunk: int) -> None:
    data = b"Content-Length: 2\r\n\r\n{}content-length:3\nContent-Type: x\n\n[1]Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n7"
    framing = Framing(Bytes(data, chunk))
    assert [await framing.next() for _ in range(5)] == [b"{}", b"[1]", b"", b"7", None]


async def test_what_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.lsp.framing.LONGEST", 10)
    framing = Framing(Bytes(b"Content-Length: 5000\r\n\r\n" + b"x" * 5_000 + b"Content-Length: 2\r\n\r\n{}", 64))
    assert isinstance(await framing.next(), TooLong)
    assert await framing.next() == b"{}"


@pytest.mark.parametrize(
    "head", [b"Content-Length: 1e3\r\n\r\n", b"\r\n", b"Host: x\r\nContent-Length: 2\r\n\r\n{}", b"Content-Length 2\n\n", b"y" * 9_000]
)
async def test_what_is_no_header_ends_the_reading(head: bytes) -> None:
    with pytest.raises(NotTheProtocol):
        await Framing(Bytes(head)).next()


async def test_unknown_notifications_cost_no_more_than_to_read_them() -> None:
    def of(count: int) -> Callable[[], object]:
        data = frame({"method": "foreign/thing", "params": {"a": 1}}) * count
        server, client = UllageServer(None), Slow()
        server.protocol.set_writer(client)

        def run() -> None:
            taking = Arriving(Bytes(data), client, server.protocol, server.report_server_error).take_all(lambda: False)
            try:
                while True:
                    taking.send(None)
            except StopIteration:
                return

        server.protocol._workspace = object()  # noqa: SLF001  # pyright: ignore[reportAttributeAccessIssue]
        return run

    check_linear(of, 200)


@pytest.mark.parametrize("lines", [100, LONG // 5])
@pytest.mark.parametrize("count", [1, MANY, MANY + 1, 3_000])
async def test_changes_give_the_same_text_wherever_they_are_made(lines: int, count: int) -> None:
    text = "a line\n" * lines
    changes = [change(number % lines, number % 5, "é\n" if number % 7 == 0 else "x") for number in range(count)]
    server, _ = await received(INITIALIZE + opened(text) + changed(2, changes) + changed(3, [change(0, 0, "!")]))
    expected = EditorDocument(URI, text, 1)
    for each in (*changes, change(0, 0, "!")):
        at = Position(each["range"]["start"]["line"], each["range"]["start"]["character"])
        expected.apply_change(TextDocumentContentChangePartial(Range(at, at), each["text"]))
    document = server.workspace.get_text_document(URI)
    assert (document.source, document.version) == (expected.source, 3)


async def test_a_large_message_is_answered_and_keeps_its_place_among_those_that_somebody_knows() -> None:
    wrong = frame({"id": 5, "method": "ullage/session/prompt", "params": {"text": "x" * LARGE}})
    unknown = frame({"id": 6, "method": "foreign/thing", "params": {"text": "x" * LARGE}})
    deep = b'{"jsonrpc": "2.0", "params": ' + b"[" * LARGE
    deep = b"Content-Length: %d\r\n\r\n%s" % (len(deep), deep)
    later = frame({"id": 7, "method": "ullage/session/prompt", "params": {}})
    _, client = await received(INITIALIZE + wrong + unknown + deep + later)
    errors = [(answer["id"], answer["error"]["code"]) for answer in client.sent[1:]]
    assert errors == [(6, -32601), (5, -32602), (None, -32700), (7, -32602)]


async def test_of_a_client_that_does_not_read_nothing_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "LOOK_AGAIN_SECONDS", 0)
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    unknown = b"".join(frame({"id": number, "method": "foreign/thing"}) for number in range(1, 4))
    taking = asyncio.create_task(
        Arriving(Bytes(INITIALIZE + unknown), client, server.protocol, server.report_server_error).take_all(lambda: False)
    )
    client.waiting = arriving.MOST_WAITING + 1
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(client.sent) == 1
    client.waiting = 0
    await taking
    assert [answer["id"] for answer in client.sent] == [0, 1, 2, 3]


ASKED = frame({"id": 9, "method": "ullage/session/snapshot", "params": {"sessionId": "one"}})
STOP = frame({"id": 8, "method": "ullage/session/cancel", "params": {"sessionId": "one"}})
TYPED = frame({"method": "textDocument/didChange", "params": {"textDocument": {"uri": URI, "version": 2}, "contentChanges": []}})


def long_prompt(session_id: str) -> bytes:
    return frame({"id": 5, "method": "ullage/session/prompt", "params": {"sessionId": session_id, "text": "x" * LARGE}})


@pytest.mark.parametrize(
    ("messages", "handled"),
    [
        ([opened("x" * LARGE), STOP, ASKED], ["cancel", "snapshot", "didOpen"]),
        ([long_prompt("two"), TYPED, STOP], ["cancel", "prompt", "didChange"]),
        ([long_prompt("one"), STOP, ASKED], ["prompt", "cancel", "snapshot"]),  # what is to be stopped comes first
        ([opened("x" * LARGE), long_prompt("one"), STOP], ["didOpen", "prompt", "cancel"]),
        ([opened("x" * LARGE), TYPED, TYPED, ASKED], ["snapshot", "didOpen", "didChange", "didChange"]),
    ],
)
async def test_a_stop_overtakes_what_it_has_nothing_to_do_with(messages: list[bytes], handled: list[str]) -> None:
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    began: list[str] = []

    def began_with(message: Any) -> None:
        began.append(message.method.rpartition("/")[2])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LanguageServerProtocol, "handle_message", lambda self, message: began_with(message))  # pyright: ignore
        server.protocol._workspace = EditorWorkspace(None)  # noqa: SLF001
        arriving = Arriving(Bytes(b"".join(messages)), client, server.protocol, server.report_server_error)
        await arriving.take_all(lambda: False)
    assert began == handled


async def test_what_comes_behind_the_end_is_not_waited_for() -> None:
    class Open(Bytes):
        async def read(self, n: int) -> bytes:
            return await super().read(n) or await asyncio.Future()

    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    ended: list[int] = []
    server.protocol.on_exit = ended.append
    data = INITIALIZE + frame({"method": "textDocument/didSave", "params": {"x": "x" * LARGE}}) + frame({"method": "exit"})
    async with asyncio.timeout(PATIENCE):
        await Arriving(Open(data), client, server.protocol, server.report_server_error).take_all(lambda: bool(ended))
    assert ended == [1]


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        (b'{"jsonrpc":"2.0","method":"a/b","params":{}}', Glance(b"a/b", None)),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "a"}', Glance(b"a", b"7")),
        (b'{"jsonrpc":"2.0","id":"x y","method":"a"}', Glance(b"a", b'"x y"')),
        (b'{"jsonrpc":"2.0","method":"a","params":{},"id":7}', None),
        (b'{"jsonrpc":"2.0","method":"a","id":7}', None),
        (b'{"method":"a","jsonrpc":"2.0"}', None),
        (b'{"jsonrpc":"2.0","id":007,"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":"\\u0041","method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":"\xff","method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":7,"result":{"method":"a"}}', None),
        (b'{"jsonrpc":"1.0","method":"a"}', None),
    ],
)
def test_a_glance_tells_what_it_is_or_nothing(body: bytes, seen: Glance | None) -> None:
    assert glance(body) == seen


@given(st.text(), st.none() | st.integers() | st.text(), st.booleans())
def test_a_glance_is_never_wrong(method: str, message_id: int | str | None, compact: bool) -> None:
    message = {"jsonrpc": "2.0", **({} if message_id is None else {"id": message_id}), "method": method, "params": {"id": 1, "method": "x"}}
    seen = glance(json.dumps(message, separators=(",", ":") if compact else None).encode())
    if seen is not None:
        assert (seen.method.decode(), seen.id and json.loads(seen.id)) == (method, message_id)


async def test_unknown_requests_are_answered_by_their_ids() -> None:
    ids = [1, -5, "a", "x y", 0, "é", 2**70]
    _, client = await received(INITIALIZE + b"".join(frame({"id": each, "method": "foreign/thing"}) for each in ids))
    assert [(answer["id"], answer["error"]["code"]) for answer in client.sent[1:]] == [(each, -32601) for each in ids]


async def test_a_flood_that_nobody_knows_is_left_out_and_nothing_else() -> None:
    """Whatever comes between, in whichever spelling, and whether it is a request by an id at its end."""
    passed = frame({"method": "foreign/100%", "params": {"a": 1}}) * 3
    asked = [
        frame({"method": "foreign/100%", "params": {}, "id": 1}),
        frame({"method": "foreign/100%", "id": 2}),
        frame({"id": 3, "method": "foreign/100%"}),
    ]
    spelled = b'{"jsonrpc": "2.0", "id": 4, "method": "other"}'
    odd = b"content-length: %d\n\n%b" % (len(spelled), spelled)
    cut_off = frame({"method": "foreign/100%"})[:-5]
    _, client = await received(INITIALIZE + b"".join(passed + each for each in (*asked, odd)) + passed + cut_off)
    assert [(answer["id"], answer["error"]["code"]) for answer in client.sent[1:]] == [(each, -32601) for each in (1, 2, 3, 4)]
    assert "foreign/100%" in client.sent[1]["error"]["message"]
