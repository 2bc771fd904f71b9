"""Shows compactions as progress in the editor's own way, where the editor has one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.session.items import CompactionItem

logger = logging.getLogger(__name__)


class CompactionProgress:
    """One progress for each compaction that is being made. `own` runs work in the background."""

    def __init__(self, protocol: AgentProtocol, own: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        self._protocol = protocol
        self._own = own
        self._ended: dict[str, asyncio.Event] = {}
        self._tokens: dict[int | str, Future[object]] = protocol.progress.tokens  # pyright: ignore[reportUnknownMemberType]
        """pygls cancels the future of a token when the user cancels that progress."""

    def see(self, item: CompactionItem, cancel: Callable[[], None]) -> None:
        """Begins or ends a progress, as the state of the compaction wants it. `cancel` is called where the user cancels it there."""
        if item.status != "in_progress":
            self.end(item.id)
        elif item.id not in self._ended and self._is_supported():
            self._ended[item.id] = asyncio.Event()
            self._own(self._show(f"compaction {item.id}", self._ended[item.id], cancel))

    def end(self, item_id: str) -> None:
        """Ends the progress of that item, where it has one: it is done, or gone from the timeline."""
        ended = self._ended.pop(item_id, None)
        if ended is not None:
            ended.set()

    async def _show(self, token: str, ended: asyncio.Event, cancel: Callable[[], None]) -> None:
        try:
            await self._protocol.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token))
        except JsonRpcException as error:
            logger.info("the editor shows no progress: %s", error)
            return
        progress = self._protocol.progress
        progress.begin(token, types.WorkDoneProgressBegin(title="Compacting the conversation", cancellable=True))
        self._tokens[token].add_done_callback(lambda future: cancel() if future.cancelled() else None)
        await ended.wait()
        progress.end(token, types.WorkDoneProgressEnd())
        del self._tokens[token]

    def _is_supported(self) -> bool:
        window = self._protocol.client_capabilities.window
        return bool(window and window.work_done_progress)
