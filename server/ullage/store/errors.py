"""What can go wrong with the store, in words for the user.

StoreFailed
├── StoreBusy         another program has the log locked; try again later
│   └── BeingSaved    the log is being saved into a new file; try again later
├── SessionInUse      another window writes this session
├── ForeignSession    somebody else may have written this session
└── UnknownSession    there is no session with that id
"""

from __future__ import annotations


class StoreFailed(Exception):
    """Something could not be written or read; nothing was changed. `str()` says what and what to do."""


class StoreBusy(StoreFailed):
    """Another program has the log locked, for longer than a write takes. What was wanted can be tried again."""


class BeingSaved(StoreBusy):
    """The file of the log was removed or damaged while it was open, and its rows are on their way into a new one."""

    def __init__(self, action: str) -> None:
        super().__init__(
            f"Cannot {action}: the file of the sessions is gone or damaged, and they are being saved into a new one. Try again in a moment."
        )


class SessionInUse(StoreFailed):
    """Another process (a second window on the same folder) is writing this session, or has since written to it."""

    def __init__(self, session_id: str, told: str = "") -> None:
        super().__init__(told or "This session is open in another window. Go on there, or close it there and open it again here.")
        self.session_id = session_id


class ForeignSession(StoreFailed):
    """The session was imported from a folder that somebody else may have written: it is read, and nothing is added to it."""

    def __init__(self, session_id: str) -> None:
        super().__init__("This session was imported from a folder and may be somebody else's: it can be read, not continued or forked")
        self.session_id = session_id


class UnknownSession(StoreFailed):
    """There is no session with that id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id}")
        self.session_id = session_id
