"""The language server: its life from the first message to the last, and which message of the client does what.

It owns everything that runs. When the client goes, running turns are closed as interrupted and the process ends. Nothing
that takes long to import is imported here: `initialize` is answered first. Handlers are short; what they need is in the server (`ls`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from lsprotocol.types import MessageType
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcParseError
from pygls.lsp.server import LanguageServer

from ullage import __version__
from ullage.lsp.agent_protocol import AgentProtocol
from ullage.lsp.arriving import Arriving
from ullage.lsp.configuration import ClientSettings, ServerOptions, read_options
from ullage.lsp.documents import OpenDocuments, path_of
from ullage.lsp.editor import ConnectedEditor
from ullage.lsp.framing import NotTheProtocol
from ullage.lsp.log import sending_log_to
from ullage.lsp.messages import REQUESTS_OF_CLIENT, make_converter
from ullage.lsp.protocol import CHAT_PARTS, DIRTY, EDITOR_MODELS_CHANGED
from ullage.lsp.protocol.editor import DirtyParams
from ullage.lsp.transport import ClientConnection
from ullage.session.reading_settings import SECTION
from ullage.session.settings import Settings
from ullage.starting import Keys, quick_imports

if TYPE_CHECKING:  # takes long to import
    from ullage.lsp.bridge import Bridge
    from ullage.lsp.methods import Answers
    from ullage.lsp.protocol.editor import ChatPartsParams

logger = logging.getLogger(__name__)

SEND_THERE, DO_NOT = "Send there", "Do not"
"""The answers that the user can choose from where the environment names the model's address."""

TOO_LONG = "{} is too long to be followed as you edit it. Ullage goes by what is on disk: save it before you ask about it."


class UllageServer(LanguageServer):
    """One server for one client."""

    protocol: AgentProtocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, keys: Keys | None) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "ullage", __version__, protocol_cls=AgentProtocol, converter_factory=make_converter
        )
        self.options = ServerOptions()
        self.settings = ClientSettings(self.protocol, lambda: self.options, self.warn)
        self.documents = OpenDocuments(lambda: self.workspace)
        self.bridge: Bridge | None = None
        """The sessions; None until they are open and after the end."""
        self._keys = keys
        self._is_connected = False
        self._ended = threading.Event()
        self._exit_code = 0
        self._tasks: asyncio.TaskGroup | None = None
        self._owned: set[asyncio.Task[None]] = set()
        self._opening: asyncio.Task[None] | None = None
        self._importing: asyncio.Task[ModuleType] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.protocol.on_exit = self._end
        self.protocol.opened = self.opened
        self.protocol.has_to_wait = lambda: self.settings.pending

    # Its life

    async def serve(self, connection: ClientConnection) -> int:
        """Serves the client until it goes; gives the exit code."""
        self.protocol.set_writer(connection.writer)
        with sending_log_to(self.window_log_message, when=lambda: self._is_connected and self.protocol.is_initialized):
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                self._import_ahead()
                try:
                    await self._read_messages(connection)
                finally:  # also where the process is stopped by Ctrl-C
                    await self.close()
                for task in self._owned:
                    task.cancel()
        connection.writer.close()
        return self._exit_code

    async def _read_messages(self, connection: ClientConnection) -> None:
        self._is_connected = True
        try:
            arriving = Arriving(connection.reader, connection.writer, self.protocol, self.report_server_error)
            await _until_either(arriving.take_all(self._ended.is_set), connection.deaf)
            if connection.deaf.is_set():
                logger.warning("the client does not read any more: nobody would see what is done")
        except (NotTheProtocol, OSError) as error:
            logger.warning("the client is gone or speaks another protocol: %s", error)
        finally:
            self._is_connected = False

    def own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs work in the background that ends with the server; what it raises is logged."""
        if self._tasks is None:
            raise RuntimeError("The server is not serving yet")
        task = self._tasks.create_task(_guarded(work))
        self._owned.add(task)
        task.add_done_callback(self._owned.discard)
        return task

    async def close(self) -> None:
        """Ends all that runs; turns are closed as interrupted. Doing it twice is doing it once."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
        bridge, self.bridge = self.bridge, None
        self.protocol.at_once = {}
        if bridge is not None:
            await bridge.sessions.close()

    def _end(self, exit_code: int) -> None:
        self._exit_code = exit_code
        self._ended.set()

    # The sessions

    async def opened(self) -> Answers:
        """The object that answers requests about the sessions, once they are open and all settings up to now are in force. Raises
        `JsonRpcException`."""
        await asyncio.shield(self.open_sessions())
        await self.settings.settled()
        if self.bridge is None:
            raise JsonRpcInternalError('The sessions could not be opened. The command "Ullage: Show logs" says why')
        return self.bridge.answers

    def _import_ahead(self) -> asyncio.Task[ModuleType]:
        """Imports in another thread what the sessions need, while the client is still at its own start."""
        if self._importing is None:
            self._importing = asyncio.create_task(asyncio.to_thread(_import_bridge))
        return self._importing

    def open_sessions(self) -> asyncio.Task[None]:
        """Starts opening the sessions, if that has not begun; gives the task that opens them."""
        if self._opening is None:
            self._opening = self.own(self._open_sessions())
        return self._opening

    async def _open_sessions(self) -> None:
        try:
            settings, _ = await asyncio.gather(self.settings.ask(), self._import_ahead())
            from ullage.lsp import bridge  # it is there by now; named here, its types are known

            folders = self._folders()
            around = bridge.ClientSurroundings(
                folders=folders,
                editor=ConnectedEditor(self.protocol, self.documents),
                settings=settings,
                keys=self._keys,
                state_folder=self.options.state_folder,
                remembered_session=self.options.remembered_session,
            )
            opened = await bridge.open_bridge(self.protocol, around, self.warn, self.is_well, self.own)
            await opened.sessions.start()
            while self.settings.pending:  # they were changed while the sessions were opened
                opened.sessions.configure(await self.settings.ask())
            now = self._folders()
            if now != folders:  # changed while they were opened
                removed, added = [each for each in folders if each not in now], [each for each in now if each not in folders]
                opened.sessions.folders_changed(removed, added)
            self.bridge = opened
            self.protocol.at_once = opened.answers.at_once
            self.own(self._confirm_address())
        except Exception as error:
            logger.exception("the sessions could not be opened")
            self._show(f"Ullage cannot open its sessions: {error}", MessageType.Error)

    def _folders(self) -> list[Path]:
        uris = [folder.uri for folder in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        return [path for uri in uris if (path := path_of(uri)) is not None]

    async def configure(self) -> None:
        """Takes over the settings that the client has now. Before the sessions are open, that happens when they are opened."""
        if self.bridge is not None:
            await self.settings.after_change(self._take_settings)

    def _take_settings(self, settings: Settings) -> None:
        if self.bridge is not None:
            self.bridge.sessions.configure(settings)

    async def _confirm_address(self) -> None:
        """Asks the user, once for each address, whether the model may be asked where the environment says."""
        from ullage.models.choose import shown_address

        address = "" if self.bridge is None else self.bridge.sessions.models.unconfirmed_address
        if not address:
            return
        question = types.ShowMessageRequestParams(
            MessageType.Warning,
            f"ANTHROPIC_BASE_URL in the environment names {shown_address(address)} as the model's address. Your API key and all "
            "that is said would be sent there. Did you set it?",
            [types.MessageActionItem(SEND_THERE), types.MessageActionItem(DO_NOT)],
        )
        answer: object = await self.protocol.ask(types.WINDOW_SHOW_MESSAGE_REQUEST, question)
        if isinstance(answer, types.MessageActionItem) and answer.title == SEND_THERE and self.bridge is not None:
            self.bridge.sessions.models.confirm_address(address)

    # What the user and the log are told

    def warn(self, message: str) -> None:
        """Tells the user of something that does not work as they may think."""
        logger.warning("%s", message)
        self._show(message, MessageType.Warning)

    def is_well(self, message: str) -> None:
        """Tells the user that the trouble that `warn` told of is over."""
        logger.info("%s", message)
        self._show(message, MessageType.Info)

    def _show(self, message: str, kind: MessageType) -> None:
        self.window_show_message(types.ShowMessageParams(kind, message))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Logs what went wrong with a message, where pygls would show it to the user."""
        if isinstance(error, ValueError | RecursionError):  # from reading JSON
            self.protocol.refuse(None, JsonRpcParseError("The message is no JSON"))
        elif isinstance(error, JsonRpcException):
            logger.debug("refused: %s", error)
        else:
            logger.error("a message could not be handled", exc_info=error)


async def _until_either(work: Coroutine[Any, Any, None], event: asyncio.Event) -> None:
    """Waits until the work is done or the event is set; raises what the work raises."""
    doing, waiting = asyncio.create_task(work), asyncio.create_task(event.wait())
    try:
        await asyncio.wait((doing, waiting), return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
    finally:
        doing.cancel()
        waiting.cancel()


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        logger.exception("work in the background failed")


def _import_bridge() -> ModuleType:
    """Imports what the sessions need, so that it is there when they are opened."""
    with quick_imports():
        from ullage.lsp import bridge

    return bridge


def register_features(server: UllageServer) -> None:
    """Lets the server answer all of PROTOCOL.md."""
    for method, handler in _FEATURES.items():
        server.feature(method)(handler)
    for method in REQUESTS_OF_CLIENT:
        server.feature(method)(server.protocol.answer_to(method))


def _initialize(ls: UllageServer, params: types.InitializeParams) -> None:
    ls.options, complaints = read_options(params.initialization_options)
    for complaint in complaints:
        logger.warning("%s", complaint)


def _initialized(ls: UllageServer, _: types.InitializedParams) -> None:
    ls.open_sessions()


async def _shutdown(ls: UllageServer, _: None) -> None:
    await ls.close()


def _did_open(ls: UllageServer, params: types.DidOpenTextDocumentParams) -> None:
    path = ls.documents.opened(params.text_document.uri)
    if path is not None and ls.documents.is_too_long(params.text_document.uri):
        ls.warn(TOO_LONG.format(path.name))
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "opened")


def _did_change(ls: UllageServer, params: types.DidChangeTextDocumentParams) -> None:
    path = ls.documents.path(params.text_document.uri)
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "changed", _first_line(params))


def _did_save(ls: UllageServer, params: types.DidSaveTextDocumentParams) -> None:
    path = ls.documents.saved(params.text_document.uri)
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "saved")


def _dirty(ls: UllageServer, params: DirtyParams) -> None:
    ls.documents.told(params.uri, params.version, params.is_dirty)


def _chat_parts(ls: UllageServer, params: ChatPartsParams) -> None:
    if ls.bridge is not None:
        ls.bridge.editor_models.came(params)


def _editor_models_changed(ls: UllageServer, _: object) -> None:
    if ls.bridge is not None:
        ls.bridge.editor_models_changed()


def _did_close(ls: UllageServer, params: types.DidCloseTextDocumentParams) -> None:
    path = ls.documents.closed(params.text_document.uri)
    if path is not None and ls.bridge is not None:
        ls.bridge.sessions.document_changed(path, "closed")


def _first_line(params: types.DidChangeTextDocumentParams) -> int | None:
    """The line in which the document was changed first (from 1); None if the whole text was replaced."""
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            return change.range.start.line + 1
    return None


def _did_change_configuration(ls: UllageServer, params: types.DidChangeConfigurationParams) -> None:
    ls.settings.changed()
    settings: object = params.settings
    if isinstance(settings, dict):
        ls.settings.pushed = cast("dict[str, object]", settings).get(SECTION)
    ls.own(ls.configure())


def _did_change_workspace_folders(ls: UllageServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    if ls.bridge is not None:  # else they are read when the sessions are opened
        ls.bridge.sessions.folders_changed(_paths_of(params.event.removed), _paths_of(params.event.added))


def _paths_of(folders: Sequence[types.WorkspaceFolder]) -> list[Path]:
    return [path for path in (path_of(folder.uri) for folder in folders) if path is not None]


_FEATURES: dict[str, Callable[[UllageServer, Any], object]] = {
    types.INITIALIZE: _initialize,
    types.INITIALIZED: _initialized,
    types.SHUTDOWN: _shutdown,
    types.TEXT_DOCUMENT_DID_OPEN: _did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: _did_change,
    types.TEXT_DOCUMENT_DID_SAVE: _did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: _did_close,
    DIRTY: _dirty,
    CHAT_PARTS: _chat_parts,
    EDITOR_MODELS_CHANGED: _editor_models_changed,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: _did_change_configuration,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: _did_change_workspace_folders,
}
