"""What the server does for each request of PROTOCOL.md: one short function a method. `Answers` calls them.

`history_methods.py` has what is done about a history (previews, pins, epochs, searches).
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.uris import to_fs_path

from ullage.context.changes.checkpoints import FORWARD
from ullage.lsp import protocol as wire
from ullage.lsp.changes_methods import CHANGES_METHODS, decided_to_wire
from ullage.lsp.coming_over_methods import COMING_OVER_METHODS
from ullage.lsp.convert import fork_to_wire, item_to_wire, snapshot_to_wire, summary_to_wire, unqueued_to_wire, worktree_to_wire
from ullage.lsp.documents import is_new, path_of
from ullage.lsp.history_methods import HISTORY_METHODS
from ullage.lsp.instructions_methods import INSTRUCTIONS_METHODS
from ullage.lsp.mcp_methods import MCP_METHODS
from ullage.lsp.permission_methods import PERMISSION_METHODS, answer, respond
from ullage.lsp.protocol import changes, history, models, prompts, running
from ullage.lsp.protocol import sessions as shapes
from ullage.lsp.running_methods import RUNNING_METHODS, command_output, leave_running, stop_command
from ullage.session.errors import SessionError, refusal_of
from ullage.session.long_work import ROUND
from ullage.session.slash_commands import carry_out, offered_commands, typed_command
from ullage.store.errors import StoreFailed

if TYPE_CHECKING:  # takes long to import
    from ullage.models.model_card import OfferedModel
    from ullage.session.attachments import Ref
    from ullage.session.sessions.sessions import Sessions

logger = logging.getLogger(__name__)

_NOTHING = wire.Nothing()

MOST_SESSIONS = 1_000
"""The most sessions in the list. To write down more would keep everybody waiting, and nobody looks through so many."""

MOST_ITEMS = 10_000
"""The most items of one answer, which has fewer if items are long. A client that asks for more gets that many."""


async def _new(sessions: Sessions, params: shapes.NewParams) -> shapes.Snapshot:
    session = await sessions.create(in_worktree=params.worktree is True)
    return snapshot_to_wire(session.snapshot())


async def _list_sessions(sessions: Sessions, _: wire.Nothing) -> shapes.ListResult:
    return shapes.ListResult([summary_to_wire(summary) for summary in await sessions.listed(MOST_SESSIONS)])


async def _open_session(sessions: Sessions, params: shapes.OpenParams) -> shapes.Snapshot:
    session = await sessions.open(params.session_id)
    return snapshot_to_wire(session.snapshot())


def _snapshot(sessions: Sessions, params: wire.SessionParams) -> shapes.Snapshot:
    return snapshot_to_wire(sessions.shown(params.session_id).snapshot())


def _items(sessions: Sessions, params: shapes.ItemsParams) -> shapes.ItemsResult:
    if params.limit < 1:
        raise SessionError("invalid", "The limit must be at least 1")
    found, earlier = sessions.shown(params.session_id).items_before(params.before, min(params.limit, MOST_ITEMS))
    return shapes.ItemsResult([item_to_wire(item) for item in found], earlier)


async def _fork(sessions: Sessions, params: shapes.ForkParams) -> shapes.ForkResult:
    return fork_to_wire(await sessions.fork(params.session_id, params.item_id))


async def _rename(sessions: Sessions, params: shapes.RenameParams) -> wire.Nothing:
    await sessions.rename(params.session_id, params.title)
    return _NOTHING


async def _delete(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    await sessions.delete(params.session_id)
    return _NOTHING


async def _close(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    await sessions.close_session(params.session_id)
    return _NOTHING


def _looked(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.looked(params.session_id)
    return _NOTHING


async def _worktree(sessions: Sessions, params: wire.SessionParams) -> running.WorktreeResult:
    session = sessions.get(params.session_id)
    standing = await sessions.bringing_back(session.id).standing()
    return worktree_to_wire(sessions.worktrees.named(session.id), standing)


async def _bring_back(sessions: Sessions, params: running.BringBackParams) -> changes.DecidedResult:
    session = sessions.get(params.session_id)
    return decided_to_wire(await sessions.bringing_back(session.id).bring(params.paths))


async def _take_back(sessions: Sessions, params: wire.SessionParams) -> changes.DecidedResult:
    return decided_to_wire(await sessions.bringing_back(sessions.get(params.session_id).id).take_back())


async def _remove_worktree(sessions: Sessions, params: wire.SessionParams) -> running.RemoveWorktreeResult:
    session = sessions.get(params.session_id)
    branch = sessions.worktrees.named(session.id).branch
    stays = await sessions.worktrees.remove(session.id)
    return running.RemoveWorktreeResult(branch if stays else None)


async def _prompt(sessions: Sessions, params: prompts.PromptParams) -> prompts.PromptResult:
    refs = [sessions.worktrees.there(params.session_id, _ref(attachment)) for attachment in params.attachments or ()]
    session = sessions.get(params.session_id)
    typed = typed_command(params.text)
    if typed is not None:
        if refs:
            raise SessionError("invalid", f"/{typed.name} takes no attachments. Send it without them")
        answer = await carry_out(typed, sessions, session)
        return prompts.PromptResult(session.answer_command(answer.text), prompts.CommandDone(typed.name, answer.session_id))
    return prompts.PromptResult(await session.prompt(params.text, refs, steer=params.delivery == "steer"))


async def _restore(sessions: Sessions, params: changes.RestoreParams) -> shapes.RestoreResult:
    session, overwrite = sessions.get(params.session_id), params.overwrite or ()
    if params.what != "files" and params.turn_id.startswith(FORWARD):
        raise SessionError("invalid", "Going forward again is about files only: the conversation that was left is another session")
    decided = [] if params.what == "conversation" else await session.restore(params.turn_id, overwrite)
    fork = None if params.what == "files" else fork_to_wire(await sessions.fork(params.session_id, params.turn_id))
    return shapes.RestoreResult(decided_to_wire(decided).files, fork)


def _unqueue(sessions: Sessions, params: prompts.UnqueueParams) -> prompts.UnqueueResult:
    return unqueued_to_wire(sessions.get(params.session_id).unqueue(params.prompt_id))


def _cancel(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.stop(params.session_id)
    return _NOTHING


def _resume(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.get(params.session_id).resume()
    return _NOTHING


def _compact(sessions: Sessions, params: history.CompactParams) -> history.CompactionResult:
    return history.CompactionResult(sessions.get(params.session_id).compact(params.focus or ""))


def _postpone_compaction(sessions: Sessions, params: history.PostponeParams) -> wire.Nothing:
    sessions.get(params.session_id).postpone_compaction(params.until)
    return _NOTHING


async def _set_model(sessions: Sessions, params: models.SetModelParams) -> wire.Nothing:
    await sessions.models.choose(params.session_id, params.model)
    return _NOTHING


async def _set_effort(sessions: Sessions, params: models.SetEffortParams) -> wire.Nothing:
    await sessions.models.choose_effort(params.session_id, params.effort)
    return _NOTHING


async def _export(sessions: Sessions, params: shapes.ExportParams) -> shapes.ExportResult:
    session = sessions.shown(params.session_id)
    return shapes.ExportResult(await session.history.export(session.title, params.format))


async def _commit_message(sessions: Sessions, params: changes.CommitMessageParams) -> changes.CommitMessageResult:
    from ullage.session.commit_message import Changed

    new_files = [path for uri in params.new_files or () if (path := path_of(uri)) is not None]
    session = sessions.get(params.session_id)
    return changes.CommitMessageResult(await session.commit_message(Changed(params.diff, new_files, params.recent or ())))


def _set_mode(sessions: Sessions, params: shapes.SetModeParams) -> wire.Nothing:
    sessions.get(params.session_id).set_mode(params.mode_id)
    return _NOTHING


async def _models(sessions: Sessions, params: models.ModelsParams) -> models.ModelsResult:
    return models.ModelsResult([_offered(model) for model in await sessions.models.offered(params.address, params.provider)])


async def _try_model(sessions: Sessions, params: models.TryModelParams) -> wire.Nothing:
    await sessions.models.try_out(params.model, params.address, params.provider)
    return wire.Nothing()


def _offered(model: OfferedModel) -> models.OfferedModel:
    prices = models.ModelPrices(model.prices.input, model.prices.output) if model.prices else None
    return models.OfferedModel(model.name, model.display_name, model.window, prices)


async def _commands(sessions: Sessions, params: prompts.CommandsParams) -> prompts.CommandsResult:
    offered = await offered_commands(None if params.session_id is None else sessions.get(params.session_id))
    return prompts.CommandsResult(
        [
            prompts.AvailableCommand(
                each.name, each.description, prompts.CommandInput(each.hint) if each.hint else None, each.source or None
            )
            for each in offered
        ]
    )


async def _importable(sessions: Sessions, _: wire.Nothing) -> shapes.ImportableResult:
    found = await sessions.importable()
    brought = () if found.brought is None else found.brought.sessions
    return shapes.ImportableResult(
        [shapes.BroughtSession(each.title, each.updated_at, each.entries, each.waiting) for each in brought],
        found.brought is not None and found.brought.is_tracked,
        [shapes.GoneFolder(str(each.folder), each.sessions, each.updated_at) for each in found.gone],
    )


async def _import(sessions: Sessions, params: shapes.ImportParams) -> shapes.ImportResult:
    if params.mine and params.from_gone is not None:
        raise SessionError("invalid", "Import either what lies in this folder or the sessions of one that is gone")
    of_gone = None if params.from_gone is None else Path(params.from_gone)
    taken = await sessions.import_sessions(as_mine=params.mine, of_gone=of_gone)
    return shapes.ImportResult(taken.sessions, taken.unreadable, list(taken.failures))


def _ref(attachment: prompts.AttachmentRef) -> Ref:
    from ullage.session.attachments import FileRef, NewDocumentRef, PageRef, PastedRef, ProblemsRef, ResourceRef, TextRef

    if isinstance(attachment, prompts.ProblemsAttachment):
        return ProblemsRef()
    if isinstance(attachment, prompts.PastedAttachment):
        try:
            return PastedRef(base64.b64decode(attachment.data, validate=True), attachment.name)
        except ValueError:
            raise SessionError("invalid", "What was pasted is no base64") from None
    if isinstance(attachment, prompts.TextAttachment):
        return TextRef(attachment.name, attachment.text)
    if isinstance(attachment, prompts.ResourceAttachment):
        return ResourceRef(attachment.server, attachment.uri)
    if isinstance(attachment, prompts.PageAttachment):
        return PageRef(attachment.url)
    if is_new(attachment.uri):
        return NewDocumentRef(attachment.uri)
    path = path_of(attachment.uri)
    if path is None:
        raise SessionError("invalid", f"{attachment.uri} is no file, so it cannot be attached")
    lines = None if attachment.lines is None else (attachment.lines.first, attachment.lines.last)
    return FileRef(path, lines, to_fs_path(attachment.uri) or "")


AT_ONCE: dict[str, Callable[[Sessions, Any], object]] = {
    wire.SNAPSHOT: _snapshot,
    wire.ITEMS: _items,
    wire.UNQUEUE: _unqueue,
    wire.CANCEL: _cancel,
    wire.CONTINUE: _resume,
    wire.COMPACT: _compact,
    wire.POSTPONE_COMPACTION: _postpone_compaction,
    wire.SET_MODE: _set_mode,
    wire.LOOKED: _looked,
    wire.RESPOND: respond,
    wire.ANSWER: answer,
    wire.LEAVE_RUNNING: leave_running,
    wire.STOP_COMMAND: stop_command,
    wire.COMMAND_OUTPUT: command_output,
}
"""The functions that answer the methods that wait for nothing. They raise `SessionError`."""

METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.NEW: _new,
    wire.LIST: _list_sessions,
    wire.OPEN: _open_session,
    wire.FORK: _fork,
    wire.RENAME: _rename,
    wire.DELETE: _delete,
    wire.CLOSE: _close,
    wire.WORKTREE: _worktree,
    wire.BRING_BACK: _bring_back,
    wire.TAKE_BACK: _take_back,
    wire.REMOVE_WORKTREE: _remove_worktree,
    wire.PROMPT: _prompt,
    wire.SET_MODEL: _set_model,
    wire.SET_EFFORT: _set_effort,
    wire.EXPORT: _export,
    wire.COMMIT_MESSAGE: _commit_message,
    wire.MODELS: _models,
    wire.TRY_MODEL: _try_model,
    wire.COMMANDS: _commands,
    wire.IMPORTABLE: _importable,
    wire.IMPORT: _import,
    wire.RESTORE: _restore,
    **COMING_OVER_METHODS,
    **HISTORY_METHODS,
    **CHANGES_METHODS,
    **PERMISSION_METHODS,
    **INSTRUCTIONS_METHODS,
    **MCP_METHODS,
    **RUNNING_METHODS,
}
"""The functions that answer the other methods. They raise `SessionError`."""

IN_THREADS = frozenset(
    (
        *(wire.OTHERS, wire.OTHERS_LOOK, wire.OTHERS_GO_ON),
        *(wire.LIST, wire.IMPORT, wire.FORK, wire.DELETE, wire.EXPORT, wire.SEARCH),
        *(wire.PREVIEW_COMPACTION, wire.EPOCHS, wire.EPOCH_FATES, wire.CONTEXT, wire.CHANGES, wire.CHECKPOINTS, wire.CHECK),
    )
)
"""The methods that mostly work in another thread, whoever asks and however often."""

MOST_IN_THREADS = 3
"""How many requests of the methods in `IN_THREADS` are worked on at once: half of the threads that there are on two cores (`to_thread`).
The others are for the turns."""


class Answers:
    """Answers the requests of one client about its sessions."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._threads = asyncio.Semaphore(MOST_IN_THREADS)

    async def answer(self, method: str, params: object) -> object:
        """Does what a request asks for. Raises `JsonRpcException`."""
        if method in AT_ONCE:
            return self._answer_at_once(method, params)
        if method != wire.PROMPT:  # a prompt waits by itself, once it knows which stops came before it
            await ROUND.has_room()
        with _refusing(method):
            if method not in IN_THREADS:
                return await METHODS[method](self._sessions, params)
            async with self._threads:
                return await METHODS[method](self._sessions, params)

    @property
    def at_once(self) -> Mapping[str, Callable[[Any], object]]:
        """The functions that answer the methods in `AT_ONCE`, without a task for each request."""
        return {method: partial(self._answer_at_once, method) for method in AT_ONCE}

    def _answer_at_once(self, method: str, params: object) -> object:
        with _refusing(method):
            return AT_ONCE[method](self._sessions, params)


@contextmanager
def _refusing(method: str) -> Generator[None]:
    """Turns any error of the block into the refusal that goes over the wire (`JsonRpcException`)."""
    try:
        yield
    except SessionError as error:
        raise _refused(error) from error
    except StoreFailed as error:
        raise _refused(refusal_of(error)) from error
    except Exception as error:
        logger.exception("%s failed", method)
        told = f'An error in Ullage itself: {type(error).__name__}. The command "Ullage: Show logs" has the details.'
        raise JsonRpcInternalError(told) from error


def _refused(error: SessionError) -> JsonRpcException:
    return JsonRpcException(str(error), wire.REQUEST_FAILED, {"reason": error.reason})
