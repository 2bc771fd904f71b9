"""What the server does for the requests about sessions of other programs. See PROTOCOL.md, "The workspace"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ullage.lsp.protocol import OTHERS, OTHERS_GO_ON, OTHERS_LOOK
from ullage.lsp.protocol.coming_over import GoOnParams, LookParams, LookResult, OtherCompaction, OtherSession, OthersParams, OthersResult
from ullage.lsp.protocol.sessions import Snapshot

if TYPE_CHECKING:  # takes long to import
    from ullage.session.coming_over.coming_over import OtherAgentSession
    from ullage.session.coming_over.looking import Lost
    from ullage.session.sessions.sessions import Sessions


async def _others(sessions: Sessions, params: OthersParams) -> OthersResult:
    found = await sessions.coming_over.listed(everywhere=params.everywhere)
    return OthersResult([_session(each) for each in found.sessions], found.more)


async def _look(sessions: Sessions, params: LookParams) -> LookResult:
    over = sessions.coming_over
    looked = await over.look((await over.chosen(Path(params.file))).id if params.file is not None else params.other_id or "")
    told = looked.told
    return LookResult(
        _session(looked.listed),
        told.prompts,
        told.replies,
        told.calls,
        told.missing,
        told.unknown,
        told.is_measured,
        [_compaction(each) for each in told.compactions],
        looked.tokens,
        looked.threshold,
        told.model or None,
        told.began_at or None,
        told.ended_at or None,
    )


async def _go_on(sessions: Sessions, params: GoOnParams) -> Snapshot:
    from ullage.lsp.convert import snapshot_to_wire

    return snapshot_to_wire((await sessions.coming_over.go_on(params.other_id)).snapshot())


def _session(listed: OtherAgentSession) -> OtherSession:
    from ullage.session.coming_over.coming_over import PROGRAMS

    found = listed.found
    return OtherSession(
        listed.id,
        PROGRAMS.get(found.program, found.program),
        found.title,
        str(found.path),
        found.updated_at,
        listed.is_here,
        found.version or None,
        found.folder or None,
        found.size or None,
    )


def _compaction(lost: Lost) -> OtherCompaction:
    return OtherCompaction(
        lost.is_readable,
        lost.needed,
        lost.kept,
        lost.shown_again,
        lost.gone,
        list(lost.examples),
        lost.characters_again,
        lost.at,
        lost.automatic,
        lost.tokens_before,
    )


COMING_OVER_METHODS: dict[str, Callable[[Any, Any], Awaitable[object]]] = {OTHERS: _others, OTHERS_LOOK: _look, OTHERS_GO_ON: _go_on}
"""The function that answers each method. The functions raise `SessionError`."""
