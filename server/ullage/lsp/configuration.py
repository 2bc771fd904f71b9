"""What the client says of itself (`initializationOptions`) and of what the user set. All of it is optional. Bad values are named, and
defaults taken in their place.

A client only tells that its settings changed, and has to be asked for them. Meanwhile it may send requests that go by them, or change them
again. So a request waits until what was set before it is in force, and of several changes the newest stands.

Without an answer nothing is assumed: the defaults may name another endpoint than the user's, and no prompt must go there. So an editor
that is busy is waited for. With one that refuses to tell, the defaults hold at first, and later what it told before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.lsp.agent_protocol import AgentProtocol
from ullage.session.reading_settings import SECTION, read_settings
from ullage.session.settings import Settings
from ullage.store.origins import is_id

_TOLD_AFTER = 5.0
"""Seconds after which the user is told that the editor has not told its settings yet."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options as PROTOCOL.md names them."""

    state_folder: Path | None = None
    trusted: bool = True
    remembered_session: str | None = None
    questions: bool = False
    """Whether the client shows the agent's questions and answers them."""


def read_options(value: object) -> tuple[ServerOptions, list[str]]:
    """The options that a client sent, and complaints about those that cannot be used. A `trusted` that is no boolean counts as false: it
    lifts nothing."""
    if value is None:
        return ServerOptions(), []
    if not isinstance(value, dict):
        return ServerOptions(), ["initializationOptions is no object and is passed over"]
    given = cast("dict[str, object]", value)
    complaints: list[str] = []
    folder = given.get("stateFolder")
    if folder is not None and not (isinstance(folder, str) and Path(folder).is_absolute()):
        complaints.append("initializationOptions.stateFolder is no absolute path and is passed over")
        folder = None
    trusted = given.get("trusted")
    if trusted is not None and not isinstance(trusted, bool):
        complaints.append("initializationOptions.trusted is neither true nor false; the workspace counts as not trusted")
        trusted = False
    remembered = given.get("rememberedSession")
    if remembered is not None and not (isinstance(remembered, str) and is_id(remembered)):
        complaints.append("initializationOptions.rememberedSession is no id of a session and is passed over")
        remembered = None
    questions = given.get("questions")
    if questions is not None and not isinstance(questions, bool):
        complaints.append("initializationOptions.questions is neither true nor false; the agent asks in words")
        questions = False
    return ServerOptions(None if folder is None else Path(folder), trusted is not False, remembered, questions is True), complaints


class ClientSettings:
    """The settings of one client."""

    def __init__(self, protocol: AgentProtocol, options: Callable[[], ServerOptions], warn: Callable[[str], None]) -> None:
        self._protocol = protocol
        self._options = options
        self._warn = warn
        self._complaints: list[str] = []
        self._newest: Settings | None = None
        self._asking = asyncio.Lock()
        self._changes = 0
        """How often the client said that its settings changed."""
        self._known = 0
        """How many of these changes the settings hold that were asked for last."""
        self.pushed: object = None
        """The section `ullage` as the client sent it by itself, for a client that cannot be asked for it."""

    def changed(self) -> None:
        """Notes that the client said that its settings changed."""
        self._changes += 1

    @property
    def pending(self) -> bool:
        """Whether the settings changed since they were asked for, or are still being told."""
        return self._known < self._changes

    async def ask(self) -> Settings:
        """The user's settings now. Shows the user what is wrong with them: each fault once, as long as it stands.

        If the editor refuses to tell them, those of before stay in force, and the defaults if there are none.
        """
        changes = self._changes
        try:
            return await self._read()
        finally:
            self._known = changes

    async def _read(self) -> Settings:
        try:
            section = await self._section()
        except JsonRpcException as error:
            if self._newest is not None:
                self._warn(f"The editor does not tell the settings ({error}), so those of before stay in force")
                return self._newest
            self._warn(f"The editor does not tell the settings ({error}), so the defaults are used")
            section = None
        options = self._options()
        # In another thread: the policies of packages are loaded where one of them is wanted.
        settings, complaints = await asyncio.to_thread(read_settings, section, trusted=options.trusted, shows_questions=options.questions)
        for complaint in complaints:
            if complaint not in self._complaints:
                self._warn(complaint)
        self._complaints, self._newest = complaints, settings
        return settings

    async def after_change(self, take: Callable[[Settings], None]) -> None:
        """Calls `take` with the settings after all changes so far, unless another call has done so when it is this one's turn."""
        async with self._asking:
            if self.pending:
                take(await self.ask())

    async def settled(self) -> None:
        """Waits until all changes that the client told of are taken over."""
        async with self._asking:  # a lock is given in the order in which it was asked for
            return

    async def _section(self) -> object:
        """The section `ullage` as the client has it. Waits as long as that takes. Raises `JsonRpcException` if the client refuses."""
        workspace = self._protocol.client_capabilities.workspace
        if workspace is None or not workspace.configuration:
            return self.pushed
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        asking = asyncio.ensure_future(self._protocol.ask(types.WORKSPACE_CONFIGURATION, params))
        try:
            done, _ = await asyncio.wait((asking,), timeout=_TOLD_AFTER)
            if not done:
                self._warn("The editor has not told the settings yet. Ullage goes on as soon as it does")
            answer = cast("list[object]", await asking)
        finally:
            asking.cancel()
        return answer[0] if answer else None
