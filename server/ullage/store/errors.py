"""What can go wrong with the store, in words for the user.

StoreFailed
├── SessionInUse      another window writes this session
└── UnknownSession    there is no session with that id
"""

from __future__ import annotations


class StoreFailed(Exception):
    """Something could not be written or read; nothing was changed. `str()` says what and what to do."""


class SessionInUse(StoreFailed):
    """Another process (a second window on the same folder) is writing this session, or has since written to it."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"Session {session_id} is in use by another window. Go on there, or close it there and open the session again here."
        )
        self.session_id = session_id


class UnknownSession(StoreFailed):
    """No session has that id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id}")
        self.session_id = session_id
