"""What takes long, as the editor shows it: a progress of its own, with a way to stop it (LSP 3.17, Work Done Progress)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.session.changes.progress import Shown, nowhere
from ullage.session.timeline.items import CompactionItem, new_id

logger = logging.getLogger(__name__)


class WindowProgress:
    """The progresses of one window. `own` runs work in the background."""

    def __init__(self, protocol: AgentProtocol, own: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        self._protocol = protocol
        self._own = own
        self._compactions: dict[str, Shown] = {}

    def show(self, title: str, stop: Callable[[], None]) -> Shown:
        """Begins one. `stop` is called where the user cancels it there."""
        return self._begin(new_id("progress"), title, stop)

    def _begin(self, token: str, title: str, stop: Callable[[], None]) -> Shown:
        window = self._protocol.client_capabilities.window
        if window is None or not window.work_done_progress:
            return nowhere(title, stop)
        shown = _InWindow(self._protocol, token, title)
        self._own(shown.run(stop))
        return shown

    def see_compaction(self, item: CompactionItem, cancel: Callable[[], None]) -> None:
        """Begins or ends a progress, as the state of the compaction wants it."""
        if item.status != "in_progress":
            self.end_compaction(item.id)
        elif item.id not in self._compactions:
            self._compactions[item.id] = self._begin(f"compaction {item.id}", "Compacting the conversation", cancel)

    def end_compaction(self, item_id: str) -> None:
        """Ends the progress of that item, where it has one: it is done, or gone from the timeline."""
        shown = self._compactions.pop(item_id, None)
        if shown is not None:
            shown.end()


class _InWindow:
    """One of them."""

    def __init__(self, protocol: AgentProtocol, token: str, title: str) -> None:
        self._protocol = protocol
        self._title = title
        self._token = token
        self._ended = asyncio.Event()
        self._percent: int | None = None
        self._is_begun = False

    def report(self, percent: int) -> None:
        """How much is done."""
        self._percent = percent
        if self._is_begun:
            self._protocol.progress.report(self._token, types.WorkDoneProgressReport(percentage=percent))

    def end(self) -> None:
        """It is done, or stopped."""
        self._is_begun = False
        self._ended.set()

    async def run(self, stop: Callable[[], None]) -> None:
        """Shows it until it ends."""
        try:
            await self._protocol.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(self._token))
        except JsonRpcException as error:
            logger.info("the editor shows no progress: %s", error)
            return
        progress = self._protocol.progress
        progress.begin(self._token, types.WorkDoneProgressBegin(title=self._title, cancellable=True, percentage=self._percent))
        # pygls cancels the future of a token when the user cancels that progress
        tokens = cast("dict[int | str, Future[object]]", progress.tokens)  # pyright: ignore[reportUnknownMemberType]
        tokens[self._token].add_done_callback(lambda future: stop() if future.cancelled() else None)
        self._is_begun = not self._ended.is_set()
        await self._ended.wait()
        progress.end(self._token, types.WorkDoneProgressEnd())
        del tokens[self._token]
