"""What the list of sessions says of each: what it does, how full its context is, what it cost, what is open of its changes.

Of a session that is open here this is folded from the very updates that its panel gets. It is kept as one row for each session, so that a
list of a thousand is read without opening a log. If a row says that a session is at work and nobody has it open, its window was ended.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ullage.context.blocks import Json
from ullage.session.timeline.items import ToolCallItem
from ullage.session.timeline.updates import (
    ChangesChanged,
    GaugeChanged,
    ItemUpdated,
    RunningChanged,
    SessionState,
    Snapshot,
    StateChanged,
    Update,
)
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.origins import is_foreign
from ullage.store.session_list import FIGURES
from ullage.store.statements import SessionRecord
from ullage.workspace.worktrees import Worktree

logger = logging.getLogger(__name__)

Status: TypeAlias = Literal["idle", "working", "waiting", "done", "failed", "interrupted"]
"""The status of a session in the list. `waiting`: for the user's answer. `done`: its last turn has ended, and nobody has looked at it
since."""

TOLD_AFTER = 0.1
"""Seconds in which changes are put together before anybody is told."""

KEPT_AFTER = 3.0
"""Seconds after which figures are written of which only the numbers changed: at work they do at each reply."""


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """The figures of one session. Tokens are those of the gauge; None if they are not known."""

    outcome: Literal["idle", "done", "failed", "interrupted"] = "idle"
    """What became of the last turn."""
    state: SessionState = "idle"
    waits: frozenset[str] = frozenset()
    """The calls that wait for the user: for an approval, or for an answer."""
    used: int | None = None
    threshold: int | None = None
    cost: float | None = None
    """Dollars; None if the prices are not known."""
    files: int = 0
    """How many files have open changes; `added` and `removed` are their lines."""
    added: int = 0
    removed: int = 0
    running: int = 0
    """How many commands run in the background. They end with the session, so no row has them."""

    @property
    def status(self) -> Status:
        """The status in one word."""
        return "waiting" if self.waits else "working" if self.state != "idle" else self.outcome

    def after(self, update: Update) -> SessionFigures:
        """The figures as they are after an update of the session; these very ones if it changes nothing here."""
        match update:
            case StateChanged():
                return self._in_state(update)
            case GaugeChanged(gauge=gauge):
                return replace(self, used=gauge.used, threshold=gauge.threshold, cost=gauge.cost)
            case ChangesChanged(changes=changes):
                return replace(self, files=changes.count, added=changes.added, removed=changes.removed)
            case RunningChanged(commands=commands):
                return replace(self, running=sum(each.end is None for each in commands))
            case ItemUpdated(item=ToolCallItem() as call):
                asks = call.status in ("awaiting_permission", "awaiting_answer")
                return self if asks == (call.id in self.waits) else replace(self, waits=self.waits ^ {call.id})
            case _:
                return self

    def _in_state(self, update: StateChanged) -> SessionFigures:
        outcome = self.outcome
        if self.state != "idle" and update.ended is not None:  # a command that was typed ends no turn
            outcome = _OUTCOMES.get(update.ended.stop_reason, "failed")
        elif self.state == "idle" and update.state == "running":
            outcome = "idle"
        waits = self.waits if update.state == "running" else frozenset[str]()
        return replace(self, outcome=outcome, state=update.state, waits=waits)


_OUTCOMES: Mapping[str, Literal["idle", "done", "failed"]] = {"end_turn": "done", "max_tokens": "done", "cancelled": "idle"}


def figures_of(snapshot: Snapshot, kept: SessionFigures | None) -> SessionFigures:
    """The figures of a session that was just opened. What became of its last turn is in `kept`; nobody else was at work in it."""
    gauge, changes = snapshot.gauge, snapshot.changes
    outcome = "idle" if kept is None else left_alone(kept).outcome
    return SessionFigures(
        outcome, snapshot.state, frozenset(), gauge.used, gauge.threshold, gauge.cost, changes.count, changes.added, changes.removed
    )


def left_alone(kept: SessionFigures) -> SessionFigures:
    """The kept figures of a session that nobody has open: if it was at work when they were kept, it was interrupted."""
    return kept if kept.status == kept.outcome else replace(kept, outcome="interrupted", state="idle", waits=frozenset())


def to_json(figures: SessionFigures) -> Json:
    """The figures as they are kept."""
    numbers: dict[str, Json] = {name: getattr(figures, name) for name in _NUMBERS}
    return {"status": figures.status, **{name: value for name, value in numbers.items() if value is not None}}


_NUMBERS = ("used", "threshold", "cost", "files", "added", "removed")


def from_json(value: Json) -> SessionFigures | None:
    """The figures that were kept; None if this version cannot read the value."""
    if not isinstance(value, Mapping):
        return None
    found = [value.get(name) for name in _NUMBERS]
    numbers = [each for each in found if isinstance(each, int | float) and not isinstance(each, bool) and each >= 0]
    if len(numbers) + found.count(None) < len(found):
        return None
    used, threshold, cost, files, added, removed = (each if isinstance(each, int | float) else None for each in found)
    figures = SessionFigures(
        used=None if used is None else int(used),
        threshold=None if threshold is None else int(threshold),
        cost=None if cost is None else float(cost),
        files=int(files or 0),
        added=int(added or 0),
        removed=int(removed or 0),
    )
    match value.get("status"):
        case "working":
            return replace(figures, state="running")
        case "waiting":
            return replace(figures, state="running", waits=frozenset({"?"}))
        case "idle" | "done" | "failed" | "interrupted" as outcome:
            return replace(figures, outcome=outcome)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in the list of sessions. `updated_at` is Unix seconds."""

    session_id: str
    title: str
    updated_at: float
    state: SessionState
    foreign: bool = False
    """Whether somebody else may have written the session: it can be read only."""
    open_elsewhere: bool = False
    """Whether another window has the session open, so that it cannot be opened here."""
    figures: SessionFigures | None = None
    """The figures; None if none are kept, as of a session that an earlier version wrote and nobody has opened since."""
    worktree: Worktree | None = None
    """The worktree in which its agent works; None if that is the workspace folder."""


@dataclass(frozen=True, slots=True)
class FiguresChanged:
    """New figures in the list of sessions, for a session that is open here."""

    session_id: str
    figures: SessionFigures


def in_list(
    record: SessionRecord,
    here: SessionFigures | None,
    kept: SessionFigures | None,
    worktree: Worktree | None = None,
    *,
    open_elsewhere: bool,
) -> SessionSummary:
    """A row of the list: with the figures `here` if the session is open here, else with those that were `kept`."""
    there = kept if kept is None or open_elsewhere else left_alone(kept)
    state = "idle" if here is None else here.state
    return SessionSummary(record.id, record.title, record.updated_at, state, is_foreign(record.id), open_elsewhere, here or there, worktree)


class OpenFigures:
    """The figures of the sessions that are open here, kept on disk. `tell` is called with an id some moments after something changed there,
    and whether its status did. `keep` runs work in the background."""

    def __init__(self, log: LogStore, tell: Callable[[str, bool], None], keep: Callable[[Coroutine[None, None, None]], None]) -> None:
        self._log = log
        self._tell = tell
        self._keep = keep
        self._now: dict[str, SessionFigures] = {}
        self._told: dict[str, SessionFigures] = {}
        self._rows = _Rows(log)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._writing: dict[str, asyncio.TimerHandle] = {}

    def of(self, session_id: str) -> SessionFigures | None:
        """The figures of a session that is open here; None if it is not."""
        return self._now.get(session_id)

    def kept(self) -> dict[str, SessionFigures]:
        """The kept figures of all sessions in the log, by session id. Raises `StoreFailed`."""
        found = {session_id: from_json(value) for session_id, value in self._log.recalled_all(FIGURES).items()}
        return {session_id: figures for session_id, figures in found.items() if figures is not None}

    def opened(self, session_id: str, snapshot: Snapshot) -> None:
        """Tells that a session is open from now on."""
        try:
            row = self._log.recalled(FIGURES + session_id)
        except StoreFailed as error:
            logger.info("what is kept of session %s is not known: %s", session_id, error)
            row = None
        self._now[session_id] = self._told[session_id] = figures_of(snapshot, from_json(row))
        self._rows.stands(session_id, row)

    def take(self, session_id: str, update: Update) -> None:
        """Takes in an update of that session."""
        before = self._now.get(session_id)
        if before is not None:
            self._set(session_id, before.after(update))

    def looked(self, session_id: str) -> None:
        """Tells that the user has looked at the session."""
        before = self._now.get(session_id)
        if before is not None and before.outcome in ("done", "failed", "interrupted"):
            self._set(session_id, replace(before, outcome="idle"))

    def closed(self, session_id: str, *, interrupted: bool = False) -> None:
        """Tells that the session is no longer open, and writes what is known of it. `interrupted`: it was at work until then."""
        figures = self._now.pop(session_id, None)
        self._stop(session_id)
        if figures is not None:
            self._rows.given(session_id, to_json(replace(figures, outcome="interrupted") if interrupted else figures))
            self._rows.write(session_id)

    def forget(self, session_id: str) -> None:
        """Forgets a session that was deleted or closed: nothing is written of it any more."""
        self._now.pop(session_id, None)
        self._stop(session_id)
        self._rows.forget(session_id)

    def _stop(self, session_id: str) -> None:
        for timers in (self._timers, self._writing):
            timer = timers.pop(session_id, None)
            if timer is not None:
                timer.cancel()

    def _set(self, session_id: str, figures: SessionFigures) -> None:
        if figures == self._now[session_id]:
            return
        self._now[session_id] = figures
        if session_id not in self._timers:
            self._timers[session_id] = asyncio.get_running_loop().call_later(TOLD_AFTER, self._changed, session_id)

    def _changed(self, session_id: str) -> None:
        del self._timers[session_id]
        now, before = self._now[session_id], self._told[session_id]
        if now == before:
            return
        self._told[session_id] = now
        is_other = now.status != before.status
        if is_other and session_id in self._writing:
            self._writing.pop(session_id).cancel()
        if session_id not in self._writing:
            wait = 0.0 if is_other else KEPT_AFTER
            self._writing[session_id] = asyncio.get_running_loop().call_later(wait, self._keep_now, session_id, is_other)
        self._tell(session_id, False)

    def _keep_now(self, session_id: str, is_other: bool) -> None:
        del self._writing[session_id]
        self._rows.given(session_id, to_json(self._now[session_id]))
        self._keep(self._kept(session_id, is_other=is_other))

    async def _kept(self, session_id: str, *, is_other: bool) -> None:
        await asyncio.to_thread(self._rows.write, session_id)
        if is_other:
            self._tell(session_id, True)


class _Rows:
    """What is kept of each session that is open here. A thread that comes late writes the newest row, or none, and never an older one."""

    def __init__(self, log: LogStore) -> None:
        self._log = log
        self._one_writes = threading.Lock()
        self._given: dict[str, Json] = {}
        self._written: dict[str, Json] = {}

    def stands(self, session_id: str, value: Json) -> None:
        """Takes in the row of a session as it is on disk."""
        self._given[session_id] = self._written[session_id] = value

    def given(self, session_id: str, value: Json) -> None:
        """Takes in a row that is to be written."""
        self._given[session_id] = value

    def write(self, session_id: str) -> None:
        """Writes the row that was given last, from any thread; nothing once the session was forgotten."""
        with self._one_writes:
            if session_id not in self._given or self._given[session_id] == self._written.get(session_id):
                return
            value = self._given[session_id]
            try:
                self._log.remember(FIGURES + session_id, value)
                self._written[session_id] = value
            except StoreFailed as error:
                logger.info("what the list says of session %s could not be kept: %s", session_id, error)

    def forget(self, session_id: str) -> None:
        """Forgets a session: a row that is being written is finished, and no other one follows."""
        with self._one_writes:
            self._given.pop(session_id, None)
            self._written.pop(session_id, None)
