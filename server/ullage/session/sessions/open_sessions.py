"""The sessions of a workspace that are in memory: how one is read, opened and forked, and who may do something with it.

What happens around them `workspace_events.py` tells them. Some work in a worktree, and have other surroundings (`worktrees.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from ullage.context.entries import Logged
from ullage.models.model import EFFORT_CHOICES, EffortChoice, Model
from ullage.session.coming_over.coming_over import ComingOver
from ullage.session.errors import SessionError, refusal_of, refusing
from ullage.session.long_work import patiently, patiently_at_once, uncollected
from ullage.session.models_in_use import ModelsInWorkspace
from ullage.session.role import Role
from ullage.session.session import Session
from ullage.session.sessions.figures import OpenFigures, SessionSummary, in_list
from ullage.session.sessions.searching import SessionRecall
from ullage.session.sessions.sub_agents import SubAgents
from ullage.session.sessions.worktrees import Worktrees
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.updates import Update
from ullage.store.errors import ForeignSession, StoreFailed, UnknownSession
from ullage.store.origins import is_foreign
from ullage.store.plain_files import PlanFiles
from ullage.store.statements import SessionRecord, damage_in_words
from ullage.store.workspace_store import WorkspaceStore, erase_session
from ullage.tools.hook_command import RunHook, hook_runner
from ullage.tools.media import MediaShelf
from ullage.tools.registry import ToolDependencies, build_tools
from ullage.tools.rules.reading import ReadRulesNow
from ullage.tools.running import RunningCommands
from ullage.tools.sandbox.sandbox import Sandbox, SandboxFinder
from ullage.tools.tool import Tool
from ullage.workspace.touched import FileReads
from ullage.workspace.web_search import Searcher

AGENTS_OWN = "This is the log of a sub-agent: it can only be read. Go back to the session that called it"


class OpenSessions:
    """The sessions of one workspace that are open, and the foreign ones that are looked at."""

    def __init__(
        self,
        kept: WorkspaceStore,
        around: Surroundings,
        models: ModelsInWorkspace,
        figures: OpenFigures,
        on_update: Callable[[str, int, Update], None],
        on_warning: Callable[[str], None],
        keep: Callable[[Coroutine[None, None, None]], None],
        list_changed: Callable[[], None],
    ) -> None:
        """`keep` runs work in the background, `list_changed` tells that there are other sessions."""
        self._kept = kept
        self.figures = figures
        self._around = around
        self._models = models
        self._tell = on_update
        self._on_warning = on_warning
        self._keep = keep
        self._open: dict[str, Session] = {}
        self._foreign: dict[str, Session] = {}
        """The sessions that are only looked at: nothing is done for them, and they hear of nothing."""
        self._watched: set[str] = set()
        """The ids of sub-agents at work that somebody looks at: they can be read on when they are done."""
        self.one_opens = asyncio.Lock()
        """Held while a session is read in another thread: until it is open nobody opens it a second time, renames or deletes it."""
        self._sandbox_finder = SandboxFinder()
        self.worktrees = Worktrees(kept.log, around, self._named, on_warning, keep)
        self.coming_over = ComingOver(around, lambda: self._model_of(""), self._fixed_tokens, self.open, list_changed)
        around.sandbox_missing = self._sandbox_missing
        around.run_hook = self._hook_runner(around, self._sandbox_finder)
        around.web_turned = self._web_turned
        self.agents = SubAgents(kept.log, lambda: around.settings, around.clock, self._make_agent, self._let_go, self.get)

    def __iter__(self) -> Iterator[Session]:
        return iter(tuple(self._open.values()))

    def _fixed_tokens(self) -> int:
        return max((session.fixed_tokens for session in self), default=0)

    def _named(self, session_id: str) -> Iterator[Session]:
        return iter([self._open[session_id]] if session_id in self._open else [])

    def at_home(self) -> Iterator[Session]:
        """The open sessions that work in the workspace folders."""
        return iter([each for each in self if not self.worktrees.is_elsewhere(each.id)])

    def file_changed_at_home(self, name: str) -> None:
        """Tells the sessions in the workspace folders that a file there was changed by none of them."""
        for session in self.at_home():
            session.file_changed(name)

    def summaries(self, most: int | None) -> list[SessionSummary]:
        """The newest sessions of the workspace as the list shows them, open or not, `most` of them; None: all. For another thread. Raises
        `StoreFailed`."""
        agents = self.agents.ids()
        records = [record for record in self._kept.log.sessions() if record.id not in agents][:most]
        elsewhere = self._kept.log.open_elsewhere(record.id for record in records if record.id not in self._open)
        of, kept, worktrees = self.figures.of, self.figures.kept(), self.worktrees.all()
        return [
            in_list(record, of(record.id), kept.get(record.id), worktrees.get(record.id), open_elsewhere=record.id in elsewhere)
            for record in records
        ]

    def all_shown(self) -> Iterator[Session]:
        """The sessions that are open, and those that are only looked at."""
        return iter((*self._open.values(), *self._foreign.values()))

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._open

    async def until_opened(self) -> None:
        """Waits for a session that is being read, so that it is open."""
        async with self.one_opens:
            pass

    async def follow_titles(self) -> None:
        """Takes over the titles that another window may have given to sessions that are open here."""
        before = {session.id: session.title for session in self.all_shown()}
        with suppress(StoreFailed):
            records = await asyncio.to_thread(self._kept.log.sessions)
            titles = {record.id: record.title for record in records if record.id in before}
            for session in self.all_shown():
                if session.title == before.get(session.id):  # not renamed here meanwhile
                    session.take_title(titles.get(session.id, session.title))

    async def close(self, session: Session) -> None:
        """Closes a session: its turn ends as interrupted, and the list says so."""
        was_at_work = session.busy
        await session.close()
        self.figures.closed(session.id, interrupted=was_at_work)
        self._kept.log.release(session.id)  # not earlier: whoever opens it next reads what the list says
        self.worktrees.leave(session.id)

    def forget(self, session_id: str) -> None:
        """Forgets a session that was closed."""
        self._open.pop(session_id, None)
        self.figures.forget(session_id)
        self.worktrees.leave(session_id)

    def look_away(self, session_id: str) -> None:
        """Tells that a session that was only looked at is looked at no longer."""
        self._foreign.pop(session_id, None)
        self._watched.discard(session_id)

    async def _make_agent(self, session_id: str) -> Session:
        async with self.one_opens:
            return await self.make(session_id)

    async def _let_go(self, session: Session) -> None:
        """Closes the session of a sub-agent that is done; whoever looks at it has its log from then on."""
        if session.id in self._open:
            await self.close(session)
            self.forget(session.id)
            if session.id in self._watched:
                self._watched.discard(session.id)
                self._foreign[session.id] = session

    async def delete(self, session_id: str) -> bool:
        """Deletes a session with its sub-agents for good; gives whether it was open. Raises `SessionError`."""
        if self.agents.is_of_call(session_id):
            raise SessionError("session_busy", "This sub-agent is at work. Stop it first")
        self.look_away(session_id)
        was_open = session_id in self._open
        if was_open:
            await self._open[session_id].close()  # open until then, so that nobody opens it a second time meanwhile
            self._kept.log.release(session_id)
            self.forget(session_id)
        kept = self._kept
        async with self.one_opens:
            with refusing():
                files = (kept.results, kept.media, kept.versions)
                for each in (*self.agents.of_parent(session_id), session_id):
                    self.look_away(each)
                    erase = partial(erase_session, each, kept.folder, kept.log, kept.index, *files)
                    await patiently(partial(asyncio.to_thread, erase))
        return was_open

    async def open(self, session_id: str) -> Session:
        """Opens that session, unless it is open; of a sub-agent that is done its log, to be read. Raises `SessionError`."""
        if self.agents.running(session_id) is not None:
            self._watched.add(session_id)
        if session_id in self._open or session_id in self._foreign:
            return self.shown(session_id)
        async with self.one_opens:
            with refusing():
                is_agent = self.agents.role_of(session_id) is not None
            if is_foreign(session_id) or is_agent:
                return self._foreign.get(session_id) or await self._make_foreign(session_id)
            return self._open.get(session_id) or await self.make(session_id)

    def shown(self, session_id: str) -> Session:
        """A session that is open, to be read: also one that somebody else may have written. Raises `SessionError`."""
        return self._foreign.get(session_id) or self.agents.running(session_id) or self.get(session_id)

    def get(self, session_id: str) -> Session:
        """A session that is open, to do something with it. Raises `SessionError`."""
        if is_foreign(session_id):
            raise refusal_of(ForeignSession(session_id))
        if session_id in self._foreign or self.agents.is_of_call(session_id):
            raise SessionError("invalid", AGENTS_OWN)
        if session_id not in self._open:
            raise SessionError("unknown_session", f"The session {session_id} is not open")
        return self._open[session_id]

    def _on_update(self, session_id: str, seq: int, update: Update) -> None:
        self.figures.take(session_id, update)
        self.agents.take(session_id, update)
        self._tell(session_id, seq, update)

    async def make(self, session_id: str) -> Session:
        """Reads a session that nobody has open, and opens it; `one_opens` is held meanwhile. Raises `SessionError`."""
        try:
            with refusing():
                session = await self._made(session_id)
        except BaseException:
            self.worktrees.leave(session_id)
            self._kept.log.release(session_id)
            raise
        for told in damage_in_words(self._kept.log.damaged(session_id)):
            self._on_warning(told)
        self._open[session_id] = session
        self.worktrees.watch(session_id)
        self.figures.opened(session_id, session.snapshot(1))
        self._keep(session.learn_model())
        self._keep(session.look_at_hooks())
        return session

    async def _make_foreign(self, session_id: str) -> Session:
        """Reads a session that is only to be looked at: nothing is mended in it, and no prompt of it waits. Raises `SessionError`."""
        with refusing():
            await asyncio.to_thread(self._kept.log.elsewhere.bring, session_id)
            record, model = await self._record(session_id), self._model_of(session_id)
            role = self.agents.role_of(session_id)

            def read() -> Session:
                tools = partial(self._tools, self._around, self._sandbox_finder)
                return Session(record, self._kept.log.load(session_id), self._around, tools, model, self._on_update, role)

            try:
                session = self._foreign[session_id] = await asyncio.to_thread(read)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise SessionError("invalid", "This imported session cannot be shown: its entries contradict each other") from error
        return session

    async def _record(self, session_id: str) -> SessionRecord:
        known = await asyncio.to_thread(self._kept.log.sessions)
        record = next((each for each in known if each.id == session_id), None)
        if record is None:
            raise UnknownSession(session_id)
        return record

    async def _made(self, session_id: str) -> Session:
        await asyncio.to_thread(self._kept.log.elsewhere.open, session_id)
        record, role = await self._record(session_id), self.agents.role_of(session_id)
        self._kept.log.claim(session_id)
        settings, model = self._around.settings, self._model_of(session_id)
        elsewhere = self.worktrees.enter(session_id)
        around = self._around if elsewhere is None else elsewhere.around
        if elsewhere is not None:
            around.run_hook = self._hook_runner(around, elsewhere.finder)
        finder = self._sandbox_finder if elsewhere is None else elsewhere.finder
        await finder.find(around.folders.roots)
        tools = partial(self._tools, around, finder, role=role)

        def read() -> Session:
            return Session(record, self._kept.log.load(session_id), around, tools, model, self._on_update, role)

        with uncollected() as made:
            session = await asyncio.to_thread(read)
            made.values = len(session.entries) if role is None else 0  # a sub-agent soon ends, and nobody would collect it
        if self._around.settings is not settings:  # they were changed meanwhile
            self.choose_model(session)
            session.settings_changed()
        if role is None:
            await session.record_cut_off()  # what its sub-agents changed is told there, too
        begins_as = self.agents.begins_as(session_id)
        if begins_as:
            session.begin_as_fork(begins_as)
        elif session.pending_calls:
            left = await asyncio.to_thread(self.agents.left_by, session)
            for call_id, (run, told) in left.items():
                session.agent_ended_early(call_id, run, told)
        session.mend()
        return session

    def _tools(
        self,
        around: Surroundings,
        finder: SandboxFinder,
        session_id: str,
        reads: FileReads,
        entries: Callable[[], Sequence[Logged]],
        shelf: MediaShelf,
        read_rules: ReadRulesNow,
        running: RunningCommands,
        searcher: Searcher,
        role: Role | None = None,
    ) -> Mapping[str, Tool]:
        settings = around.settings
        recall = SessionRecall(session_id, self._kept.log, self._kept.index, entries)
        dependencies = ToolDependencies(
            around.folders,
            around.files,
            around.editor,
            reads,
            recall,
            PlanFiles(around.store_folder, session_id),
            settings.bash_timeout,
            settings.bash_sandbox,
            finder,
            entries,
            shelf,
            read_rules,
            around.web,
            around.remembered.web_is_on,
            searcher,
            self.agents.of(session_id) if role is None else None,
            around.servers if role is None else None,
            running,
        )
        tools = build_tools(dependencies, trusted=settings.trusted, wanted=around.policy.engine.tools)
        if role is None or role.tools is None:
            return tools
        return {name: tool for name, tool in tools.items() if name in role.tools or name in around.policy.engine.tools}

    def _hook_runner(self, around: Surroundings, finder: SandboxFinder) -> RunHook:
        return hook_runner(around.folders, lambda: Sandbox(finder, self._around.settings.bash_sandbox, around.folders))

    def _web_turned(self) -> None:
        for session in self:
            session.settings_changed()

    def _sandbox_missing(self) -> str:
        sandbox = Sandbox(self._sandbox_finder, self._around.settings.bash_sandbox, self._around.folders)
        if sandbox.works:
            return ""
        return "nobody has looked for a sandbox yet" if sandbox.missing is None else str(sandbox.missing)

    async def choose(self, session: Session, what: Literal["model", "effort"], value: str) -> None:
        """Keeps the model or the effort that the user chose for the session; it is asked so from its next call on. Raises
        `SessionError`."""
        with refusing():
            await patiently_at_once(lambda: self._kept.log.remember(f"{what}:{session.id}", value))
        self.choose_model(session)

    def choose_model(self, session: Session) -> None:
        """Has the session ask the model that is chosen for it now."""
        session.use_model(self._model_of(session.id))
        self._keep(session.learn_model())

    def _model_of(self, session_id: str) -> Model:
        chosen = self._kept.log.recalled(f"model:{session_id}")
        settings = self._around.settings
        return self._models.model(chosen if isinstance(chosen, str) else settings.model_name, self.effort_of(session_id), settings)

    def effort_of(self, session_id: str) -> EffortChoice:
        """The effort that was chosen for the session, else the user's setting."""
        chosen = self._kept.log.recalled(f"effort:{session_id}")
        for choice in EFFORT_CHOICES:
            if choice == chosen:
                return choice
        return self._around.settings.effort
