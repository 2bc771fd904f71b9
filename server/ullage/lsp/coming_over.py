"""The wire types of sessions of other programs, and what the server does for the requests about them. See PROTOCOL.md, "The workspace"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from ullage.lsp.items import AtMost, Id
from ullage.lsp.protocol import OTHERS, OTHERS_GO_ON, OTHERS_LOOK, Snapshot

if TYPE_CHECKING:  # takes long to import
    from ullage.session.coming_over.coming_over import Listed
    from ullage.session.coming_over.looking import Lost
    from ullage.session.sessions.sessions import Sessions


@attrs.frozen
class OthersParams:
    """Params of `others`; `everywhere`: those of all folders, not of this workspace alone."""

    everywhere: bool = False


@attrs.frozen
class OtherSession:
    """A session of another program. `here`: its agent worked in this workspace; `size` in bytes, nothing if its file holds several."""

    id: Id
    program: str
    title: str
    file: str
    updated_at: float
    here: bool
    version: str | None = None
    folder: str | None = None
    size: int | None = None


@attrs.frozen
class OthersResult:
    """Result of `others`, last changed first; `more`: there are others, which are not listed."""

    sessions: list[OtherSession]
    more: bool


@attrs.frozen
class LookParams:
    """Params of `lookAtOther`: the id of one that was listed, or else a `file` that the user chose."""

    other_id: Id | None = None
    file: Annotated[str, AtMost(4_000)] | None = None


@attrs.frozen
class OtherCompaction:
    """What the other program had compacted. Of what was `needed` later `kept` stood in its summary; `shown_again` came once more, `gone`
    never. `readable`: its summary can be read; else these are 0."""

    readable: bool
    needed: int
    kept: int
    shown_again: int
    gone: int
    examples: list[str]
    characters_again: int
    at: float | None = None
    automatic: bool | None = None
    tokens_before: int | None = None


@attrs.frozen
class LookResult:
    """Result of `lookAtOther`. `tokens` are what it would hold here; `missing` and `unknown` count what could not be read of its file."""

    session: OtherSession
    prompts: int
    replies: int
    calls: int
    missing: int
    unknown: int
    measured: bool
    compactions: list[OtherCompaction]
    tokens: int
    threshold: int
    model: str | None = None
    began_at: float | None = None
    ended_at: float | None = None


@attrs.frozen
class GoOnParams:
    """Params of `goOnWithOther`."""

    other_id: Id


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


def _session(listed: Listed) -> OtherSession:
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
"""What answers them. The functions raise `SessionError`."""
