"""A writer that is killed at any moment: everything that it had acknowledged is there, and the next request is valid."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.deep import many
from tests.fake_api.validation import validate_request
from tests.forking import forking
from tests.patience import PATIENCE
from tests.unit.context.validity import problems
from tests.unit.store.killed_writer import write
from ullage.context.blocks import Media
from ullage.context.entries import Entry, Logged, TurnEnded, UserPrompt
from ullage.context.view.projection import Projection
from ullage.context.view.request import build_request
from ullage.models.serialise import Serialiser, betas
from ullage.session.turns.closing import INTERRUPTED, interrupted_result, turn_is_open
from ullage.store import folder as ullage_folder
from ullage.store.log_store import LogStore

KILLS_OF_ONE_LOG = 25
"""So that a log meets what several crashes left in it."""


def kill_one(folder: Path, seed: int, *, locked: bool) -> dict[str, set[int | str]]:
    """Lets a writer write for a while, and kills it; gives what it had acknowledged, by session."""
    here, there = forking().Pipe(duplex=False)
    process = forking().Process(target=write, args=(folder, seed, there), daemon=True)
    process.start()
    there.close()
    chance = random.Random(seed)
    acknowledged: dict[str, set[int | str]] = {}
    wanted = chance.randrange(1, 60)
    locks: sqlite3.Connection | None = None
    for number in range(wanted):
        take(here, acknowledged)
        if locked and number == wanted // 2:
            locks = sqlite3.connect(ullage_folder.database(folder), isolation_level=None, timeout=PATIENCE)
            locks.execute("BEGIN IMMEDIATE")
    process.kill()
    process.join()
    if locks is not None:
        locks.close()
    while take(here, acknowledged):
        pass
    here.close()
    return acknowledged


def take(connection: Connection, acknowledged: dict[str, set[int | str]]) -> bool:
    try:
        session_id, item = connection.recv()
    except (EOFError, OSError):
        return False
    if session_id != "pid":
        acknowledged.setdefault(session_id, set()).add(item)
    return True


def is_there(folder: Path, acknowledged: dict[str, set[int | str]]) -> int:
    """Holds the log against it; gives how many items there were."""
    store = LogStore.open(folder)
    assert store.set_aside is None
    for session_id, items in acknowledged.items():
        logged = store.load(session_id)
        assert store.damaged(session_id) == ()
        ids = {each.entry.id for each in logged if isinstance(each.entry, UserPrompt)}
        there: set[int | str] = {*(each.seq for each in logged), *ids, *(prompt.id for prompt in store.prompts.of(session_id))}
        assert items <= there, f"lost: {sorted(map(str, items - there))}"
        for each in closing(logged):
            logged.append(store.append(session_id, each, 9.0))
        is_valid([*logged, Logged(logged[-1].seq + 1, 9.0, UserPrompt("next", "Go on"))])
    store.close()
    return sum(map(len, acknowledged.values()))


def closing(logged: list[Logged]) -> list[Entry]:
    """What a session logs where a turn was left open."""
    if not turn_is_open(logged):
        return []
    pending = Projection(logged).pending_tool_uses
    return [*(interrupted_result(call, "interrupted") for call in pending), TurnEnded("interrupted", INTERRUPTED, "continue")]


def is_valid(logged: list[Logged]) -> None:
    request = build_request(Projection(logged))
    assert problems(request) == []
    body = Serialiser(no_media).body(
        request, opening={"model": "claude-opus-5-5", "stream": True}, max_tokens=1_000, adaptive_thinking=True
    )
    validate_request(json.loads(body), betas=betas(request))


def no_media(_: Media) -> bytes | None:
    return None


@pytest.mark.deep
def test_nothing_that_was_acknowledged_is_lost_by_a_kill(tmp_path: Path) -> None:
    kills, items = many(4, deep=1_000), 0
    for number in range(kills):
        folder = tmp_path / str(number // KILLS_OF_ONE_LOG)
        folder.mkdir(exist_ok=True)
        items += is_there(folder, kill_one(folder, number, locked=number % 4 == 3))
    logging.getLogger(__name__).info("%d kills, %d acknowledged items, none lost", kills, items)
    assert items > kills, f"{kills} kills met {items} acknowledged items"
