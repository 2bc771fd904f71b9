"""Requests as bytes: stable, growing at the end only, with marks where they were asked for and nowhere else."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE
from tests.unit.context.pictures import DOCUMENT, IMAGE, PDF, PNG, WIDE, kept
from ullage.context.blocks import (
    AssistantBlock,
    Block,
    CompactionBlock,
    Json,
    Media,
    Message,
    RedactedThinking,
    Role,
    SystemPart,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from ullage.context.counting.media import NO_ROOM, Room
from ullage.context.counting.tokens import remember
from ullage.context.view.request import Breakpoint, Request
from ullage.models.serialise import BINDING_BETA, COMPACTION_BETA, Serialiser, betas, block_json, message_bytes

SYSTEM = (SystemPart("system", "You are Ullage."), SystemPart("rules", "Be brief."))
TOOLS = (ToolSpec("bash", "Runs a command", {"type": "object", "properties": {"command": {"type": "string"}}}),)

texts = st.text(max_size=20)
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
said: st.SearchStrategy[AssistantBlock] = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts, texts),
    st.builds(RedactedThinking, texts),
    st.builds(ToolUse, texts, texts, st.dictionaries(texts, values, max_size=3)),
)
blocks: st.SearchStrategy[Block] = st.one_of(said, st.builds(ToolResult, texts, texts, st.booleans()))
roles: st.SearchStrategy[Role] = st.sampled_from(("user", "assistant"))


def message(role: Role, content: list[Block]) -> Message:
    return Message(role, tuple(content), (1,) * len(content))


messages = st.builds(message, roles, st.lists(blocks, min_size=1, max_size=4))


def request(content: list[Message], *breakpoints: Breakpoint) -> Request:
    return Request(SYSTEM, TOOLS, content, breakpoints)


def body(serialiser: Serialiser, asked: Request) -> bytes:
    return serialiser.body(asked, opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True)


def without_marks(sent: bytes) -> Any:
    """The request without its cache marks."""

    def bare(members: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: value for key, value in members if key != "cache_control"}

    return json.loads(sent, object_pairs_hook=bare)


@given(st.lists(messages, min_size=1, max_size=6), st.data())
def test_each_request_begins_with_the_bytes_of_the_one_before(conversation: list[Message], data: st.DataObject) -> None:
    serialiser = Serialiser()
    before = b""
    for length in range(1, len(conversation) + 1):
        bare = body(serialiser, request(conversation[:length]))
        assert bare.startswith(before)
        before = bare.removesuffix(b"]}")
        marked = [Breakpoint(index, 0) for index in data.draw(st.sets(st.integers(0, length - 1), max_size=3))]
        assert without_marks(body(serialiser, request(conversation[:length], *marked))) == without_marks(bare)


@given(st.lists(messages, min_size=1, max_size=4))
def test_what_was_remembered_is_what_would_be_written_anew(conversation: list[Message]) -> None:
    serialiser = Serialiser()
    first = body(serialiser, request(conversation))
    copies = [Message(each.role, each.blocks, each.sources) for each in conversation]
    assert body(serialiser, request(conversation)) == first
    assert body(serialiser, request(copies)) == first
    assert body(Serialiser(), request(copies)) == first


@given(blocks)
def test_a_block_says_the_same_after_its_way_over_the_wire(block: Block) -> None:
    assert json.loads(message_bytes(Message("user", (block,), (1,)))) == {"role": "user", "content": [block_json(block)]}


def test_marks_stand_at_the_end_of_the_system_and_where_they_were_asked_for() -> None:
    content = [
        Message("user", (Text("a"), Text("b")), (1, 1)),
        Message("assistant", (Thinking("t", "s"), Text("c")), (2, 2)),
        Message("user", (ToolResult("id", "d"),), (3,)),
    ]
    sent = json.loads(body(Serialiser(), request(content, Breakpoint(0, 1), Breakpoint(1, 0), Breakpoint(2, 0))))
    marked = [
        (kind, index)
        for kind, group in (("system", [sent["system"]]), ("messages", [each["content"] for each in sent["messages"]]))
        for index, each in enumerate(group)
        if any("cache_control" in block for block in each)
    ]
    assert marked == [("system", 0), ("messages", 0), ("messages", 2)]
    assert "cache_control" in sent["system"][-1]
    assert "cache_control" not in sent["system"][0]
    assert "cache_control" in sent["messages"][0]["content"][1]


def test_the_order_of_keys_is_kept() -> None:
    call = ToolUse("id", "bash", {"z": 1, "a": {"y": 2, "b": 3}})
    assert b'"input":{"z":1,"a":{"y":2,"b":3}}' in message_bytes(Message("assistant", (call,), (1,)))


def test_a_broken_character_does_not_break_the_request() -> None:
    assert json.loads(message_bytes(Message("user", (Text("half \ud83d of it"),), (1,))))["content"][0]["text"] == "half ? of it"


def test_a_changed_prelude_is_written_anew() -> None:
    serialiser = Serialiser()
    content = [Message("user", (Text("a"),), (1,))]
    body(serialiser, request(content))
    other = Request((SystemPart("system", "Other."),), (), content, ())
    sent = json.loads(body(serialiser, other))
    assert sent["system"][0]["text"] == "Other."
    assert "tools" not in sent


@given(st.dictionaries(texts, values, max_size=4), st.booleans())
def test_a_compaction_block_goes_back_as_it_came(more: dict[str, Json], marked: bool) -> None:
    text = json.dumps(
        {"type": "compaction", "content": "So far: 世界.", "signature": "s", **more}, ensure_ascii=False, separators=(",", ":")
    )
    block = CompactionBlock(text, "m")
    sent = message_bytes(message("assistant", [block]), frozenset({0} if marked else ()))
    before, after = sent.split(text[:-1].encode())
    assert before == b'{"role":"assistant","content":['
    assert after == (b',"cache_control":{"type":"ephemeral"}}]}' if marked and "cache_control" not in more else b"}]}") or marked


def test_what_is_asked_of_the_api_beside_the_messages() -> None:
    said = message("user", [Text("Hello")])
    block = CompactionBlock('{"type":"compaction","content":"So far.","signature":"s"}', "m")
    plain = request([said])
    asking = Request(SYSTEM, TOOLS, [said], (), "Be brief.")
    own_words = Request(SYSTEM, TOOLS, [said], (), "")
    after = request([message("assistant", [block]), said])
    bodies = [json.loads(body(Serialiser(), each)) for each in (plain, asking, own_words, after)]
    bound = json.loads(
        Serialiser().body(after, opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True, mismatch="drop_block")
    )
    assert [each.get("compaction") for each in bodies] == [
        None,
        {"type": "summarize", "instructions": "Be brief."},
        {"type": "summarize"},
        None,
    ]
    assert [each["thinking"].get("block_binding") for each in (*bodies, bound)] == [*[None] * 4, {"prefix_mismatch_behavior": "drop_block"}]
    assert [betas(each) for each in (plain, asking, own_words, after)] == [
        (),
        (COMPACTION_BETA,),
        (COMPACTION_BETA,),
        (COMPACTION_BETA,),
    ]
    assert betas(plain, "error") == (BINDING_BETA,)
    assert betas(after, "drop_block") == (COMPACTION_BETA, BINDING_BETA)
    assert {name: value for name, value in bodies[1].items() if name != "compaction"} == bodies[0], "so it is read from the cache"


def test_a_request_that_takes_more_than_is_remembered_is_not_made_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Message] = []

    def watched(message: Message, marked: frozenset[int] = frozenset()) -> bytes:
        made.append(message)
        return message_bytes(message, marked)

    monkeypatch.setattr("ullage.models.serialise.message_bytes", watched)
    monkeypatch.setattr("ullage.models.serialise.REMEMBERED_BYTES", 1_000)
    serialiser = Serialiser()
    messages = [Message("user", (Text("x" * 400),), (seq,)) for seq in range(30)]
    new: list[int] = []
    for end in range(10, 30):
        made.clear()
        body(serialiser, Request((), (), messages[:end], ()))
        new.append(len(made))
    assert new[0] == 10
    assert new.count(1) > 10  # mostly what is new alone
    assert max(new[1:]) > 10  # now and then all but the request at hand is forgotten


@pytest.mark.parametrize(("messages", "tokens", "beside"), [(3, None, False), (3, 50_000, False), (3, 100_000, True), (2_001, None, True)])
async def test_the_bytes_of_a_large_request_are_made_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch, messages: int, tokens: int | None, beside: bool
) -> None:
    threads: set[int] = set()

    def watched(message: Message, marked: frozenset[int] = frozenset()) -> bytes:
        threads.add(threading.get_ident())
        return message_bytes(message, marked)

    content = [message("user", [Text("\u4e16 half \ud83d")]) for _ in range(messages)]
    for each in content:
        if tokens is not None:
            remember(each, tokens)
    asked = request(content, Breakpoint(messages - 1, 0))
    expected = body(Serialiser(), asked)
    monkeypatch.setattr("ullage.models.serialise.message_bytes", watched)
    serialiser = Serialiser()
    made = [
        await serialiser.body_off_the_loop(asked, opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True)
        for _ in range(2)
    ]
    assert made == [expected] * 2
    first = threads - {threading.get_ident()}
    assert bool(first) == beside


async def test_what_was_seen_is_not_large_for_being_long(monkeypatch: pytest.MonkeyPatch) -> None:
    content = [message("user", [Text("a")]) for _ in range(3)]
    for each in content:
        remember(each, 100_000)
    serialiser = Serialiser()
    body(serialiser, request(content))
    monkeypatch.setattr("ullage.models.serialise.asyncio.to_thread", None)
    await serialiser.body_off_the_loop(request(content), opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True)


async def test_who_is_cancelled_while_a_request_is_made_gets_nothing_and_leaves_it_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held(message: Message, marked: frozenset[int] = frozenset()) -> bytes:
        begun.set()
        assert go_on.wait(PATIENCE)
        return message_bytes(message, marked)

    monkeypatch.setattr("ullage.models.serialise.message_bytes", held)
    asked = request([message("user", [Text(str(number))]) for number in range(2_001)])
    serialiser = Serialiser()
    making = asyncio.create_task(
        serialiser.body_off_the_loop(asked, opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True)
    )
    assert await asyncio.to_thread(begun.wait, 10)  # on the loop nothing would go on now
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    go_on.set()
    made = await serialiser.body_off_the_loop(asked, opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True)
    assert made == body(Serialiser(), asked)


def shown(*media: Media) -> Message:
    return Message("user", (ToolResult("t1", "look", media=media), *media), tuple(range(1 + len(media))))


class Bytes:
    """What is kept, and how often it was read."""

    def __init__(self) -> None:
        self.read: list[Media] = []
        self.gone = False

    def __call__(self, media: Media) -> bytes | None:
        self.read.append(media)
        return None if self.gone else kept(media)


def test_images_and_documents_go_as_base64_and_are_read_once() -> None:
    files = Bytes()
    serialiser = Serialiser(files)
    messages = [shown(IMAGE, DOCUMENT), Message("assistant", (Text("ok"),), (9,)), shown(IMAGE)]
    sent = json.loads(body(serialiser, request(messages, Breakpoint(0, 1), Breakpoint(2, 0))))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}}
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(PDF).decode()}}
    mark = {"cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "tool_use_id": "t1"}
    assert [each["content"] for each in sent["messages"]] == [
        [{**result, "content": [{"type": "text", "text": "look"}, image, pdf]}, {**image, **mark}, pdf],
        [{"type": "text", "text": "ok"}],
        [{**result, "content": [{"type": "text", "text": "look"}, image], **mark}, image],
    ]
    again = body(serialiser, request([*messages, Message("user", (Text("more"),), (10,))], Breakpoint(2, 1)))
    assert files.read == [IMAGE, DOCUMENT]
    assert again == body(Serialiser(kept), request([*messages, Message("user", (Text("more"),), (10,))], Breakpoint(2, 1)))


def test_a_file_that_is_gone_is_told_in_words_and_stays_gone() -> None:
    files = Bytes()
    files.gone = True
    serialiser = Serialiser(files)
    first = body(serialiser, request([shown(IMAGE)]))
    (content,) = [each["content"] for each in json.loads(first)["messages"]]
    assert "[image, 80 × 60: no longer there" in content[0]["content"][1]["text"]
    assert content[1]["type"] == "text"
    files.gone = False
    assert body(serialiser, request([shown(IMAGE)])) == first, "so that the prefix stays"


def test_what_there_is_no_room_for_is_told_in_words_until_there_is() -> None:
    serialiser = Serialiser(kept)
    messages = [shown(IMAGE), shown(WIDE)]

    def kinds(room: Room) -> list[str]:
        made = serialiser.body(request(messages), opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True, room=room)
        return [block["type"] for each in json.loads(made)["messages"] for block in each["content"]]

    assert kinds(Room(3)) == ["tool_result", "image", "tool_result", "text"]
    assert kinds(Room(4)) == ["tool_result", "image", "tool_result", "image"]
    assert kinds(NO_ROOM) == ["tool_result", "text", "tool_result", "text"]


async def test_files_are_read_in_another_thread() -> None:
    threads: set[int] = set()

    def read(media: Media) -> bytes | None:
        threads.add(threading.get_ident())
        return kept(media)

    await Serialiser(read).body_off_the_loop(
        request([shown(IMAGE)]), opening={"model": "m", "stream": True}, max_tokens=10, adaptive_thinking=True
    )
    assert threads
    assert threading.get_ident() not in threads
