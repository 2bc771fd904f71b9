"""What the user does with the models of a workspace: sees what is offered, tries one, chooses one for a session, and confirms the address
that the environment names."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence

from ullage.models.choose import Provider, unconfirmed_address
from ullage.models.model import EffortChoice
from ullage.models.model_card import OfferedModel
from ullage.session.errors import SessionError, refusing
from ullage.session.models_in_use import ModelsInWorkspace
from ullage.session.sessions.open_sessions import OpenSessions
from ullage.session.surroundings import Surroundings
from ullage.store.user_state import UserState


class ChoosingModels:
    """Chooses models for the sessions of one workspace. `keep` runs work in the background."""

    def __init__(
        self,
        around: Surroundings,
        models: ModelsInWorkspace,
        opened: OpenSessions,
        user_state: UserState,
        keep: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._around = around
        self._models = models
        self._open = opened
        self._user_state = user_state
        self._keep = keep

    async def offered(self, address: str | None = None, provider: Provider | None = None) -> Sequence[OfferedModel]:
        """The models that can be chosen, or that a server at `address` offers, as `ModelsInWorkspace.offered`. Raises `SessionError`."""
        return await self._models.offered(self._around.settings, address, provider)

    async def try_out(self, name: str, address: str | None = None, provider: Provider | None = None) -> None:
        """Sends that model one short message, at the same place as `offered`. Raises `SessionError`."""
        if not name.strip():
            raise SessionError("invalid", "A model needs a name")
        await self._models.try_out(self._around.settings, name.strip(), address, provider)

    async def choose(self, session_id: str, name: str) -> None:
        """Has another model answer in that session from its next call on. Raises `SessionError`."""
        session = self._open.get(session_id)
        if not name.strip():
            raise SessionError("invalid", "A model needs a name")
        await self._open.choose(session, "model", name)

    async def choose_effort(self, session_id: str, effort: EffortChoice) -> None:
        """Asks for that effort in that session from its next call on, if its model takes it. Raises `SessionError`."""
        await self._open.choose(self._open.get(session_id), "effort", effort)

    @property
    def unconfirmed_address(self) -> str:
        """The address at which the environment would have the model asked, and which the user has not confirmed; empty if there is none."""
        settings = self._around.settings
        return unconfirmed_address(settings.provider, settings.base_url, os.environ, self._user_state.is_confirmed_address)

    def confirm_address(self, address: str) -> None:
        """Keeps that the user wants the model to be asked at that address, and has it asked there. Raises `SessionError`."""
        with refusing():
            self._user_state.confirm_address(address)
        self._models.forget()
        for session in self._open:
            self._open.choose_model(session)
            session.settings_changed()

    def editor_models_changed(self) -> None:
        """Tells that the editor offers other models of its own than before."""
        if self._around.settings.provider == "editor":
            for session in self._open:
                self._keep(session.learn_model())
