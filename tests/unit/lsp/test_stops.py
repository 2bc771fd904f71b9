"""A stop is found wherever it stands in what has come, and nothing else is taken for one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygls.protocol import LanguageServerProtocol

from tests.unit.lsp.test_arriving import INITIALIZE, Bytes, Slow, frame, opened
from ullage.lsp import arriving, bodies, framing
from ullage.lsp.arriving import LARGE, Arriving
from ullage.lsp.bodies import parse_body, parse_in_steps
from ullage.lsp.documents import EditorWorkspace
from ullage.lsp.framing import Framing, TooLong
from ullage.lsp.protocol import CANCEL, Nothing
from ullage.lsp.server import UllageServer

STOP = frame({"id": 8, "method": CANCEL, "params": {"sessionId": "one"}})
LIST = frame({"id": 1, "method": "ullage/session/list", "params": {}})
SHOWN = frame({"id": 2, "method": "ullage/session/snapshot", "params": {"sessionId": "one"}})
UNKNOWN = frame({"method": "foreign/thing", "params": {"a": 1}})


def asked(session_id: str) -> bytes:
    return frame({"id": 5, "method": "ullage/session/prompt", "params": {"sessionId": session_id, "text": "Go."}})


def steered(session_id: str) -> bytes:
    return frame({"id": 5, "method": "ullage/session/prompt", "params": {"sessionId": session_id, "text": "x" * LARGE}})


@pytest.fixture(autouse=True)
def looking_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn after each message."""
    monkeypatch.setattr(arriving, "BREATH_SECONDS", -1.0)


async def handled(messages: bytes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done, in order: messages by the last word of their method, and `stopped` where a session was before the message's turn, once
    or more often."""
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    done: list[str] = []

    def stop(_: object) -> Nothing:
        if done[-1:] != ["stopped"]:
            done.append("stopped")
        return Nothing()

    def began(_: object, message: Any) -> None:
        done.append(message.method.rpartition("/")[2])

    monkeypatch.setattr(LanguageServerProtocol, "handle_message", began)
    server.protocol._workspace = EditorWorkspace(None)  # noqa: SLF001
    server.protocol.at_once = {CANCEL: stop}
    await Arriving(Bytes(messages), client, server.protocol, server.report_server_error).take_all(lambda: False)
    return done


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([LIST] * 3 + [STOP], ["list", "cancel", "list", "list"]),
        ([LIST, *[UNKNOWN] * 5_000, LIST, STOP], ["list", "cancel", "list"]),
        ([LIST, LIST, asked("two"), STOP], ["list", "cancel", "list", "prompt"]),
        ([LIST, SHOWN, SHOWN, STOP], ["list", "cancel", "snapshot", "snapshot"]),  # whoever only looks is not stopped
        ([LIST, opened("x" * LARGE), LIST, STOP], ["list", "cancel", "didOpen", "list"]),
        ([LIST, opened('"one"'), STOP], ["list", "cancel", "didOpen"]),  # a document is about no session
        ([LIST, LIST, asked("one"), STOP], ["list", "stopped", "list", "prompt", "cancel"]),
        ([LIST, asked("one"), STOP, asked("one"), STOP], ["list", "stopped", "prompt", "cancel", "prompt", "cancel"]),
        ([LIST, asked("one"), LIST, STOP, LIST], ["list", "stopped", "prompt", "list", "cancel", "list"]),
        ([steered("one"), STOP], ["stopped", "prompt", "cancel"]),
    ],
)
async def test_a_stop_waits_for_nothing_and_nothing_else_changes_its_place(
    messages: list[bytes], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await handled(b"".join(messages), monkeypatch) == expected


async def test_a_stop_does_not_wait_for_settings_that_are_still_being_told() -> None:
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    stopped: list[object] = []

    def stop(params: Any) -> Nothing:
        stopped.append(params.session_id)
        return Nothing()

    server.protocol.at_once = {CANCEL: stop}
    server.protocol.has_to_wait = lambda: True
    await Arriving(Bytes(INITIALIZE + STOP), client, server.protocol, server.report_server_error).take_all(lambda: False)
    assert stopped == ["one"]


async def test_a_stop_is_heard_while_the_client_does_not_read_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "LOOK_AGAIN_SECONDS", 0)
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    data = INITIALIZE + b"".join(frame({"id": number, "method": "foreign/thing"}) for number in range(1, 4)) + STOP
    taking = asyncio.create_task(Arriving(Bytes(data), client, server.protocol, server.report_server_error).take_all(lambda: False))
    client.waiting = arriving.MOST_WAITING + 1
    stopped: list[object] = []

    def stop(params: Any) -> Nothing:
        stopped.append(params.session_id)
        return Nothing()

    server.protocol.at_once = {CANCEL: stop}
    for _ in range(20):
        await asyncio.sleep(0)
    assert stopped == ["one"]
    client.waiting = 0
    await taking
    assert sorted(answer["id"] for answer in client.sent) == [0, 1, 2, 3, 8]


def raw(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize(
    "text",
    [
        STOP.decode(),
        f'"}}}}}}\r\n\r\n{STOP.decode()}',
        STOP.partition(b"\r\n\r\n")[2].decode(),
        STOP.decode() * 2_000,
    ],
)
@pytest.mark.parametrize("ascii_alone", [True, False])
async def test_a_text_that_looks_like_a_stop_stops_nothing(text: str, ascii_alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"uri": "file:///a.txt", "languageId": "t", "version": 1, "text": text}
    message = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}
    whole = raw(json.dumps(message, ensure_ascii=ascii_alone).encode())
    assert await handled(LIST + whole + LIST, monkeypatch) == ["list", "didOpen", "list"]
    cut_off = frame({"id": 3, "method": CANCEL, "params": {"sessionId": "one"}})[:-3]
    assert await handled(LIST + LIST + whole[:-3], monkeypatch) == ["list", "list"]
    assert await handled(LIST + LIST + cut_off, monkeypatch) == ["list", "list"]


async def test_the_bytes_of_a_stop_within_a_message_that_is_no_json_stop_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await handled(LIST + LIST + raw(b"x" + STOP + STOP) + LIST, monkeypatch) == ["list", "list", "list"]


@pytest.mark.parametrize(
    "message",
    [
        {"method": CANCEL, "params": {"sessionId": "one"}, "id": 8},  # read whole, in its turn
        {"id": 8, "method": CANCEL, "params": {"sessionId": "one", "more": "x" * framing.SHORT}},
        {"id": 8, "method": CANCEL, "params": {"sessionId": 1}},
        {"id": 8, "method": "other", "params": {"sessionId": "one", "method": CANCEL}},
    ],
)
async def test_what_is_not_plainly_a_stop_has_its_turn(message: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    done = await handled(LIST + LIST + LIST + frame(message), monkeypatch)
    assert done[:3] == ["list", "list", "list"]
    assert "stopped" not in done


async def test_before_initialize_and_after_shutdown_nothing_is_looked_for() -> None:
    server, client = UllageServer(None), Slow()
    server.protocol.set_writer(client)
    await Arriving(Bytes(LIST + LIST + STOP), client, server.protocol, server.report_server_error).take_all(lambda: False)
    assert [(answer["id"], answer["error"]["code"]) for answer in client.sent] == [(1, -32002), (1, -32002), (8, -32002)]


class Endless:
    """A reader that always has more."""

    def __init__(self) -> None:
        self.given = 0

    async def read(self, n: int) -> bytes:
        return self.ready(n)

    def ready(self, n: int) -> bytes:
        self.given += n
        return b"x" * n


def test_only_so_much_is_read_ahead() -> None:
    reader = Endless()
    frames = Framing(reader)
    for _ in range(3):
        frames.take_in(reader.ready)
    assert reader.given < framing.MOST_AHEAD + 1_000_000


MARK = b"MARK"
BODIES = st.lists(
    st.lists(st.sampled_from([MARK, raw(MARK), raw(b"{}"), b"MAR", b"K", b"x", b"x" * framing.SHORT, b"\r\n\r\n", b"1"]), max_size=4).map(
        b"".join
    ),
    max_size=8,
)
STEPS = st.lists(st.sampled_from(["take in", "ahead", "take out", "there", "next"]), max_size=40)


@given(BODIES, STEPS, st.integers(1, 60), st.booleans())
def test_what_is_seen_ahead_is_what_comes_and_each_message_comes_once(sent: list[bytes], steps: list[str], chunk: int, odd: bool) -> None:
    """However the messages are cut, and whenever somebody looks."""

    async def run() -> None:
        data = b"".join(raw(body).replace(b"Content-Length: ", b"content-length: ", odd) for body in sent)
        reader = Bytes(data, chunk)
        frames, seen, came = Framing(reader), list[bytes](), list[bytes]()
        places: Iterator[tuple[int, bytes]] = iter(())
        out: list[bytes] = []
        for step in [*steps, *["next"] * (len(sent) + 1)]:
            body: Any = None
            match step:
                case "take in":
                    frames.take_in(reader.ready)
                case "ahead":
                    found = frames.ahead(MARK)
                    seen += [each for _, each in found]
                    places = iter(found)
                case "take out":  # as whoever looks does it: at once
                    found = frames.ahead(MARK)
                    seen += [each for _, each in found]
                    for place, each in found[:1]:
                        frames.take_out(place)
                        out.append(each)
                case "there":
                    body = frames.there()
                case _:
                    body = await frames.next()
            assert not isinstance(body, TooLong)
            if body is not None:
                came.append(bytes(body))
        del places
        wanted = [each for each in sent if MARK in each and len(each) <= framing.SHORT]
        rest = iter(wanted)
        assert all(each in rest for each in seen)  # in their order, and none twice
        left = list(sent)
        for each in out:
            left.remove(each)
        assert sorted(came) == sorted(left)
        kept = iter(sent)
        assert all(each in kept for each in came)

    asyncio.run(run())


TEXTS = st.text(st.sampled_from('ab"\\\né日😀\ud83d\ude00\u2028\x00/u'), max_size=60)


@given(st.lists(TEXTS | st.integers() | st.lists(TEXTS), max_size=4), TEXTS, st.booleans(), st.integers(13, 40))
def test_long_texts_are_read_piece_by_piece_to_the_same_whole(values: list[Any], key: str, ascii_alone: bool, step: int) -> None:
    message = {"a": values, "b": {key: values[0] if values else None, "text": key * 3}}
    body = json.dumps(message, ensure_ascii=ascii_alone).encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_STEP", step)
        try:
            expected: Any = parse_body(body)
        except ValueError:
            with pytest.raises(ValueError):
                parse_in_steps(body)
            return
        assert parse_in_steps(body) == expected
        assert parse_in_steps(bytearray(body)) == expected


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(13, 20))
def test_what_is_no_json_is_told_as_such_in_steps_too(before: bytes, within: bytes, step: int) -> None:
    body = b'{"a": "' + before + b'\\u12", "b": "' + within * 3 + b'"}'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_STEP", step)
        outcomes: list[Any] = []
        for parse in (parse_body, parse_in_steps):
            try:
                outcomes.append(parse(body))
            except (ValueError, RecursionError):
                outcomes.append("no JSON")
        assert outcomes[0] == outcomes[1]
