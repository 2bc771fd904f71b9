"""What Ullage does for each method of the Agent Client Protocol: one short function a method, over the sessions of `session/`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acp import RequestError, schema

from ullage.acp import choices
from ullage.acp.access import CODES, Access, refusing
from ullage.acp.editor import ClientFiles
from ullage.acp.extensions import METHODS, pin_command
from ullage.acp.introduction import introduction
from ullage.acp.live import MOST_ITEMS, Live
from ullage.acp.mcp_servers import use
from ullage.acp.outbox import ClientOutbox
from ullage.acp.prompts import prompt_of
from ullage.acp.questions import with_questions
from ullage.acp.shown import ShownSession, known_updates, plan_update, words_chunk
from ullage.acp.stdio import ClientWire
from ullage.acp.terminals import Terminals, can_be_shown
from ullage.acp.workspaces import OpenFolder, Workspaces
from ullage.session.session import Session
from ullage.session.slash_commands import carry_out, typed_command
from ullage.session.timeline.updates import ModelChanged, Update
from ullage.workspace.files import Editor

if TYPE_CHECKING:
    from acp.interfaces import Client

logger = logging.getLogger(__name__)

MOST_SESSIONS = 1_000
"""The most sessions of one folder in the list."""

MODELS_SECONDS = 3.0
"""How long a new session waits for the list of models; a client is told later of one that comes later."""


class UllageAgent:
    """Implements the package's `Agent` for one client. Everything runs on one event loop."""

    def __init__(self, access: Access, wire: ClientWire, state_folder: Path | None = None) -> None:
        self._access = access
        self._wire = wire
        self._client: Client | None = None
        self._capabilities = schema.ClientCapabilities()
        self._initialized = False
        self._live: dict[str, tuple[OpenFolder, Live]] = {}
        self._offers = choices.OfferedModels()
        self._tasks: set[asyncio.Task[None]] = set()
        self._outbox = ClientOutbox(self._send)
        self._terminals = Terminals(lambda: self._connected, self._outbox, self._keep)
        wire.on_answer = self._answered
        self._workspaces = Workspaces(
            lambda: with_questions(access.settings, self._capabilities),
            access.keys,
            state_folder,
            self._make_editor,
            self._updated,
            self._servers_changed,
        )

    # Its life

    def on_connect(self, conn: Client) -> None:
        """Takes note of the client that has connected, and starts sending to it."""
        self._client = conn
        self._keep(self._outbox.send_all())

    async def close(self) -> None:
        """Ends everything once the client is gone: turns are closed as interrupted."""
        await self._workspaces.close()
        for _place, live in self._live.values():
            live.close()
        await self._wire.until_answered()
        for task in tuple(self._tasks):
            task.cancel()
        await self._terminals.close()

    def _answered(self, result: Any) -> None:
        if isinstance(result, dict):
            self._outbox.let_go(str(cast("dict[str, Any]", result).get("sessionId")))

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def _connected(self) -> Client:
        if self._client is None:
            raise RequestError.internal_error({"details": "no client is connected"})
        return self._client

    async def _send(self, session_id: str, update: Any) -> None:
        if isinstance(update, dict):  # one that the package does not know yet
            params = {"sessionId": session_id, "update": cast("dict[str, Any]", update)}
            await self._wire.send({"jsonrpc": "2.0", "method": "session/update", "params": params})
        else:
            await self._connected.session_update(session_id=session_id, update=update)

    def _make_editor(self, folder: Path) -> Editor:
        files = self._capabilities.fs or schema.FileSystemCapabilities()
        reads = bool(files.read_text_file)
        return ClientFiles(
            folder,
            lambda: self._connected,
            lambda: self._session_in(folder),
            can_read=reads,
            can_write=reads and bool(files.write_text_file),
        )

    def _session_in(self, folder: Path) -> str | None:
        """The session of that folder that was opened or prompted last."""
        return next((each for each in reversed(self._live) if self._live[each][0].folder == folder), None)

    def _updated(self, session_id: str, _: int, update: Update) -> None:
        known = self._live.get(session_id)
        if known is None:
            return
        place, live = known
        live.take(update)
        if isinstance(update, ModelChanged):
            self._tell_options(place, live)

    def _tell_options(self, place: OpenFolder, live: Live) -> None:
        options = self._offers.options(place, live.session.snapshot(0))
        live.tell(schema.ConfigOptionUpdate(session_update="config_option_update", config_options=options))

    # The methods of the protocol

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        """Answers with the version of the protocol that is spoken here, whatever version the client speaks: it may go then."""
        self._initialized = True
        self._capabilities = client_capabilities or schema.ClientCapabilities()
        name = "a client without a name" if client_info is None else f"{client_info.name} {client_info.version}"
        logger.info("%s speaks version %d of the protocol", name, protocol_version)
        return introduction(self._access.methods())

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        """Checks the key that the environment has, or goes on without one."""
        if self._access.authenticate(method_id):
            self._workspaces.configure()
        return schema.AuthenticateResponse()

    async def new_session(
        self, cwd: str, additional_directories: list[str] | None = None, mcp_servers: list[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        """Begins a new session in that folder."""
        place = await self._place(cwd, additional_directories)
        with refusing():
            session = await place.sessions.create()
        self._outbox.hold(session.id)
        live = await self._follow(place, session, mcp_servers)
        self._keep(self._tell_first(live))
        shown = session.snapshot(0)
        return schema.NewSessionResponse(
            session_id=session.id, modes=choices.modes(shown.mode), config_options=await self._first_options(place, live)
        )

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> schema.LoadSessionResponse:
        """Opens a session and tells all that there is to tell of it before it answers."""
        place, live = await self._opened(cwd, session_id, additional_directories, mcp_servers)
        shown = live.session.snapshot(MOST_ITEMS)
        for update in live.shown.replay(live.items_up_to(shown)):
            live.tell(update)
        if shown.plan:
            live.tell(plan_update(shown.plan))
        await self._tell_first(live)
        await self._outbox.flush()
        return schema.LoadSessionResponse(modes=choices.modes(shown.mode), config_options=await self._first_options(place, live))

    async def resume_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> schema.ResumeSessionResponse:
        """Opens a session that the client shows already."""
        place, live = await self._opened(cwd, session_id, additional_directories, mcp_servers)
        self._keep(self._tell_first(live))
        mode = live.session.snapshot(0).mode
        return schema.ResumeSessionResponse(modes=choices.modes(mode), config_options=await self._first_options(place, live))

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: Any,
    ) -> schema.ForkSessionResponse:
        """Begins a new session with all that was said in that one."""
        place = await self._place(cwd, additional_directories)
        with refusing():
            session = (await place.sessions.fork(session_id)).session
        self._outbox.hold(session.id)
        live = await self._follow(place, session, mcp_servers)
        self._keep(self._tell_first(live))
        mode = session.snapshot(0).mode
        options = await self._first_options(place, live)
        return schema.ForkSessionResponse(session_id=session.id, modes=choices.modes(mode), config_options=options)

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        """The sessions of that folder; without one, those of all folders that the client has named."""
        self._check_initialized()
        if cursor is not None:
            raise RequestError(CODES["invalid"], "The list is given whole, so there is no cursor to go on from")
        with refusing():
            places = tuple(self._workspaces) if cwd is None else await self._listed_at(cwd)
            found = [(place, each) for place in places for each in await place.sessions.listed(MOST_SESSIONS)]
        told = [
            schema.SessionInfo(
                session_id=each.session_id,
                cwd=str(place.folder),
                title=each.title or None,
                updated_at=datetime.fromtimestamp(each.updated_at, UTC).isoformat(timespec="seconds"),
            )
            for place, each in found
            if not each.foreign and each.worktree is None
        ]
        return schema.ListSessionsResponse(sessions=told)

    async def _listed_at(self, cwd: str) -> tuple[OpenFolder, ...]:
        """That folder, opened; empty if it does not exist, since nobody has a session there."""
        is_there = "\0" not in cwd and await asyncio.to_thread(Path(cwd).is_dir)
        return (await self._workspaces.at(cwd),) if is_there else ()

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """Lets go of a session."""
        place, live = self._known(session_id)
        with refusing():
            await place.sessions.close_session(session_id)
        self._live.pop(session_id, None)
        live.close()
        await place.forget_servers(session_id)
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        """Sets another mode."""
        place, live = self._known(session_id)
        with refusing():
            await choices.choose(place.sessions, session_id, choices.MODE, mode_id)
        self._tell_options(place, live)
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Sets another mode, model or effort."""
        place, live = self._known(session_id)
        with refusing():
            await choices.choose(place.sessions, session_id, config_id, value)
        return schema.SetSessionConfigOptionResponse(config_options=self._offers.options(place, live.session.snapshot(0)))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        """Sends a prompt, and answers at the end of its turn."""
        place, live = self._known(session_id)
        self._live[session_id] = self._live.pop(session_id)  # the last one
        with refusing():
            text, refs = prompt_of(prompt, place.folders)
            told = await self._commanded(text, place, live.session, has_refs=bool(refs))
            prompt_id = await live.session.prompt(text, refs) if told is None else ""
        if told is None:
            return schema.PromptResponse(stop_reason=await live.turn(prompt_id))
        live.tell(words_chunk(told, "command"))
        await live.until_idle()
        await self._outbox.flush()
        return schema.PromptResponse(stop_reason="end_turn")

    async def _commanded(self, text: str, place: OpenFolder, session: Session, *, has_refs: bool) -> str | None:
        """Carries out a command that was typed, and gives what the user is told of it; None if the text is no command. Raises
        `SessionError`."""
        typed = None if has_refs else typed_command(text)
        return pin_command(text, session) if typed is None else (await carry_out(typed, place.sessions, session)).text

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Ends what the session does now."""
        known = self._live.get(session_id)
        if known is not None:
            known[1].session.cancel()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Answers one of Ullage's own methods, or one of `NOT_ROUTED`; `method` comes without the `_`."""
        if method == "session/delete":
            return await self._delete(params)
        do = METHODS.get(method)
        if do is None:
            raise RequestError.method_not_found(f"_{method}")
        _place, live = self._known(str(params.get("sessionId")))
        with refusing():
            return await do(live.session, params)

    async def _delete(self, params: dict[str, Any]) -> dict[str, Any]:
        """Deletes a session for good. One that is not there counts as deleted."""
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            raise RequestError(CODES["invalid"], "`sessionId` is a text")
        for place in self._workspaces:
            with refusing():
                if session_id in [each.session_id for each in await place.sessions.listed(MOST_SESSIONS)]:
                    await place.sessions.delete(session_id)
        known = self._live.pop(session_id, None)
        if known is not None:
            known[1].close()
            await known[0].forget_servers(session_id)
        return {}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Does nothing: there are no notifications of Ullage's own."""

    # What the methods share

    def _check_initialized(self) -> None:
        if not self._initialized:
            raise RequestError(RequestError.invalid_request().code, "The first request is `initialize`")

    async def _place(self, cwd: str, more: list[str] | None) -> OpenFolder:
        self._check_initialized()
        self._access.check()
        with refusing():
            return await self._workspaces.at(cwd, more or ())

    async def _opened(self, cwd: str, session_id: str, more: list[str] | None, mcp_servers: list[Any] | None) -> tuple[OpenFolder, Live]:
        place = await self._place(cwd, more)
        with refusing():
            session = await place.sessions.open(session_id)
        return place, await self._follow(place, session, mcp_servers)

    def _known(self, session_id: str) -> tuple[OpenFolder, Live]:
        self._check_initialized()
        known = self._live.get(session_id)
        if known is None:
            raise RequestError(CODES["unknown_session"], f"The session {session_id} is not open", {"reason": "unknown_session"})
        return known

    async def _follow(self, place: OpenFolder, session: Session, mcp_servers: list[Any] | None) -> Live:
        """Begins to tell the client of a session, and gives the session the MCP servers that the client names."""
        shown = ShownSession(place.folder, known_updates(self._wire.announced))
        known = self._live.pop(session.id, None)
        terminals = self._terminals if can_be_shown(self._capabilities) else None
        live = Live(session, shown, self._connected, self._outbox, self._keep, terminals) if known is None else known[1]
        live.begin_anew(shown)
        self._live[session.id] = place, live
        live.keep_for_turn(await use(place.sessions.servers, session.id, mcp_servers or ()))
        return live

    async def _tell_first(self, live: Live) -> None:
        """Tells what commands there are, how full the context is, and what there is to know of MCP servers."""
        await live.tell_commands()
        for update in live.shown.usage(live.session.snapshot(0).gauge):
            live.tell(update)
        if live.shown.knows_notices:
            live.say_kept()

    def _servers_changed(self, folder: Path) -> None:
        for place, live in self._live.values():
            if place.folder == folder:
                self._keep(live.tell_commands())

    async def _first_options(self, place: OpenFolder, live: Live) -> list[Any]:
        """The options with the models that the endpoint offers, if it names them soon (`MODELS_SECONDS`); else the client is told of them
        later."""
        learning = self._offers.learn(place)
        if learning is not None:
            await asyncio.wait({learning}, timeout=MODELS_SECONDS)
            if not learning.done():
                learning.add_done_callback(lambda _: self._tell_options(place, live))
        return self._offers.options(place, live.session.snapshot(0))
