"""What a user can choose in a session: its mode, its model, its effort; and the commands that can be typed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from acp import schema

from ullage.acp.extensions import PIN_COMMANDS
from ullage.acp.workspaces import OpenFolder
from ullage.models.model import EFFORT_CHOICES, EffortChoice
from ullage.models.model_card import OfferedModel
from ullage.session.errors import SessionError
from ullage.session.session import Session
from ullage.session.sessions.sessions import Sessions
from ullage.session.slash_commands import offered_commands
from ullage.session.timeline.updates import ModeId, ModelInfo, Snapshot
from ullage.session.turns.modes import MODES

logger = logging.getLogger(__name__)

MODE, MODEL, EFFORT = "mode", "model", "effort"
"""The ids of the options."""

NOT_OFFERED = frozenset({"new", "fork", "help", "mode", "model", "effort"})
"""The names of commands for which a client of this protocol has ways of its own."""


def modes(mode: ModeId) -> schema.SessionModeState:
    """All modes, and the one that is in force."""
    offered = [schema.SessionMode(id=each.id, name=each.name, description=each.description) for each in MODES]
    return schema.SessionModeState(current_mode_id=mode, available_modes=offered)


def mode_named(mode_id: str) -> ModeId:
    """The mode with that id. Raises `SessionError` if there is none."""
    for mode in MODES:
        if mode.id == mode_id:
            return mode.id
    raise SessionError("invalid", f"There is no mode {mode_id}. The modes are: {', '.join(mode.id for mode in MODES)}")


def config_options(shown: Snapshot, offered: Sequence[OfferedModel]) -> list[Any]:
    """All options of a session, each with the value that is chosen now."""
    ways = [_choice(mode.id, mode.name, mode.description) for mode in MODES]
    options = [_select(MODE, "Mode", "mode", shown.mode, ways), _models(shown.model, offered)]
    if shown.model.efforts:
        efforts = [_choice(effort, effort.capitalize()) for effort in ("default", *shown.model.efforts)]
        options.append(_select(EFFORT, "Effort", "thought_level", shown.model.effort or "default", efforts))
    return options


def _models(model: ModelInfo, offered: Sequence[OfferedModel]) -> schema.SessionConfigOptionSelect:
    choices = [_choice(each.name, each.display_name or each.name) for each in offered]
    if all(each.name != model.name for each in offered):
        choices.insert(0, _choice(model.name, model.display_name or model.name))
    return _select(MODEL, "Model", "model", model.name, choices)


class OfferedModels:
    """The models that the endpoint offers, by workspace folder. Each folder asks once."""

    def __init__(self) -> None:
        self._models: dict[Path, Sequence[OfferedModel]] = {}
        self._asking: dict[Path, asyncio.Task[None]] = {}

    def learn(self, place: OpenFolder) -> asyncio.Task[None] | None:
        """The task that asks the endpoint for its models; None if they are known."""
        if place.folder in self._models:
            return None
        if place.folder not in self._asking:
            self._asking[place.folder] = asyncio.create_task(self._ask(place))
        return self._asking[place.folder]

    async def _ask(self, place: OpenFolder) -> None:
        try:
            self._models[place.folder] = await place.sessions.models.offered()
        except SessionError as error:
            logger.info("the models are not known: %s", error)
        finally:
            self._asking.pop(place.folder, None)

    def options(self, place: OpenFolder, shown: Snapshot) -> list[Any]:
        """All options of a session, each with the value that is chosen now."""
        return config_options(shown, self._models.get(place.folder, ()))


async def choose(sessions: Sessions, session_id: str, option: str, value: str | bool) -> None:
    """Sets an option of a session to a value. Raises `SessionError`."""
    if not isinstance(value, str):
        raise SessionError("invalid", f"The option {option} takes one of its values")
    if option == MODE:
        sessions.get(session_id).set_mode(mode_named(value))
    elif option == MODEL:
        await sessions.models.choose(session_id, value)
    elif option == EFFORT:
        await sessions.models.choose_effort(session_id, _effort(value))
    else:
        raise SessionError("invalid", f"There is no option {option}. The options are: {MODE}, {MODEL}, {EFFORT}")


def _effort(value: str) -> EffortChoice:
    for choice in EFFORT_CHOICES:
        if choice == value:
            return choice
    raise SessionError("invalid", f"There is no effort {value}. The efforts are: {', '.join(EFFORT_CHOICES)}")


async def commands(session: Session) -> schema.AvailableCommandsUpdate:
    """The commands that are offered: Ullage's own, and those of the project."""
    own = await offered_commands(session)
    offered = [
        schema.AvailableCommand(
            name=each.name,
            description=each.description,
            input=schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=each.hint)) if each.hint else None,
        )
        for each in (*own, *PIN_COMMANDS)
        if each.name not in NOT_OFFERED
    ]
    return schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=offered)


def _choice(value: str, name: str, description: str | None = None) -> schema.SessionConfigSelectOption:
    return schema.SessionConfigSelectOption(value=value, name=name, description=description)


def _select(
    option: str, name: str, category: Any, now: str, choices: list[schema.SessionConfigSelectOption]
) -> schema.SessionConfigOptionSelect:
    return schema.SessionConfigOptionSelect(type="select", id=option, name=name, category=category, current_value=now, options=choices)
