"""What the server does for each request of PROTOCOL.md: one short function a method, given the sessions and the params."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.convert import item_to_wire, snapshot_to_wire, summary_to_wire
from ullage.lsp.documents import path_of
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # takes long to import
    from ullage.session.attachments import Ref
    from ullage.session.sessions import Sessions

NOTHING = wire.Nothing()

MOST_ITEMS = 1_000
"""Of one answer; a client that asks for more gets so many."""


async def new(sessions: Sessions, _: wire.Nothing) -> wire.Snapshot:
    session = await sessions.create()
    return snapshot_to_wire(session.snapshot())


async def list_sessions(sessions: Sessions, _: wire.Nothing) -> wire.ListResult:
    return wire.ListResult([summary_to_wire(summary) for summary in sessions.summaries()])


async def open_session(sessions: Sessions, params: wire.OpenParams) -> wire.Snapshot:
    session = await sessions.open(params.session_id)
    return snapshot_to_wire(session.snapshot())


async def snapshot(sessions: Sessions, params: wire.SessionParams) -> wire.Snapshot:
    return snapshot_to_wire(sessions.get(params.session_id).snapshot())


async def items(sessions: Sessions, params: wire.ItemsParams) -> wire.ItemsResult:
    if params.limit < 1:
        raise SessionError("invalid", "The limit must be at least 1")
    found, earlier = sessions.get(params.session_id).items_before(params.before, min(params.limit, MOST_ITEMS))
    return wire.ItemsResult([item_to_wire(item) for item in found], earlier)


async def rename(sessions: Sessions, params: wire.RenameParams) -> wire.Nothing:
    await sessions.rename(params.session_id, params.title)
    return NOTHING


async def delete(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    await sessions.delete(params.session_id)
    return NOTHING


async def prompt(sessions: Sessions, params: wire.PromptParams) -> wire.PromptResult:
    refs = [_ref(attachment) for attachment in params.attachments or ()]
    session = sessions.get(params.session_id)
    return wire.PromptResult(await session.prompt(params.text, refs, steer=params.delivery == "steer"))


async def unqueue(sessions: Sessions, params: wire.UnqueueParams) -> wire.Nothing:
    sessions.get(params.session_id).unqueue(params.prompt_id)
    return NOTHING


async def cancel(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.get(params.session_id).cancel()
    return NOTHING


async def resume(sessions: Sessions, params: wire.SessionParams) -> wire.Nothing:
    sessions.get(params.session_id).resume()
    return NOTHING


async def compact(sessions: Sessions, params: wire.CompactParams) -> wire.CompactionResult:
    return wire.CompactionResult(sessions.get(params.session_id).compact(params.focus or ""))


async def undo_compaction(sessions: Sessions, params: wire.CompactionParams) -> wire.CompactionResult:
    return wire.CompactionResult(sessions.get(params.session_id).undo_compaction(params.compaction_id))


async def redo_compaction(sessions: Sessions, params: wire.CompactionParams) -> wire.CompactionResult:
    return wire.CompactionResult(sessions.get(params.session_id).redo_compaction(params.compaction_id))


async def set_model(sessions: Sessions, params: wire.SetModelParams) -> wire.Nothing:
    await sessions.set_model(params.session_id, params.model)
    return NOTHING


async def respond(sessions: Sessions, params: wire.RespondParams) -> wire.Nothing:
    sessions.get(params.session_id).answer_permission(params.tool_call_id, params.option_id, params.reason or "")
    return NOTHING


METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.NEW: new,
    wire.LIST: list_sessions,
    wire.OPEN: open_session,
    wire.SNAPSHOT: snapshot,
    wire.ITEMS: items,
    wire.RENAME: rename,
    wire.DELETE: delete,
    wire.PROMPT: prompt,
    wire.UNQUEUE: unqueue,
    wire.CANCEL: cancel,
    wire.CONTINUE: resume,
    wire.COMPACT: compact,
    wire.UNDO_COMPACTION: undo_compaction,
    wire.REDO_COMPACTION: redo_compaction,
    wire.SET_MODEL: set_model,
    wire.RESPOND: respond,
}


def _ref(attachment: wire.AttachmentRef) -> Ref:
    from ullage.session.attachments import FileRef, ProblemsRef

    if isinstance(attachment, wire.ProblemsAttachment):
        return ProblemsRef()
    path = path_of(attachment.uri)
    if path is None:
        raise SessionError("invalid", f"{attachment.uri} is no file, so it cannot be attached")
    return FileRef(path)
