"""Between the sessions and the wire: requests go in, updates come out.

Imported after `initialize` was answered, off the event loop: the sessions bring the models and tools with them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcException, JsonRpcInternalError

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.convert import update_to_wire
from ullage.lsp.methods import AT_ONCE, IN_THREADS, METHODS
from ullage.lsp.outbox import Outbox
from ullage.lsp.progress import CompactionProgress
from ullage.lsp.protocol import LIST_CHANGED, REQUEST_FAILED, UPDATE, Nothing, UpdateParams
from ullage.session.breath import ROUND
from ullage.session.errors import SessionError, refusal_of
from ullage.session.items import CompactionItem, ItemRemoved, ItemUpdated, Update
from ullage.session.sessions import Sessions
from ullage.session.settings import Settings
from ullage.session.workspace_store import WorkspaceStore, open_workspace_store
from ullage.store.errors import StoreFailed
from ullage.workspace.editor import Editor
from ullage.workspace.folders import Folders

logger = logging.getLogger(__name__)

MOST_IN_THREADS = 3
"""Requests of those in `IN_THREADS` that are worked on at once: half of the threads that there are on two cores (`to_thread`). The others
are for the turns."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the sessions work in, as the client told it."""

    folders: Sequence[Path]
    editor: Editor
    settings: Settings
    api_key: str | None
    state_folder: Path | None
    remembered_session: str | None = None


async def open_bridge(
    protocol: AgentProtocol, around: Surroundings, warn: Callable[[str], None], own: Callable[[Coroutine[Any, Any, None]], object]
) -> Bridge:
    """The sessions of one client. What is kept of them is opened in another thread: to recover a large damaged log takes seconds."""
    roots = Folders(around.folders).roots
    kept = await asyncio.to_thread(open_workspace_store, roots, around.settings.store_location)
    return Bridge(protocol, around, kept, warn, own)


class Bridge:
    """The sessions of one client. `own` runs work in the background that ends with the server."""

    def __init__(
        self,
        protocol: AgentProtocol,
        around: Surroundings,
        kept: WorkspaceStore,
        warn: Callable[[str], None],
        own: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._protocol = protocol
        self._progress = CompactionProgress(protocol, own)
        self._loop = asyncio.get_running_loop()
        self._threads = asyncio.Semaphore(MOST_IN_THREADS)
        self._outbox: Outbox[Update] = Outbox(self._send, lambda: protocol.waiting, self._loop)
        self.sessions = Sessions(
            around.folders,
            around.editor,
            around.settings,
            around.api_key,
            around.state_folder,
            self._updated,
            lambda: protocol.notify(LIST_CHANGED, Nothing()),
            warn,
            remembered_session=around.remembered_session,
            kept=kept,
        )

    async def answer(self, method: str, params: object) -> object:
        """Does what a request asks for. Raises `JsonRpcException`."""
        if method in AT_ONCE:
            return self._answer_at_once(method, params)
        await ROUND.has_room()
        with _refusing(method):
            if method not in IN_THREADS:
                return await METHODS[method](self.sessions, params)
            async with self._threads:
                return await METHODS[method](self.sessions, params)

    @property
    def at_once(self) -> Mapping[str, Callable[[Any], object]]:
        """The same of the methods in `AT_ONCE`."""
        return {method: partial(self._answer_at_once, method) for method in AT_ONCE}

    def _answer_at_once(self, method: str, params: object) -> object:
        with _refusing(method):
            return AT_ONCE[method](self.sessions, params)

    def _updated(self, session_id: str, seq: int, update: Update) -> None:
        self._outbox.put(session_id, seq, update)
        if isinstance(update, ItemUpdated) and isinstance(update.item, CompactionItem):
            self._loop.call_soon(self._progress.see, update.item, lambda: self._cancel(session_id))
        elif isinstance(update, ItemRemoved):
            self._loop.call_soon(self._progress.end, update.item_id)

    def _send(self, session_id: str, seq: int, update: Update) -> None:
        self._protocol.notify(UPDATE, UpdateParams(session_id, seq, update_to_wire(update)))

    def _cancel(self, session_id: str) -> None:
        try:
            self.sessions.get(session_id).cancel()
        except SessionError as error:
            logger.info("nothing to cancel: %s", error)


@contextmanager
def _refusing(method: str) -> Generator[None]:
    """In the words of the wire."""
    try:
        yield
    except SessionError as error:
        raise _refused(error) from error
    except StoreFailed as error:
        raise _refused(refusal_of(error)) from error
    except Exception as error:
        logger.exception("%s failed", method)
        raise JsonRpcInternalError(f"{method} failed inside the server: {type(error).__name__}. The server's log says more.") from error


def _refused(error: SessionError) -> JsonRpcException:
    return JsonRpcException(str(error), REQUEST_FAILED, {"reason": error.reason})
