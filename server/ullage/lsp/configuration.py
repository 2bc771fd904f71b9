"""What the client says of itself: `initializationOptions`, all of it optional. Bad values are named, and defaults taken in their place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ullage.store.origins import is_id


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options as PROTOCOL.md names them."""

    state_folder: Path | None = None
    trusted: bool = True
    remembered_session: str | None = None
    questions: bool = False
    """Whether the client shows the agent's questions and answers them."""


def read_options(value: object) -> tuple[ServerOptions, list[str]]:
    """The options, and what could not be used of them. A `trusted` that is no boolean counts as false: it lifts nothing."""
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
