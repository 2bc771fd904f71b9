"""What the server does for the requests about commands that go on in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.protocol import running

if TYPE_CHECKING:  # takes long to import
    from ullage.session.sessions.sessions import Sessions


def leave_running(sessions: Sessions, params: running.LeaveRunningParams) -> wire.Nothing:
    """Lets the command of a call go on in the background, so that the turn goes on. Raises `SessionError`."""
    sessions.get(params.session_id).leave_running(params.tool_call_id)
    return wire.Nothing()


def stop_command(sessions: Sessions, params: running.CommandParams) -> wire.Nothing:
    """Ends a command that runs in the background. Raises `SessionError`."""
    sessions.get(params.session_id).stop_command(params.command_id)
    return wire.Nothing()


def command_output(sessions: Sessions, params: running.CommandParams) -> running.CommandOutputResult:
    """The newest output of a command in the background. Raises `SessionError`."""
    return running.CommandOutputResult(sessions.get(params.session_id).running_command(params.command_id).shown())


async def _open_port(sessions: Sessions, params: running.OpenPortParams) -> running.OpenPortResult:
    return running.OpenPortResult(await sessions.get(params.session_id).open_port(params.command_id, params.port))


RUNNING_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {wire.OPEN_PORT: _open_port}
"""The functions for the methods that wait for something; the others are answered at once (`methods.py`)."""
