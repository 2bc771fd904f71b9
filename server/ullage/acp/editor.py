"""The client's files: `ullage.workspace.files.Editor` over `fs/read_text_file` and `fs/write_text_file`.

A client of this protocol does not say which documents are open. It is asked for the text of a file just before the file is read or written
(`look`). What it said holds as long as the file on disk is not touched: a command that rewrites the file is seen at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acp import RequestError

from ullage.workspace.files import Diagnostic, EditorChanged
from ullage.workspace.regular_files import LedElsewhere
from ullage.workspace.text_file import FileTooLarge, NotText, normalise_newlines, read_text

if TYPE_CHECKING:
    from acp.interfaces import Client

logger = logging.getLogger(__name__)

FILE_SECONDS = 5.0
"""A client that takes longer to tell or to take a text counts as one that has none."""

LARGEST_BYTES = 2_000_000
"""The size of the largest file that a client is asked for. A text crosses the wire whole, each time."""

Mark = tuple[int, int] | None
"""When a file was written (nanoseconds) and its size in bytes; None if there is no file."""


@dataclass(frozen=True, slots=True)
class _Seen:
    text: str
    mark: Mark
    unsaved: bool


class ClientFiles:
    """The client's files in one folder, as `Editor` describes an editor."""

    def __init__(
        self, root: Path, client: Callable[[], Client], session: Callable[[], str | None], *, can_read: bool, can_write: bool
    ) -> None:
        """`session` gives a session of that folder, None if there is none: the protocol wants one with each request. What a client cannot
        do it is not asked for."""
        self._root = root
        self._client = client
        self._session = session
        self._can_read = can_read
        self._can_write = can_write
        self._seen: dict[Path, _Seen] = {}

    async def look(self, path: Path) -> None:
        """Asks the client for the text of a file, and keeps it."""
        self._seen.pop(path, None)
        mark = mark_of(path)
        if not self._can_read or not path.is_relative_to(self._root) or (mark is not None and mark[1] > LARGEST_BYTES):
            return
        text = await self._text(path)
        if text is None or (mark is None and not text):
            return  # some clients say of a file that is not there that it is empty
        on_disk = await asyncio.to_thread(_text_on_disk, path)
        unsaved = on_disk is None or normalise_newlines(text)[0] != on_disk
        if unsaved and mark is not None and on_disk is None:
            return  # the file is no text: what a client makes of it is nothing to edit
        self._seen[path] = _Seen(text, mark, unsaved)

    async def _text(self, path: Path) -> str | None:
        session_id = self._session()
        if session_id is None:
            return None
        try:
            async with asyncio.timeout(FILE_SECONDS):
                return (await self._client().read_text_file(session_id=session_id, path=str(path))).content
        except (RequestError, ConnectionError, TimeoutError, ValueError) as error:
            logger.info("the client does not tell the text of a file: %s", error or "no answer")
            return None

    def open_text(self, path: Path) -> str | None:
        """The text of a file as the client told it; None if it told none, or the file was touched since."""
        seen = self._seen.get(path)
        if seen is not None and mark_of(path) != seen.mark:
            del self._seen[path]
            return None
        return None if seen is None else seen.text

    def is_on_disk(self, path: Path, text: str) -> None:
        """Does nothing: the file itself is compared each time."""

    def new_text(self, uri: str) -> str | None:
        """Always None: the protocol has no documents without a file."""
        return None

    def open_paths(self) -> Sequence[Path]:
        """The files whose text was not saved when they were looked at, and that were not touched since."""
        return tuple(path for path, seen in tuple(self._seen.items()) if seen.unsaved and self.open_text(path) is not None)

    async def apply_text(self, path: Path, text: str) -> bool:
        """Has the client write the text; False if it cannot. Raises `EditorChanged` if the client has another text by now, `LedElsewhere`
        if the name leads elsewhere."""
        session_id, seen = self._session(), self._seen.get(path)
        if not self._can_write or session_id is None or seen is None:
            return False
        if path.resolve() != path:  # a link was put on the way, and the client would follow it
            raise LedElsewhere(path)
        if await self._text(path) != seen.text:
            raise EditorChanged
        try:
            async with asyncio.timeout(FILE_SECONDS):
                await self._client().write_text_file(session_id=session_id, path=str(path), content=text)
        except (RequestError, ConnectionError, TimeoutError, ValueError) as error:
            logger.warning("the client could not write a file: %s", error or "no answer")
            return False
        self._seen[path] = _Seen(text, mark_of(path), unsaved=False)
        return True

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        """Always None: the protocol has no way to ask for problems."""
        return None


def mark_of(path: Path) -> Mark:
    """A mark by which one sees later whether the file has changed; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _text_on_disk(path: Path) -> str | None:
    try:
        return read_text(path).text
    except (OSError, NotText, FileTooLarge):
        return None
