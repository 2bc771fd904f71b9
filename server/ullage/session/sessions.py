"""All sessions of one workspace: which are open, what they share, and what happens around them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ullage.context.engines.engine import tools_wanted
from ullage.context.entries import Logged, UserPrompt
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.models.choose import choose_model
from ullage.models.model import Model, TokenizerVersion
from ullage.models.tokenizers import CountText, tokenizer
from ullage.session.attachments import Ref, ref_of
from ullage.session.errors import SessionError, refusal_of
from ullage.session.finding import Found, find
from ullage.session.forks import ForkPlace, fork_place
from ullage.session.items import SessionState, Update
from ullage.session.models_in_workspace import ChooseModel, ModelsInWorkspace
from ullage.session.outputs import Outputs
from ullage.session.recall import SessionRecall
from ullage.session.remembered import RememberedForNow, RememberedInWorkspace
from ullage.session.session import Session
from ullage.session.settings import Settings
from ullage.session.surroundings import Surroundings
from ullage.session.titles import one_line, title_of_fork
from ullage.session.uncollected import uncollected, walked_again
from ullage.session.workspace_store import open_workspace_store
from ullage.store.erase import erase_session
from ullage.store.errors import StoreFailed, UnknownSession
from ullage.store.user_state import UserState
from ullage.tools.dependencies import ToolDependencies
from ullage.tools.media import Shelf
from ullage.tools.registry import build_tools
from ullage.tools.tool import Tool
from ullage.workspace.editor import Editor
from ullage.workspace.files import WorkspaceFiles
from ullage.workspace.folders import Folders
from ullage.workspace.own_writes import OwnWrites
from ullage.workspace.reads import FileReads
from ullage.workspace.recent import RecentEdits
from ullage.workspace.watcher import FileChange, watch

logger = logging.getLogger(__name__)

DocumentEvent: TypeAlias = Literal["opened", "changed", "saved", "closed"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in the list of sessions. `updated_at` is Unix seconds."""

    session_id: str
    title: str
    updated_at: float
    state: SessionState


@dataclass(frozen=True, slots=True)
class Fork:
    """A session that was forked. `prompt` is the one that it was forked before, `refs` what was attached to that and can be again."""

    session: Session
    prompt: UserPrompt | None
    refs: tuple[Ref, ...]


class Sessions:
    """The sessions of one workspace, as a front end sees them."""

    def __init__(
        self,
        folders: Sequence[Path],
        editor: Editor,
        settings: Settings,
        api_key: str | None,
        state_folder: Path | None,
        on_update: Callable[[str, int, Update], None],
        on_list_changed: Callable[[], None],
        on_warning: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        choose: ChooseModel = choose_model,
        find_policies: Callable[[], Mapping[str, Policy]] | None = None,
        find_tokenizer: Callable[[TokenizerVersion], CountText | None] = tokenizer,
    ) -> None:
        self._find_policies = find_policies or _installed
        self._on_update = on_update
        self._on_list_changed = on_list_changed
        self._on_warning = on_warning
        self._open: dict[str, Session] = {}
        self._one_opens = asyncio.Lock()
        """A session is read in another thread: until it is open nobody opens it a second time, renames or deletes it."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop_watching = asyncio.Event()
        self._own_writes = OwnWrites()
        known = Folders(folders)
        self._kept = open_workspace_store(known.first)
        user_state = UserState(state_folder)
        self._models = ModelsInWorkspace(api_key, choose, self._kept.media.read, user_state, find_tokenizer, self._tokens_counted)
        remembered = RememberedInWorkspace(user_state, known.first) if known.first else RememberedForNow()
        self._around = Surroundings(
            folders=known,
            editor=editor,
            files=WorkspaceFiles(known, editor, self._own_writes),
            recent=RecentEdits(),
            store=self._kept.log,
            outputs=Outputs(self._kept.results),
            media=self._kept.media,
            transcripts_folder=self._kept.folder,
            remembered=remembered,
            settings=settings,
            clock=clock,
            policy=self._policy(settings.policy_name),
            counts_of=self._models.counts_of,
            calibrations=self._models.calibrations,
        )

    async def start(self) -> None:
        """Begins to watch the disk, and says what is wrong with the store."""
        for warning in self._kept.warnings:
            self._on_warning(warning)
        self._models.start()
        roots = self._around.folders.roots
        if roots:
            self._keep(watch(roots, self._own_writes, self._disk_changed, self._on_warning, self._stop_watching))

    async def close(self) -> None:
        """Ends all turns as interrupted, and lets go of everything."""
        self._stop_watching.set()
        await self._until_opened()
        await asyncio.gather(*(session.close() for session in self._open.values()))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._models.close()
        self._kept.index.close()
        self._kept.log.close()

    # Sessions

    async def search(self, words: str, limit: int) -> Sequence[Found]:
        """Where the words stand in all sessions of the workspace, best first. Raises `SessionError`."""
        with _refusing():
            return await find(self._kept.log, self._kept.index, words, limit)

    async def create(self) -> Session:
        """A new, empty session. Raises `SessionError`."""
        with _refusing():
            record = self._kept.log.create_session("", self._around.clock())
        async with self._one_opens:
            session = await self._make(record.id)
        self._on_list_changed()
        return session

    async def open(self, session_id: str | None) -> Session:
        """That session; without an id the one that was used last, or a new one. Raises `SessionError`."""
        if session_id is not None:
            return await self._opened(session_id)
        for summary in self.summaries():
            try:
                return await self._opened(summary.session_id)
            except SessionError as error:
                logger.info("session %s is passed over: %s", summary.session_id, error)
        return await self.create()

    async def _opened(self, session_id: str) -> Session:
        if session_id in self._open:
            return self._open[session_id]
        async with self._one_opens:
            return self._open.get(session_id) or await self._make(session_id)

    async def _until_opened(self) -> None:
        """Waits for a session that is being read."""
        async with self._one_opens:
            pass

    def get(self, session_id: str) -> Session:
        """A session that is open. Raises `SessionError`."""
        if session_id not in self._open:
            raise SessionError("unknown_session", f"The session {session_id} is not open")
        return self._open[session_id]

    def summaries(self) -> list[SessionSummary]:
        """All sessions of the workspace, last used first."""
        return [
            SessionSummary(record.id, record.title, record.updated_at, self._state_of(record.id)) for record in self._kept.log.sessions()
        ]

    async def fork(self, session_id: str, item_id: str | None = None) -> Fork:
        """A new session with what was said in that one, whoever has it open: all by now, or up to the place of an item (`forks.py`).

        Raises `SessionError`.
        """
        log = self._kept.log
        async with self._one_opens:
            with _refusing():
                place = None if item_id is None else await self._fork_place(session_id, item_id)
                titles = {record.id: record.title for record in log.sessions()}
                title = title_of_fork(titles.get(session_id, ""), titles.values())
                through = None if place is None else place.through
                record = await asyncio.to_thread(log.fork, session_id, through, title, self._around.clock())
                chosen = log.recalled(f"model:{session_id}")
                if chosen is not None:
                    log.remember(f"model:{record.id}", chosen)
            session = await self._make(record.id)
        self._on_list_changed()
        prompt = None if place is None else place.prompt
        found = (ref_of(attachment, self._around.folders) for attachment in (prompt.attachments if prompt else ()))
        return Fork(session, prompt, tuple(ref for ref in found if ref is not None))

    async def _fork_place(self, session_id: str, item_id: str) -> ForkPlace:
        if session_id in self._open:
            entries = self._open[session_id].entries
        else:
            entries = await asyncio.to_thread(lambda: list(self._kept.log.entries(session_id)))
        place = await asyncio.to_thread(fork_place, entries, item_id)
        if place is None:
            raise SessionError("no_such_item", "A session can be forked from messages that are in its log, and this one is not")
        return place

    async def rename(self, session_id: str, title: str) -> None:
        """Gives a session another title. Raises `SessionError`."""
        if not title.strip():
            raise SessionError("invalid", "A session needs a title")
        title = one_line(title)
        if session_id not in self._open:
            await self._until_opened()
        with _refusing():
            if session_id in self._open:
                self._open[session_id].rename(title)
            else:
                self._kept.log.rename(session_id, title)
        self._on_list_changed()

    async def delete(self, session_id: str) -> None:
        """Deletes a session for good. Raises `SessionError`."""
        await self._until_opened()
        was_open = session_id in self._open
        if was_open:
            await self._open[session_id].close()  # open until then, so that nobody opens it a second time meanwhile
            self._open.pop(session_id, None)
        kept = self._kept
        async with self._one_opens:
            with _refusing():
                await asyncio.to_thread(erase_session, session_id, kept.folder, kept.log, kept.index, kept.results, kept.media)
        self._on_list_changed()
        if was_open:
            walked_again()

    async def _make(self, session_id: str) -> Session:
        try:
            with _refusing():
                session = await self._made(session_id)
        except BaseException:
            self._kept.log.release(session_id)
            raise
        for row in self._kept.log.damaged(session_id):
            self._on_warning(f"Entry {row.seq} of this session is damaged and was passed over: {row.reason}")
        self._open[session_id] = session
        self._keep(session.learn_model())
        return session

    async def _made(self, session_id: str) -> Session:
        record = next((each for each in self._kept.log.sessions() if each.id == session_id), None)
        if record is None:
            raise UnknownSession(session_id)
        self._kept.log.claim(session_id)
        settings, model = self._around.settings, self._model_of(session_id)

        def read() -> Session:
            return Session(record, self._kept.log.load(session_id), self._around, self._tools, model, self._on_update)

        with uncollected():
            session = await asyncio.to_thread(read)
        if self._around.settings is not settings:  # they were changed meanwhile
            self._use(session, self._model_of(session_id))
            session.settings_changed()
        session.mend()
        return session

    def _state_of(self, session_id: str) -> SessionState:
        return self._open[session_id].state if session_id in self._open else "idle"

    def _tools(self, session_id: str, reads: FileReads, entries: Callable[[], Sequence[Logged]], shelf: Shelf) -> Mapping[str, Tool]:
        around, settings = self._around, self._around.settings
        recall = SessionRecall(session_id, self._kept.log, self._kept.index, entries)
        dependencies = ToolDependencies(
            around.folders,
            around.files,
            around.editor,
            reads,
            recall,
            settings.bash_timeout,
            settings.bash_sandbox == "auto",
            entries,
            shelf,
        )
        return build_tools(dependencies, trusted=settings.trusted, wanted=tools_wanted(around.policy.engine))

    # Models

    async def set_model(self, session_id: str, name: str) -> None:
        """Another model answers in that session from its next call on. Raises `SessionError`."""
        session = self.get(session_id)
        if not name.strip():
            raise SessionError("invalid", "A model needs a name")
        with _refusing():
            self._kept.log.remember(f"model:{session_id}", name)
        self._use(session, self._model_of(session_id))

    def _use(self, session: Session, model: Model) -> None:
        session.use_model(model)
        self._keep(session.learn_model())

    def _model_of(self, session_id: str) -> Model:
        chosen = self._kept.log.recalled(f"model:{session_id}")
        settings = self._around.settings
        return self._models.model(chosen if isinstance(chosen, str) else settings.model_name, settings)

    def _tokens_counted(self) -> None:
        for session in self._open.values():
            session.tokens_counted()

    # What happens around them

    def configure(self, settings: Settings) -> None:
        """The user's settings from now on."""
        before, self._around.settings = self._around.settings, settings
        self._around.policy = self._policy(settings.policy_name)
        if _endpoint(before) != _endpoint(settings):
            self._models.forget()
            for session_id, session in self._open.items():
                self._use(session, self._model_of(session_id))
        for session in self._open.values():
            session.settings_changed()

    def _policy(self, name: str) -> Policy:
        """That policy; Ullage's own where there is none of that name (who reads the settings has said so)."""
        return ULLAGE if name == ULLAGE.name else self._find_policies().get(name, ULLAGE)

    def document_changed(self, path: Path, event: DocumentEvent, line: int | None = None) -> None:
        """A document of the editor was opened, changed, saved or closed; `line` (from 1) is where it was changed."""
        if not self._around.folders.contains(path):
            return
        name = self._around.folders.show(path)
        if event in ("changed", "saved"):
            self._around.recent.record(name, self._around.clock(), "user", line)
        for session in self._open.values():
            session.file_changed(name)
            if event == "changed":
                session.user_edits()

    def _disk_changed(self, change: FileChange) -> None:
        name = self._around.folders.show(change.path)
        self._around.recent.record(name, self._around.clock(), "disk")
        for session in self._open.values():
            session.file_changed(name)

    def _keep(self, work: Coroutine[None, None, None]) -> None:
        """Runs work in the background, owned by this object."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("background work failed", exc_info=task.exception())


def _installed() -> Mapping[str, Policy]:
    # Imported where somebody wants another policy than Ullage's own: it loads all of them.
    from ullage.installed_policies import policies

    return policies()


def _endpoint(settings: Settings) -> tuple[str, str, str]:
    return settings.model_name, settings.base_url, settings.provider


@contextmanager
def _refusing() -> Generator[None]:
    """What the store cannot do becomes a `SessionError`."""
    try:
        yield
    except StoreFailed as error:
        raise refusal_of(error) from error
