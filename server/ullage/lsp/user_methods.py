"""What the server does for requests about the user's own choices: what is always allowed, which models there are, whose sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.session.errors import SessionError
from ullage.session.slash_commands import COMMANDS

if TYPE_CHECKING:  # takes long to import
    from ullage.models.offered import OfferedModel
    from ullage.session.sessions import Sessions


async def _always_allowed(sessions: Sessions, _: wire.Nothing) -> wire.AllowedResult:
    return wire.AllowedResult([wire.Allowed(each.action, each.pattern, each.name) for each in sessions.always_allowed.approvals()])


async def _forget(sessions: Sessions, params: wire.ForgetParams) -> wire.Nothing:
    if (params.action is None) != (params.pattern is None):
        raise SessionError("invalid", "Name both the action and the pattern of what is to be asked again, or neither for everything")
    if params.action is None or params.pattern is None:
        sessions.always_allowed.forget_all()
    else:
        sessions.always_allowed.forget(params.action, params.pattern)
    return wire.Nothing()


async def _models(sessions: Sessions, params: wire.ModelsParams) -> wire.ModelsResult:
    return wire.ModelsResult([_offered(model) for model in await sessions.offered_models(params.address)])


def _offered(model: OfferedModel) -> wire.OfferedModel:
    prices = model.prices and wire.ModelPrices(model.prices.input, model.prices.output)
    return wire.OfferedModel(model.name, model.display_name, model.window, prices)


async def _commands(_: Sessions, __: wire.Nothing) -> wire.CommandsResult:
    return wire.CommandsResult(
        [wire.AvailableCommand(each.name, each.description, wire.CommandInput(each.hint) if each.hint else None) for each in COMMANDS]
    )


async def _importable(sessions: Sessions, _: wire.Nothing) -> wire.ImportableResult:
    found = await sessions.importable()
    brought = () if found.brought is None else found.brought.sessions
    return wire.ImportableResult(
        [wire.BroughtSession(each.title, each.updated_at, each.entries, each.waiting) for each in brought],
        found.brought is not None and found.brought.is_tracked,
        [wire.GoneFolder(str(each.folder), each.sessions, each.updated_at) for each in found.gone],
    )


async def _import(sessions: Sessions, params: wire.ImportParams) -> wire.ImportResult:
    if params.mine and params.from_gone is not None:
        raise SessionError("invalid", "Import either what lies in this folder or the sessions of one that is gone")
    of_gone = None if params.from_gone is None else Path(params.from_gone)
    taken = await sessions.import_sessions(as_mine=params.mine, of_gone=of_gone)
    return wire.ImportResult(taken.sessions, taken.unreadable, list(taken.failures))


USER_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.ALLOWED: _always_allowed,
    wire.FORGET: _forget,
    wire.MODELS: _models,
    wire.COMMANDS: _commands,
    wire.IMPORTABLE: _importable,
    wire.IMPORT: _import,
}
"""What answers each method. The functions raise `SessionError`."""
