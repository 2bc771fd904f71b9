"""The sub-agents of the sessions of a workspace: each is a session with a log of its own, hidden from the list, that works for its parent.

It is made by the call of `task` that wants it, runs as any session does, and is let go of with that call: its log stays. So a call that
was stopped, or cut off with its process, still says which log that is. What it may cost is limited by the user's settings.

Its parent's mode binds it, what it is asked about is asked in its parent, and what it changed is told in its parent's log.
`agent_reports.py` has what the parent is told of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from ullage.context.entries import AgentRun, AssistantReply
from ullage.session.errors import SessionError
from ullage.session.instructions.agent_files import acting_need
from ullage.session.long_work import patiently, patiently_at_once, to_its_end
from ullage.session.role import Role, defined, from_json, role_for, to_json
from ullage.session.session import Session
from ullage.session.sessions.agent_reports import agents_in_turn, outcome_of, spent_in_turn, told_of_early_end
from ullage.session.sessions.figures import from_json as figures_from_json
from ullage.session.settings import Settings
from ullage.session.timeline.display import Spending
from ullage.session.timeline.items import ToolCallItem
from ullage.session.timeline.updates import Gauge, GaugeChanged, ItemUpdated, ModeChanged, ModeId, StateChanged, StopReason, Update
from ullage.store.errors import StoreFailed
from ullage.store.log_store import LogStore
from ullage.store.session_list import AGENT, FIGURES
from ullage.tools.task import SubAgentTask
from ullage.tools.tool import PermissionNeed, ToolOutcome

logger = logging.getLogger(__name__)

NOT_TYPED = "Task from the agent that works with the user. The user did not type this.\n\n"
"""Stands before the prompt of a sub-agent, in whose log nobody else speaks."""

FORKED = (
    "You are the sub-agent that this call began: you know the conversation so far, and you change nothing. The task comes next. Do that "
    "alone; your last message is the report to the agent that goes on with the user. Keep it under 1,000 words."
)
WORKING, COMPACTING, WAITING = "Thinking", "Compacting its context", "Waiting to ask the model again"


@dataclass(slots=True)
class _Running:
    """A sub-agent that is at work."""

    session: Session
    parent: Session
    role: Role
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    how: StopReason = "error"
    doing: str = WORKING
    gauge: Gauge | None = None
    tokens: int = 0
    looked_at: int = 0
    limit: str = ""
    """The limit that ended it, in words for the model; empty if none did."""
    asked: dict[str, ToolCallItem] = field(default_factory=dict[str, ToolCallItem])
    """Its calls that wait for the user, the oldest first."""

    @property
    def run(self) -> AgentRun:
        gauge = self.gauge
        used, threshold, cost = (0, 0, None) if gauge is None else (gauge.used, gauge.threshold, gauge.cost)
        return AgentRun(self.session.id, self.role.name, used, threshold, cost)

    def show(self) -> None:
        asked = next(iter(self.asked.values()), None)
        self.parent.show_agent(self.role.call_id, self.run, self.doing, asked, self.session)


class SubAgents:
    """The sub-agents of one workspace."""

    def __init__(
        self,
        log: LogStore,
        settings: Callable[[], Settings],
        now: Callable[[], float],
        make: Callable[[str], Awaitable[Session]],
        let_go: Callable[[Session], Awaitable[None]],
        opened: Callable[[str], Session],
    ) -> None:
        """`make` opens a session that was just made, `let_go` closes it, `opened` gives one that is open."""
        self._log = log
        self._settings = settings
        self._now = now
        self._make = make
        self._let_go = let_go
        self._opened = opened
        self._beginning: dict[str, Role] = {}
        self._running: dict[str, _Running] = {}
        self._at_once: dict[str, asyncio.Semaphore] = {}
        self._called: Counter[str] = Counter()
        """How many calls of each session are on their way: one that waits for its turn counts."""

    def of(self, parent_id: str) -> CalledBy:
        """The sub-agents as one session calls them."""
        return CalledBy(self, parent_id)

    def ids(self) -> AbstractSet[str]:
        """The ids of the sessions that are sub-agents. Raises `StoreFailed`."""
        return self._log.recalled_all(AGENT).keys()

    def role_of(self, session_id: str) -> Role | None:
        """The role of that session; None if it is no sub-agent. Raises `StoreFailed`."""
        return self._beginning.get(session_id) or from_json(self._log.recalled(AGENT + session_id))

    def of_parent(self, parent_id: str) -> Mapping[str, Role]:
        """The sub-agents that a session has called, by their ids. Raises `StoreFailed`."""
        found = {session_id: from_json(value) for session_id, value in self._log.recalled_all(AGENT).items()}
        return {session_id: role for session_id, role in found.items() if role is not None and role.parent == parent_id}

    def running(self, session_id: str) -> Session | None:
        """The session of a sub-agent that is at work now; None if that one is not."""
        known = self._running.get(session_id)
        return None if known is None else known.session

    def is_of_call(self, session_id: str) -> bool:
        """Whether a call is making it or has it at work: that call lets go of it."""
        return session_id in self._running or session_id in self._beginning

    # What it does

    def take(self, session_id: str, update: Update) -> None:
        """Takes in an update of that session."""
        if isinstance(update, ModeChanged):
            self._bind(session_id, update.mode)
        known = self._running.get(session_id)
        if known is None:
            return
        match update:
            case GaugeChanged(gauge=gauge):
                known.gauge = gauge
                self._hold_to_limits(known)
            case StateChanged(state="idle"):
                known.how = update.ended.stop_reason if update.ended is not None else known.how
                known.ended.set()
                return
            case StateChanged():
                known.how = update.ended.stop_reason if update.ended is not None else known.how
                known.doing = WAITING if update.retry is not None else COMPACTING if update.state == "compacting" else WORKING
            case ItemUpdated(item=ToolCallItem() as call) if call.permission:
                known.asked[call.id], known.doing = call, call.title
            case ItemUpdated(item=ToolCallItem() as call) if call.id in known.asked or call.status == "running":
                known.asked.pop(call.id, None)
                known.doing = call.title if call.status == "running" else WORKING
            case _:
                return
        known.show()

    def _bind(self, parent_id: str, mode: ModeId) -> None:
        """Sets the mode of a session's sub-agents when the session is in another one: one that acts changes nothing while its parent may
        not."""
        for each in self._of(parent_id):
            if each.role.acts:
                try:
                    each.session.set_mode(_mode_under(mode, each.role))
                except StoreFailed:  # it must not go on in the mode that it had
                    each.session.cancel()

    def _of(self, parent_id: str) -> Iterator[_Running]:
        return iter([each for each in self._running.values() if each.role.parent == parent_id])

    def _files_changed(self, parent: Session, agent_id: str, paths: Iterable[str]) -> None:
        """Tells the parent and its other sub-agents that one has changed files: what they know of these may be out of date."""
        others = [each.session for each in self._of(parent.id) if each.session.id != agent_id]
        for path in paths:
            for session in (parent, *others):
                session.file_changed(path)

    def _hold_to_limits(self, known: _Running) -> None:
        settings = self._settings()
        new = known.session.entries[known.looked_at :]
        known.looked_at += len(new)
        for logged in new:
            if isinstance(logged.entry, AssistantReply) and logged.entry.usage is not None:
                usage = logged.entry.usage
                known.tokens += usage.total_input_tokens - usage.cache_read_tokens + usage.output_tokens
        if known.limit:
            return
        cost = spent_in_turn(known.parent.entries) + sum(each.run.cost or 0.0 for each in self._of(known.role.parent))
        limit = ""
        if cost > settings.agents_max_cost:
            limit = f"the limit of ${settings.agents_max_cost:g} for the sub-agents of one turn was reached"
        elif known.tokens > settings.agents_max_tokens:
            limit = f"the limit of {settings.agents_max_tokens:,} tokens for a sub-agent was reached"
        if limit:
            known.limit = limit
            known.session.cancel()

    def need(self, parent_id: str, agent: str) -> PermissionNeed | None:
        """What has to be allowed before that sub-agent begins; None if nothing has. It only reads where its parent may do no more, and asks
        for nothing then."""
        try:
            parent = self._opened(parent_id)
        except SessionError:  # it is just closed
            return None
        if parent.mode != "act" or not self._settings().trusted:
            return None
        file = defined(parent.agent_files(), agent)
        return acting_need(file) if file is not None and file.acts else None

    async def run(self, parent_id: str, task: SubAgentTask) -> ToolOutcome:
        """Runs a sub-agent to its end, and gives its report. Raises `StoreFailed`."""
        parent = self._opened(parent_id)
        settings = self._settings()
        self._called[parent_id] += 1
        try:
            return await self._run_called(parent, settings, task)
        finally:
            self._called[parent_id] -= 1

    async def _run_called(self, parent: Session, settings: Settings, task: SubAgentTask) -> ToolOutcome:
        begun = len(agents_in_turn(parent.entries)) + self._called[parent.id]
        if begun > settings.agents_per_turn:
            told = f"No sub-agent was started: {settings.agents_per_turn} in one turn are the most. Go on with what there is."
            return ToolOutcome(told, is_error=True)
        role = role_for(parent.id, task, await asyncio.to_thread(parent.agent_files))
        if isinstance(role, str):
            return ToolOutcome(role, is_error=True)
        async with self._at_once.setdefault(parent.id, asyncio.Semaphore(settings.agents_at_once)):
            if spent_in_turn(parent.entries) >= settings.agents_max_cost:  # those before it may have spent what there was
                limit = f"${settings.agents_max_cost:g}"
                told = f"No sub-agent was started: those of this turn have cost {limit}, which is the limit. Go on with what there is."
                return ToolOutcome(told, is_error=True)
            try:
                return await self._run(parent, role, task)
            except SessionError as error:
                return ToolOutcome(f"The sub-agent could not be started: {error}", is_error=True)

    async def _run(self, parent: Session, role: Role, task: SubAgentTask) -> ToolOutcome:
        session = await to_its_end(self._begun(parent, role, task))
        known = self._running[session.id] = _Running(session, parent, role, gauge=session.snapshot(1).gauge)
        known.looked_at = len(session.entries)
        self._beginning.pop(session.id, None)
        self._bind(parent.id, parent.mode)  # the mode may be another since it was made
        known.show()
        try:
            await session.prompt(NOT_TYPED + task.prompt)
            await known.ended.wait()
        except asyncio.CancelledError:
            await to_its_end(self._ended_early(known))
            raise
        finally:
            await to_its_end(self._over(known))
        return outcome_of(known.run, known.how, known.limit, session.entries, parent.entries, task)

    async def _begun(self, parent: Session, role: Role, task: SubAgentTask) -> Session:
        log, title, at = self._log, f"{role.name}: {task.title}", self._now()
        if role.tools is None:
            record = await patiently(lambda: asyncio.to_thread(log.fork, parent.id, None, title, at))
        else:
            record = await patiently_at_once(lambda: log.create_session(title, at))
        together = parent.together(record.id, partial(self._files_changed, parent, record.id))
        self._beginning[record.id] = replace(role, together=together)
        try:
            values = {kind: log.recalled(f"{kind}:{parent.id}") for kind in ("model", "effort", "worktree")}
            kept = {f"{kind}:{record.id}": value for kind, value in values.items() if value is not None}
            kept |= {AGENT + record.id: to_json(role), f"mode:{record.id}": _mode_under(parent.mode, role)}
            kept |= {f"model:{record.id}": role.model} if role.model else {}
            for key, value in kept.items():
                await patiently_at_once(partial(log.remember, key, value))
            return await self._make(record.id)
        except BaseException:
            self._beginning.pop(record.id, None)
            raise

    def begins_as(self, session_id: str) -> str:
        """The result that the calls of its parent's last reply get in a fork that is being made; empty for others."""
        role = self._beginning.get(session_id)
        return FORKED if role is not None and role.tools is None else ""

    async def _ended_early(self, known: _Running) -> None:
        """Ends a sub-agent whose parent is stopped or closed, and has the parent told so."""
        await self._let_go(known.session)
        told = told_of_early_end(known.session.id, known.session.entries, known.parent.entries)
        known.parent.agent_ended_early(known.role.call_id, known.run, told)

    async def _over(self, known: _Running) -> None:
        if known.session.id in self._running:
            del self._running[known.session.id]
            known.asked.clear()
            known.show()
            with suppress(SessionError):
                await self._let_go(known.session)

    # After a crash

    def left_by(self, parent: Session) -> Mapping[str, tuple[AgentRun, str]]:
        """The sub-agents that were at work for calls that a crash cut off, and what the parent is told of each, by the id of the call. For
        another thread. Raises `StoreFailed`."""
        found: dict[str, tuple[AgentRun, str]] = {}
        calls = parent.pending_calls
        for session_id, role in self.of_parent(parent.id).items():
            if role.call_id in calls:
                entries = list(self._log.entries(session_id))
                figures = figures_from_json(self._log.recalled(FIGURES + session_id))
                used, threshold = (0, 0) if figures is None else (figures.used or 0, figures.threshold or 0)
                run = AgentRun(session_id, role.name, used, threshold, Spending(entries).dollars)
                found[role.call_id] = run, told_of_early_end(session_id, entries, parent.entries)
        return found


class CalledBy:
    """Implements `ullage.tools.task.Agents` for one session."""

    def __init__(self, agents: SubAgents, parent_id: str) -> None:
        self._agents = agents
        self._parent_id = parent_id

    def need(self, agent: str) -> PermissionNeed | None:
        """What has to be allowed before that sub-agent begins; None if nothing has. For another thread."""
        return self._agents.need(self._parent_id, agent)

    async def run(self, task: SubAgentTask) -> ToolOutcome:
        """Runs a sub-agent to its end, and gives its report. Raises `StoreFailed`."""
        return await self._agents.run(self._parent_id, task)


def _mode_under(mode: ModeId, role: Role) -> ModeId:
    """The mode of a sub-agent under a parent in that mode."""
    return "act" if role.acts and mode == "act" else "ask"
