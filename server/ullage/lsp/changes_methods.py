"""What the server does for the requests about the agent's changes in files: they are listed, kept and undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.documents import named_file
from ullage.lsp.protocol import changes as shapes
from ullage.session.timeline.shown_entries import title_of

if TYPE_CHECKING:  # takes long to import
    from ullage.session.changes.shown import DecidedFile, OpenChanges, ShownFile, ShownTurn
    from ullage.session.sessions.sessions import Sessions


async def _changes(sessions: Sessions, params: shapes.ChangesParams) -> shapes.ChangesResult:
    reviewing = sessions.shown(params.session_id).reviewing
    if params.path is not None:
        return shapes.ChangesResult([], [_file(each) for each in await reviewing.open_files(named_file(params.path))])
    turns = [_turn(each) for each in await reviewing.turns(params.turn_id)]
    open_files = [] if params.turn_id is not None else await reviewing.open_files()
    return shapes.ChangesResult(turns, [_file(each) for each in open_files])


async def _version_text(sessions: Sessions, params: shapes.VersionTextParams) -> shapes.VersionTextResult:
    reviewing = sessions.shown(params.session_id).reviewing
    return shapes.VersionTextResult(await reviewing.version_text(named_file(params.path), params.turn_id))


async def _keep(sessions: Sessions, params: shapes.DecideParams) -> shapes.DecidedResult:
    reviewing = sessions.get(params.session_id).reviewing
    return decided_to_wire(await reviewing.keep(_named_or_all(params.path), params.hunk_id, params.turn_id))


async def _undo(sessions: Sessions, params: shapes.DecideParams) -> shapes.DecidedResult:
    reviewing = sessions.get(params.session_id).reviewing
    return decided_to_wire(await reviewing.undo(_named_or_all(params.path), params.hunk_id, params.turn_id))


async def _checkpoints(sessions: Sessions, params: shapes.CheckpointsParams) -> shapes.CheckpointsResult:
    found = await sessions.shown(params.session_id).going_back.checkpoints()
    return shapes.CheckpointsResult(
        [shapes.Checkpoint(each.id, title_of(each.title), each.at, each.files, each.forward or None) for each in found]
    )


async def _preview_restore(sessions: Sessions, params: shapes.PreviewRestoreParams) -> shapes.PreviewRestoreResult:
    found = await sessions.get(params.session_id).going_back.preview(params.turn_id)
    files = [
        shapes.FileBack(each.path, each.where.as_uri(), each.action, each.conflict or None, not each.can_overwrite or None)
        for each in found.files
    ]
    return shapes.PreviewRestoreResult(files, [shapes.Uncovered(each.path, each.why) for each in found.uncovered])


CHANGES_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.CHANGES: _changes,
    wire.VERSION_TEXT: _version_text,
    wire.KEEP_CHANGES: _keep,
    wire.UNDO_CHANGES: _undo,
    wire.CHECKPOINTS: _checkpoints,
    wire.PREVIEW_RESTORE: _preview_restore,
}
"""The function that answers each method. The functions raise `SessionError`."""


def _named_or_all(path: str | None) -> str | None:
    return None if path is None else named_file(path)


def decided_to_wire(files: Sequence[DecidedFile]) -> shapes.DecidedResult:
    """The outcome for each file that was kept or undone, in its form on the wire."""
    return shapes.DecidedResult([shapes.DecidedFile(each.path, each.outcome, each.why or None) for each in files])


def _turn(turn: ShownTurn) -> shapes.TurnChanges:
    uncovered = [shapes.Uncovered(each.path, each.why) for each in turn.uncovered]
    return shapes.TurnChanges(turn.turn_id, turn.title, turn.at, [_file(each) for each in turn.files], uncovered)


def _file(file: ShownFile) -> shapes.ChangedFile:
    hunks = [
        shapes.Hunk(each.id, each.old_start, each.old_lines, each.new_start, each.new_lines, each.edited or None) for each in file.hunks
    ]
    return shapes.ChangedFile(
        file.path,
        file.where.as_uri(),
        file.status,
        file.added,
        file.removed,
        file.binary or None,
        file.note or None,
        hunks or None,
    )


def open_changes_to_wire(changes: OpenChanges) -> shapes.OpenChanges:
    """All open changes of a session together, in their form on the wire."""
    turns = [shapes.OpenTurn(each.turn_id, title_of(each.title), each.files) for each in changes.turns]
    return shapes.OpenChanges([_file(each) for each in changes.files], changes.count, changes.added, changes.removed, turns or None)
