"""While the log is in memory, because another program has its file locked, what is written is kept beside that file, on disk, too.

When the file is free the rows of the memory go into it, and what lies beside it is thrown away. After a crash before that, whoever opens
the log next takes it in (`waiting.py`). That holds for sessions that were made meanwhile; of others there are none in such a log, but for
forks and imports, which are in memory only.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ullage.store.adding import SessionRecord, session_row
from ullage.store.errors import StoreFailed
from ullage.store.waiting import Waiting, WaitingFiles

logger = logging.getLogger(__name__)


class Beside:
    """What is kept beside the file of one log; nothing without `files`. No call raises: what cannot be kept is in memory only, which is
    told once."""

    def __init__(self, files: WaitingFiles | None, tell: Callable[[str], None]) -> None:
        self._files = files
        self._tell = tell
        self._kept: set[str] = set()
        self._guard = threading.Lock()

    def begin(self, record: SessionRecord) -> None:
        """The session was made in memory."""
        with self._guard:
            if self._files is not None:
                self._kept.add(record.id)
                self._add(self._files, record.id, Waiting(session=session_row(record)))

    def add(self, session_id: str, written: Callable[[], Waiting]) -> None:
        """That was written in the session, in memory; `written` is asked where it is to be kept."""
        with self._guard:
            if self._files is not None and session_id in self._kept:
                self._add(self._files, session_id, written())

    def forget(self, session_id: str) -> None:
        """The session was deleted."""
        with self._guard:
            if self._files is not None and session_id in self._kept:
                self._kept.discard(session_id)
                _remove(self._files, session_id)

    def end(self) -> None:
        """The log is in its file now."""
        with self._guard:
            for session_id in self._kept:
                if self._files is not None:
                    _remove(self._files, session_id)
            self._kept.clear()
            self._files = None

    def _add(self, files: WaitingFiles, session_id: str, waiting: Waiting) -> None:
        try:
            files.add(session_id, waiting)
        except StoreFailed as error:
            self._files = None  # what came later must not be taken in without what came before
            for kept in self._kept:
                _remove(files, kept)
            self._tell(f"{str(error).removesuffix('.')}. Until the log is free, what is said is in memory only")


def _remove(files: WaitingFiles, session_id: str) -> None:
    try:
        files.remove(session_id)
    except StoreFailed as error:
        logger.warning("%s", error)
