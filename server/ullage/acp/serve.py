"""Serving one client from its first message to its last."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from acp.agent.connection import AgentSideConnection
from acp.interfaces import Agent

from ullage.acp.access import Access
from ullage.acp.agent import UllageAgent
from ullage.acp.stdio import StdioWire
from ullage.session.settings import Settings
from ullage.starting import Keys
from ullage.store.user_state import UserState


async def serve(settings: Settings, keys: Keys, state_folder: Path | None = None) -> int:
    """Serves the client at stdin and stdout until it goes; gives the exit code."""
    wire = StdioWire()
    agent = UllageAgent(Access(settings, keys, UserState(state_folder)), wire, state_folder)
    # The package calls "unstable" what became part of version 1 since: resuming, closing and forking sessions.
    connection = AgentSideConnection(cast("Agent", agent), wire, listening=False, use_unstable_protocol=True)
    listening = cast("Any", connection)
    try:
        await listening.listen()
    finally:
        await agent.close()
        await listening.close()
    return 0
