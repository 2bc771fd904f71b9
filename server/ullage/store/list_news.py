"""Word from one process to the others on the same store that the list of sessions has changed: one was made, renamed or deleted.

The word is a file that is made in a folder of its own and removed at once; the system tells whoever watches the folder. It says nothing:
who hears of it looks into the log. Where a folder cannot be watched (a network drive, too many watches) nobody hears anything, and
everything is right at the next look.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from watchfiles import Change, watch

logger = logging.getLogger(__name__)

_STEP_MILLISECONDS = 100
"""How often the watch looks for what the system has told it."""

_TICK_MILLISECONDS = 500
"""How often a quiet watch reports back: the first time shows that it has begun."""


class ListNews:
    """What one process tells and hears. Without a folder there are no others."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._name = secrets.token_hex(8)
        self._stop = threading.Event()

    def tell(self) -> None:
        """Tells all others. Raises nothing."""
        if self._folder is None:
            return
        word = self._folder / self._name
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            word.touch()
            word.unlink()
        except OSError as error:
            logger.info("other windows do not hear that the list of sessions changed: %s", error)

    def listen(self, heard: Callable[[], object], ready: Callable[[], object] = lambda: None) -> None:
        """Calls `heard`, in another thread, whenever another process tells, until `close`. `ready` is called there when it has begun."""
        if self._folder is not None:
            threading.Thread(target=self._listen, args=(self._folder, heard, ready), name="ullage-list-news", daemon=True).start()

    def close(self) -> None:
        """Nothing is heard any more."""
        self._stop.set()

    def _listen(self, folder: Path, heard: Callable[[], object], ready: Callable[[], object]) -> None:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            has_begun = False
            for news in watch(
                folder,
                watch_filter=self._is_of_another,
                stop_event=self._stop,
                step=_STEP_MILLISECONDS,
                rust_timeout=_TICK_MILLISECONDS,
                yield_on_timeout=True,
                recursive=False,
                raise_interrupt=False,
            ):
                if not has_begun:
                    has_begun = True
                    ready()
                if news:
                    heard()
        except (OSError, RuntimeError) as error:  # what watchfiles raises for all that its system library meets
            logger.info("what other windows do to the list of sessions is seen at the next look: %s", error)

    def _is_of_another(self, change: Change, name: str) -> bool:
        return change is Change.added and Path(name).name != self._name
