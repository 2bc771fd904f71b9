"""Proposed edits that wait for an answer. Each is a document that the user may change, and the text that they leave there is written.

The document lies in the user's own state folder, under the file's own name, and its text may be saved or not. Line ends follow the file.
No change of the user is lost: a document that was changed and not written stays, and its path is told.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Protocol

from ullage.store.errors import StoreFailed
from ullage.tools.file_tools import difference
from ullage.workspace.files import Editor

LONGEST_MIXED = 20_000
"""Most lines of a file that mixes its line ends with which each line keeps its own."""


class Documents(Protocol):
    """The documents of proposed edits on disk."""

    def write(self, tool_use_id: str, file: str, text: str) -> Path | None:
        """Makes the document of a proposed edit, and gives its path; None if nothing is kept on disk. Raises `StoreFailed`."""
        ...

    def read(self, path: Path) -> str | None:
        """The text of a document on disk; None if it is gone or no text any more."""
        ...

    def remove(self, path: Path) -> None: ...


@dataclass(frozen=True, slots=True)
class _Laid:
    path: Path
    text: str
    """The text as it was laid open."""


class ProposedEdits:
    """The proposals of one session that lie open, by the id of their call."""

    def __init__(self, documents: Documents, editor: Editor) -> None:
        self._documents = documents
        self._editor = editor
        self._laid: dict[str, _Laid] = {}

    async def lay_open(self, call_id: str, target: Path, proposed: str) -> Path | None:
        """Makes the document of that edit, and gives its path. If it is there already, it stays as the user left it. None if nothing can be
        kept."""
        laid = self._laid.get(call_id)
        if laid is not None and (self.made_of(call_id) is not None or laid.text == proposed):
            return laid.path
        try:
            path = await asyncio.to_thread(self._documents.write, call_id, target.name, proposed)
        except StoreFailed:  # the question can be answered without it
            return None
        if path is not None:
            self._laid[call_id] = _Laid(path, proposed)
        return path

    def made_of(self, call_id: str) -> str | None:
        """What the user made of the proposed text by now; None if they left it as it was, or it cannot be read."""
        laid = self._laid.get(call_id)
        if laid is None:
            return None
        shown = self._editor.open_text(laid.path)
        shown = self._documents.read(laid.path) if shown is None else shown
        if shown is None or plain(shown) == plain(laid.text):
            return None
        return with_line_ends_of(laid.text, shown)

    def changes(self, call_id: str) -> str:
        """What the user changed, as a difference; empty if they changed nothing."""
        made = self.made_of(call_id)
        return "" if made is None else difference(self._laid[call_id].text, made)

    def settle(self, call_id: str, *, written: bool) -> Path | None:
        """Ends the proposal when its call is over, and removes its document. If the user changed that and it was not written, it stays, and
        its path is given."""
        laid = self._laid.get(call_id)
        if laid is None:
            return None
        keeps = not written and self.made_of(call_id) is not None
        del self._laid[call_id]
        if keeps:
            return laid.path
        self._documents.remove(laid.path)
        return None


def plain(text: str) -> str:
    """The text without what an editor may do to its ends of lines, and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def with_line_ends_of(proposed: str, shown: str) -> str:
    """The user's text with `\\n` at its line ends; where the file mixes them, lines that are as they were proposed keep their own."""
    text = plain(shown)
    if "\r" not in proposed:
        return text
    ours, theirs = proposed.splitlines(keepends=True), text.splitlines(keepends=True)
    if len(ours) + len(theirs) > LONGEST_MIXED:
        return text
    made: list[str] = []
    for tag, first, _, start, end in SequenceMatcher(None, [plain(line) for line in ours], theirs, autojunk=False).get_opcodes():
        made += ours[first : first + end - start] if tag == "equal" else theirs[start:end]
    return "".join(made)
