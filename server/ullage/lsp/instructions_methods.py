"""What the server does for the requests about rules, skills, commands and hooks of a project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.protocol import instructions as shapes

if TYPE_CHECKING:  # takes long to import
    from ullage.session.hooks.running import LastRun
    from ullage.session.sessions.sessions import Sessions


async def _list(sessions: Sessions, params: wire.SessionParams) -> shapes.InstructionsResult:
    session = sessions.get(params.session_id)
    now = await session.hooks.listed()
    return shapes.InstructionsResult(
        [
            shapes.InstructionsFile(
                each.kind, each.shown, each.tokens, each.state, each.name or None, each.trouble or None, each.source or None
            )
            for each in await session.instructions()
        ],
        [
            shapes.ShownHook(
                each.id,
                each.hook.event,
                each.hook.matcher,
                each.hook.command,
                each.hook.source,
                each.hook.seconds,
                each.runs,
                None if each.last is None else _run(each.last),
            )
            for each in now.listed
        ],
        [shapes.PassedHook(each.event, each.command, each.source, each.why) for each in now.passed],
        now.off or None,
        now.no_sandbox or None,
    )


def _run(last: LastRun) -> shapes.HookRun:
    return shapes.HookRun(last.at, last.seconds, last.how, last.failed, last.tokens, last.times)


async def _decide(sessions: Sessions, params: shapes.DecideHookParams) -> wire.Nothing:
    await sessions.get(params.session_id).hooks.decide(params.hook_id, params.runs)
    return wire.Nothing()


INSTRUCTIONS_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.INSTRUCTIONS: _list,
    wire.DECIDE_HOOK: _decide,
}
"""The function that answers each method. The functions raise `SessionError`."""
