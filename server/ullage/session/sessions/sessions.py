"""All sessions of one workspace: which are open, what they share, and what happens around them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy
from ullage.models.choose import choose_model
from ullage.models.counting import CountText, tokenizer
from ullage.models.editor_models import NO_EDITOR_MODELS, EditorModels
from ullage.models.model import TokenizerVersion
from ullage.session.changes.progress import ShowProgress, nowhere
from ullage.session.errors import SessionError, refusing
from ullage.session.long_work import Background, call_in, collect_all, patiently_at_once
from ullage.session.models_in_use import ChooseModel, ModelsInWorkspace
from ullage.session.permissions.permits import WayOfAsking, way_of_asking
from ullage.session.permissions.rules_kept import Remembered, RememberedForNow, RememberedInWorkspace
from ullage.session.reading_settings import installed_by_name
from ullage.session.session import Session
from ullage.session.sessions.bringing_back import BringingBack
from ullage.session.sessions.brought_sessions import BroughtSessions, Importable
from ullage.session.sessions.choosing_models import ChoosingModels
from ullage.session.sessions.earlier_store import TakenIn
from ullage.session.sessions.figures import FiguresChanged, OpenFigures, SessionSummary
from ullage.session.sessions.forking import Fork, fork_session
from ullage.session.sessions.open_sessions import OpenSessions
from ullage.session.sessions.searching import SearchHit, find
from ullage.session.sessions.workspace_events import FIRST_FOLDER_GONE, NO_FOLDER_BEFORE, DocumentEvent, WorkspaceEvents
from ullage.session.sessions.workspace_servers import OfClient, follow, workspace_servers
from ullage.session.settings import OTHER_LOCATION, OTHER_TEAM, Settings
from ullage.session.surroundings import Outputs, Surroundings
from ullage.session.timeline.shown_entries import one_line
from ullage.session.timeline.updates import Update
from ullage.starting import Keys
from ullage.store.copying import HeldSession
from ullage.store.folder import READABLE, news, private_folders
from ullage.store.origins import is_foreign
from ullage.store.other_windows import ListNews
from ullage.store.session_list import BROUGHT
from ullage.store.user_state import UserState
from ullage.store.workspace_store import WorkspaceStore, open_workspace_store
from ullage.workspace.files import Editor, WorkspaceFiles
from ullage.workspace.folders import Folders, RecordsFolder, home_beside
from ullage.workspace.text_file import OwnWrites
from ullage.workspace.touched import RecentEdits

logger = logging.getLogger(__name__)


class Sessions:
    """The sessions of one workspace, as a front end sees them."""

    def __init__(
        self,
        folders: Sequence[Path],
        editor: Editor,
        settings: Settings,
        keys: Keys | None,
        state_folder: Path | None,
        on_update: Callable[[str, int, Update], None],
        on_list_changed: Callable[[], None],
        on_warning: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        choose: ChooseModel = choose_model,
        find_policies: Callable[[], Mapping[str, Policy]] | None = None,
        find_tokenizer: Callable[[TokenizerVersion], CountText | None] = tokenizer,
        remembered_session: str | None = None,
        kept: WorkspaceStore | None = None,
        show_progress: ShowProgress = nowhere,
        on_figures: Callable[[FiguresChanged], None] = lambda changed: None,
        editor_models: EditorModels = NO_EDITOR_MODELS,
        of_client: OfClient | None = None,
        on_well: Callable[[str], None] | None = None,
    ) -> None:
        """`on_well` is told that what was warned of is over. `remembered_session`: the id of a session that the editor remembers for this
        workspace. `kept`: what is kept of the workspace, where it is open already."""
        self._find_policies = find_policies or installed_by_name
        self._tell_of_list = on_list_changed
        self._on_warning, self._on_well = on_warning, on_well or on_warning
        self._background = Background()
        own_writes = OwnWrites()
        roots = Folders(folders).roots
        self._kept = kept or open_workspace_store(roots, settings.store_location, settings.team_place)
        self._opened_with = settings
        self._kept.versions.limit = settings.versions_bytes
        self._news = ListNews(None if self._kept.folder is None else news(self._kept.folder))
        user_state = UserState(state_folder)
        known = Folders(
            roots,
            None if self._kept.folder is None else RecordsFolder(self._kept.folder, READABLE),
            private_folders(settings.store_location, user_state.folder),
        )
        known.home = home_beside(known) if settings.home_files else None
        self._models = ModelsInWorkspace(
            keys, choose, self._kept.media.read, user_state, self._kept.log, find_tokenizer, self._tokens_counted, editor_models
        )
        remembered = RememberedInWorkspace(user_state, known.first) if known.first else RememberedForNow()
        self.servers = workspace_servers(known, user_state, of_client or OfClient())
        self._around = Surroundings(
            folders=known,
            editor=editor,
            files=WorkspaceFiles(known, editor, own_writes),
            recent=RecentEdits(),
            store=self._kept.log,
            outputs=Outputs(self._kept.results),
            media=self._kept.media,
            store_folder=self._kept.folder,
            remembered=remembered,
            hooks_kept=user_state,
            settings=settings,
            clock=clock,
            policy=self._policy(settings.policy_name),
            versions=self._kept.versions,
            show_progress=show_progress,
            counts_of=self._models.counts_of,
            fixed_of=self._models.fixed_of,
            calibrations=self._models.calibrations,
            servers=self.servers,
        )
        self._on_figures = on_figures
        keep, figures = self._background.keep, OpenFigures(self._kept.log, self._figures_changed, self._background.keep)
        self._open = OpenSessions(self._kept, self._around, self._models, figures, on_update, on_warning, keep, self._list_changed)
        self.worktrees, self.coming_over = self._open.worktrees, self._open.coming_over
        self.models = ChoosingModels(self._around, self._models, self._open, user_state, keep)
        self._events = WorkspaceEvents(self._around, self._open.at_home, own_writes, on_warning, self._background.keep)
        self._brought = BroughtSessions(known.first, self._kept, remembered_session, on_warning)

    async def start(self) -> None:
        """Begins to watch the disk, and says what is wrong with the store and the key."""
        for warning in self._kept.warnings:
            self._on_warning(warning)
        self._tell_of_the_key()
        loop = asyncio.get_running_loop()
        self._kept.log.tell_of(
            lambda text: call_in(loop, lambda: self._on_warning(text)),
            lambda: call_in(loop, self._tell_of_list),
        )
        if self._kept.following is not None:
            self._kept.following.tell = lambda text: call_in(loop, lambda: self._on_warning(text))
            self._kept.following.is_well = lambda text: call_in(loop, lambda: self._on_well(text))
            self._kept.following.changed = lambda: call_in(loop, self._another_changed_the_list)
            self._kept.following.start()
        self._kept.log.hold(lambda: [HeldSession(each.id, each.title, tuple(each.in_memory)) for each in self._open])
        self._news.listen(lambda: call_in(loop, self._another_changed_the_list))
        await self._brought.look()
        self._models.start()
        self._background.keep(follow(self.servers, self._around.settings))
        self._events.watch()

    def folders_changed(self, removed: Sequence[Path], added: Sequence[Path]) -> None:
        """Tells that the editor has other workspace folders now: what was removed is out of reach at once, the model is told with the next
        turn."""
        before = self._around.folders.roots
        self._events.folders_changed(removed, added)
        if added and not before:
            self._on_warning(NO_FOLDER_BEFORE)
        if not self._around.folders.roots:
            self.worktrees.out_of_reach()
            if before:
                self._on_warning(FIRST_FOLDER_GONE.format(before[0].name))

    async def close(self) -> None:
        """Ends all turns as interrupted, and lets go of everything."""
        self._events.stop()
        self._news.close()
        await self._open.until_opened()
        self._around.scanner.close()
        own = [session for session in self._open if not self._open.agents.is_of_call(session.id)]
        await asyncio.gather(*(self._open.close(session) for session in own))  # each ends its sub-agents
        await self._background.close()
        await self.servers.close()
        await self._models.close()
        await asyncio.to_thread(self._kept.log.elsewhere.close)
        self._kept.versions.close()
        self._kept.index.close()
        self._kept.log.close()

    async def importable(self) -> Importable:
        """The sessions that this workspace can be given. Raises `SessionError`."""
        return await self._brought.importable()

    async def import_sessions(self, *, as_mine: bool = False, of_gone: Path | None = None) -> TakenIn:
        """Imports what lies in `.ullage` of the workspace, or the sessions of a folder that is gone. Raises `SessionError`."""
        taken = await (self._brought.take_in(as_mine=as_mine) if of_gone is None else self._brought.take_over(of_gone))
        self._list_changed()
        return taken

    # Sessions

    async def search(self, words: str, limit: int) -> Sequence[SearchHit]:
        """The places where the words stand in all sessions of the workspace, the best first. Raises `SessionError`."""
        with refusing():
            return await find(self._kept.log, self._kept.index, words, limit)

    async def create(self, *, in_worktree: bool = False) -> Session:
        """Makes and opens a new, empty session, in a worktree of its own where that is wanted. Raises `SessionError`."""
        with refusing():
            record = await patiently_at_once(lambda: self._kept.log.create_session("", self._around.clock()))
        if in_worktree:
            try:
                with refusing():
                    await self.worktrees.add(record.id)
            except SessionError:
                await self.delete(record.id)
                raise
        async with self._open.one_opens:
            session = await self._open.make(record.id)
        self._list_changed()
        return session

    async def open(self, session_id: str | None) -> Session:
        """Opens that session; without an id the one that was used last, or a new one. Raises `SessionError`."""
        if session_id is not None:
            if session_id in self._open:
                await self._open.follow_titles()
            return await self._open.open(session_id)
        with refusing():
            agents = self._open.agents.ids()
        for record in (each for each in self._kept.log.sessions() if not is_foreign(each.id) and each.id not in agents):
            try:
                return await self._open.open(record.id)
            except SessionError as error:
                logger.info("session %s is passed over: %s", record.id, error)
        return await self.create()

    def stop(self, session_id: str) -> None:
        """Stops what that session does; of a sub-agent that is at work, all that it does. Raises `SessionError`."""
        (self._open.agents.running(session_id) or self._open.get(session_id)).cancel()

    def shown(self, session_id: str) -> Session:
        """A session that is open, to be read: also one that somebody else may have written. Raises `SessionError`."""
        return self._open.shown(session_id)

    def get(self, session_id: str) -> Session:
        """A session that is open, to do something with it. Raises `SessionError`."""
        return self._open.get(session_id)

    async def listed(self, most: int) -> list[SessionSummary]:
        """The newest sessions of the workspace, last used first."""
        await self._open.follow_titles()
        return await asyncio.to_thread(self.summaries, most)

    def summaries(self, most: int | None = None) -> list[SessionSummary]:
        """The newest sessions of the workspace, last used first; without a number all of them. Looks at every lock, so call it in another
        thread where there may be many. Raises `StoreFailed`."""
        return self._open.summaries(most)

    def bringing_back(self, session_id: str) -> BringingBack:
        """Brings what was changed in that session's worktree into the workspace folder, when it is asked to. Raises `SessionError`."""
        return BringingBack(self.worktrees.named(session_id), self._around, self._open.file_changed_at_home, BROUGHT + session_id)

    def looked(self, session_id: str) -> None:
        """Tells that the user looks at that session, and sees what became of its last turn. Raises `SessionError`."""
        self._open.shown(session_id)
        self._open.figures.looked(session_id)

    def _figures_changed(self, session_id: str, elsewhere: bool) -> None:
        figures = self._open.figures.of(session_id)
        if elsewhere:
            self._news.tell()
        elif figures is not None:
            self._on_figures(FiguresChanged(session_id, figures))

    def _list_changed(self) -> None:
        """Tells, here and in other windows, that the list of sessions has changed."""
        self._tell_of_list()
        self._news.tell()

    def _another_changed_the_list(self) -> None:
        self._tell_of_list()
        self._background.keep(self._open.follow_titles())

    async def fork(self, session_id: str, item_id: str | None = None) -> Fork:
        """Makes and opens a new session with what was said in that one, whoever has it open: all by now, or up to the place of an item
        (`fork_place`).

        Raises `SessionError`.
        """
        forked = await fork_session(self._around, self._open, session_id, item_id)
        self._list_changed()
        return forked

    async def rename(self, session_id: str, title: str) -> None:
        """Gives a session another title. Raises `SessionError`."""
        if not title.strip():
            raise SessionError("invalid", "A session needs a title")
        title = one_line(title)
        if session_id not in self._open:
            await self._open.until_opened()
        self._open.look_away(session_id)
        with refusing():
            if session_id in self._open:
                self._open.get(session_id).rename(title)
            else:
                await patiently_at_once(lambda: self._kept.log.rename(session_id, title))
        self._list_changed()

    async def close_session(self, session_id: str) -> None:
        """Lets go of a session: its turn ends as interrupted, and another window may open it. Raises `SessionError`."""
        await self._open.until_opened()
        if self._open.agents.is_of_call(session_id):
            return  # nobody looks at it any more; its call lets go of it
        if session_id in self._open:
            await self._open.close(self._open.get(session_id))
            self._open.forget(session_id)
            collect_all()
        else:
            self._open.shown(session_id)  # refuses what is not open
            self._open.look_away(session_id)
        self._list_changed()

    async def delete(self, session_id: str) -> None:
        """Deletes a session with its sub-agents for good. Raises `SessionError`."""
        await self._open.until_opened()
        was_open = await self._open.delete(session_id)
        self._list_changed()
        if was_open:
            collect_all()

    def _tokens_counted(self) -> None:
        for session in self._open:
            session.tokens_counted()

    # What happens around them

    def configure(self, settings: Settings) -> None:
        """Has the user's settings count from now on."""
        before, self._around.settings = self._around.settings, settings
        self._kept.versions.limit = settings.versions_bytes
        if self._opened_with.store_location != settings.store_location:
            self._on_warning(OTHER_LOCATION)
        if self._opened_with.team_place != settings.team_place:
            self._on_warning(OTHER_TEAM)
        self._tell_of_the_key()
        self._around.policy = self._policy(settings.policy_name)
        self._around.folders.home = home_beside(self._around.folders) if settings.home_files else None
        for each in self.worktrees.surrounded:
            each.around.settings, each.around.policy = settings, self._around.policy
            each.around.folders.home = self._around.folders.home
        is_other = before.endpoint != settings.endpoint
        if is_other:
            self._models.forget()
        if is_other or before.effort != settings.effort:
            for session in self._open:
                self._open.choose_model(session)
        for session in self._open:
            session.settings_changed()
        self._background.keep(follow(self.servers, settings))

    def _tell_of_the_key(self) -> None:
        withheld = self._models.withheld_key(self._around.settings)
        if withheld is not None:
            self._on_warning(withheld)

    @property
    def always_allowed(self) -> Remembered:
        """The rules of the user for this workspace and for everywhere."""
        return self._around.remembered

    @property
    def way_of_asking(self) -> WayOfAsking:
        """The way in which the user is asked about what no rule allows."""
        return way_of_asking(self._around)

    def _policy(self, name: str) -> Policy:
        """The policy of that name; Ullage's own if there is none: a message has said so when the settings were read."""
        return ULLAGE if name == ULLAGE.name else self._find_policies().get(name, ULLAGE)

    def document_changed(self, path: Path, event: DocumentEvent, line: int | None = None) -> None:
        """Tells that a document of the editor was opened, changed, saved or closed; `line` (from 1) is where it was changed."""
        for events in (self._events, *(each.events for each in self.worktrees.surrounded)):
            events.document_changed(path, event, line)
