"""Settings and folders that change while the sessions are still being opened are not lost, and opening holds nobody up."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.patience import PATIENCE
from ullage.lsp import bridge as bridge_module
from ullage.lsp.server import UllageServer
from ullage.session.settings import Settings


async def test_they_are_taken_over_before_the_sessions_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    server = UllageServer(None)
    taken: list[Settings] = []
    section: dict[str, object] = {}

    async def start() -> None:
        section["compaction"] = {"cap": 12_345}
        server.settings.changed()
        await server.configure()  # as `workspace/didChangeConfiguration` does it

    async def open_bridge(_: Any, around: Any, *__: Any) -> Any:
        taken.append(around.settings)
        return SimpleNamespace(
            sessions=SimpleNamespace(start=start, configure=taken.append, unconfirmed_address=""), answers=SimpleNamespace(at_once={})
        )

    monkeypatch.setattr(bridge_module, "open_bridge", open_bridge)
    monkeypatch.setattr(server, "_folders", list)
    monkeypatch.setattr(server.settings, "_section", lambda: asyncio.sleep(0, dict(section)))
    async with asyncio.TaskGroup() as tasks:
        monkeypatch.setattr(server, "_tasks", tasks)
        await server.open_sessions()
    assert [settings.threshold_cap for settings in taken] == [Settings().threshold_cap, 12_345]


async def test_folders_that_change_meanwhile_are_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    server = UllageServer(None)
    folders, changes, given = [Path("/a"), Path("/b")], list[tuple[list[Path], list[Path]]](), list[list[Path]]()

    async def start() -> None:
        folders[:] = [Path("/b"), Path("/c")]
        assert server.bridge is None  # so that `workspace/didChangeWorkspaceFolders` tells nobody yet

    def changed(removed: list[Path], added: list[Path]) -> None:
        changes.append((removed, added))

    async def open_bridge(_: Any, around: Any, *__: Any) -> Any:
        given.append(around.folders)
        sessions = SimpleNamespace(start=start, unconfirmed_address="", folders_changed=changed)
        return SimpleNamespace(sessions=sessions, answers=SimpleNamespace(at_once={}))

    monkeypatch.setattr(bridge_module, "open_bridge", open_bridge)
    monkeypatch.setattr(server, "_folders", lambda: list(folders))
    monkeypatch.setattr(server.settings, "_section", lambda: asyncio.sleep(0, None))
    async with asyncio.TaskGroup() as tasks:
        monkeypatch.setattr(server, "_tasks", tasks)
        await server.open_sessions()
    assert given == [[Path("/a"), Path("/b")]]
    assert changes == [([Path("/a")], [Path("/c")])]
    assert server.bridge is not None


async def test_what_is_kept_is_opened_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """To recover a large damaged log takes seconds: whoever else has something to do has it done meanwhile."""
    let_go, threads = threading.Event(), list[threading.Thread]()

    def open_slowly(roots: Any, location: str, team: Any) -> Any:
        threads.append(threading.current_thread())
        assert let_go.wait(PATIENCE)
        return "what is kept"

    class Opened:
        def __init__(self, protocol: Any, around: Any, kept: Any, *_: Any) -> None:
            self.kept = kept

    monkeypatch.setattr(bridge_module, "open_workspace_store", open_slowly)
    monkeypatch.setattr(bridge_module, "Bridge", Opened)
    around: Any = SimpleNamespace(folders=[], settings=Settings())
    opening = asyncio.create_task(bridge_module.open_bridge(cast("Any", None), around, print, print, print))
    while not threads:  # noqa: ASYNC110 - a thread begins
        await asyncio.sleep(0)
    assert threads != [threading.main_thread()]
    assert not opening.done()
    let_go.set()
    opened: Any = await opening
    assert opened.kept == "what is kept"
