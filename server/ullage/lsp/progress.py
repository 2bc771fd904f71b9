"""Shows compactions as progress in the editor's own way, where the editor has one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.session.items import CompactionItem

logger = logging.getLogger(__name__)


class CompactionProgress:
    """One progress for each compaction that is being made."""

    def __init__(self, protocol: AgentProtocol) -> None:
        self._protocol = protocol
        self._shown: set[str] = set()
        self._tokens: dict[int | str, Future[object]] = protocol.progress.tokens  # pyright: ignore[reportUnknownMemberType]
        """pygls cancels the future of a token when the user cancels that progress."""

    def wants(self, item: CompactionItem) -> bool:
        """Whether there is something to begin or to end for this state of a compaction."""
        begins = item.status == "in_progress" and item.id not in self._shown and self._is_supported()
        return begins or (item.status != "in_progress" and item.id in self._shown)

    async def show(self, item: CompactionItem, cancel: Callable[[], None]) -> None:
        """Begins or ends the progress. `cancel` is called where the user cancels it there."""
        token = f"compaction {item.id}"
        if item.status != "in_progress":
            self._shown.discard(item.id)
            self._protocol.progress.end(token, types.WorkDoneProgressEnd(message=item.error or None))
            self._tokens.pop(token, None)
            return
        self._shown.add(item.id)
        try:
            await self._protocol.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token))
        except JsonRpcException as error:
            logger.info("the editor shows no progress: %s", error)
            self._shown.discard(item.id)
            return
        if item.id in self._shown:
            begin = types.WorkDoneProgressBegin(title="Compacting the conversation", cancellable=True)
            self._protocol.progress.begin(token, begin)
            self._tokens[token].add_done_callback(lambda future: cancel() if future.cancelled() else None)

    def _is_supported(self) -> bool:
        window = self._protocol.client_capabilities.window
        return bool(window and window.work_done_progress)
