"""What a client is told of its sessions, in order. While an update waits, more text of the same message joins it, and a newer figure takes
the place of an older one. So a client that reads slowly is told less often, and nothing piles up."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from acp.schema import AgentMessageChunk, AgentThoughtChunk, SessionInfoUpdate, TextContentBlock, ToolCallProgress, UsageUpdate

logger = logging.getLogger(__name__)

Send: TypeAlias = Callable[[str, Any], Awaitable[None]]
"""A function that sends an update of the session with that id."""


@dataclass(slots=True)
class _Waiting:
    session_id: str
    update: Any
    """The update to be sent; None if `then` is to be done at this place in the order."""
    then: Callable[[], object] | None = None


class ClientOutbox:
    """Tells one client of its sessions, in order."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[_Waiting] = deque()
        self._came = asyncio.Event()
        self._held: dict[str, list[Any]] = {}
        """The updates that wait until the client knows their session."""

    def hold(self, session_id: str) -> None:
        """Holds back all updates of that session until it is let go: many clients drop updates of a session that they do not know."""
        self._held.setdefault(session_id, [])

    def let_go(self, session_id: str) -> None:
        """Sends what was held back of that session, because the client knows it now."""
        for update in self._held.pop(session_id, ()):
            self.put(session_id, update)

    def put(self, session_id: str, update: Any) -> None:
        """Has an update sent soon, joined with the one before where that is possible."""
        if session_id in self._held:
            self._held[session_id].append(update)
            return
        last = self._waiting[-1] if self._waiting else None
        joined = None if last is None or last.session_id != session_id else _joined(last.update, update)
        if last is not None and joined is not None:
            last.update = joined
        else:
            self._waiting.append(_Waiting(session_id, update))
        self._came.set()

    def then(self, do: Callable[[], object]) -> None:
        """Calls `do` once all updates are sent that were put before."""
        self._waiting.append(_Waiting("", None, do))
        self._came.set()

    async def flush(self) -> None:
        """Waits until all updates are sent that were put before."""
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.then(lambda: None if sent.done() else sent.set_result(None))
        await sent

    async def send_all(self) -> None:
        """Sends updates as they come, until it is cancelled."""
        while True:
            while self._waiting:
                first = self._waiting.popleft()
                if first.then is not None:
                    first.then()
                    continue
                try:
                    await self._send(first.session_id, first.update)
                except ConnectionError:
                    logger.debug("an update was not sent: the client is gone")
                except Exception:
                    logger.exception("an update could not be sent")
            self._came.clear()
            await self._came.wait()


def _joined(waiting: Any, update: Any) -> Any:
    """One update that says what both say; None if both have to be sent."""
    if isinstance(update, UsageUpdate | SessionInfoUpdate) and type(waiting) is type(update):
        return update
    if isinstance(update, ToolCallProgress) and isinstance(waiting, ToolCallProgress) and waiting.tool_call_id == update.tool_call_id:
        return waiting.model_copy(update={name: getattr(update, name) for name in update.model_fields_set})
    for kind in (AgentMessageChunk, AgentThoughtChunk):
        if isinstance(waiting, kind) and isinstance(update, kind) and waiting.message_id == update.message_id:
            before, more = waiting.content, update.content
            if isinstance(before, TextContentBlock) and isinstance(more, TextContentBlock):
                return waiting.model_copy(update={"content": before.model_copy(update={"text": before.text + more.text})})
    return None
