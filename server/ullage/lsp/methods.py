"""What the server does for each request of PROTOCOL.md: one short function a method, given the sessions and the params."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.convert import fork_to_wire, item_to_wire, snapshot_to_wire, summary_to_wire
from ullage.lsp.documents import path_of
from ullage.lsp.history_methods import HISTORY_METHODS
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # takes long to import
    from ullage.session.attachments import Ref
    from ullage.session.sessions import Sessions

_NOTHING = wire.Nothing()

MOST_ITEMS = 1_000
"""Of one answer; a client that asks for more gets so many."""


async def _new(sessions: Sessions, _: wire.Nothing) -> wire.Snapshot:
    session = await sessions.create()
    return snapshot_to_wire(session.snapshot())


async def _list_sessions(sessions: Sessions, _: wire.Nothing) -> wire.ListResult:
    return wire.ListResult([summary_to_wire(summary) for summary in sessions.summaries()])


async def _open_session(sessions: Sessions, params: wire.OpenParams) -> wire.Snapshot:
    session = await sessions.open(params.session_id)
    return snapshot_to_wire(session.snapshot())


async def _snapshot(sessions: Sessions, params: wire.SessionParams) -> wire.Snapshot:
    return snapshot_to_wire(sessions.get(params.session_id).snapshot())


async def _items(sessions: Sessions, params: wire.ItemsParams) -> wire.ItemsResult:
    if params.limit < 1:
        raise SessionError("invalid", "The limit must be at least 1")
    found, earlier = sessions.get(params.session_id).items_before(params.before, min(params.limit, MOST_ITEMS))
    return wire.ItemsResult([item_to_wire(item) for item in found], earlier)


async def _fork(sessions: Sessions, params: wire.ForkParams) -> wire.ForkResult:
    return fork_to_wire(await sessions.fork(params.session_id, params.item_id))


async def _rename(sessions: Sessions, params: wire.RenameParams) -> wire.Nothing:
    await sessions.rename(params.session_id, params.title)
    return _NOTHING


async def _delete(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    await sessions.delete(params.session_id)
    return _NOTHING


async def _prompt(sessions: Sessions, params: wire.PromptParams) -> wire.PromptResult:
    refs = [_ref(attachment) for attachment in params.attachments or ()]
    session = sessions.get(params.session_id)
    return wire.PromptResult(await session.prompt(params.text, refs, steer=params.delivery == "steer"))


async def _unqueue(sessions: Sessions, params: wire.UnqueueParams) -> wire.Nothing:
    sessions.get(params.session_id).unqueue(params.prompt_id)
    return _NOTHING


async def _cancel(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.get(params.session_id).cancel()
    return _NOTHING


async def _resume(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.get(params.session_id).resume()
    return _NOTHING


async def _compact(sessions: Sessions, params: wire.CompactParams) -> wire.CompactionResult:
    return wire.CompactionResult(sessions.get(params.session_id).compact(params.focus or ""))


async def _set_model(sessions: Sessions, params: wire.SetModelParams) -> wire.Nothing:
    await sessions.set_model(params.session_id, params.model)
    return _NOTHING


async def _respond(sessions: Sessions, params: wire.RespondParams) -> wire.Nothing:
    sessions.get(params.session_id).answer_permission(params.tool_call_id, params.option_id, params.reason or "")
    return _NOTHING


METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.NEW: _new,
    wire.LIST: _list_sessions,
    wire.OPEN: _open_session,
    wire.SNAPSHOT: _snapshot,
    wire.ITEMS: _items,
    wire.FORK: _fork,
    wire.RENAME: _rename,
    wire.DELETE: _delete,
    wire.PROMPT: _prompt,
    wire.UNQUEUE: _unqueue,
    wire.CANCEL: _cancel,
    wire.CONTINUE: _resume,
    wire.COMPACT: _compact,
    wire.SET_MODEL: _set_model,
    wire.RESPOND: _respond,
    **HISTORY_METHODS,
}
"""What answers each method. The functions raise `SessionError`."""


def _ref(attachment: wire.AttachmentRef) -> Ref:
    from ullage.session.attachments import FileRef, PastedRef, ProblemsRef

    if isinstance(attachment, wire.ProblemsAttachment):
        return ProblemsRef()
    if isinstance(attachment, wire.PastedAttachment):
        try:
            return PastedRef(base64.b64decode(attachment.data, validate=True))
        except ValueError:
            raise SessionError("invalid", "What was pasted is no base64") from None
    path = path_of(attachment.uri)
    if path is None:
        raise SessionError("invalid", f"{attachment.uri} is no file, so it cannot be attached")
    return FileRef(path)
