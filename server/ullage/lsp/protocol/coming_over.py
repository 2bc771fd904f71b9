"""The wire types of sessions of other programs. See PROTOCOL.md, "The workspace"."""

from __future__ import annotations

from typing import Annotated

import attrs

from ullage.lsp.protocol.items import AtMost, Id


@attrs.frozen
class OthersParams:
    """Params of `others`; `everywhere` asks for the sessions of all folders, not of this workspace alone."""

    everywhere: bool = False


@attrs.frozen
class OtherSession:
    """A session of another program. `here`: its agent worked in this workspace; `size` in bytes, absent if its file holds several."""

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
    """Result of `others`, last changed first; `more`: there are further ones, which are not listed."""

    sessions: list[OtherSession]
    more: bool


@attrs.frozen
class LookParams:
    """Params of `lookAtOther`: the id of a session that was listed, or else a `file` that the user chose."""

    other_id: Id | None = None
    file: Annotated[str, AtMost(4_000)] | None = None


@attrs.frozen
class OtherCompaction:
    """A compaction that the other program made. Of the things that were `needed` later, `kept` stood in its summary; `shown_again` came
    once more, `gone` never. `readable`: its summary can be read; else these are 0."""

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
