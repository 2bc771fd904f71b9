"""Asking the user before something is done, and remembering what they always allow.

What is remembered lies in the user's own state folder, never in the workspace: a repository could bring its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from ullage.session.errors import SessionError
from ullage.session.items import PermissionOption, ToolCallItem
from ullage.session.timeline import Timeline
from ullage.tools.tool import PermissionNeed


class Remembered(Protocol):
    """What the user always allows in this workspace."""

    def allows(self, need: PermissionNeed) -> bool:
        """Whether it was allowed once and for all."""
        ...

    def allow(self, need: PermissionNeed) -> None:
        """From now on. Raises `StoreFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class Refused:
    """The user said no; `reason` is what they wrote, if anything."""

    reason: str


class Approvals:
    """The open questions of one session, by tool call id."""

    def __init__(self, timeline: Timeline, remembered: Remembered) -> None:
        self._timeline = timeline
        self._remembered = remembered
        self._waiting: dict[str, tuple[PermissionNeed, asyncio.Future[Refused | None]]] = {}

    async def allow(self, call_id: str, need: PermissionNeed) -> Refused | None:
        """Returns at once where it is allowed already, else waits for the user. None means: go ahead."""
        if self._remembered.allows(need):
            return None
        item = self._timeline.get(call_id)
        if not isinstance(item, ToolCallItem):
            raise SessionError("no_such_item", f"There is no tool call {call_id} to ask about")
        answer: asyncio.Future[Refused | None] = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = (need, answer)
        self._timeline.put(replace(item, status="awaiting_permission", permission=options(need), permission_reason=need.description))
        try:
            return await answer
        finally:
            self._waiting.pop(call_id, None)

    def answer(self, call_id: str, option_id: str, reason: str) -> None:
        """The user's answer. Raises `SessionError` where nothing is asked or the option is none of those offered."""
        if call_id not in self._waiting:
            raise SessionError("no_such_permission", "This approval is no longer waited for")
        need, future = self._waiting[call_id]
        if option_id not in {option.option_id for option in options(need)}:
            raise SessionError("invalid", f"{option_id} is not one of the answers to this approval")
        if future.done():
            return
        if option_id == "allow_always":
            self._remembered.allow(need)
        future.set_result(Refused(reason.strip()) if option_id == "reject_once" else None)


def options(need: PermissionNeed) -> tuple[PermissionOption, ...]:
    """The answers that are offered. There is no "always" where `need` has no pattern that could be remembered."""
    once = PermissionOption("allow_once", "Allow once", "allow_once")
    refuse = PermissionOption("reject_once", "Refuse", "reject_once")
    if not need.pattern:
        return (once, refuse)
    return (once, PermissionOption("allow_always", f"Always allow {need.pattern}", "allow_always"), refuse)
