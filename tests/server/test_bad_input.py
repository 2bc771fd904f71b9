"""Real server processes on a log that is damaged, and on one that two windows want."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.patience import PATIENCE
from tests.server.client import UllageClient, editor_window, state_of
from ullage.lsp import protocol
from ullage.lsp.protocol import history, sessions
from ullage.lsp.protocol import items as wire
from ullage.store.folder import folder_of


def said(items: list[wire.Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, wire.UserItem)]


async def now(client: UllageClient, session_id: str) -> sessions.Snapshot:
    return await client.ask(protocol.SNAPSHOT, protocol.SessionParams(session_id))


async def turn(client: UllageClient, session_id: str, text: str) -> sessions.Snapshot:
    """A whole turn. The window may have other sessions open."""
    prompt_id = await client.prompt(session_id, text)
    async with asyncio.timeout(PATIENCE):
        while True:
            client.came.clear()
            shown = await now(client, session_id)
            began = any(isinstance(item, wire.UserItem) and item.id == prompt_id and not item.queued for item in shown.items)
            if began and shown.state == "idle":
                return shown
            await client.came.wait()


async def compacted(client: UllageClient, session_id: str) -> wire.CompactionItem:
    after = (await now(client, session_id)).seq
    await client.ask(protocol.COMPACT, history.CompactParams(session_id))
    await client.until(lambda update: state_of(update) == "idle", after)
    return next(item for item in reversed((await now(client, session_id)).items) if isinstance(item, wire.CompactionItem))


async def recorded(folder: Path, state: Path) -> str:
    """A session with two turns; its id."""
    (folder / "pump.py").write_text("def prime():\n    pass\n" * 400)
    async with editor_window(folder, state) as client:
        opened = await client.open()
        await turn(client, opened.session_id, "where is prime defined?")
        await turn(client, opened.session_id, "hello there")
    return opened.session_id


def database(folder: Path, state: Path) -> Path:
    return folder_of(folder, state) / "ullage.db"


@pytest.mark.parametrize(
    ("seq", "body"),
    [(1, "null"), (2, '{"kind": "of_a_later_version", "text": "hello"}'), (4, "{no JSON")],
    ids=["prelude", "prompt", "result"],
)
async def test_a_session_with_a_row_that_cannot_be_read_opens_says_so_and_goes_on(folder: Path, state: Path, seq: int, body: str) -> None:
    session_id = await recorded(folder, state)
    with sqlite3.connect(database(folder, state)) as connection:
        connection.execute("UPDATE entry SET body = ? WHERE seq = ?", (body, seq))
    async with editor_window(folder, state) as client:
        opened = await client.open()
        assert opened.session_id == session_id
        assert "hello there" in said(opened.items)
        assert any(f"Entry {seq} of this session is damaged" in message.message for message in client.messages)
        assert (await turn(client, session_id, "go on")).state == "idle"
        assert (await compacted(client, session_id)).status == "completed"
        after = await turn(client, session_id, "where is prime defined?")
        assert not [item for item in after.items if isinstance(item, wire.NoticeItem) and item.level == "error"]
    with sqlite3.connect(database(folder, state)) as connection:  # it stays where it was
        assert connection.execute("SELECT body FROM entry WHERE seq = ?", (seq,)).fetchone() == (body,)


def cut_off(content: bytes) -> bytes:
    return content[: len(content) // 2]


def no_database(_: bytes) -> bytes:
    return b"this is no database\n" * 500


@pytest.mark.parametrize("damage", [cut_off, no_database])
async def test_a_file_that_is_cut_off_is_set_aside_with_a_word(folder: Path, state: Path, damage: Callable[[bytes], bytes]) -> None:
    await recorded(folder, state)
    damaged = damage(database(folder, state).read_bytes())
    database(folder, state).write_bytes(damaged)
    async with editor_window(folder, state) as client:
        opened = await client.open()
        told = [message.message for message in client.messages]
        assert any("could not be used" in message and "renamed" in message for message in told)
        assert said((await turn(client, opened.session_id, "hello again")).items)[-1] == "hello again"
    [aside] = database(folder, state).parent.glob("ullage.db.damaged-*")
    assert aside.read_bytes() == damaged


async def test_of_two_windows_each_has_its_own_session_and_what_one_did_the_other_finds_when_it_may(folder: Path, state: Path) -> None:
    session_id = await recorded(folder, state)
    async with editor_window(folder, state) as there:
        async with editor_window(folder, state) as here:
            assert (await here.open()).session_id == session_id
            for method, params in (
                (protocol.OPEN, sessions.OpenParams(session_id)),
                (protocol.DELETE, protocol.SessionParams(session_id)),
            ):
                with pytest.raises(JsonRpcException, match="another window") as refused:
                    await there.ask(method, params)
                assert refused.value.data == {"reason": "session_busy"}
            other = (await there.open()).session_id
            for round in range(2):
                await asyncio.gather(turn(here, session_id, f"here {round}"), turn(there, other, f"there {round}"))
            assert (await compacted(here, session_id)).status == "completed"
            await turn(there, other, "still there")
            mine = await turn(here, session_id, "still here")
        taken_over = await there.open(session_id)
        assert said(taken_over.items) == said(mine.items)
        assert said((await now(there, other)).items) == ["there 0", "there 1", "still there"]
        assert (await turn(there, session_id, "and on")).state == "idle"
    with sqlite3.connect(database(folder, state)) as connection:
        rows = connection.execute("SELECT session_id, seq, body FROM entry ORDER BY row").fetchall()
    for each in (session_id, other):
        assert [seq for session, seq, _ in rows if session == each] == [*range(1, 1 + sum(session == each for session, *_ in rows))]
    assert all(json.loads(body) for *_, body in rows)
