"""Settings that change while the sessions are still being opened are not lost."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ullage.lsp import server as server_module
from ullage.lsp.server import UllageServer
from ullage.session.settings import Settings


async def test_they_are_taken_over_before_the_sessions_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    server = UllageServer(None)
    taken: list[Settings] = []

    async def start() -> None:
        server.pushed_settings = {"compaction": {"cap": 12_345}}
        await server.configure()  # as `workspace/didChangeConfiguration` does it

    async def open_bridge(_: Any, around: Any, *__: Any) -> Any:
        taken.append(around.settings)
        return SimpleNamespace(sessions=SimpleNamespace(start=start, configure=taken.append, unconfirmed_address=""), at_once={})

    bridge = SimpleNamespace(Surroundings=SimpleNamespace, open_bridge=open_bridge)
    monkeypatch.setattr(server_module, "_import_bridge", lambda: bridge)
    monkeypatch.setattr(server, "_folders", list)
    monkeypatch.setattr(server, "_configuration", lambda: asyncio.sleep(0, server.pushed_settings))
    async with asyncio.TaskGroup() as tasks:
        monkeypatch.setattr(server, "_tasks", tasks)
        await server.open_sessions()
    assert [settings.line_cap for settings in taken] == [Settings().line_cap, 12_345]
