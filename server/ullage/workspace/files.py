"""Files as the user sees them: the text of an open document wins over the disk, and edits go where the text is.

The editor that the user sees is behind `Editor`: `lsp/` and `acp/` implement it over their wires. `text_file.py` knows how bytes become
text, `touched.py` what the agent has seen of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, ParamSpec, Protocol, TypeVar

from ullage.workspace.folders import Folders
from ullage.workspace.regular_files import LedElsewhere, open_regular, remove_regular, replace_regular
from ullage.workspace.text_file import (
    MAXIMUM_BYTES,
    FileTooLarge,
    NotEncodable,
    NotText,
    OwnWrites,
    TextFile,
    bytes_of,
    normalise_newlines,
    read_text,
    text_of,
    text_sha256,
    write_text,
)

P = ParamSpec("P")
T = TypeVar("T")

NEW_DOCUMENT = "untitled:"
"""The beginning of the URI of a document that was never saved."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem as the editor's language servers report it. `line` counts from 1."""

    path: Path
    line: int
    severity: Literal["error", "warning", "information", "hint"]
    source: str
    message: str


class Editor(Protocol):
    """The editor, as far as Ullage asks anything of it. Paths are absolute, symbolic links resolved."""

    async def look(self, path: Path) -> None:
        """Learns the text of a file, if the editor has to be asked for each. To be called before that file is read or written."""
        ...

    def open_text(self, path: Path) -> str | None:
        """The text of an open document as the user sees it now, saved or not; None if it is not open, or has yet to load anew what is on
        disk."""
        ...

    def is_on_disk(self, path: Path, text: str) -> None:
        """Takes note that the disk was found to have the text that an open document had: nothing of it was unsaved."""
        ...

    def new_text(self, uri: str) -> str | None:
        """The text of an open document that was never saved, by its URI; None if there is no such document, or it is too long."""
        ...

    def open_paths(self) -> Sequence[Path]:
        """The files of all open documents, so that a search finds what is not yet on disk."""
        ...

    async def apply_text(self, path: Path, text: str) -> bool:
        """Replaces the text of an open document so that the user can undo it; False if the editor refused.

        A document without unsaved changes is saved afterwards where the editor can do that; one with unsaved changes
        of the user is left unsaved.

        Raises `EditorChanged` if the document changed while the edit was on its way, `LedElsewhere` where its name leads elsewhere by
        now: the editor would follow the link when it saves.
        """
        ...

    async def diagnostics(self, path: Path | None) -> list[Diagnostic] | None:
        """Problems of one file or of all; None if the editor cannot tell."""
        ...


class EditorChanged(Exception):
    """The user changed the document between reading and editing; nothing was applied."""


class ChangedMeanwhile(Exception):
    """The text is no longer the one that the edit was made for; nothing was written."""


class EditorRefused(Exception):
    """The file has unsaved changes in the editor, and the editor would not take the edit; nothing was written."""


@dataclass(frozen=True, slots=True)
class CurrentText:
    """A file's text as the user sees it. `text` has `\\n` at its line ends (as `TextFile.text`)."""

    path: Path
    text: str
    sha256: str
    unsaved: bool
    """Whether the text is that of an open document and the disk has another one."""


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file as the user sees it. Those of an open document are as they would be saved."""

    data: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Put:
    """A file that is to get `content` (None: to be deleted) if it still holds `expected` (None: if there is none)."""

    path: Path
    content: Content | None
    expected: Content | None


class WorkspaceFiles:
    """Reads and writes files, through the editor where they are open there. Paths come from `Folders.resolve`."""

    def __init__(self, folders: Folders, editor: Editor, own_writes: OwnWrites) -> None:
        self.folders = folders
        self._editor = editor
        self._own_writes = own_writes
        self._ahead: dict[Path, tuple[str, str]] = {}
        """The open documents that were just edited, and whose news has not come: each with the hash of the text that it still seems to
        have, and the text that it has."""

    async def content(self, path: Path, most: int) -> Content | None:
        """The bytes of a file now; None if there is no file. Raises `FileTooLarge` for more than `most` bytes, `NotEncodable`, or an
        `OSError`."""
        await self._editor.look(path)
        open_text = self._editor.open_text(path)
        on_disk = await asyncio.to_thread(content_on_disk, path, most)
        if open_text is None:
            return on_disk
        text, newline = normalise_newlines(open_text)
        ahead = self._ahead.get(path)
        if ahead is not None and ahead[0] == text_sha256(text):
            text = ahead[1]
        try:
            like = None if on_disk is None else text_of(on_disk.data)
        except NotText:  # an editor that decodes it in its own way
            return on_disk
        if on_disk is not None and like is not None and like.text == text:
            self._editor.is_on_disk(path, open_text)
            return on_disk
        like = TextFile("", "", newline=newline) if like is None else replace(like, newline=newline)
        return Content(bytes_of(text, like), on_disk is not None and on_disk.executable)

    async def read(self, path: Path) -> CurrentText:
        """The text of a file now.

        Raises what `read_text` raises, unless the file is open in the editor: then its text there is enough.
        """
        await self._editor.look(path)
        open_text = self._editor.open_text(path)
        if open_text is None:
            on_disk = await asyncio.to_thread(read_text, path)
            return CurrentText(path, on_disk.text, on_disk.sha256, unsaved=False)
        on_disk = await asyncio.to_thread(_read_if_possible, path)
        text, _ = normalise_newlines(open_text)
        sha256 = text_sha256(text)
        unsaved = on_disk is None or on_disk.sha256 != sha256
        if not unsaved:
            self._editor.is_on_disk(path, open_text)
        return CurrentText(path, text, sha256, unsaved)

    async def write(self, path: Path, text: str, expected_sha256: str | None) -> CurrentText:
        """Makes `text` the file's text if its text still has the hash `expected_sha256` (None: if there is no file).

        Returns the text as it is afterwards, which is another one where the editor formats when saving.
        Raises `ChangedMeanwhile`, `EditorRefused`, `EditorChanged` or what `write_text` raises; then nothing was written.
        """
        self._ahead.pop(path, None)
        await self._editor.look(path)
        if self._editor.open_text(path) is not None and await self._write_open(path, text, expected_sha256):
            current = await self.read(path)
            if current.sha256 != expected_sha256:
                return current
            # the editor took the edit, but the news of its own text has not come yet
            self._ahead[path] = (current.sha256, text)
            on_disk = await asyncio.to_thread(_read_if_possible, path)
            sha256 = text_sha256(text)
            return CurrentText(path, text, sha256, unsaved=on_disk is None or on_disk.sha256 != sha256)
        await asyncio.to_thread(self._write_closed, path, text, expected_sha256)
        return CurrentText(path, text, text_sha256(text), unsaved=False)

    async def put(self, path: Path, content: Content | None, expected: Content | None) -> None:
        """Makes `content` the bytes of the file on disk (None: deletes it) if its bytes are still `expected` (None: there is no file).

        An editor that has the file open shows the new text. Raises `ChangedMeanwhile` or an `OSError`; then nothing was written.
        """
        if await self.content(path, MAXIMUM_BYTES) != expected:
            raise ChangedMeanwhile
        await asyncio.to_thread(self._put, path, content)

    async def contents(self, paths: Sequence[Path], most: int) -> list[Content | Exception | None]:
        """For each file what `content` gives or raises. Files that no editor has open are read in one go."""
        found = await asyncio.to_thread(lambda: [_tried(content_on_disk, path, most) for path in paths])
        for index, path in enumerate(paths):
            if self._editor.open_text(path) is not None:
                try:
                    found[index] = await self.content(path, most)
                except (FileTooLarge, NotEncodable, OSError) as error:
                    found[index] = error
        return found

    async def put_all(self, puts: Sequence[Put]) -> list[Exception | None]:
        """Does with each file what `put` does, and gives what it would raise, None for success. Files that no editor has open are written
        in one go."""
        shown = [self._editor.open_text(each.path) is not None for each in puts]
        raised = await asyncio.to_thread(self._put_closed, [None if shows else each for each, shows in zip(puts, shown, strict=True)])
        for index, each in enumerate(puts):
            if shown[index]:
                try:
                    await self.put(each.path, each.content, each.expected)
                except (ChangedMeanwhile, FileTooLarge, NotEncodable, OSError) as error:
                    raised[index] = error
        return raised

    def _put_closed(self, puts: Sequence[Put | None]) -> list[Exception | None]:
        def put(each: Put) -> None:
            if content_on_disk(each.path, MAXIMUM_BYTES) != each.expected:
                raise ChangedMeanwhile
            self._put(each.path, each.content)

        return [None if each is None else _tried(put, each) for each in puts]

    def _put(self, path: Path, content: Content | None) -> None:
        if content is None:
            remove_regular(path)
            return
        data = content.data
        replace_regular(path, data, lambda status: self._own_writes.about_to_replace(path, status, data), executable=content.executable)

    def holds_what_was_written(self, path: Path) -> bool:
        """Whether the file is one that was written here, and nobody changed it since. For another thread."""
        return self._own_writes.holds_ours(path)

    def _write_closed(self, path: Path, text: str, expected_sha256: str | None) -> None:
        try:
            before = read_text(path)
        except FileNotFoundError:
            before = None
        if (before.sha256 if before else None) != expected_sha256:
            raise ChangedMeanwhile
        write_text(path, text, before, self._own_writes)

    async def _write_open(self, path: Path, text: str, expected_sha256: str | None) -> bool:
        """Has the editor apply the text to its open document. True if it took the edit; False if the file has to be written on disk after
        all."""
        before = await asyncio.to_thread(_read_if_possible, path)
        open_text = self._editor.open_text(path)
        if open_text is None:
            return False
        shown, newline = normalise_newlines(open_text)
        if text_sha256(shown) != expected_sha256:
            raise ChangedMeanwhile
        saved_before = before is not None and before.sha256 == expected_sha256
        if not await self._editor.apply_text(path, text.replace("\n", "\r\n") if newline == "\r\n" else text):
            if saved_before:
                return False
            raise EditorRefused
        if saved_before:
            await asyncio.to_thread(self._bring_to_disk, path, text, before)
        return True

    def _bring_to_disk(self, path: Path, text: str, before: TextFile | None) -> None:
        """Writes what an editor applied but did not save, so that commands see it too.

        Only where the disk still has the old text: an editor that saves may format as well, and its text wins.
        """
        now = _read_if_possible(path)
        if now == before:
            write_text(path, text, before, self._own_writes)


def content_on_disk(path: Path, most: int) -> Content | None:
    """The bytes of a file on disk; None if there is no file. No link is followed. Raises `FileTooLarge` for more than `most` bytes, or an
    `OSError`."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            data = file.read(most + 1) if status.st_size <= most else b""
    except FileNotFoundError:
        return None
    if status.st_size > most or len(data) > most:
        raise FileTooLarge(f"{status.st_size:,} bytes")
    return Content(data, bool(status.st_mode & 0o100))


def _tried(do: Callable[P, T], *given: P.args, **more: P.kwargs) -> T | Exception:
    try:
        return do(*given, **more)
    except (ChangedMeanwhile, FileTooLarge, OSError) as error:
        return error


def _read_if_possible(path: Path) -> TextFile | None:
    try:
        return read_text(path)
    except LedElsewhere:  # an editor would follow the link when it saves
        raise
    except (OSError, NotText, FileTooLarge):
        return None
