"""The mode of a session: what the agent may do for now. Named as the Agent Client Protocol names it (session modes).

In Ask and Plan mode a call that would change anything is refused, whatever the user always allows. The tools stay the same, so the prompt
cache keeps its prefix: the model is told of another mode by a notice before its next call. After a compaction it is told again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ullage.context.blocks import Json
from ullage.context.compaction_entries import Compaction
from ullage.context.entries import Entry, Logged, Notice
from ullage.session.timeline.updates import ModeId
from ullage.tools.tool import PermissionNeed

logger = logging.getLogger(__name__)

FIRST_MODE: ModeId = "act"
"""The mode of a new session, and of every session that was made before there were modes."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One of the modes: its name and description for the user, and what the model is told when it begins."""

    id: ModeId
    name: str
    description: str
    told: str


MODES: tuple[Mode, ...] = (
    Mode(
        "ask",
        "Ask",
        "Reads and answers. Changes nothing.",
        "The session is in Ask mode now. Answer what the user asks, and change nothing. Reading, searching, questions and commands that "
        "only read are allowed; every other call is refused. If something should be changed, say what and where: the user can switch to "
        "Act mode.",
    ),
    Mode(
        "plan",
        "Plan",
        "Reads, then writes a plan that you edit and accept before it is carried out.",
        "The session is in Plan mode now. Find out what has to be known, and change nothing: reading, searching, questions and commands "
        "that only read are allowed, every other call is refused. Then call `propose_plan`. The user reads, edits and accepts the plan "
        "there. When it is accepted, the session is in Act mode and you carry it out.",
    ),
    Mode(
        "act",
        "Act",
        "Edits files and runs commands, with your approval where it is needed.",
        "The session is in Act mode now. You may edit files and run commands; the user is asked where that is needed.",
    ),
)
"""The modes, in the order in which they are offered."""

_BY_ID: dict[ModeId, Mode] = {mode.id: mode for mode in MODES}
_BY_WORDS: dict[str, ModeId] = {mode.told: mode.id for mode in MODES}

REFUSED = "This session is in {name} mode, so nothing is changed: the call was not run. {instead}"
_INSTEAD: dict[ModeId, str] = {
    "ask": "Say what you would change; the user can switch to Act mode.",
    "plan": "Put it into the plan, and call `propose_plan` when the plan is whole.",
}
NO_PLAN_WANTED = "This session is in Ask mode, so no plan is carried out. Answer in words; the user can switch to Plan mode."


class ModeStore(Protocol):
    """Small values that outlive the process. Raises `StoreFailed`."""

    def remember(self, key: str, value: Json) -> None:
        """Keeps the value under the key."""
        ...

    def recalled(self, key: str) -> Json:
        """The value that was kept under the key; None if nothing was."""
        ...


class ModeInForce:
    """The mode of one session. `entries` is its log so far: it says what the model was told last."""

    def __init__(self, session_id: str, entries: Iterable[Logged], store: ModeStore) -> None:
        self._key = f"mode:{session_id}"
        self._store = store
        kept = next((mode for mode in MODES if mode.id == store.recalled(self._key)), None)
        self.id: ModeId = FIRST_MODE if kept is None else kept.id
        self._told: ModeId | None = FIRST_MODE
        """The mode that the model was told last; None if a compaction may have taken the notice out of view."""
        for logged in entries:
            self.see(logged.entry)

    def choose(self, mode: ModeId) -> None:
        """Puts another mode in force. The model is told before its next call. Raises `StoreFailed`, and nothing has changed then."""
        self._store.remember(self._key, mode)
        self.id = mode

    def see(self, entry: Entry) -> None:
        """Takes in the next entry of the log."""
        if isinstance(entry, Notice) and entry.text in _BY_WORDS:
            self._told = _BY_WORDS[entry.text]
        elif isinstance(entry, Compaction) and entry.trigger != "upkeep":
            self._told = None

    def notice(self) -> Notice | None:
        """The notice of the mode that the model has to get now; None if it knows. That it may act is only told to one that was told
        otherwise."""
        if self.id == self._told or (self._told is None and self.id == FIRST_MODE):
            return None
        return Notice("rules", _BY_ID[self.id].told)

    def refusal(self, need: PermissionNeed) -> str:
        """Why a call may not run in this mode, in words for the model; empty if it may. Fetching a page and searching for pages
        change nothing, and are asked about all the same."""
        if self.id == "act" or (need.harmless and not need.goes_on) or need.action in ("host", "search"):
            return ""
        if need.action == "plan":
            return NO_PLAN_WANTED if self.id == "ask" else ""
        return REFUSED.format(name=_BY_ID[self.id].name, instead=_INSTEAD[self.id])
