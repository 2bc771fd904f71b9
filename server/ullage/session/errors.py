"""What a session refuses, with a reason for programs and a message for the user."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from ullage.context.view.log_places import EntriesMissing
from ullage.store.errors import ForeignSession, SessionInUse, StoreFailed, UnknownSession

Reason: TypeAlias = Literal[
    "unknown_session",
    "session_busy",
    "foreign_session",
    "nothing_to_compact",
    "nothing_to_undo",
    "does_not_fit",
    "fits_only_cut",
    "no_such_item",
    "no_such_permission",
    "no_such_question",
    "no_such_command",
    "key_refused",
    "list_refused",
    "endpoint_failed",
    "store_failed",
    "invalid",
]
"""Why a request is refused, in the words of PROTOCOL.md."""


class SessionError(Exception):
    """A request that a session cannot fulfil. `str()` is for the user, `reason` for programs; nothing has changed."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


def in_ullage_itself(error: Exception) -> str:
    """What the user is told of an error that nobody foresaw."""
    return f'An error in Ullage itself: {type(error).__name__}: {error}. The command "Ullage: Show logs" has the details.'


def refusal_of(error: StoreFailed) -> SessionError:
    """A failure of the store as a refusal, with the reason that fits it."""
    if isinstance(error, UnknownSession):
        return SessionError("unknown_session", f"There is no session {error.session_id} in this workspace")
    if isinstance(error, ForeignSession):
        return SessionError("foreign_session", str(error))
    return SessionError("session_busy" if isinstance(error, SessionInUse) else "store_failed", str(error))


@contextmanager
def refusing() -> Generator[None]:
    """Stands around what uses the store: what it cannot do becomes a `SessionError`, and so does what needs an entry that is lost."""
    try:
        yield
    except StoreFailed as error:
        raise refusal_of(error) from error
    except EntriesMissing as error:
        raise SessionError("store_failed", f"{error}. It is damaged or lost") from error
