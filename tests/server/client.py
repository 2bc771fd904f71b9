"""An editor for tests: drives the real server process over stdio or TCP, and does what an editor does when it is asked."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from lsprotocol import types
from pygls.io_ import run_async
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, forward_stderr, progress, register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

from tests.patience import PATIENCE
from tests.server import forked
from ullage.lsp import messages, protocol
from ullage.lsp.documents import EditorDocument
from ullage.lsp.messages import make_converter
from ullage.lsp.protocol import editor, prompts, sessions, updates
from ullage.lsp.protocol import items as wire
from ullage.store.folder import VARIABLE

EDITOR = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        apply_edit=True, configuration=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
    text_document=types.TextDocumentClientCapabilities(synchronization=types.TextDocumentSyncClientCapabilities(did_save=True)),
    window=types.WindowClientCapabilities(work_done_progress=True),
)


class UllageClientProtocol(LanguageClientProtocol):
    """Knows Ullage's own messages."""

    def get_message_type(self, method: str) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return messages.MESSAGES.get(method) or super().get_message_type(method)

    def get_result_type(self, method: str) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return messages.RESULTS.get(method) or super().get_result_type(method)


class UllageClient(LanguageClient):
    """One editor window."""

    def __init__(self) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            protocol_cls=UllageClientProtocol, converter_factory=make_converter
        )
        register_lsp_features(self, {method: each for method, each in DEFAULT_CLIENT_FEATURES.items() if method not in _FEATURES})
        for method, handler in _FEATURES.items():
            self.feature(method)(handler)
        self.updates: list[updates.UpdateParams] = []
        self.list_changes = 0
        self.documents: dict[str, EditorDocument] = {}
        self.problems: list[editor.Problem] = []
        self.before_edit: Callable[[], None] = lambda: None
        """What the user does just before an edit of the server arrives."""
        self.after_edit: Callable[[str], None] = lambda uri: None
        """What the editor does with a document once an edit of the server is in it, before it answers."""
        self.questions: list[str] = []
        """What it was asked in a notification with buttons."""
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        """The button that is clicked in each of them; none as long as it is not set."""
        self.came = asyncio.Event()
        self.process: Process | forked.ForkedServer

    def connect(self, server: Process | forked.ForkedServer) -> None:
        """Speaks to a server that runs already, as `start_io` does to one that it starts."""
        self.process = server
        self._server = cast("Process", server)
        assert server.stdin is not None
        assert server.stdout is not None
        self.protocol.set_writer(server.stdin)
        reading = run_async(
            stop_event=self._stop_event, reader=server.stdout, protocol=self.protocol, error_handler=self.report_server_error
        )
        self._stderr_forwarder = asyncio.create_task(forward_stderr(self._server))
        self._async_tasks += [asyncio.create_task(reading), asyncio.create_task(self._server_exit())]

    # Requests

    async def ask(self, method: str, params: object = None) -> Any:
        """The answer; raises `JsonRpcException`."""
        async with asyncio.timeout(PATIENCE):
            return await self.protocol.send_request_async(method, protocol.Nothing() if params is None else params)

    async def open(self, session_id: str | None = None) -> sessions.Snapshot:
        return await self.ask(protocol.OPEN, sessions.OpenParams(session_id))

    async def prompt(self, session_id: str, text: str, **more: Any) -> str:
        answer: prompts.PromptResult = await self.ask(protocol.PROMPT, prompts.PromptParams(session_id, text, **more))
        return answer.prompt_id

    # What comes

    def took(self, params: updates.UpdateParams) -> None:
        self.updates.append(params)
        self.came.set()

    async def until(self, holds: Callable[[updates.Update], bool], after: int = 0) -> updates.UpdateParams:
        """The first update with a `seq` over `after` for which that holds; waits for it."""
        async with asyncio.timeout(PATIENCE):
            seen = 0
            while True:
                for params in self.updates[seen:]:
                    if params.seq > after and holds(params.update):
                        return params
                seen = len(self.updates)
                self.came.clear()
                await self.came.wait()

    async def until_question(self) -> str:
        """The first question in a notification with buttons."""
        async with asyncio.timeout(PATIENCE):
            while not self.questions:
                self.came.clear()
                await self.came.wait()
        return self.questions[0]

    async def until_progress_ended(self, token: str) -> None:
        """Until the editor has no such progress to show any more."""
        async with asyncio.timeout(PATIENCE):
            while not any(isinstance(each, types.WorkDoneProgressEnd) for each in self.progress_reports.get(token, ())):
                self.came.clear()
                await self.came.wait()

    async def until_idle(self, after: int = 0) -> None:
        """Until the session has done what it does."""
        running = await self.until(lambda update: state_of(update) == "running", after)
        await self.until(lambda update: state_of(update) == "idle", running.seq)

    async def until_asked(self, after: int = 0) -> wire.ToolCallItem:
        """The next tool call that waits for an approval."""
        params = await self.until(lambda update: (item := call_of(update)) is not None and item.status == "awaiting_permission", after)
        item = call_of(params.update)
        assert item is not None
        return item

    # Documents

    def open_document(self, path: Path, text: str, uri: str | None = None) -> str:
        uri = uri or path.as_uri()
        self.documents[uri] = EditorDocument(uri, text, 1)
        self.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "plaintext", 1, text)))
        return uri

    def type_at(self, uri: str, line: int, character: int, text: str, end: tuple[int, int] | None = None) -> None:
        """The user replaces a range (from 0, UTF-16 units) by a text."""
        start = types.Position(line, character)
        where = types.Range(start, types.Position(*end) if end else start)
        self._change(uri, types.TextDocumentContentChangePartial(where, text))

    def _change(self, uri: str, *changes: types.TextDocumentContentChangeEvent) -> None:
        document = self.documents[uri]
        for change in changes:
            document.apply_change(change)
        document.version = (document.version or 0) + 1
        identifier = types.VersionedTextDocumentIdentifier(document.version, uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, list(changes)))

    def tell_dirty(self, uri: str, is_dirty: bool, version: int | None = None) -> None:
        """Whether the document, of its newest version if no other is named, has changes that are not saved."""
        of = version if version is not None else self.documents[uri].version or 0
        self.protocol.notify(protocol.DIRTY, editor.DirtyParams(uri, of, is_dirty))

    def apply(self, edit: types.WorkspaceEdit) -> bool:
        self.before_edit()
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            uri = change.text_document.uri
            if uri not in self.documents or self.documents[uri].version != change.text_document.version:
                return False
            for each in change.edits:
                assert isinstance(each, types.TextEdit)
                self._change(uri, types.TextDocumentContentChangePartial(each.range, each.new_text))
            self.after_edit(uri)
        return True


def _update(ls: UllageClient, params: updates.UpdateParams) -> None:
    ls.took(params)


def _progress(ls: UllageClient, params: types.ProgressParams) -> None:
    progress(ls, params)
    ls.came.set()


def _list_changed(ls: UllageClient, _: object) -> None:
    ls.list_changes += 1


def _apply_edit(ls: UllageClient, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
    return types.ApplyWorkspaceEditResult(ls.apply(params.edit))


def _diagnostics(ls: UllageClient, params: editor.DiagnosticsParams) -> editor.DiagnosticsResult:
    return editor.DiagnosticsResult([problem for problem in ls.problems if params.uri in (None, problem.uri)])


async def _asked(ls: UllageClient, params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
    ls.questions.append(params.message)
    ls.came.set()
    button = await ls.answer
    return None if button is None else types.MessageActionItem(button)


_FEATURES: dict[str, Callable[[UllageClient, Any], object]] = {
    protocol.UPDATE: _update,
    types.PROGRESS: _progress,
    protocol.LIST_CHANGED: _list_changed,
    types.WORKSPACE_APPLY_EDIT: _apply_edit,
    protocol.DIAGNOSTICS: _diagnostics,
    types.WINDOW_SHOW_MESSAGE_REQUEST: _asked,
}


def state_of(update: updates.Update) -> str | None:
    return update.state if isinstance(update, updates.StateUpdate) else None


def call_of(update: updates.Update) -> wire.ToolCallItem | None:
    return update.item if isinstance(update, updates.ItemUpdate) and isinstance(update.item, wire.ToolCallItem) else None


COMMAND = (sys.executable, "-P", "-X", "utf8", "-m", "ullage", "serve")


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the server process gets: nothing of the developer's own keys, and a practice model in no hurry to look human."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "ULLAGE_"))}
    return {**kept, "ULLAGE_PRACTICE_PACE": "0", **(more or {})}


async def by_command(arguments: Sequence[str], environment: Mapping[str, str]) -> Process:
    """A server that is started as an editor starts it, for what is decided by how Python starts."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*COMMAND, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)


@asynccontextmanager
async def editor_window(
    folder: Path | None,
    state_folder: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    capabilities: types.ClientCapabilities = EDITOR,
    arguments: tuple[str, ...] = (),
    trusted: bool = True,
    questions: bool = False,
    start: Callable[[Sequence[str], Mapping[str, str]], Awaitable[Process | forked.ForkedServer]] = forked.start,
    prepare: Callable[[UllageClient], None] = lambda _: None,
) -> AsyncGenerator[UllageClient]:
    """An editor with a server of its own, which ends with it. `prepare` may teach it to answer more."""
    client = UllageClient()
    prepare(client)
    client.set_configuration(dict(settings or {}), section="ullage")
    client.connect(await start(arguments, environment({VARIABLE: str(state_folder), **(env or {})})))
    folders = [] if folder is None else [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    options = {"stateFolder": str(state_folder), "trusted": trusted, "questions": questions}
    await client.initialize_session(
        types.InitializeParams(capabilities=capabilities, workspace_folders=folders, initialization_options=options)
    )
    try:
        yield client
    finally:
        if client.process.returncode is None:
            await client.shutdown_session()
        await client.stop()
