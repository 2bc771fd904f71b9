"""What Ullage can do that the protocol has no word for: compaction previewed, made, undone and made again, pins, the timeline.

A client that knows them calls the methods `_ullage/…`; for one that knows none there are commands (`/preview`, `/undo`, `/pin`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ullage.session.errors import SessionError
from ullage.session.history.epochs import EpochInfo
from ullage.session.session import Session
from ullage.session.slash_commands import SlashCommand


async def _compact(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    return {"compactionId": session.compact(_text(params, "focus"))}


async def _preview(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    found = await session.history.preview(_text(params, "focus"))
    return {
        "policy": found.policy,
        "tokensBefore": found.tokens_before,
        "tokensAfter": found.tokens_after,
        "threshold": found.threshold,
        "summary": found.summary,
        "summarised": found.counts.summarised,
        "cleared": found.counts.cleared,
        "snipped": found.counts.snipped,
        "restored": [each.path for each in found.restored],
        "nothing": found.nothing,
    }


async def _undo(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    return {"compactionId": await session.history.undo(_text(params, "compactionId") or None)}


async def _redo(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    return {"compactionId": await session.history.redo(_text(params, "compactionId") or None)}


async def _pin(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    pinned = params.get("pinned", True)
    path, item_id = _text(params, "path"), _text(params, "itemId")
    if not isinstance(pinned, bool) or bool(path) == bool(item_id):
        raise SessionError("invalid", "Name either the `path` of a file or an `itemId`, and whether it is to be `pinned`")
    if path:
        session.history.pin_file(path, pinned=pinned)
    else:
        session.history.pin_item(item_id, pinned=pinned)
    return _pins(session)


async def _timeline(session: Session, _: dict[str, Any]) -> dict[str, Any]:
    epochs, _fates = await session.history.epochs()
    return {"epochs": [_epoch(each) for each in epochs], **_pins(session)}


def _epoch(epoch: EpochInfo) -> dict[str, Any]:
    told: dict[str, Any] = {
        "number": epoch.number,
        "at": epoch.at,
        "requests": epoch.requests,
        "cost": epoch.cost,
        "undone": epoch.undone,
        "current": epoch.current,
    }
    made = epoch.compaction
    if made is not None:
        told |= {"compactionId": made.id, "tokensBefore": made.tokens_before, "tokensAfter": made.estimated_after, "policy": made.policy}
    return told


def _pins(session: Session) -> dict[str, Any]:
    pins = session.snapshot(0).pins
    return {"pinnedItems": list(pins.item_ids), "pinnedFiles": list(pins.paths)}


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name, "")
    if value is not None and not isinstance(value, str):
        raise SessionError("invalid", f"`{name}` is a text")
    return value or ""


METHODS: dict[str, Callable[[Session, dict[str, Any]], Awaitable[dict[str, Any]]]] = {
    "ullage/compact": _compact,
    "ullage/preview": _preview,
    "ullage/undo": _undo,
    "ullage/redo": _redo,
    "ullage/pin": _pin,
    "ullage/timeline": _timeline,
}
"""The functions by the names of their methods, without the `_` that the protocol puts before them. Each method takes a `sessionId`. The
functions raise `SessionError`."""

PIN_COMMANDS = (
    SlashCommand("pin", "Keep a file in view through compactions", "[path]"),
    SlashCommand("unpin", "Let compactions touch a file again", "[path]"),
)
"""Commands beside those of `session/slash_commands.py`: an editor with a panel has buttons for them."""


def pin_command(text: str, session: Session) -> str | None:
    """Carries out `/pin` or `/unpin`, and gives what the user is told; None if the text is neither. Raises `SessionError`."""
    name, _, path = text.strip().partition(" ")
    if name not in ("/pin", "/unpin"):
        return None
    if path.strip():
        session.history.pin_file(path.strip().removeprefix("@"), pinned=name == "/pin")
    pinned = session.snapshot(0).pins.paths
    return "\n".join(("Pinned files:", *(f"- {each}" for each in pinned))) if pinned else "No file is pinned. `/pin PATH` pins one."
