"""What a session refuses, in the words of the protocol."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from acp import RequestError

from ullage.session.errors import SessionError, refusal_of
from ullage.store.errors import StoreFailed

CODES = {"invalid": -32602, "unknown_session": -32002}
"""JSON-RPC's, and the protocol's own for what is not there; all others are internal errors (-32603)."""


@contextmanager
def refusing() -> Generator[None]:
    """In the words of the protocol."""
    try:
        yield
    except StoreFailed as error:
        refused = refusal_of(error)
        raise _refused(refused) from error
    except SessionError as error:
        raise _refused(error) from error


def _refused(error: SessionError) -> RequestError:
    if error.reason == "key_refused":
        return RequestError(RequestError.auth_required().code, str(error), {"reason": error.reason})
    return RequestError(CODES.get(error.reason, -32603), str(error), {"reason": error.reason})
