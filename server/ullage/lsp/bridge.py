"""Between the sessions and the wire: opening the sessions, sending their updates, and showing what takes long.

This is imported after `initialize` was answered, off the event loop, because the sessions bring the models and tools with them.

Updates leave in order, a few at a time, and no more than the client takes (`UpdateOutbox`). If a client does not read, all that it is told
would pile up here. So while too much waits for it, only the newest update of each session is kept. Once the client has read what was there,
that update is sent. The client sees the gap before it, and asks for a snapshot.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.convert import figures_to_wire, update_to_wire
from ullage.lsp.editor_models import ConnectedModels
from ullage.lsp.mcp_client import of_client
from ullage.lsp.methods import Answers
from ullage.lsp.protocol import FIGURES, LIST_CHANGED, UPDATE, Nothing
from ullage.lsp.protocol.sessions import FiguresParams
from ullage.lsp.protocol.updates import UpdateParams
from ullage.session.changes.progress import ShownProgress, nowhere
from ullage.session.errors import SessionError
from ullage.session.sessions.sessions import Sessions
from ullage.session.settings import Settings
from ullage.session.timeline.items import CompactionItem, new_id
from ullage.session.timeline.updates import ItemRemoved, ItemUpdated, Update
from ullage.starting import Keys
from ullage.store.workspace_store import WorkspaceStore, open_workspace_store
from ullage.workspace.files import Editor
from ullage.workspace.folders import Folders

logger = logging.getLogger(__name__)

T = TypeVar("T")

BREATH_SECONDS = 0.005
"""How long updates are sent before others have their turn."""

MOST_WAITING = 8_000_000
"""How many bytes wait for the client when it is told no more ..."""

FEW_WAITING = 1_000_000
"""... until it has read all but this many."""

LOOK_AGAIN_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ClientSurroundings:
    """The surroundings of the sessions, as the client told of them."""

    folders: Sequence[Path]
    editor: Editor
    settings: Settings
    keys: Keys | None
    state_folder: Path | None
    remembered_session: str | None = None


async def open_bridge(
    protocol: AgentProtocol,
    around: ClientSurroundings,
    warn: Callable[[str], None],
    is_well: Callable[[str], None],
    own: Callable[[Coroutine[Any, Any, None]], object],
) -> Bridge:
    """The sessions of one client. What is kept of them is opened in another thread: to recover a large damaged log takes seconds."""
    roots = Folders(around.folders).roots
    kept = await asyncio.to_thread(open_workspace_store, roots, around.settings.store_location, around.settings.team_place)
    return Bridge(protocol, around, kept, warn, is_well, own)


class Bridge:
    """The sessions of one client. `own` runs work in the background that ends with the server."""

    def __init__(
        self,
        protocol: AgentProtocol,
        around: ClientSurroundings,
        kept: WorkspaceStore,
        warn: Callable[[str], None],
        is_well: Callable[[str], None],
        own: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._protocol = protocol
        self._progress = WindowProgress(protocol, own)
        self._loop = asyncio.get_running_loop()
        self._outbox: UpdateOutbox[Update] = UpdateOutbox(self._send, lambda: protocol.waiting, self._loop)
        self.editor_models = ConnectedModels(protocol)
        self.sessions = Sessions(
            around.folders,
            around.editor,
            around.settings,
            around.keys,
            around.state_folder,
            self._updated,
            lambda: protocol.notify(LIST_CHANGED, Nothing()),
            warn,
            remembered_session=around.remembered_session,
            kept=kept,
            show_progress=self._progress.show,
            on_figures=lambda changed: protocol.notify(FIGURES, FiguresParams(changed.session_id, figures_to_wire(changed.figures))),
            editor_models=self.editor_models,
            of_client=of_client(protocol),
            on_well=is_well,
        )
        self.answers = Answers(self.sessions)

    def _updated(self, session_id: str, seq: int, update: Update) -> None:
        self._outbox.put(session_id, seq, update)
        if isinstance(update, ItemUpdated) and isinstance(update.item, CompactionItem):
            self._loop.call_soon(self._progress.see_compaction, update.item, lambda: self._cancel(session_id))
        elif isinstance(update, ItemRemoved):
            self._loop.call_soon(self._progress.end_compaction, update.item_id)

    def editor_models_changed(self) -> None:
        """Has the editor's own language models listed anew, because it offers others than before."""
        self.editor_models.changed()
        self.sessions.models.editor_models_changed()

    def _send(self, session_id: str, seq: int, update: Update) -> None:
        self._protocol.notify(UPDATE, UpdateParams(session_id, seq, update_to_wire(update)))

    def _cancel(self, session_id: str) -> None:
        try:
            self.sessions.get(session_id).cancel()
        except SessionError as error:
            logger.info("nothing to cancel: %s", error)


class UpdateOutbox(Generic[T]):
    """Updates on their way to the client. `send` takes the session, the number and the update; `waiting` says how many bytes the client has
    not read."""

    def __init__(self, send: Callable[[str, int, T], None], waiting: Callable[[], int], loop: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._waiting = waiting
        self._loop = loop
        self._updates: deque[tuple[str, int, T]] = deque()
        self._newest: dict[str, tuple[int, T]] = {}
        """The newest update, with its number, of each session whose updates are not sent now."""
        self._is_going = False

    def put(self, session_id: str, seq: int, update: T) -> None:
        """Sends it soon: in the loop's next round at the earliest, so that an answer with a snapshot from before leaves before."""
        if session_id in self._newest:
            self._newest[session_id] = seq, update
        else:
            self._updates.append((session_id, seq, update))
        if not self._is_going:
            self._is_going = True
            self._loop.call_soon(self._go)

    def _go(self) -> None:
        began = perf_counter()
        while self._updates and perf_counter() - began < BREATH_SECONDS:
            if self._waiting() > MOST_WAITING:
                self._fall_behind()
            else:
                self._send(*self._updates.popleft())
        if self._newest and self._waiting() < FEW_WAITING:
            self._updates.extend((session_id, seq, update) for session_id, (seq, update) in self._newest.items())
            self._newest.clear()
        self._is_going = bool(self._updates or self._newest)
        if self._updates:
            self._loop.call_soon(self._go)
        elif self._newest:
            self._loop.call_later(LOOK_AGAIN_SECONDS, self._go)

    def _fall_behind(self) -> None:
        for session_id, seq, update in self._updates:
            self._newest[session_id] = seq, update
        self._updates.clear()


class WindowProgress:
    """Shows in the editor what takes long: with a progress for each, and a way to stop it (LSP 3.17, Work Done Progress).

    `own` runs work in the background.
    """

    def __init__(self, protocol: AgentProtocol, own: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        self._protocol = protocol
        self._own = own
        self._compactions: dict[str, ShownProgress] = {}

    def show(self, title: str, stop: Callable[[], None]) -> ShownProgress:
        """Begins a progress with that title. `stop` is called when the user cancels it in the editor."""
        return self._begin(new_id("progress"), title, stop)

    def _begin(self, token: str, title: str, stop: Callable[[], None]) -> ShownProgress:
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
    """One progress that the editor shows."""

    def __init__(self, protocol: AgentProtocol, token: str, title: str) -> None:
        self._protocol = protocol
        self._title = title
        self._token = token
        self._ended = asyncio.Event()
        self._percent: int | None = None
        self._is_begun = False

    def report(self, percent: int) -> None:
        """Shows how much is done, in percent."""
        self._percent = percent
        if self._is_begun:
            self._protocol.progress.report(self._token, types.WorkDoneProgressReport(percentage=percent))

    def end(self) -> None:
        """Ends the progress, because its work is done or was stopped."""
        self._is_begun = False
        self._ended.set()

    async def run(self, stop: Callable[[], None]) -> None:
        """Shows the progress until it ends. `stop` is called when the user cancels it."""
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
