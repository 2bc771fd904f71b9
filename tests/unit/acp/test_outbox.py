"""What a client is told in order, and what is joined while it waits."""

from __future__ import annotations

import asyncio
from typing import Any

from acp import schema

from ullage.acp.outbox import ClientOutbox
from ullage.acp.shown import words_chunk


def usage(used: int) -> schema.UsageUpdate:
    return schema.UsageUpdate(session_update="usage_update", used=used, size=100)


def progress(**fields: Any) -> schema.ToolCallProgress:
    return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id="t1", **fields)


async def sent(*updates: tuple[str, Any]) -> list[tuple[str, Any]]:
    """What leaves of what was put while nothing could."""
    found: list[tuple[str, Any]] = []

    async def send(session_id: str, update: Any) -> None:
        found.append((session_id, update))

    outbox = ClientOutbox(send)
    for session_id, update in updates:
        outbox.put(session_id, update)
    sending = asyncio.create_task(outbox.send_all())
    await outbox.flush()
    sending.cancel()
    return found


async def test_pieces_of_a_message_are_joined_and_those_of_others_are_not() -> None:
    found = await sent(
        *(("s1", words_chunk(text, "r1.0")) for text in ("a", "b")),
        ("s2", words_chunk("c", "r1.0")),
        ("s1", words_chunk("d", "r1.0")),
        ("s1", words_chunk("e", "r1.1")),
    )
    assert [(session, update.content.text) for session, update in found] == [("s1", "ab"), ("s2", "c"), ("s1", "d"), ("s1", "e")]


async def test_the_newest_figure_is_enough_and_changes_of_a_call_add_up() -> None:
    found = await sent(
        ("s", usage(1)), ("s", usage(2)), ("s", progress(status="in_progress", title="$ make")), ("s", progress(status="completed"))
    )
    assert [type(update) for _, update in found] == [schema.UsageUpdate, schema.ToolCallProgress]
    assert (found[0][1].used, found[1][1].status, found[1][1].title) == (2, "completed", "$ make")


async def test_what_cannot_be_sent_holds_up_nothing() -> None:
    came: list[Any] = []

    async def send(_: str, update: Any) -> None:
        if update == "bad":
            raise ValueError(update)
        came.append(update)

    outbox = ClientOutbox(send)
    outbox.put("s", "bad")
    outbox.put("s", "good")
    sending = asyncio.create_task(outbox.send_all())
    await outbox.flush()
    sending.cancel()
    assert came == ["good"]
